"""Families of hash functions drawn by a seed, and permutations as tables: what signing is compared with, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.errors import ParameterError
from lookalike.hashing import derive

Keys = NDArray[np.uint64]
LOW32, LOW16, BYTE = np.uint64(0xFFFFFFFF), np.uint64(0xFFFF), np.uint64(0xFF)


@dataclass(frozen=True, kw_only=True)
class MultiplyShift:
    """2-universal: ``(a x + b) >> 32`` for the lowest 32 bits x of a key and random 64-bit a, b; 32 bits out.

    Biased on structured keys when minima are taken of it directly: mix keys first. Dietzfelbinger, STACS 1996.
    """

    seed: int = 1

    def hash(self, keys: ArrayLike) -> Keys:
        """Hash keys."""
        a, b = derive(self.seed, "multiply-shift", 2)
        return (a * (np.asarray(keys, np.uint64) & LOW32) + b) >> np.uint64(32)


@dataclass(frozen=True, kw_only=True)
class FourUniversal:
    """4-universal by tables, for the lowest 32 bits of a key as two characters: T0[x] ^ T1[y] ^ T2[x + y]; 64 bits out.

    Thorup & Zhang, SODA 2004.
    """

    seed: int = 1

    def hash(self, keys: ArrayLike) -> Keys:
        """Hash keys."""
        tables, some = derive(self.seed, "four-universal", 1 << 18), np.asarray(keys, np.uint64)
        x, y = some & LOW16, (some >> np.uint64(16)) & LOW16
        return tables[x] ^ tables[(1 << 16) + y.astype(np.int64)] ^ tables[(1 << 17) + (x + y).astype(np.int64)]


@dataclass(frozen=True, kw_only=True)
class MixedTabulation:
    """Mixed tabulation of 64-bit keys: as good as truly random for minima and one permutation hashing; 64 bits out.

    Eight characters choose a value and eight further characters, which choose again. Dahlgaard, Knudsen & Thorup, NIPS 2017.
    """

    seed: int = 1

    def hash(self, keys: ArrayLike) -> Keys:
        """Hash keys."""
        first, derived, second = derive(self.seed, "mixed tabulation", 3 * 8 * 256).reshape(3, 8, 256)
        some = np.asarray(keys, np.uint64)
        value, characters = np.zeros(some.shape, np.uint64), np.zeros(some.shape, np.uint64)
        for place in range(8):
            byte = (some >> np.uint64(8 * place)) & BYTE
            value ^= first[place][byte]
            characters ^= derived[place][byte]
        for place in range(8):
            value ^= second[place][(characters >> np.uint64(8 * place)) & BYTE]
        return value


def shuffled(universe: int, seed: int) -> Keys:
    """Return a permutation of [0, universe) as a table (Fisher & Yates), for small universes."""
    if not 1 <= universe <= 1 << 31:
        raise ParameterError(f"a table needs a universe of 1..2^31; got {universe}: use lookalike.hashing.Permutation")
    return np.random.Generator(np.random.PCG64(seed)).permutation(universe).astype(np.uint64)
