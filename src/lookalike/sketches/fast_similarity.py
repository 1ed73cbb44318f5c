"""The default sketch of a set: fast similarity sketching."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels import fast_similarity as kernel
from ..kernels._spread import spread
from ..values import Int64Array, UInt32Array, UInt64Array
from ._scheme import SlotScheme


@dataclass(frozen=True, slots=True, kw_only=True)
class FastSimilarity(SlotScheme):
    """Fast similarity sketching: ``permutations`` slots for about one hash a shingle.

    Each slot of two signatures agrees with probability R, as with k permutations; the variance of the share of equal
    slots is about half of R (1 - R) / k on short texts and approaches it on long ones. The reported standard error is
    the upper limit sqrt(R (1 - R) / k).

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
    >>> shingles = la.Shingles.from_arrays(list(range(300)) + list(range(100, 400)), [0, 300, 600])
    >>> la.FastSimilarity(permutations=4096).sign(shingles).estimated_resemblance(0, 1) - 0.5 < 0.04
    True
    """

    def sign_values(self, values: UInt64Array, offsets: Int64Array) -> UInt32Array:
        """Return the slots of rows of mixed 64-bit hashes, uint32 of shape (rows, permutations).

        Parameters
        ----------
        values : ndarray of uint64
        offsets : ndarray of int64, shape (rows + 1,)
        """
        out = np.empty((len(offsets) - 1, self.permutations), np.uint32)
        room = 1 << (32 * self.permutations).bit_length()
        table, distinct = np.empty(2 * room, np.uint64), np.empty(room, np.uint64)
        scratch = table, distinct, np.empty(512, np.uint64)
        kernel.sign_rows(values, offsets, 0, len(offsets) - 1, np.uint64(self.seed), spread(), *scratch, out)
        return out
