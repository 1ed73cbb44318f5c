"""Slots packed to a few bits, and how many of them agree.

Bits are kept as planes: bit j of the slots 0..63 of a row is one 64-bit word, and so on. Two rows differ in a slot where the
planes differ in any bit: an OR of XORs, whose population count is the number of mismatches, for any number of bits.
"""

import numpy as np

from .compiler import compiled, inlined, popcount
from .constants import ONE, ZERO
from .hashing import fmix64


@inlined("uint64(uint64, int64, boolean)")
def code(slot, place, remix):
    """The bits of a slot that planes are cut from: its value, or the value mixed with its place."""
    return fmix64(slot ^ fmix64(np.uint64(place) + ONE)) if remix else slot


@compiled("void(const uint64[:, ::1], int64, int64, int64, boolean, uint64[:, ::1], int64)")
def pack_planes(slots, begin, end, bits, remix, out, first_word):
    """Write slots ``[begin, end)`` (uint64) of each row as ``bits`` planes from word ``first_word`` of ``out`` on."""
    words = (end - begin + 63) // 64
    for row in range(len(slots)):
        for j in range(begin, end):
            value = code(slots[row, j], j, remix)
            word = first_word + (j - begin) // 64
            place = np.uint64((j - begin) % 64)
            for b in range(bits):
                out[row, word + b * words] |= ((value >> np.uint64(b)) & ONE) << place


@compiled("void(const uint32[:, ::1], int64, uint16[:, ::1])")
def pack_lanes(slots, bits, out):
    """Write ``bits`` bits (1, 2, 4 or 8) of each slot, mixed with its place, side by side into ``out`` (rows, words), which is
    zeros. The lowest bits of a word are those of the first of its slots."""
    lanes = 16 // bits
    most = (ONE << np.uint64(bits)) - ONE
    for row in range(len(slots)):
        for j in range(slots.shape[1]):
            value = code(np.uint64(slots[row, j]), j, True) & most
            out[row, j // lanes] |= np.uint16(value << np.uint64(j % lanes * bits))


@compiled("void(const uint64[:, ::1], int64, int64, int64, boolean, uint64[:, ::1], int64)")
def pack_xor(slots, begin, end, combined, remix, out, first_word):
    """Write slots ``[begin, end)`` of each row as single bits from word ``first_word`` on: XORs of ``combined`` lowest bits."""
    for row in range(len(slots)):
        for j in range((end - begin) // combined):
            bit = ZERO
            for place in range(begin + j * combined, begin + (j + 1) * combined):
                bit ^= code(slots[row, place], place, remix) & ONE
            out[row, first_word + j // 64] |= bit << np.uint64(j % 64)


@inlined("int64(const uint64[::1], const uint64[::1], int64, int64, int64)")
def mismatches(left, right, first_word, width, bits):
    """Number of slots in which two rows of words differ."""
    total = 0
    for w in range(first_word, first_word + width):
        differ = left[w] ^ right[w]
        for b in range(1, bits):
            differ |= left[w + b * width] ^ right[w + b * width]
        total += popcount(differ)
    return total


@compiled(
    "void(const uint64[:, ::1], const int64[::1], const uint64[:, ::1], const int64[::1], const int64[:, ::1], int64[:, ::1])"
)
def count_matches(left_words, left_rows, right_words, right_rows, parts, out):
    """Write the matching slots of each pair of rows in each part into ``out`` (pairs, parts), int64. ``parts`` of shape (n, 3):
    first word, slots, bits."""
    for pair in range(len(left_rows)):
        left = left_words[left_rows[pair]]
        right = right_words[right_rows[pair]]
        for p in range(len(parts)):
            slots = parts[p, 1]
            out[pair, p] = slots - mismatches(left, right, parts[p, 0], (slots + 63) // 64, parts[p, 2])


@compiled("void(const uint64[:, ::1], const int64[::1], const uint64[:, ::1], const int64[::1], int64, int64, int64[:, ::1])")
def count_filled(left_words, left_rows, right_words, right_rows, slots, bits, out):
    """Matches where some slots are empty: write (equal and filled in both, filled in both, filled in one) of each pair. The
    plane after the ``bits`` planes tells which slots are filled."""
    width = (slots + 63) // 64
    for pair in range(len(left_rows)):
        left = left_words[left_rows[pair]]
        right = right_words[right_rows[pair]]
        equal = 0
        both = 0
        one = 0
        for w in range(width):
            differ = left[w] ^ right[w]
            for b in range(1, bits):
                differ |= left[w + b * width] ^ right[w + b * width]
            filled = left[w + bits * width] & right[w + bits * width]
            equal += popcount(filled & ~differ)
            both += popcount(filled)
            one += popcount(left[w + bits * width] ^ right[w + bits * width])
        out[pair, 0] = equal
        out[pair, 1] = both
        out[pair, 2] = one
