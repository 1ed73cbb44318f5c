"""Relatives of minwise hashing, simulated: two permutations in place of k, one in circles for empty bins, chunks of one hash.

python experiments/relatives.py
"""

from __future__ import annotations

import numpy as np

import lookalike as la
from lookalike.theory import bbit, minhash

REPEATS = 4000


def sets_of(density: float, resemblance: float, universe: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two sets of equal sizes in a universe: the union has this density."""
    union = round(density * universe)
    common = round(resemblance * union)
    common += (union - common) % 2
    alone = (union - common) // 2
    return np.arange(common + alone), np.append(np.arange(common), np.arange(common + alone, union))


def circulant(left: np.ndarray, right: np.ndarray, universe: int, slots: int, generator: np.random.Generator) -> float:
    """C-MinHash: places under one permutation are shifted by the number of the slot, and permuted by the other; share of equal slots."""
    first, second = generator.permutation(universe), generator.permutation(universe)
    shifts = np.arange(slots)[:, None]
    minima = [second[(first[members][None, :] + shifts) % universe].min(1) for members in (left, right)]
    return float((minima[0] == minima[1]).mean())


def filled(left: np.ndarray, right: np.ndarray, width: int, bins: int, circles: bool, generator: np.random.Generator) -> float:
    """One permutation cut into bins; an empty bin takes the minimum of a random filled one, in circles the minimum of that bin's
    places shifted by its own number and permuted: C-OPH. Share of equal slots."""
    places = generator.choice(width * bins, int(max(left.max(), right.max())) + 1, replace=False)
    inner, donors = generator.permutation(width), generator.integers(0, bins, (bins, 64 * bins))
    slots = []
    for members in (left, right):
        bin_of, within = np.divmod(places[members], width)
        has = np.zeros(bins, np.bool_)
        has[bin_of] = True
        donor = np.arange(bins)
        empty = np.flatnonzero(~has)
        donor[empty] = donors[empty, has[donors[empty]].argmax(1)]
        values = []
        for j in range(bins):
            here = within[bin_of == donor[j]]
            shift = j if circles else donor[j]
            values.append((donor[j], inner[(here + shift) % width].min()))
        slots.append(values)
    return float(np.mean([a == b for a, b in zip(*slots, strict=True)]))


def chunks(resemblance: float, slots: int, bits: int, parts: int, generator: np.random.Generator) -> float:
    """pb-Hash: chunks of independent slots; the estimate of the resemblance."""
    a = generator.integers(0, 1 << bits, (slots, parts))
    b = np.where(generator.random((slots, 1)) < resemblance, a, generator.integers(0, 1 << bits, (slots, parts)))
    return float(bbit.resemblance((a == b).mean(), bits))


def ratio(samples: list[float], variance: float) -> str:
    """Return the variance over another, and its standard error."""
    found = np.asarray(samples)
    apart = (found - found.mean()) ** 2
    return f"{apart.mean() / variance:.3f} ± {apart.std() / len(found) ** 0.5 / variance:.3f}"


def main() -> None:
    """Print a table for each."""
    generator, slots = np.random.default_rng(3), 128
    print("| universe | density of the union | resemblance | C-MinHash over k permutations |\n|---|---|---|---|")
    for universe, density in ((4096, 0.003), (4096, 0.03), (4096, 0.5), (256, 0.1), (256, 0.5)):
        for resemblance in (0.5, 0.8):
            pair = sets_of(density, resemblance, universe)
            r = len(np.intersect1d(*pair)) / len(np.union1d(*pair))
            found = [circulant(*pair, universe, slots, generator) for _ in range(REPEATS)]
            print(f"| {universe:,} | {density} | {r:.2f} | {ratio(found, float(minhash.variance(r, slots)))} |")
    print("\n| members of the union a bin | circles over copies, variance | fast similarity over copies |\n|---|---|---|")
    for per_bin in (0.5, 1, 2, 4):
        pair = sets_of(per_bin * 64 / (1 << 16), 0.6, 1 << 16)
        copies, circles = ([filled(*pair, 1 << 10, 64, c, generator) for _ in range(REPEATS)] for c in (False, True))
        shingles = la.Shingles.from_arrays(np.concatenate(pair), np.cumsum([0, len(pair[0]), len(pair[1])]))
        fast = [la.FastSimilarity(permutations=64, seed=s).sign(shingles).estimated_resemblance(0, 1) for s in range(REPEATS)]
        variance = float(np.var(copies))
        print(f"| {per_bin} | {ratio(circles, variance)} | {ratio(fast, variance)} |")
    print("\n| bits | chunks | simulated over theory | over as many bits of more slots, by theory |\n|---|---|---|---|")
    for bits, parts in ((1, 8), (2, 4), (4, 2), (8, 2)):
        theory = float(bbit.partitioned_variance(0.7, bits, parts, 64))
        found = [chunks(0.7, 64, bits, parts, generator) for _ in range(REPEATS)]
        print(f"| {bits} | {parts} | {ratio(found, theory)} | {theory / float(bbit.variance(0.7, bits, 64 * parts)):.2f} |")


if __name__ == "__main__":
    main()
