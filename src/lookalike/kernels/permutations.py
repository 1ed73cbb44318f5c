"""Keyed true permutations of a finite universe."""

from .compiler import compiled
from .constants import FULL, ONE
from .hashing import fmix64


@compiled("void(const uint64[::1], uint64, uint64, const uint64[::1], uint64[::1])")
def permute(keys, universe, half_bits, round_keys, out):
    """A keyed permutation of [0, universe), without a table: a Feistel network, walked until it lands inside. The network
    permutes [0, 4^half_bits), at most four times the universe (``universe`` 0 stands for 2^64)."""
    mask = (ONE << half_bits) - ONE
    for i in range(len(keys)):
        value = keys[i]
        while True:
            left = value >> half_bits
            right = value & mask
            for r in range(len(round_keys)):
                left, right = right, left ^ (fmix64(right ^ round_keys[r]) & mask)
            value = (left << half_bits) | right
            if universe == 0 or value < universe:
                break
        out[i] = value


@compiled("void(const uint64[::1], const int64[::1], uint64, uint64, const uint64[:, ::1], uint64[:, ::1])")
def sign_with_permutations(values, offsets, universe, half_bits, round_keys, out):
    """Write the least image of each row under each of k keyed permutations into ``out`` (rows, k), uint64. ``round_keys`` of
    shape (k, rounds); an empty row keeps 2^64 - 1."""
    mask = (ONE << half_bits) - ONE
    for row in range(len(offsets) - 1):
        for j in range(out.shape[1]):
            least = FULL
            for i in range(offsets[row], offsets[row + 1]):
                value = values[i]
                while True:
                    left = value >> half_bits
                    right = value & mask
                    for r in range(round_keys.shape[1]):
                        left, right = right, left ^ (fmix64(right ^ round_keys[j, r]) & mask)
                    value = (left << half_bits) | right
                    if universe == 0 or value < universe:
                        break
                least = min(least, value)
            out[row, j] = least
