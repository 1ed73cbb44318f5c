"""Slots packed to a few bits, and how many of them agree; the cut of pairs that agree too little.

Bits are kept as planes: bit j of the slots 0..63 of a row is one 64-bit word, and so on. Two rows differ in a slot where the
planes differ in any bit: an OR of XORs, whose population count is the number of mismatches, for any number of bits.

A nibble is the lowest four bits of a code; sixteen of them lie in a word, and zeros after the last.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, load64, popcount, typed
from .constants import ONE, ZERO
from .hashing import fmix64

_TWO, _FOUR = np.uint64(2), np.uint64(4)
_NIBBLE = np.uint64(15)
_LOWEST = np.uint64(0x1111111111111111)


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


@typed
class Sides(NamedTuple):
    """Bytes of both sides of each pair: a flat array, and where in it those of a pair begin."""

    left: Annotated[np.ndarray, "const uint8[::1]"]
    left_starts: Annotated[np.ndarray, "const int64[::1]"]
    right: Annotated[np.ndarray, "const uint8[::1]"]
    right_starts: Annotated[np.ndarray, "const int64[::1]"]


@typed
class CutRule(NamedTuple):
    """What a pair must have; ``slots`` and ``width`` are 0 if codes, or the bytes that must be equal, are not compared."""

    slots: Annotated[int, "int64"]
    least: Annotated[int, "int64"]
    width: Annotated[int, "int64"]
    boundary: Annotated[int, "int64"]


@compiled("void(const uint16[:, ::1], uint64[:, ::1])")
def pack_nibbles(codes, out):
    """Write the nibbles of each row of ``codes`` into words: that of slot i at bit 4 (i mod 16) of word i / 16."""
    slots = codes.shape[1]
    for row in range(len(codes)):
        for word in range(out.shape[1]):
            packed = np.uint64(0)
            end = min(slots, 16 * word + 16)
            for slot in range(end - 1, 16 * word - 1, -1):
                packed = packed << _FOUR | np.uint64(codes[row, slot]) & _NIBBLE
            out[row, word] = packed


@inlined("int64(const uint8[::1], int64, const uint8[::1], int64, int64)")
def agreeing(a, i, b, j, slots):
    """Number of slots whose nibbles, from bytes ``i`` and ``j`` on, are equal."""
    same = slots
    for word in range((slots + 15) >> 4):
        x = load64(a, i + 8 * word) ^ load64(b, j + 8 * word)
        x |= x >> ONE
        x |= x >> _TWO
        same -= popcount(x & _LOWEST)
    return same


@compiled(
    "int64(const int64[::1], const int64[::1], int64[::1], Sides, Sides, CutRule, int64[::1], int64[::1])", Sides, CutRule
)
def cut_pairs(left, right, previous, codes, withins, rule, out_left, out_right):
    """Write the pairs that stay; return how many. ``previous`` holds the pair before the first, and then the last one."""
    count = 0
    last_left = previous[0]
    last_right = previous[1]
    for pair in range(len(left)):
        repeated = left[pair] == last_left and right[pair] == last_right
        last_left = left[pair]
        last_right = right[pair]
        if repeated or last_left == last_right or last_right < rule.boundary:
            continue
        equal = True
        for byte in range(rule.width):
            if withins.left[withins.left_starts[pair] + byte] != withins.right[withins.right_starts[pair] + byte]:
                equal = False
                break
        if not equal:
            continue
        if rule.slots > 0:
            i = codes.left_starts[pair]
            j = codes.right_starts[pair]
            if agreeing(codes.left, i, codes.right, j, rule.slots) < rule.least:
                continue
        out_left[count] = last_left
        out_right[count] = last_right
        count += 1
    previous[0] = last_left
    previous[1] = last_right
    return count
