"""One permutation hashing: one hash a shingle, a minimum in each bin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..hashing import derive
from ..kernels import signatures as kernel
from ..kernels.constants import EMPTY
from ..theory import one_permutation as theory
from ..theory import shares
from ..values import Int64Array, Signatures, UInt32Array, UInt64Array
from .minhash import SlotScheme

KINDS = ("none", "rotation", "optimal", "reverse")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnePermutation(SlotScheme):
    """One permutation hashing into ``permutations`` bins.

    Raw bins may be empty; estimates leave out those empty in both: R = N_mat / (t - N_emp), unbiased, never worse than any
    filled kind. For look-ups, which need slots that are always there, ``fill`` copies values into empty bins.

    Parameters
    ----------
    permutations : int in [1, 65536], default 128
        Number t of bins.
    seed : int in [0, 2^64), default 1
    densify : {"none", "rotation", "optimal", "reverse"}, default "none"
        How empty bins are filled; "none" leaves them.

    Notes
    -----
    Raw signatures of unions are slot-wise minima; filled ones cannot be merged.

    References
    ----------
    Li, Owen & Zhang, NIPS 2012; report, algorithm 3. Rotation: Shrivastava & Li, ICML 2014. Optimal: Shrivastava, ICML 2017.
    Reverse: Mai et al., UAI 2019.
    """

    densify: str = "none"

    def __post_init__(self) -> None:
        """Check the parameters."""
        SlotScheme.__post_init__(self)
        if self.densify not in KINDS:
            raise ParameterError(f"densify must be one of {', '.join(KINDS)}; got {self.densify!r}")

    @property
    def mergeable(self) -> bool:
        """Whether the signature of a union is the slot-wise minimum: of raw bins."""
        return self.densify == "none"

    @property
    def may_be_empty(self) -> bool:
        """Whether some slots can be empty where others are not: raw bins."""
        return self.densify == "none"

    def sign_values(self, values: UInt64Array, offsets: Int64Array) -> UInt32Array:
        """Return the bins of rows of mixed 64-bit hashes, uint32 of shape (rows, permutations).

        Parameters
        ----------
        values : ndarray of uint64
        offsets : ndarray of int64, shape (rows + 1,)
        """
        out = np.empty((len(offsets) - 1, self.permutations), np.uint32)
        kernel.sign_bins(values, offsets, np.uint64(self.seed), out)
        return self._filled(out)

    def _filled(self, bins: UInt32Array) -> UInt32Array:
        bins = np.ascontiguousarray(bins)
        out = np.empty_like(bins)
        seed = derive(self.seed, "densification", 1)[0]
        if self.densify == "rotation":
            kernel.rotate(bins, out)
        elif self.densify == "optimal":
            kernel.fill_optimally(bins, seed, out)
        elif self.densify == "reverse":
            kernel.fill_in_reverse(bins, seed, np.empty(bins.shape[1], np.int64), out)
        else:
            return bins
        return out

    def fill(self, signatures: Signatures, densify: str) -> Signatures:
        """Fill the empty bins of raw signatures, one of "rotation", "optimal", "reverse"; an empty document stays empty.

        Parameters
        ----------
        signatures : Signatures
        densify : {"rotation", "optimal", "reverse"}

        Returns
        -------
        Signatures

        Raises
        ------
        ParameterError
            If the filling is unknown, or the signatures are filled already.
        """
        if signatures.scheme != self or self.densify != "none":
            raise ParameterError(f"only raw signatures of {self} can be filled; these are of {signatures.scheme}")
        scheme = replace(self, densify=densify)
        return Signatures(scheme._filled(signatures.values), scheme, signatures.shingling)

    def estimate(self, left: UInt32Array, right: UInt32Array) -> tuple[Any, Any]:
        """Return (estimated resemblance, standard error if the filled bins were independent) over the last axis.

        Parameters
        ----------
        left, right : ndarray, shape (..., permutations)
        """
        if self.densify != "none":
            return SlotScheme.estimate(self, left, right)
        empty = ((left == EMPTY) & (right == EMPTY)).sum(-1)
        matches = ((left == right) & (left != EMPTY)).sum(-1)
        found = theory.resemblance(matches, empty, self.permutations)
        return found, shares.share_error(matches, self.permutations - empty)
