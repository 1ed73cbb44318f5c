"""Minwise hashing with k independent hash functions (Broder 1997): the minimum of each over a set."""

import numpy as np

from .compiler import compiled
from .constants import EMPTY, S32


@compiled("void(const uint64[::1], const int64[::1], int64, int64, const uint64[::1], const uint64[::1], uint32[:, ::1])")
def sign_rows(values, offsets, start, stop, multipliers, increments, out):
    """Write the k minima of rows ``[start, stop)`` into ``out`` of shape (rows, k), uint32; an empty row keeps ``EMPTY``.

    Function j is the multiply-shift hash ``(multipliers[j] * x + increments[j]) >> 32`` of the upper 32 bits x of a well-mixed
    value.
    """
    k = out.shape[1]
    for row in range(start, stop):
        slots = out[row - start]
        slots[:] = EMPTY
        for i in range(offsets[row], offsets[row + 1]):
            key = values[i] >> S32
            for j in range(k):
                slots[j] = min(slots[j], np.uint32((multipliers[j] * key + increments[j]) >> S32))
