"""What the sketch schemes with 32-bit slots share: checked parameters, signing of shingles, the estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.constants import EMPTY
from ..theory import shares
from ..values import Int64Array, Shingles, Signatures, UInt32Array, UInt64Array
from ..values.arrays import MAX_PERMUTATIONS, MOST_SEED, whole


def share_of_equal(left: NDArray[Any], right: NDArray[Any], unused: np.unsignedinteger[Any]) -> tuple[Any, Any]:
    """Return (share of equal slots, its standard error if slots are independent) over the last axis.

    Documents whose slots are all ``unused`` are empty: nan where both are.
    """
    equal = left == right
    both_empty = equal[..., 0] & (left[..., 0] == unused)
    if both_empty.any():
        both_empty = (equal & (left == unused)).all(-1)
    share = np.where(both_empty, np.nan, equal.mean(-1))
    error = np.where(both_empty, np.nan, shares.share_error(equal.sum(-1), equal.shape[-1]))
    return (share, error) if share.ndim else (float(share), float(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotScheme:
    """Base of schemes whose signatures are rows of 32-bit slots that agree with the probability of the resemblance.

    Parameters
    ----------
    permutations : int in [1, 65536]
        Number of slots of a signature.
    seed : int in [0, 2^64)
        The only source of randomness.
    """

    permutations: int = 128
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "permutations", whole("permutations", self.permutations, 1, MAX_PERMUTATIONS))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0, MOST_SEED))

    @property
    def mergeable(self) -> bool:
        """Whether the signature of a union is the slot-wise minimum."""
        return True

    def sign_values(self, values: UInt64Array, offsets: Int64Array) -> UInt32Array:
        """Return the slots of rows of mixed 64-bit hashes, uint32 of shape (rows, permutations); repeats do not matter."""
        raise NotImplementedError

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

    def estimate(self, left: UInt32Array, right: UInt32Array) -> tuple[Any, Any]:
        """Return (share of equal slots, its error if slots are independent) over the last axis; nan if both are empty.

        Parameters
        ----------
        left, right : ndarray, shape (..., permutations)
        """
        return share_of_equal(left, right, EMPTY)
