"""Signing with k distinct functions of four families, compiled alike: one loop over functions, sets and members.

Keys are 32-bit integers; a function's parameters are its own, and none is used twice. Minima are uint32: where a function yields
more bits, its lowest 32 would not be minima, so its highest are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from families import shuffled
from numba import njit
from numpy.typing import NDArray

from lookalike.hashing import derive

Array = NDArray[Any]
compiled = njit(nogil=True, error_model="numpy", cache=True)
EMPTY = np.uint32(0xFFFFFFFF)
P = np.uint64((1 << 61) - 1)
LOW32, LOW29, LOW16 = np.uint64(0xFFFFFFFF), np.uint64((1 << 29) - 1), np.uint64(0xFFFF)
S16, S29, S32, S61 = np.uint64(16), np.uint64(29), np.uint64(32), np.uint64(61)


@compiled
def two_universal(keys, offsets, parameters, out):
    """``(a x + b) >> 32`` for 64-bit a, b: ``parameters`` (k, 2), uint64."""
    for j in range(len(parameters)):
        a, b = parameters[j, 0], parameters[j, 1]
        for row in range(len(offsets) - 1):
            least = EMPTY
            for i in range(offsets[row], offsets[row + 1]):
                least = min(least, np.uint32((a * np.uint64(keys[i]) + b) >> S32))
            out[row, j] = least


@compiled
def times_plus(h, x, a):
    """``h x + a`` modulo 2^61 - 1, below 2^61 + 8, for h below 2^61 + 8, x below 2^32 and a below 2^61."""
    low, high = (h & LOW32) * x, (h >> S32) * x
    total = (low & P) + (low >> S61) + ((high & LOW29) << S32) + (high >> S29) + a
    return (total & P) + (total >> S61)


@compiled
def four_universal(keys, offsets, parameters, out):
    """Cubic polynomials modulo 2^61 - 1 (Carter & Wegman's trick), the highest 32 bits: ``parameters`` (k, 4), uint64."""
    for j in range(len(parameters)):
        a0, a1, a2, a3 = parameters[j, 0], parameters[j, 1], parameters[j, 2], parameters[j, 3]
        for row in range(len(offsets) - 1):
            least = EMPTY
            for i in range(offsets[row], offsets[row + 1]):
                x = np.uint64(keys[i])
                h = times_plus(times_plus(times_plus(a3, x, a2), x, a1), x, a0)
                if h >= P:
                    h -= P
                least = min(least, np.uint32(h >> S29))
            out[row, j] = least


@compiled
def four_universal_tables(keys, offsets, parameters, out):
    """Thorup & Zhang's T0[x] ^ T1[y] ^ T2[x + y] for characters x, y of 16 bits: ``parameters`` (k, 2^18), uint32."""
    for j in range(len(parameters)):
        table = parameters[j]
        for row in range(len(offsets) - 1):
            least = EMPTY
            for i in range(offsets[row], offsets[row + 1]):
                x, y = np.uint64(keys[i]) & LOW16, np.uint64(keys[i]) >> S16
                least = min(least, table[x] ^ table[np.uint64(1 << 16) + y] ^ table[np.uint64(1 << 17) + x + y])
            out[row, j] = least


@compiled
def full_permutations(keys, offsets, parameters, out):
    """Look keys up in permutations of the universe: ``parameters`` (k, universe), uint32."""
    for j in range(len(parameters)):
        table = parameters[j]
        for row in range(len(offsets) - 1):
            least = EMPTY
            for i in range(offsets[row], offsets[row + 1]):
                least = min(least, table[keys[i]])
            out[row, j] = least


@compiled
def pack_bits(minima, out):
    """Pack the lowest bits of minima into words: ``out`` (rows, ceil(k / 64)), uint64."""
    out[:] = 0
    for row in range(minima.shape[0]):
        for j in range(minima.shape[1]):
            out[row, j >> 6] |= np.uint64(minima[row, j] & 1) << np.uint64(j & 63)


def draw_parameters(family: str, k: int, universe: int, seed: int = 1) -> Array:
    """Draw the parameters of k distinct functions of a family.

    Function j of the 2-universal ones is ``families.MultiplyShift`` of the seed ``seed + j``, permutation j ``families.shuffled`` of it.
    Tables of 4-universal functions, 2^18 numbers each, are drawn by a faster generator than ``families.FourUniversal`` has.
    """
    seeds = range(seed, seed + k)
    if family == "2-universal":
        return np.stack([derive(one, "multiply-shift", 2) for one in seeds])
    if family == "4-universal":
        return np.stack([derive(one, "cubic polynomials", 4) % P for one in seeds])
    if family == "4-universal, tables":
        return np.random.default_rng(seed).integers(0, 1 << 32, (k, 1 << 18), dtype=np.uint32)
    return np.stack([shuffled(universe, one).astype(np.uint32) for one in seeds])


FAMILIES = {
    "2-universal": two_universal,
    "4-universal": four_universal,
    "4-universal, tables": four_universal_tables,
    "full permutations": full_permutations,
}
