"""Section 5.2 of "b-Bit Minwise Hashing": densities stored in 4 or 8 bits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from estimates import estimated, pair_of
from figures import COLOURS, band
from report import Section, mean_error, variance_error

import lookalike as la
from lookalike.theory import bbit

UNIVERSE, SLOTS = 1 << 12, 128
SETS = (
    (0.005, 0.3), (0.02, 0.8), (0.06, 0.3), (0.06, 0.8), (0.13, 0.3), (0.16, 0.8), (0.22, 0.3), (0.27, 0.3), (0.27, 0.8), (0.37, 0.8),
    (0.38, 0.3), (0.45, 0.3), (0.49, 0.8), (0.57, 0.5), (0.57, 0.771), (0.62, 0.3), (0.66, 0.8), (0.76, 0.8), (0.84, 0.8), (0.89, 0.85),
)  # fmt: skip
STORED = (4, 8)


def _estimates(rng: Any, density: float, resemblance: float, repetitions: int) -> dict[Any, np.ndarray]:
    """Estimates of 1-bit signatures of random sets: with densities as they are, in 4 and in 8 bits."""
    found: dict[Any, list[np.ndarray]] = {None: [], **{bits: [] for bits in STORED}}
    for begin in range(0, repetitions, 50):
        pairs = [pair_of(rng, UNIVERSE, density, density, resemblance) for _ in range(min(50, repetitions - begin))]
        values = [members for pair in pairs for members in (pair.left, pair.right)]
        offsets = np.cumsum([0, *map(len, values)])
        scheme = la.sketches.PermutationMinHash(universe=UNIVERSE, permutations=SLOTS, seed=int(rng.integers(1 << 62)))
        packed = la.sketches.BBit(bits=1).pack(scheme.sign_sets(np.concatenate(values), offsets))
        for bits, each in found.items():
            each.append(estimated(packed if bits is None else packed.with_quantized_densities(bits)))
    return {bits: np.concatenate(each) for bits, each in found.items()}


def section_5_2(quick: bool) -> Section:
    """Bias and variance of estimates from quantized densities."""
    repetitions = 120 if quick else 600
    section = Section(
        "a-quantized",
        f"Section 5.2: densities stored in 4 or 8 bits, {repetitions:,} pairs of sets each",
        "Estimates from quantized densities differ in the mean from those with exact densities, for the same signatures, "
        "by other "
        "than (r' − r)(1 − R)/(2 − r), by more than the limit of standard errors; their variance is not (2 − r')²/(2 − r)² "
        "times "
        "as large; or exact densities give a biased estimate.",
    )
    section.say(
        f"Random pairs of sets of equal size in [0, {UNIVERSE:,}), signed by `PermutationMinHash` with {SLOTS} "
        "permutations, cut to "
        "1 bit. The library stores the middle of each of 16 or 256 steps, so a density is off by at most 1/32 or 1/512; "
        "the paper "
        "bounds the bias by 1/16 and 1/256."
    )
    rng = np.random.default_rng(52)
    sets, found = [], []
    for density, resemblance in SETS:
        pair = pair_of(rng, UNIVERSE, density, density, resemblance)
        sets.append((pair.densities[0], pair.resemblance))
        found.append(_estimates(rng, density, resemblance, repetitions))
    r, resemblance = np.array(sets).T
    exact = np.stack([each[None] for each in found])
    mean, error = mean_error(exact)
    section.agrees("with exact densities the estimates are unbiased", mean, resemblance, error, name="unbiased")
    variance, spread = variance_error(exact)
    section.agrees(
        "and have the variance (1 - r + R)(1 - R) / k",
        variance,
        (1 - r + resemblance) * (1 - resemblance) / SLOTS,
        spread,
        name="variance",
    )
    biases: dict[int, Any] = {}
    for bits in STORED:
        stored = bbit.quantized(r, 1 << bits)
        rough = np.stack([each[bits] for each in found])
        bias, error = mean_error(rough - exact)
        theory = bbit.quantization_bias(resemblance, r, stored)
        biases[bits] = bias, error
        section.agrees(
            f"{bits} bits: the bias, against exact densities of the same signatures", bias, theory, error, name="bias"
        )
        section.equals(
            f"{bits} bits: and, exactly, what the formula gives at the mean of the estimates with exact densities, relative to it",
            bias / bbit.quantization_bias(exact.mean(1), r, stored),
            1.0,
            1e-9,
            name="bias",
        )
        ratio = rough.var(1) / exact.var(1)
        section.equals(
            f"{bits} bits: the factor of the variance", ratio, bbit.quantization_variance_ratio(r, stored), 1e-9, name="factor"
        )
        change = bbit.quantization_variance_difference(resemblance, r, stored, SLOTS)
        section.equals(
            f"{bits} bits: the paper's |Var - Var'|, over Var",
            np.abs(rough.var(1) - exact.var(1)) / exact.var(1),
            change / bbit.variance(resemblance, 1, SLOTS, r, r),
            1e-9,
            name="change",
        )
        grid = np.linspace(0, 1, 10_001)
        section.equals(
            f"{bits} bits: of 10,001 densities from 0 to 1, the stored one is off by at most 1/{2 << bits}, times {2 << bits}",
            (2 << bits) * np.abs(bbit.quantized(grid, 1 << bits) - grid).max(),
            1.0,
            1e-9,
            name="bound",
        )
        section.below(
            f"{bits} bits: each bias is below 1/{2 << bits}, half of the paper's bound",
            np.abs(bias),
            0.5 / (1 << bits),
            error,
            name="bound",
        )
    section.say("Bias of the estimate, measured ± 2 standard errors, and by the formula:")
    rows = []
    for i, (density, same) in enumerate(sets):
        cells = [f"{density:.3f}", f"{same:.3f}"]
        for bits in STORED:
            theory = float(bbit.quantization_bias(same, density, bbit.quantized(density, 1 << bits)))
            cells += [f"{biases[bits][0][i]:+.5f} ± {2 * biases[bits][1][i]:.5f}", f"{theory:+.5f}"]
        rows.append(cells)
    section.table(["r", "R", "4 bits", "formula", "8 bits", "formula"], rows)
    section.say(
        f"A 1-bit sketch of {SLOTS} samples takes {SLOTS} bits. A density of 64 bits adds {64 / SLOTS:.0%} to it, one of 8 "
        "bits "
        f"{8 / SLOTS:.1%}, one of 4 bits {4 / SLOTS:.1%}. Hashed sets need no density at all: theirs is 0."
    )

    def draw(axes: Any) -> None:
        edges = np.arange(17) / 16
        for colour, same in zip(COLOURS, (0.3, 0.8), strict=False):
            at = np.flatnonzero(np.abs(resemblance - same) < 0.01)
            for low, high in pairwise(edges):
                ends = np.array([low, min(high, (1 + same) / 2)])  # 2 r - 1 <= R
                if ends[1] > low:
                    bias = bbit.quantization_bias(same, ends, (low + high) / 2)
                    axes[0].plot(ends, bias, color=colour, lw=0.9, label="_" if low else f"R = {same}")
            band(axes[0], r[at], biases[4][0][at], biases[4][1][at], color=colour)
            axes[0].annotate(
                f"R = {same}", (0.9, {0.3: 0.013, 0.8: 0.0075}[same]), color=colour, ha="right", va="center", fontsize=9,
                xycoords="data",
            )  # fmt: skip
        axes[0].set(xlabel="density r", ylabel="bias of the estimate", title="4 bits per density")
        axes[1].plot([-1, 1], [-1, 1], color="black", lw=0.8)
        for colour, bits in zip(COLOURS[2:], STORED, strict=False):
            half = 0.5 / (1 << bits)
            scale = (1 - resemblance) / (2 - r) * half
            off = (bbit.quantized(r, 1 << bits) - r) / half
            band(axes[1], off, biases[bits][0] / scale, biases[bits][1] / scale, color=colour, label=f"{bits} bits")
        axes[1].set(xlabel="(r' - r) / half a step", ylabel="bias (2 - r) / (1 - R) / half a step", title="all sets")
        axes[1].legend(loc="upper left")

    section.figure(
        "a-quantized-bias", (1, 2), draw,
        "Bias of the 1-bit estimate from densities stored in 4 or 8 bits, sets (points, ±2 standard errors, mostly smaller than "
        "the points). Left: 4 bits, and the formula (lines), which begins anew with each of the 16 steps; dense sets cannot "
        "resemble each other little. Right: all sets, both numbers of bits, in units of half a step, which is 1/32 or 1/512, and "
        "the formula (line); with 8 bits all biases are below 0.001.",
    )  # fmt: skip
    return section
