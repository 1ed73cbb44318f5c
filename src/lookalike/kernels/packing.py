"""The cut of pairs that agree too little. A nibble is the lowest four bits of a code; sixteen of them lie in a word, and zeros
after the last."""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, load64, popcount, typed
from .constants import ONE

_TWO, _FOUR = np.uint64(2), np.uint64(4)
_NIBBLE = np.uint64(15)
_LOWEST = np.uint64(0x1111111111111111)


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
