"""Sketches of sets whose slots agree with the probability of the resemblance: minwise hashing, and the faster default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import core
from ..errors import from_caller
from ..hashing import derive
from ..theory import one_permutation, shares
from ..values import Int64Array, Shingles, Signatures, UInt32Array, UInt64Array
from ..values.arrays import MAX_PERMUTATIONS, MOST_SEED, whole


def count_filled(left: NDArray[Any], right: NDArray[Any]) -> Any:
    """Return how many slots have a value of the lower half of the range on either side, over the last axis."""
    return ((left & right) <= np.iinfo(left.dtype).max // 2).sum(-1)


def share_of_equal(left: NDArray[Any], right: NDArray[Any], filled_by: str = "") -> tuple[Any, Any]:
    """Return (share of equal slots, its standard error) over the last axis, of independent slots or by what filled empty ones.
    Documents whose slots all have the highest value are empty: nan where both are."""
    equal, unused = left == right, np.iinfo(left.dtype).max
    both_empty = equal[..., 0] & (left[..., 0] == unused)
    if both_empty.any():
        both_empty = (equal & (left == unused)).all(-1)
    share, slots = equal.mean(-1), equal.shape[-1]
    if filled_by:
        error = one_permutation.filled_error(share, count_filled(left, right), slots, filled_by)
    else:
        error = shares.share_error(equal.sum(-1), slots)
    share, error = (np.where(both_empty, np.nan, each) for each in (share, error))
    return (share, error) if share.ndim else (float(share), float(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """Base of schemes with two parameters: how many slots a signature has, and the seed, the only source of randomness."""

    permutations: int = 128
    seed: int = 1
    _filled_by: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "permutations", whole("permutations", self.permutations, 1, MAX_PERMUTATIONS))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0, MOST_SEED))

    def estimate(self, left: NDArray[Any], right: NDArray[Any]) -> tuple[Any, Any]:
        """Return (share of equal slots, its error) over the last axis; nan if both are empty.

        Parameters
        ----------
        left, right : ndarray, shape (..., permutations)
        """
        return share_of_equal(left, right, self._filled_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotScheme(Scheme):
    """Base of schemes whose signatures are rows of 32-bit slots that agree with the probability of the resemblance."""

    @property
    def mergeable(self) -> bool:
        """Whether the signature of a union is the slot-wise minimum."""
        return True

    def sign_values(self, values: UInt64Array, offsets: Int64Array) -> UInt32Array:
        """Return the slots of rows of mixed 64-bit hashes, uint32 of shape (rows, permutations); repeats do not matter.

        Parameters
        ----------
        values : ndarray of uint64
        offsets : ndarray of int64, shape (rows + 1,)
        """
        raise NotImplementedError

    @from_caller
    def sign(self, shingles: Shingles) -> Signatures:
        """Sign documents.

        Parameters
        ----------
        shingles : Shingles

        Returns
        -------
        Signatures
            One row of ``permutations`` slots (uint32) a document.
        """
        return Signatures(self.sign_values(shingles.values, shingles.offsets), self, shingles.parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinHash(SlotScheme):
    """k-permutation minwise hashing: slot j is the least value of hash function j over the set.

    Slots agree with probability R independently: the share of equal slots has variance R (1 - R) / k.

    Parameters
    ----------
    permutations : int in [1, 65536], default 128
        Number k of hash functions and slots, four bytes each.
    seed : int in [0, 2^64), default 1

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    Time: n k multiplications for n shingles; ``FastSimilarity`` needs about n and errs less. Signatures of unions
    are slot-wise minima. The functions are 2-universal (multiply-shift) on hashes that are already well mixed.

    References
    ----------
    Broder, "On the resemblance and containment of documents", 1997; Li & König, WWW 2010, equations 1-3.
    """

    def sign_values(self, values: UInt64Array, offsets: Int64Array) -> UInt32Array:
        multipliers = derive(self.seed, "multipliers", self.permutations) | np.uint64(1)
        increments = derive(self.seed, "increments", self.permutations)
        out: UInt32Array = core.minhash(values, offsets, multipliers, increments)
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class FastSimilarity(SlotScheme):
    """Fast similarity sketching: ``permutations`` slots for about one hash a shingle.

    Each slot of two signatures agrees with probability R, as with k permutations; the variance of the share of equal
    slots is about half of R (1 - R) / k on short texts and approaches it on long ones. Standard errors follow it; those of
    packed bits, which do not show how short a text is, are at most too wide.

    Parameters
    ----------
    permutations : int in [1, 65536], default 128
        Number of slots, four bytes each.
    seed : int in [0, 2^64), default 1

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    Time: max(n, k ln k) hashes for n shingles and k slots. Signatures of unions are slot-wise minima.

    References
    ----------
    Dahlgaard, Knudsen & Thorup, "Fast Similarity Sketching", FOCS 2017. Round 0 is one permutation hashing
    (Li, Owen & Zhang, NIPS 2012).

    Examples
    --------
    >>> import lookalike as la
    >>> shingles = la.sketches.Shingles.from_arrays(list(range(300)) + list(range(100, 400)), [0, 300, 600])
    >>> la.sketches.FastSimilarity(permutations=4096).sign(shingles).estimated_resemblance(0, 1) - 0.5 < 0.04
    True
    """

    _filled_by: ClassVar[str] = "rounds"

    def sign_values(self, values: UInt64Array, offsets: Int64Array) -> UInt32Array:
        out: UInt32Array = core.fast_similarity(values, offsets, self.permutations, self.seed)
        return out
