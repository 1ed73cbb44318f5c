"""The baseline of "b-Bit Minwise Hashing", section 4: k coordinates of [0, D) of a set, sampled at random (Indyk & Motwani)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.theory import set_distance

INDEX_BYTES = 8  # The paper counts 64 bits for the number of a coordinate.


@dataclass(frozen=True)
class CoordinateSample:
    """Which coordinates are sampled: the same for all sets.

    Parameters
    ----------
    universe : int >= 1
        D.
    places : ndarray of int64, shape (k,)
        The coordinates, each in [0, D).
    """

    universe: int
    places: np.ndarray

    @staticmethod
    def draw(rng: np.random.Generator, universe: int, samples: int, *, replacement: bool = False) -> CoordinateSample:
        """Draw ``samples`` of the coordinates; without replacement, no coordinate twice."""
        return CoordinateSample(universe, rng.choice(universe, samples, replace=replacement))

    def dense(self, members: np.ndarray) -> np.ndarray:
        """Sketch of a set, one bit per sample: uint8 of shape (ceil(k / 8),)."""
        inside = np.zeros(self.universe, bool)
        inside[members] = True
        return np.packbits(inside[self.places])

    def sparse(self, members: np.ndarray) -> np.ndarray:
        """Sketch of a set, the numbers of the samples that are in it: int64 of shape (number of them,)."""
        inside = np.zeros(self.universe, bool)
        inside[members] = True
        return np.flatnonzero(inside[self.places])

    def distance_dense(self, left: np.ndarray, right: np.ndarray) -> float:
        """Estimate the Hamming distance of two sets by equation 16, from their dense sketches."""
        return self._estimate(int(np.bitwise_count(left ^ right).sum(dtype=np.int64)))

    def distance_sparse(self, left: np.ndarray, right: np.ndarray) -> float:
        """Estimate the Hamming distance of two sets by equation 16, from their sparse sketches."""
        return self._estimate(len(np.setxor1d(left, right, assume_unique=True)))

    def _estimate(self, differing: int) -> float:
        return float(set_distance.sampling_estimate(differing, self.universe, len(self.places)))


def prefix_distances(
    rng: np.random.Generator,
    universe: int,
    left: np.ndarray,
    right: np.ndarray,
    samples: np.ndarray,
    repetitions: int,
    *,
    replacement: bool = False,
) -> np.ndarray:
    """Distances estimated from dense sketches of the first k coordinates of new samples: (len(samples), repetitions).

    The sketches of k coordinates are the first k bits of the sketch of the most.
    """
    out = np.empty((len(samples), repetitions))
    most = int(max(samples))
    inside = np.zeros((2, universe), bool)
    inside[0, left] = inside[1, right] = True
    for i in range(repetitions):
        places = CoordinateSample.draw(rng, universe, most, replacement=replacement).places
        bits = np.packbits(inside[:, places], axis=1)  # one row for each set, as ``dense`` makes them
        differing = np.unpackbits(bits[0] ^ bits[1], count=most).cumsum()[np.asarray(samples) - 1]
        out[:, i] = set_distance.sampling_estimate(differing, universe, np.asarray(samples))
    return out
