"""Random numbers from one seed or a secret key, and true permutations."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from . import core
from .errors import ParameterError
from .values import UInt64Array
from .values.arrays import MOST_SEED, keys_of, whole

ROUNDS = 6
PRIME = (1 << 61) - 1
"""What polynomials are modulo."""
POINTS, BLOCK_WORDS = 6, 34
"""Words of a digest's secret: powers of points, and those that blocks of 256 bytes are multiplied with."""


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
    """Return the secret of digests (``native/digest.h``): three powers of each of two points, and words of blocks."""
    words = secret_words(key, purpose, POINTS + BLOCK_WORDS)
    points = [int(word) % PRIME for word in words[:2]]
    words[:POINTS] = [pow(point, power, PRIME) for point in points for power in (1, 2, 3)]
    return words


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
                raise ParameterError(f"must be in [0, {self.universe})", "keys", outside)
        rounds = derive(self.seed, "permutation", ROUNDS)
        out: UInt64Array = core.feistel_permute(flat, self.universe % (1 << 64), self.half_bits, rounds)
        return out
