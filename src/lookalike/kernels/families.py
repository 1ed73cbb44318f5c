"""Families of hash functions and true permutations, applied to arrays of keys."""

import numpy as np

from ._compile import compiled
from .constants import BYTE, EIGHT, FULL, LOW32, ONE, S32
from .hashing import fmix64

_S16 = np.uint64(16)
_LOW16 = np.uint64(0xFFFF)


@compiled("void(const uint64[::1], uint64, uint64, uint64[::1])")
def multiply_shift(keys, multiplier, increment, out):
    """``(multiplier * key + increment) >> 32`` for the lower 32 bits of each key: 2-universal, 32 bits out."""
    for i in range(len(keys)):
        out[i] = (multiplier * (keys[i] & LOW32) + increment) >> S32


@compiled("void(const uint64[::1], const uint64[::1], const uint64[::1], const uint64[::1], uint64[::1])")
def four_universal(keys, low, high, both, out):
    """Thorup & Zhang's tables for 32-bit keys of two 16-bit characters x, y: low[x] ^ high[y] ^ both[x + y]."""
    for i in range(len(keys)):
        x = keys[i] & _LOW16
        y = (keys[i] >> _S16) & _LOW16
        out[i] = low[np.int64(x)] ^ high[np.int64(y)] ^ both[np.int64(x + y)]


@compiled("void(const uint64[::1], const uint64[:, ::1], const uint64[:, ::1], const uint64[:, ::1], uint64[::1])")
def mixed_tabulation(keys, first, derived, second, out):
    """Mixed tabulation of 64-bit keys: eight characters choose a value and eight further characters, which choose again.

    ``first`` and ``derived`` of shape (8, 256) give the value and the derived characters, ``second`` (8, 256) the rest.
    """
    for i in range(len(keys)):
        value = np.uint64(0)
        characters = np.uint64(0)
        key = keys[i]
        for c in range(8):
            byte = np.int64(key & BYTE)
            value ^= first[c, byte]
            characters ^= derived[c, byte]
            key >>= EIGHT
        for c in range(8):
            value ^= second[c, np.int64(characters & BYTE)]
            characters >>= EIGHT
        out[i] = value


@compiled("void(const uint64[::1], uint64, uint64[::1])")
def keyed_mixer(keys, key, out):
    """Murmur's finaliser of each key XORed with a random one."""
    for i in range(len(keys)):
        out[i] = fmix64(keys[i] ^ key)


@compiled("void(const uint64[::1], uint64, uint64, const uint64[::1], uint64[::1])")
def permute(keys, universe, half_bits, round_keys, out):
    """A keyed permutation of [0, universe), without a table: a Feistel network, walked until it lands inside.

    The network permutes [0, 4^half_bits), at most four times the universe (``universe`` 0 stands for 2^64).
    """
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
    """Write the least image of each row under each of k keyed permutations into ``out`` (rows, k), uint64.

    ``round_keys`` of shape (k, rounds); an empty row keeps 2^64 - 1.
    """
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
