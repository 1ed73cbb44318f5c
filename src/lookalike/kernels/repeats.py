"""Which keys come twice, perhaps: counted by a table of two bits, and marks by number.

A word of the table is 32 cells of two bits: those of the lower half were met, those of the upper half met again. A key has two
cells of one word. A key that comes twice is always found; one that comes once, rarely.

The windows of a row of words are cut into blocks: one begins with the row, and with each window whose key ends with ``CUT``
zero bits, so that equal texts are cut in equal places. A block's keys are values of two polynomials, whose coefficients are the
keys of its windows (``kernels.digests``).
"""

import numpy as np

from .compiler import compiled, inlined, prefetch
from .constants import ONE, S32, ZERO
from .digests import folded, reduced, times
from .hashing import fmix64, shift_of

_AHEAD = 24  # keys whose words are fetched meanwhile
_S5 = np.uint64(5)
_CELL = np.uint64(31)
CUT = 5
_CUT = np.uint64((1 << CUT) - 1)


@inlined("uint64(uint64)")
def cells(hashed):
    """Return the two cells of a key."""
    return (ONE << (hashed & _CELL)) | (ONE << ((hashed >> _S5) & _CELL))


@compiled("void(const uint64[::1], uint64[::1])")
def count_keys(keys, table):
    """Count keys in a table, a power of two above 1 long."""
    shift = shift_of(len(table))
    for i in range(len(keys)):
        prefetch(table, np.int64(fmix64(keys[min(i + _AHEAD, len(keys) - 1)]) >> shift))
        hashed = fmix64(keys[i])
        place = np.int64(hashed >> shift)
        mask = cells(hashed)
        met = table[place]
        table[place] = met | mask | ((met & mask) << S32)


@compiled("void(const uint64[::1], const uint64[::1], boolean[::1])")
def find_repeated(keys, table, out):
    """Tell which keys may have come twice."""
    shift = shift_of(len(table))
    for i in range(len(keys)):
        prefetch(table, np.int64(fmix64(keys[min(i + _AHEAD, len(keys) - 1)]) >> shift))
        hashed = fmix64(keys[i])
        mask = cells(hashed) << S32
        out[i] = table[np.int64(hashed >> shift)] & mask == mask


@compiled("void(const int64[::1], uint8[::1])")
def mark_numbers(numbers, out):
    """Set the bits of some numbers, from the lowest bit of a byte on."""
    for number in numbers:
        out[number >> 3] |= np.uint8(1 << (number & 7))


@compiled("int64(const uint64[::1], const uint64[::1], const int64[::1], const uint64[::1], uint64[:, ::1], int64[::1])")
def block_keys(first, second, bounds, points, out, out_bounds):
    """Write two keys of each block of rows of windows, by the two keys of these; and where those of each row end."""
    count = 0
    out_bounds[0] = 0
    for row in range(len(bounds) - 1):
        a = ONE
        b = ONE
        for i in range(bounds[row], bounds[row + 1]):
            if i > bounds[row] and first[i] & _CUT == ZERO:
                out[count, 0] = reduced(a)
                out[count, 1] = reduced(b)
                count += 1
                a = ONE
                b = ONE
            a = folded(times(a, points[0]) + folded(first[i]))
            b = folded(times(b, points[1]) + folded(second[i]))
        if bounds[row] < bounds[row + 1]:
            out[count, 0] = reduced(a)
            out[count, 1] = reduced(b)
            count += 1
        out_bounds[row + 1] = count
    return count


@compiled("void(const uint64[::1], const int64[::1], const int64[::1], const uint8[::1], boolean[::1])")
def marked_windows(first, bounds, starts, bits, out):
    """Tell which windows are in marked blocks; ``starts``: the number of the first block of each row, for its bit."""
    for row in range(len(bounds) - 1):
        number = starts[row]
        for i in range(bounds[row], bounds[row + 1]):
            if i > bounds[row] and first[i] & _CUT == ZERO:
                number += 1
            out[i] = bits[number >> 3] >> np.uint8(number & 7) & 1 != 0
