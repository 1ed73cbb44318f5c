"""Random numbers from one seed, families of hash functions, true permutations: frozen parameter objects."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .errors import ParameterError
from .kernels import families as kernel
from .kernels.digests import POINTS, SECRET_WORDS
from .values import UInt64Array
from .values.arrays import MOST_SEED, keys_of, whole

ROUNDS = 6


def derive(seed: int, purpose: str, count: int) -> UInt64Array:
    """Return ``count`` uint64 numbers fixed by a seed and a purpose, the same on every machine and version.

    Numbers of different purposes are unrelated; a longer sequence starts with the shorter one.
    """
    stream = hashlib.shake_128(whole("seed", seed, 0, MOST_SEED).to_bytes(8, "little") + purpose.encode()).digest(8 * count)
    return np.frombuffer(stream, "<u8").astype(np.uint64)


def secret_words(key: bytes, purpose: str, count: int) -> UInt64Array:
    """Return ``count`` uint64 numbers fixed by a secret key and a purpose.

    Who does not know the key can tell them from random ones no better than SHAKE-256 lets them.
    """
    stream = hashlib.shake_256(len(key).to_bytes(1, "little") + key + purpose.encode()).digest(8 * count)
    return np.frombuffer(stream, "<u8").astype(np.uint64)


def digest_secret(key: bytes, purpose: str) -> UInt64Array:
    """Return the secret of ``kernels.digests``: three powers of each of two points modulo 2^61 - 1, and words of blocks."""
    p = (1 << 61) - 1
    words = secret_words(key, purpose, SECRET_WORDS)
    points = [int(word) % p for word in words[:2]]
    words[:POINTS] = [pow(point, power, p) for point in points for power in (1, 2, 3)]
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class _Family:
    """Base of hash functions drawn by a seed."""

    seed: int = 1

    def __post_init__(self) -> None:
        """Check the seed."""
        object.__setattr__(self, "seed", whole("seed", self.seed, 0, MOST_SEED))

    def hash(self, keys: ArrayLike) -> UInt64Array:
        """Hash keys: any integers, taken modulo 2^64; returns uint64 of shape (n,)."""
        flat = keys_of(np.ravel(keys), "keys")
        out = np.empty(len(flat), np.uint64)
        self._run(flat, out)
        return out

    def _run(self, keys: UInt64Array, out: UInt64Array) -> None:
        raise NotImplementedError


class MultiplyShift(_Family):
    """2-universal: ``(a x + b) >> 32`` for 32-bit keys x and random 64-bit a, b; 32 bits out.

    Of larger keys only the lowest 32 bits count, so that keys equal in these collide. Biased on structured keys when minima are
    taken of it directly: mix keys first.

    References
    ----------
    Dietzfelbinger, "Universal hashing and k-wise independent random variables via integer arithmetic", STACS 1996.
    """

    def _run(self, keys: UInt64Array, out: UInt64Array) -> None:
        a, b = derive(self.seed, "multiply-shift", 2)
        kernel.multiply_shift(keys, a, b, out)


class FourUniversal(_Family):
    """4-universal by tables, for 32-bit keys of two characters: T0[x] ^ T1[y] ^ T2[x + y]; 64 bits out, 2 MB of tables.

    Of larger keys only the lowest 32 bits count, so that keys equal in these collide.

    References
    ----------
    Thorup & Zhang, "Tabulation based 4-universal hashing with applications to second moment estimation", SODA 2004.
    """

    def _run(self, keys: UInt64Array, out: UInt64Array) -> None:
        tables = derive(self.seed, "four-universal", 1 << 18)
        kernel.four_universal(keys, tables[: 1 << 16], tables[1 << 16 : 1 << 17], tables[1 << 17 :], out)


class MixedTabulation(_Family):
    """Mixed tabulation of 64-bit keys: as good as truly random for minima and one permutation hashing; 64 bits out.

    References
    ----------
    Dahlgaard, Knudsen & Thorup, "Practical hash functions for similarity estimation and dimensionality reduction", NIPS 2017.
    """

    def _run(self, keys: UInt64Array, out: UInt64Array) -> None:
        tables = derive(self.seed, "mixed tabulation", 3 * 8 * 256).reshape(3, 8, 256)
        kernel.mixed_tabulation(keys, tables[0], tables[1], tables[2], out)


class KeyedMixer(_Family):
    """Murmur's 64-bit finaliser of keys XORed with a random one: a bijection without proofs that passes all tests here."""

    def _run(self, keys: UInt64Array, out: UInt64Array) -> None:
        kernel.keyed_mixer(keys, derive(self.seed, "mixer", 1)[0], out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permutation:
    """A true permutation of [0, universe), without a table, for any universe up to 2^64.

    A Feistel network of six rounds on a power of four at least as large as the universe, walked until it lands inside:
    at most four steps on average.
    """

    universe: int
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "universe", whole("universe", self.universe, 1, 1 << 64))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0, MOST_SEED))

    @property
    def half_bits(self) -> int:
        """Bits of each half of the network."""
        return max(1, ((self.universe - 1).bit_length() + 1) // 2)

    def apply(self, keys: ArrayLike) -> UInt64Array:
        """Return the places of keys (integers in [0, universe)) under the permutation, uint64 of shape (n,)."""
        flat = keys_of(np.ravel(keys), "keys")
        for outside in (np.min(keys, initial=0), np.max(keys, initial=0)):
            if not 0 <= int(outside) < self.universe:
                raise ParameterError(f"keys must be in [0, {self.universe}); got {outside}")
        out = np.empty(len(flat), np.uint64)
        universe = np.uint64(self.universe % (1 << 64))
        kernel.permute(flat, universe, np.uint64(self.half_bits), derive(self.seed, "permutation", ROUNDS), out)
        return out


def shuffled(universe: int, seed: int) -> UInt64Array:
    """Return a permutation of [0, universe) as a table (Fisher & Yates), uint64 of shape (universe,); for small universes."""
    if not 1 <= universe <= 1 << 31:
        raise ParameterError(f"a table needs a universe of 1..2^31; got {universe}: use Permutation")
    return np.random.Generator(np.random.PCG64(seed)).permutation(universe).astype(np.uint64)
