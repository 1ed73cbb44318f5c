"""Minwise hashing with k independent hash functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..hashing import derive
from ..kernels import minhash as kernel
from ..values import Int64Array, UInt32Array, UInt64Array
from ._scheme import SlotScheme


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
        """Return the slots of rows of mixed 64-bit hashes, uint32 of shape (rows, permutations).

        Parameters
        ----------
        values : ndarray of uint64
        offsets : ndarray of int64, shape (rows + 1,)
        """
        multipliers = derive(self.seed, "multipliers", self.permutations) | np.uint64(1)
        increments = derive(self.seed, "increments", self.permutations)
        out = np.empty((len(offsets) - 1, self.permutations), np.uint32)
        kernel.sign_rows(values, offsets, 0, len(offsets) - 1, multipliers, increments, out)
        return out
