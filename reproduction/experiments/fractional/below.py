"""Figures 3 and 4 of "f-Fractional bit minwise hashing", and its 3/4 bit: less than one bit per permutation."""

from __future__ import annotations

from typing import Any

import numpy as np
from estimates import batches, equal_sets, estimates, first_slots, pair_of, xored
from figures import COLOURS, band, name_lines
from report import Section, mean_error, variance_error
from scipy import optimize, stats

import lookalike as la
from fractional.three_quarters import three_quarters
from lookalike.theory import bbit, xor_bits

__all__ = ["figures_3_and_4", "three_quarters"]

COMBINED, STORED, SIZE = (1, 2, 4, 8), 512, 75
POINTS = (0.45, 0.6, 0.73, 0.78, 0.86, 0.9, 0.95, 0.98)
PRINTED = {2: 0.577, 4: 0.697, 8: 0.797, 16: 0.871}


def _hashed(rng: np.random.Generator, resemblance: float, pairs: int) -> tuple[dict[int, np.ndarray], float]:
    """Estimates from equally many stored bits of 1, 2, 4 and 8 permutations each, of pairs of sets of random keys."""
    found: dict[int, list[np.ndarray]] = {m: [] for m in COMBINED}
    exact = 0.0
    for begin, end in batches(pairs, 2 * STORED * max(COMBINED)):
        shingles, exact = equal_sets(rng, end - begin, SIZE, resemblance)
        signatures = la.sketches.MinHash(permutations=STORED * max(COMBINED), seed=31).sign(shingles)
        for m, each in found.items():
            each.append(xored(la.sketches.XorBits(combined=m).pack(first_slots(signatures, m * STORED))))
    return {m: np.concatenate(each) for m, each in found.items()}, exact


def figures_3_and_4(quick: bool) -> Section:
    """Variances of 1, 1/2, 1/4 and 1/8 bit."""
    pairs = 1500 if quick else 6000
    section = Section(
        "c-below",
        f"Figures 3 and 4: 1/2, 1/4 and 1/8 bit, {pairs:,} pairs of sets",
        "The mean square error of 1/2, 1/4 or 1/8 bit differs from its law by more than the limit of standard errors; its "
        "variance from "
        "(33) where (33) applies; XORed bits win below the resemblance at which they begin to by formula, or lose above "
        "it; or the printed "
        "(30) and (32) are right for dense sets of unequal sizes.",
    )
    section.say(
        f"Sets of random keys, hashed by `MinHash`, {STORED} stored bits each, by `XorBits` (1/m bit: m permutations behind "
        "each). Density "
        "10⁻¹⁰ of the paper is 0 here."
    )
    rng = np.random.default_rng(33)
    measured: dict[int, list[tuple[float, ...]]] = {m: [] for m in COMBINED}
    for r in POINTS:
        found, exact = _hashed(rng, r, pairs)
        for m, values in found.items():
            mse, error = (float(v) for v in mean_error((values - exact) ** 2))
            variance, spread = (float(v) for v in variance_error(values))
            law = xor_bits.mean_squared_error(exact, m, STORED)
            measured[m].append((exact, mse, error, variance, spread, law, float(xor_bits.variance(exact, m, STORED))))
    table = {m: np.array(rows).T for m, rows in measured.items()}
    _laws(section, table)
    _who_wins(section, table)
    _wrong_constant(section, rng, 2000 if quick else 10_000)
    _bias(section, rng, 20_000 if quick else 100_000)
    _draw(section, table)
    return section


def _nearly_linear(resemblance: np.ndarray, combined: int, least: float) -> np.ndarray:
    """Whether the root in (32) is nearly linear over the spread of the share of matches: for enough stored bits, k R^2m."""
    return STORED * resemblance ** (2 * combined) > least * combined


def _laws(section: Section, table: dict[int, np.ndarray]) -> None:
    """(33) and the binomial law behind it."""
    for m, (at, mse, error, variance, spread, law, delta) in table.items():
        name = f"1/{m} bit" if m > 1 else "1 bit"
        section.agrees(
            f"{name}: mean square error of (32), binomial law of (27), {len(mse)} resemblances", mse, law, error, name="mse"
        )
        near = _nearly_linear(at, m, 40.0)
        section.agrees(
            f"{name}: variance by (33), at {near.sum()} of {len(mse)} resemblances, where it applies",
            variance[near],
            delta[near],
            spread[near],
            name="variance",
        )
        ratio, apart = (variance / delta)[near], (spread / delta)[near]
        section.agrees(
            f"{name}: variance over (33), mean", ratio.mean(), 1.0, (apart**2).sum() ** 0.5 / len(ratio), name="ratio"
        )


def _who_wins(section: Section, table: dict[int, np.ndarray]) -> None:
    """Where more combined bits beat single ones, and the limit (34)."""
    rows = []
    for m, printed in PRINTED.items():
        cross = optimize.brentq(lambda r, m=m: float(np.log(xor_bits.variance(r, m, 1) / bbit.variance(r, 1, 1))), 0.3, 0.99)
        rows.append([f"1/{m} bit", f"{cross:.4f}"])
        section.equals(f"1/{m} bit and 1 bit have the same variance at R = {printed}", cross, printed, 0.0006, name="crossings")
    section.table(["", "better than 1 bit from R ="], rows)
    one = table[1]
    for m in COMBINED[1:]:
        own = table[m]
        at = own[0]
        lower, higher = np.flatnonzero(at < PRINTED[m] - 0.06)[-1], np.flatnonzero(at > PRINTED[m] + 0.05)[0]
        spread = np.hypot(one[2], own[2])
        section.below(
            f"R = {at[lower]:.3f}: 1/{m} bit errs more than 1 bit", one[1][lower], own[1][lower], spread[lower], name="loses"
        )
        section.below(
            f"R = {at[higher]:.3f}: 1/{m} bit errs less than 1 bit",
            own[1][higher],
            one[1][higher],
            spread[higher],
            name="wins",
            sense="limits",
        )
        last = len(at) - 1
        gain = one[3][last] / own[3][last]
        error = gain * np.hypot(one[4][last] / one[3][last], own[4][last] / own[3][last])
        theory = float(one[6][last] / own[6][last])
        section.agrees(
            f"R = {at[last]:.3f}: 1 bit has {theory:.2f} times the variance of 1/{m} bit", gain, theory, error, name="gain"
        )
        limit = float(bbit.variance(1 - 1e-7, 1, 1) / xor_bits.variance(1 - 1e-7, m, 1))
        section.equals(f"by formula, at R = 1 - 10⁻⁷ that is {m}: the limit (34)", limit, m, 1e-4, name="limit")


def _wrong_constant(section: Section, rng: np.random.Generator, repetitions: int) -> None:
    """(29), (30), (32) print C2 where C1 belongs: dense sets of unequal sizes show it."""
    pair = pair_of(rng, 1 << 14, 0.6, 0.5, 0.8)
    r, k = pair.resemblance, 1000
    c1, c2 = bbit.constants(1, *pair.densities)
    found = estimates(rng, pair, repetitions, [k], {m: la.sketches.XorBits(combined=m) for m in (2, 4)})
    for m, values in found.items():
        mean, error = (float(v[0]) for v in mean_error(values))
        expected = r + float(xor_bits.bias(r, m, k, *pair.densities))
        section.agrees(
            f"densities 0.6 and 0.5, R = 0.8, 1/{m} bit: (32) with C1, and its bias", mean, expected, error, name="c1"
        )
        printed = mean + float((c1 - c2) / (1.0 - c2))
        section.refutes(
            f"1/{m} bit: not with C2, as printed, which is {printed - r:+.4f} off",
            printed,
            expected,
            error,
            name="c2",
            sense="excludes",
        )
        section.observe(
            f"1/{m} bit: (32) as printed less R: {printed - r:+.4f}", name=f"c2-{m}", found=printed - r, error=error
        )


def _bias(section: Section, rng: np.random.Generator, pairs: int) -> None:
    """The headings call the estimates unbiased."""
    rows = []
    sizes = (16, 64, 256)
    shingles, exact = equal_sets(rng, pairs, 40, 0.6)
    signatures = la.sketches.MinHash(permutations=2 * sizes[-1], seed=32).sign(shingles)
    for k in sizes:
        values = xored(la.sketches.XorBits(combined=2).pack(first_slots(signatures, 2 * k)))
        mean, error = (float(v) for v in mean_error(values - exact))
        matches = np.arange(k + 1)
        p = stats.binom.pmf(matches, k, float(xor_bits.match_probability(exact, 2)))
        law = float((p * xor_bits.resemblance(matches / k, 2)).sum()) - exact
        rows.append([k, f"{mean:+.4f} ± {2 * error:.4f}", f"{law:+.4f}", f"{float(xor_bits.bias(exact, 2, k)):+.4f}"])
        section.agrees(
            f"1/2 bit, R = {exact:.2f}, k = {k}: the bias under the binomial law", mean, law, error, name=f"bias-{k}"
        )
        if k < 100:
            section.refutes(
                f"1/2 bit, k = {k}: not unbiased, as the heading says", mean, 0.0, error, name="biased", sense="excludes"
            )
    section.table(["k", "measured bias of 1/2 bit", "binomial law", "second order"], rows)


def _draw(section: Section, table: dict[int, np.ndarray]) -> None:
    """Figures 3 and 4."""

    def draw(axes: Any) -> None:
        curve = np.linspace(0.45, 0.995, 200)
        single = table[1]
        for colour, m in zip(COLOURS, COMBINED, strict=False):
            name = f"1/{m} bit" if m > 1 else "1 bit"
            law = np.array([xor_bits.mean_squared_error(r, m, STORED) for r in curve])
            axes[0].semilogy(curve, law, color=colour, label=name)
            at, mse, error = table[m][:3]
            band(axes[0], at, mse, error, color=colour)
            if m > 1:
                axes[1].plot(curve, bbit.variance(curve, 1, 1) / xor_bits.variance(curve, m, 1), color=colour, label=name)
                gain = single[3] / table[m][3]
                near = _nearly_linear(at, m, 20.0)
                spread = gain * np.hypot(single[4] / single[3], table[m][4] / table[m][3])
                band(axes[1], at[near], gain[near], spread[near], color=colour)
        axes[1].axhline(1.0, color="black", lw=0.8)
        axes[0].set(xlabel="R", ylabel=f"MSE, {STORED} stored bits")
        axes[1].set(xlabel="R", ylabel="Var(1 bit) / Var(1/m bit)")
        for axis in axes:
            name_lines(axis)

    section.figure(
        "c-below", (1, 2), draw,
        "Left: mean square error of 1 to 1/8 bit at equal storage, from sets (points, ±2 standard errors) and by the "
        "binomial law "
        "(lines). Right: the gain over single bits, measured where (33) applies, and by (33); it tends to 2, 4 and 8.",
    )  # fmt: skip
