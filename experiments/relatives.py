"""Relatives of minwise hashing, measured: two permutations in place of k, one in circles for empty bins, chunks of one hash.

python experiments/relatives.py
"""

from __future__ import annotations

from functools import partial

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
    print(
        "| universe | density of the union | resemblance | C-MinHash over k permutations | by theory |\n|---|---|---|---|---|"
    )
    for universe, density in ((4096, 0.003), (4096, 0.03), (4096, 0.5), (256, 0.1), (256, 0.5)):
        for resemblance in (0.5, 0.8):
            pair = sets_of(density, resemblance, universe)
            r = len(np.intersect1d(*pair)) / len(np.union1d(*pair))
            offsets = np.cumsum([0, len(pair[0]), len(pair[1])])
            made = (la.CMinHash(universe=universe, permutations=slots, seed=s) for s in range(REPEATS))
            found = [scheme.sign_sets(np.concatenate(pair), offsets).estimated_resemblance(0, 1) for scheme in made]
            plain, union = float(minhash.variance(r, slots)), len(np.union1d(*pair))
            theory = float(minhash.circulant_variance(r, slots, union, universe)) / plain
            print(f"| {universe:,} | {density} | {r:.2f} | {ratio(found, plain)} | {theory:.3f} |")
    print("\n| members of the union a bin | circles over copies, variance | fast similarity over copies |\n|---|---|---|")
    for per_bin in (0.5, 1, 2, 4):
        pair = sets_of(per_bin * 64 / (1 << 16), 0.6, 1 << 16)
        shingles = la.Shingles.from_arrays(np.concatenate(pair), np.cumsum([0, len(pair[0]), len(pair[1])]))
        copies, circles, fast = (
            [make(permutations=64, seed=s).sign(shingles).estimated_resemblance(0, 1) for s in range(REPEATS)] for make in (
                partial(la.OnePermutation, densify="optimal"), partial(la.OnePermutation, densify="circulant"), la.FastSimilarity,
            )
        )  # fmt: skip
        variance = float(np.var(copies))
        print(f"| {per_bin} | {ratio(circles, variance)} | {ratio(fast, variance)} |")
    print("\n| bits | chunks | simulated over theory | over as many bits of more slots, by theory |\n|---|---|---|---|")
    for bits, parts in ((1, 8), (2, 4), (4, 2), (8, 2)):
        theory = float(bbit.partitioned_variance(0.7, bits, parts, 64))
        found = [chunks(0.7, 64, bits, parts, generator) for _ in range(REPEATS)]
        print(f"| {bits} | {parts} | {ratio(found, theory)} | {theory / float(bbit.variance(0.7, bits, 64 * parts)):.2f} |")


if __name__ == "__main__":
    main()
