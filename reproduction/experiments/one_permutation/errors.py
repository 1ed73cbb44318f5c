"""Errors of one permutation hashing, raw and filled, and against k permutations at equal storage."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from figures import COLOURS, band, name_lines
from report import Section, mean_error, variance_error
from sampling import minima
from scipy import stats

import lookalike as la
from lookalike.theory import minhash, one_permutation
from one_permutation.sets import estimates, hashed_pairs, random_places
from one_permutation.storage import equal_bytes

__all__ = ["equal_bytes", "variances"]

EMPTY = np.iinfo(np.uint64).max
BINS = 64
UNIONS = (16, 32, 64, 128, 256, 1024)
SCHEMES = {
    "k permutations": la.sketches.MinHash(permutations=BINS),
    "raw bins": la.sketches.OnePermutation(permutations=BINS),
    "rotation": la.sketches.OnePermutation(permutations=BINS, densify="rotation"),
    "optimal": la.sketches.OnePermutation(permutations=BINS, densify="optimal"),
    "reverse": la.sketches.OnePermutation(permutations=BINS, densify="reverse"),
    "fast similarity": la.sketches.FastSimilarity(permutations=BINS),
}
SEEDS = 50  # which bin an empty one copies from depends on the seed, and so does the variance, by a few percent
THEORY = {
    "k permutations": lambda r, union, bins: minhash.variance(r, bins),
    "raw bins": one_permutation.variance,
    **{kind: partial(one_permutation.densified_variance, kind=kind) for kind in ("rotation", "optimal")},
}


def variances(quick: bool) -> Section:
    """Variances of the schemes by the size of the union, and (27) to (33) under true permutations."""
    pairs = 4000 if quick else 20_000
    section = Section(
        "b-errors",
        f"Errors of one permutation hashing, {pairs:,} pairs of sets",
        "A scheme is biased, or its variance is not that of its formula by more than the limit of standard errors: (32) "
        "for raw "
        "bins, those of the later papers for filled ones; or raw bins have a larger variance than filled ones anywhere.",
    )
    section.say(
        f"Random sets with R = 0.5, hashed into k = {BINS} slots. Variance over R(1 − R)/k, the variance of k permutations, "
        "by the "
        "size f of the union, ± 2 standard errors (theory in brackets):"
    )
    rng = np.random.default_rng(4)
    scale = 0.25 / BINS
    found = {name: np.empty((len(UNIONS), pairs)) for name in SCHEMES}
    for i, union in enumerate(UNIONS):
        for seed, part in enumerate(np.array_split(np.arange(pairs), SEEDS)):
            shingles = hashed_pairs(rng, len(part), union)
            for name, scheme in SCHEMES.items():
                found[name][i, part] = estimates(replace(scheme, seed=seed).sign(shingles))
    measured, errors = {}, {}
    for name, values in found.items():
        variance, error = variance_error(values)
        measured[name], errors[name] = variance / scale, error / scale
    expected = {name: np.array([float(formula(0.5, f, BINS)) / scale for f in UNIONS]) for name, formula in THEORY.items()}
    rows = []
    for name in SCHEMES:
        theory = [f" ({v:.2f})" for v in expected[name]] if name in expected else [""] * len(UNIONS)
        rows.append(
            [name, *(f"{v:.2f} ± {2 * e:.2f}{t}" for v, e, t in zip(measured[name], errors[name], theory, strict=True))]
        )
    section.table(["scheme", *(f"f = {f}" for f in UNIONS)], rows)
    for name, values in found.items():
        mean, error = mean_error(values)
        section.agrees(f"{name}: unbiased at each f", mean, 0.5, error, name="unbiased")
        if name in expected:
            ratio = measured[name] / expected[name]
            spread = errors[name] / expected[name]
            section.agrees(f"{name}: variance by theory at each f", ratio, 1.0, spread, name="variance")
            section.agrees(
                f"{name}: variance over theory, mean over f",
                ratio.mean(),
                1.0,
                (spread**2).sum() ** 0.5 / len(ratio),
                name="ratio",
            )
    few = np.array(UNIONS) <= BINS // 2
    order = ("raw bins", "reverse", "optimal", "rotation")
    for better, worse in (*pairwise(order), ("fast similarity", "k permutations")):
        # The pairs of sets are the same, so squared errors are correlated and their difference has a smaller error.
        apart, error = mean_error(((found[better] - 0.5) ** 2 - (found[worse] - 0.5) ** 2)[few])
        section.below(f"f up to {BINS // 2}: {better} has a lower error than {worse}", apart, 0.0, error, name="order")
    _copies(section, rng, 500 if quick else 2000)
    _finite(section, rng, 40_000 if quick else 200_000)
    _how_many(section, rng, 1000 if quick else 5000)

    def draw(axes: Any) -> None:
        for axis, names in zip(axes, (order, ("raw bins", "fast similarity", "k permutations")), strict=True):
            for colour, name in zip(COLOURS, SCHEMES, strict=False):
                if name not in names:
                    continue
                line = expected.get(name, measured[name])
                axis.plot(UNIONS, line, color=colour, label=name, ls="-" if name in expected else ":")
                band(axis, UNIONS, measured[name], errors[name], color=colour)
            axis.set(
                xscale="log",
                xlabel="size f of the union (k = 64)",
                ylabel="variance / (R(1 − R)/k)",
                xticks=[16, 64, 256, 1024],
            )
            axis.set_xticks([], minor=True)
            axis.set_xticklabels(["16", "64", "256", "1,024"])
        axes[0].set(yscale="log", yticks=[0.5, 1, 2, 4], yticklabels=["0.5", "1", "2", "4"])
        axes[0].set_yticks([], minor=True)
        for axis in axes:
            name_lines(axis)

    section.figure(
        "b-errors", (1, 2), draw,
        "Variance over that of k permutations at R = 0.5: measured (points, ±2 standard errors) and theory (solid lines; "
        "dotted: no "
        "formula). Left: filling empty bins makes estimates worse, most of all by rotation. Right: raw bins and fast "
        "similarity "
        "sketches beat k permutations when sets are small.",
    )  # fmt: skip
    section.say(
        "Raw bins have the lowest variance of all kinds of one permutation hashing, at one hash per shingle; filled ones "
        "are for "
        "look-ups. Fast similarity sketching has no empty slots and about the variance of raw bins."
    )
    return section


def _copies(section: Section, rng: np.random.Generator, seeds: int) -> None:
    """Count the bins of equal content, on which the variance of filled bins rests: sharper than variances of estimates."""
    unions = (4, 8, 16, 32)
    counted = np.empty((len(unions), seeds))
    for i, f in enumerate(unions):
        # Var = R (1 - R) (f / (f - 1) S / t^2 - 1 / (f - 1)), S the mean of the sum of squared numbers of bins of equal content.
        expected = (THEORY["optimal"](0.5, f, BINS) / 0.25 * (f - 1) + 1) / f * BINS**2
        for seed in range(seeds):
            sets = la.sketches.Shingles.from_arrays(
                rng.integers(0, 1 << 63, 10 * f, dtype=np.uint64), np.arange(0, 10 * f + 1, f)
            )
            bins = replace(SCHEMES["optimal"], seed=seed).sign(sets).values & 0x7FFFFFFF  # the highest bit marks copies
            counted[i, seed] = (bins[:, :, None] == bins[:, None]).sum((1, 2)).mean() / expected
    mean, error = mean_error(counted.mean(0))
    section.agrees(
        f"optimal: pairs of bins of equal content, f = {', '.join(map(str, unions))}, {seeds:,} seeds, over those behind its formula",
        mean, 1.0, error, name="copies",
    )  # fmt: skip


def _finite(section: Section, rng: np.random.Generator, pairs: int) -> None:
    """(27) to (33) with true permutations of a small universe, cut into equal bins."""
    universe, bins, f1, f2, a = 64, 8, 9, 9, 6
    union, r = f1 + f2 - a, a / (f1 + f2 - a)
    section.say(f"True permutations of D = {universe} places in {bins} bins, f = {union}, R = {r}, {pairs:,} of them:")
    signatures = la.sketches.PermutationBins(universe=universe, permutations=bins).bin_places(
        *random_places(rng, pairs, universe, f1, f2, a)
    )
    left, right = signatures.values[::2], signatures.values[1::2]
    both_empty = (left == EMPTY) & (right == EMPTY)
    match = (left == right) & (left != EMPTY)
    filled, matches, found = bins - both_empty.sum(1), match.sum(1), estimates(signatures)
    mean, error = mean_error(found)
    section.agrees("(26), (31): unbiased", mean, r, error, name="lemma-2")
    section.agrees(
        "(28): each bin that is not empty matches with probability R",
        match.sum(0) / (~both_empty).sum(0),
        r,
        (r * (1 - r) / (~both_empty).sum(0)) ** 0.5,
        name="bin",
    )
    mean, error = mean_error((bins - filled).astype(float))
    section.agrees(
        "jointly empty bins at finite D", mean, one_permutation.expected_empty(union, bins, universe), error, name="empty"
    )
    section.refutes(
        "not t (1 - 1/t)^f, which is for hashes", mean, one_permutation.expected_empty(union, bins), error, name="empty-hashes"
    )
    groups = [m for m in range(1, bins + 1) if (filled == m).sum() > 500]
    means, errors = (np.array(v) for v in zip(*(mean_error(matches[filled == m].astype(float)) for m in groups), strict=True))
    section.agrees(
        "(29), (30): E[N_mat | m] is m R for each number m of filled bins", means, np.array(groups) * r, errors, name="filled"
    )
    section.refutes(
        "not m² R / t, to which the sum printed in (30) comes",
        means,
        np.array(groups) ** 2 * r / bins,
        errors,
        name="filled-printed",
        sense="excludes",
    )
    variance, error = variance_error(found)
    exact = one_permutation.variance(r, union, bins, universe=universe)
    section.agrees("(32) at finite D", variance, exact, error, name="variance-32")
    section.refutes(
        "not (33), since bins are empty", variance, r * (1 - r) / bins * (union - bins) / (union - 1), error, name="no-33"
    )
    short = r * (1 - r) / bins * (union - bins) / (union - 1)
    section.observe(
        f"D = {universe}, t = {bins}, f = {union}: the variance is {variance / short:.3f} times (33)",
        name="over-33", found=variance / short, error=error / short,
    )  # fmt: skip
    section.holds(f"(33) is negative for f = 5, t = {bins}", r * (1 - r) / bins * (5 - bins) / (5 - 1) < 0, name="negative-33")
    universe, f1, f2, a = 1024, 192, 192, 128
    places, offsets = random_places(rng, pairs // 10, universe, f1, f2, a)
    full = la.sketches.PermutationBins(universe=universe, permutations=bins).bin_places(places, offsets)
    section.holds(f"D = {universe:,}, f = 256: no bin is empty", not (full.values == EMPTY).any(), name="full")
    variance, error = variance_error(estimates(full))
    section.agrees(
        "and there (33) holds, with its factor (f - t) / (f - 1)",
        variance,
        0.25 / bins * (256 - bins) / 255,
        error,
        name="full-33",
    )


def _how_many(section: Section, rng: np.random.Generator, pairs: int) -> None:
    """The report's "k between 2^5 to get an absolute error less than 0.01"."""
    section.say("The report says that k is typically from 2⁵, for an absolute error of less than 0.01. At R = 0.5:")
    shares = {}
    for k in (32, 9604):
        one, other = minima(rng, 0.5, 1e-4, 1e-4, (pairs, k))
        off = np.abs((one == other).mean(1) - 0.5)
        shares[k] = mean_error((off <= 0.01).astype(float)), (off**2).mean() ** 0.5
    off = shares[32][1]
    section.observe(f"k = 32: typical error {off:.4f}", name="error-32", found=off, error=off / (2 * pairs) ** 0.5)
    section.below(
        f"k = 32: fewer than half of the estimates are that near (typical error {shares[32][1]:.3f})",
        shares[32][0][0],
        0.5,
        shares[32][0][1],
        name="thirty-two",
        sense="excludes",
    )
    exact = float(np.diff(stats.binom.cdf([4705, 4898], 9604, 0.5))[0])  # of 4,802 matches, give or take 96
    section.agrees("k = 9,604: 95% are", shares[9604][0][0], exact, shares[9604][0][1], name="ten-thousand")
