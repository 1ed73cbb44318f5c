"""A method of another package: documents meet that have a smallest element in common, under one of eight mixings."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lookalike.methods.comparable import sets_of_pieces
from lookalike.methods.method import Sketched

MIXERS = 8
ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Toy:
    """Resemblance of shingle sets, measured."""

    seed: int
    name: str = "toy"
    score: str = "resemblance"
    meets: str = "keys"
    radius: int = 0
    n_keys: int = MIXERS
    n_codes: int = 0
    n_estimates: int = 0
    exact: bool = True
    added: tuple = ("resemblance",)

    def sketch(self, values, offsets, groups):
        """Take the smallest of the mixed hashes, mixed again so that all 64 bits vary."""
        n = len(offsets) - 1
        filled = np.flatnonzero(np.diff(offsets))
        keys = np.zeros((n, MIXERS), np.uint64)
        for i, multiplier in enumerate(np.random.default_rng(self.seed).integers(0, 1 << 63, MIXERS, np.uint64)):
            if len(filled):
                mixed = values * (multiplier << np.uint64(1) | np.uint64(1))
                keys[filled, i] = (np.minimum.reduceat(mixed, offsets[filled]) ^ groups[filled]) * ODD
        return Sketched(keys, np.empty((n, 0), np.uint16), np.empty((n, 0), np.uint32))

    def comparable(self, pieces):
        """Shingle sets."""
        return sets_of_pieces(pieces)

    def estimable(self, estimates):
        """There are no estimates."""
        raise NotImplementedError

    def columns(self, score, distance, missing):
        """The resemblance."""
        return {"resemblance": pa.array(score, mask=missing)}

    def recall(self, threshold):
        """A smallest element is common with the probability of the resemblance."""
        return 1 - (1 - threshold) ** MIXERS

    def plan_dict(self):
        """There is no plan."""
        return {}

    def describe(self):
        """What is looked at."""
        return f"{MIXERS} smallest elements"


def make(settings):
    """Make the method that settings ask for."""
    return Toy(seed=settings.seed)
