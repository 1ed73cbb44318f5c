"""Estimates of the library's sketches of pairs of sets, repeated under new permutations, and their variance over theory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from permuting import permuted_minima
from sampling import minima, two_sets

import lookalike as la
from lookalike.theory import xor_bits

SLOTS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Pair:
    """Two subsets of [0, universe), with their exact resemblance and densities."""

    universe: int
    left: np.ndarray
    right: np.ndarray

    @property
    def resemblance(self) -> float:
        """Return |S1 & S2| / |S1 | S2|."""
        common = len(np.intersect1d(self.left, self.right))
        return common / (len(self.left) + len(self.right) - common)

    @property
    def densities(self) -> tuple[float, float]:
        """Return r1 and r2."""
        return len(self.left) / self.universe, len(self.right) / self.universe

    @property
    def total(self) -> int:
        """Return f1 + f2."""
        return len(self.left) + len(self.right)

    @property
    def distance(self) -> int:
        """Return the Hamming distance, the size of the symmetric difference."""
        return len(np.setxor1d(self.left, self.right))


def pair_of(rng: np.random.Generator, universe: int, density_left: float, density_right: float, resemblance: float) -> Pair:
    """Two random sets whose sizes are those of the densities, rounded, and whose resemblance is as near as they allow."""
    left, right = round(density_left * universe), round(density_right * universe)
    common = min(round(resemblance / (1 + resemblance) * (left + right)), left, right)
    return Pair(universe, *two_sets(rng, universe, left, right, common))


def equal_sets(rng: np.random.Generator, pairs: int, size: int, resemblance: float) -> tuple[la.sketches.Shingles, float]:
    """Random sets of 64-bit keys, rows 2i and 2i + 1 a pair; returns them and their exact resemblance."""
    common = round(2 * size * resemblance / (1 + resemblance))
    pool = rng.integers(0, 1 << 63, (pairs, 2 * size - common), dtype=np.uint64)
    rows = np.concatenate([pool[:, :size], pool[:, :common], pool[:, size:]], 1)
    return la.sketches.Shingles.from_arrays(rows.ravel(), np.arange(0, 2 * pairs * size + 1, size)), common / (
        2 * size - common
    )


def signatures_of(rng: np.random.Generator, pair: Pair, repetitions: int, permutations: int) -> la.sketches.Signatures:
    """Signatures of both sets under new permutations each time: rows 2i and 2i + 1 belong together."""
    return _signatures(permuted_minima(rng, pair.universe, pair.left, pair.right, (repetitions, permutations)), pair)


def sparse_signatures_of(rng: np.random.Generator, pair: Pair, repetitions: int, permutations: int) -> la.sketches.Signatures:
    """The same by the law of the minima in a large universe, for sets so sparse that shuffles take too long."""
    return _signatures(minima(rng, pair.resemblance, *pair.densities, (repetitions, permutations)), pair)


def _signatures(places: tuple[np.ndarray, np.ndarray], pair: Pair) -> la.sketches.Signatures:
    """Return minima of shape (repetitions, permutations) as signatures that carry the densities."""
    repetitions, permutations = places[0].shape
    slots = np.stack(places, 1).reshape(2 * repetitions, permutations).astype(np.uint64)
    scheme = la.sketches.PermutationMinHash(universe=pair.universe, permutations=permutations)
    return la.sketches.Signatures(slots, scheme, "integers", np.tile(pair.densities, repetitions))


def first_slots(signatures: la.sketches.Signatures, slots: int) -> la.sketches.Signatures:
    """Return the same signatures with their first slots only."""
    return replace(
        signatures, values=signatures.values[:, :slots].copy(), scheme=replace(signatures.scheme, permutations=slots)
    )


def estimated(sketches: Any, **how: Any) -> np.ndarray:
    """Estimate the resemblance of rows 2i and 2i + 1."""
    left = np.arange(0, len(sketches), 2)
    return sketches.estimated_resemblance(left, left + 1, **how)


def xored(packed: la.sketches.PackedSignatures) -> np.ndarray:
    """Estimate by (25), from XORed bits of rows 2i and 2i + 1, even where it is ambiguous."""
    left, part = np.arange(0, len(packed), 2), packed.packing.parts(packed.permutations)[0]
    densities = (0.0, 0.0) if packed.densities is None else (packed.densities[left], packed.densities[left + 1])
    return xor_bits.resemblance(packed.matches(left, left + 1)[:, 0] / part.slots, part.combined, *densities)


def batches(repetitions: int, permutations: int) -> Iterator[tuple[int, int]]:
    """Ranges of repetitions whose signatures do not take too much memory."""
    step = max(1, SLOTS_AT_ONCE // permutations)
    for begin in range(0, repetitions, step):
        yield begin, min(repetitions, begin + step)


def estimates(
    rng: np.random.Generator, pair: Pair, repetitions: int, samples: Sequence[int], packings: dict[Any, Any]
) -> dict[Any, np.ndarray]:
    """Estimates of the library, from sketches of the first slots of the same signatures.

    ``packings`` are None for whole slots, or named packings; XORed bits take more than one slot per sample. Returns for each
    name an array (len(samples), repetitions).
    """
    behind = {name: getattr(packing, "combined", 1) for name, packing in packings.items()}
    most = max(behind.values()) * max(samples)
    found = {name: np.empty((len(samples), repetitions)) for name in packings}
    for begin, end in batches(repetitions, most):
        signatures = signatures_of(rng, pair, end - begin, most)
        for name, packing in packings.items():
            read = xored if behind[name] > 1 else estimated
            for i, k in enumerate(samples):
                cut = first_slots(signatures, behind[name] * k)
                found[name][i, begin:end] = read(cut if packing is None else packing.pack(cut))
    return found


def pooled_ratio(samples: np.ndarray, variances: np.ndarray) -> tuple[float, float]:
    """Return the mean over cells of measured variance / theory, and its standard error, from (cells, repetitions).

    The error comes from the spread over repetitions of the mean over cells, so cells may depend on one another.
    """
    n = samples.shape[-1]
    apart = (samples - samples.mean(-1, keepdims=True)) ** 2 / np.asarray(variances)[..., None] * n / (n - 1)
    each = apart.reshape(-1, n).mean(0)
    return float(each.mean()), float(each.std(ddof=1) / n**0.5)
