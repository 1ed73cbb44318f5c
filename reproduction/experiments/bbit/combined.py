"""Figure 9 of "b-Bit Minwise Hashing" (Figure 7 of its other version): two bits XORed into one."""

from __future__ import annotations

from typing import Any

import numpy as np
from estimates import Pair, estimated, estimates, pair_of, pooled_ratio, signatures_of, xored
from figures import COLOURS, band, name_lines
from report import Section, mean_error, variance_error

import lookalike as la
from bbit.word_sets import SAID, word_pairs
from lookalike.theory import bbit, minhash, xor_bits

SAMPLES = np.array([20, 50, 100, 200, 500, 1000])
HALF, ONE, WHOLE = "1/2 bit", "1 bit", "M"
PACKINGS = {HALF: la.sketches.XorBits(combined=2), ONE: la.sketches.BBit(bits=1), WHOLE: None}


def _theory(pair: Pair, name: str, samples: Any) -> np.ndarray:
    """(26), (11) or (3)."""
    r = pair.resemblance
    if name == HALF:
        return xor_bits.variance(r, 2, samples, *pair.densities)
    return bbit.variance(r, 1, samples, *pair.densities) if name == ONE else minhash.variance(r, samples)


def figure_9(quick: bool) -> Section:
    """Two XORed bits, one bit and whole samples, on four pairs of sets."""
    repetitions = 2000 if quick else 10_000
    section = Section(
        "a-combined",
        f"Figure 9: two bits combined into one, {repetitions:,} repetitions",
        "The variance of XORed bits of real minima differs from (26) by more than the limit of standard errors where (26) "
        "applies, "
        "that of single bits from (11), or that of whole samples from (3); XORed bits win below R = 0.5774 or lose above it; "
        "or the gain at high resemblance is not that of (27).",
    )
    section.say(SAID + " Bits are combined by `XorBits`; k bits of it come from 2k permutations.")
    rng = np.random.default_rng(90)
    pairs = word_pairs(rng)
    found = {name: estimates(rng, pair, repetitions, SAMPLES, PACKINGS) for name, pair in pairs.items()}
    _check_errors(section, pairs, found)
    gains, halves = _gains(section, rng, repetitions)
    cells = [(found[name][HALF][-1], _theory(pair, HALF, 1000)) for name, pair in pairs.items() if pair.resemblance > 0.5]
    ratio, error = pooled_ratio(*(np.array(v) for v in zip(*cells, *halves, strict=True)))
    section.agrees(
        f"(26) with 1,000 stored bits and more, {len(cells) + len(halves)} pairs: variance over theory",
        ratio,
        1.0,
        error,
        name="variance",
    )
    _below_one_half(section, rng, 200 if quick else 1000)

    fine = np.unique(np.geomspace(SAMPLES[0], SAMPLES[-1], 60).astype(int))

    def errors(axes: Any) -> None:
        for axis, (name, pair) in zip(axes, pairs.items(), strict=True):
            for colour, key in zip(COLOURS, PACKINGS, strict=False):
                if key == HALF:
                    law = [xor_bits.mean_squared_error(pair.resemblance, 2, int(k), *pair.densities) for k in fine]
                    axis.loglog(fine, law, color=colour, label=key)
                else:
                    axis.loglog(SAMPLES, _theory(pair, key, SAMPLES), color=colour, label=key)
                mse, error = mean_error((found[name][key] - pair.resemblance) ** 2)
                band(axis, SAMPLES, mse, error, color=colour)
            axis.loglog(SAMPLES, _theory(pair, HALF, SAMPLES), ":", color="black", lw=1.2, label="(26)")
            axis.set(
                xlabel="stored samples k (1/2 bit: 2k permutations)", ylabel="MSE", title=f"{name}, R = {pair.resemblance:.3f}"
            )
            name_lines(axis)

    section.figure(
        "a-combined-errors", (2, 2), errors,
        "Mean square errors on sets (points, ±2 standard errors), at equal numbers of stored samples. Lines: (11) for single "
        "bits, (3) for whole samples (M), the exact law of the root cut at 0 for XORed bits; dotted: (26), to which it tends. "
        "XORed bits are better than single ones at high resemblance, and equal at R = 0.591, where (26) lies on the line of 1 "
        "bit. They are worse at 0.112, though far better than (26), which knows no cut.",
    )  # fmt: skip

    def ratios(axes: Any) -> None:
        for shift, colour, (name, pair) in zip((0.92, 1.0, 1.08), COLOURS, list(pairs.items())[:3], strict=False):
            mse, error = mean_error((found[name][HALF] - pair.resemblance) ** 2)
            theory = _theory(pair, HALF, SAMPLES)
            axes[0].plot(SAMPLES * shift, mse / theory, color=colour, lw=0.7, label=f"R = {pair.resemblance:.2f}")
            band(axes[0], SAMPLES * shift, mse / theory, error / theory, color=colour)
        axes[0].axhline(1.0, color="black", lw=0.8)
        axes[0].set(xscale="log", xlabel="stored samples k", ylabel="MSE of 1/2 bit / (26)", ylim=(0.8, 1.8))
        name_lines(axes[0])
        r = np.linspace(0.35, 0.999, 100)
        axes[1].plot(r, bbit.variance(r, 1, 1, 0.02, 0.02) / xor_bits.variance(r, 2, 1, 0.02, 0.02), color=COLOURS[0])
        at, gain, error = (np.array(v) for v in zip(*gains, strict=True))
        band(axes[1], at, gain, error, color=COLOURS[1])
        axes[1].axhline(1.0, color="black", lw=0.8)
        axes[1].axvline(3**-0.5, color="grey", lw=0.8, ls="--")
        axes[1].set(xlabel="R (density 0.02)", ylabel="Var(1 bit) / Var(1/2 bit)")

    section.figure(
        "a-combined-ratios", (1, 2), ratios,
        "Left: mean square error of XORed bits over (26), ±2 standard errors; (26) is the limit for many samples. Right: "
        "variance of single bits over that of XORed bits, measured (points) and (27) before its limit (line); it passes 1 at "
        "R = 0.577 (dashed) and tends to 2.",
    )  # fmt: skip
    best = [
        [
            r,
            int(xor_bits.best_combined(r)),
            f"{float(bbit.variance(r, 1, 1) / xor_bits.variance(r, int(xor_bits.best_combined(r)), 1)):.1f}",
        ]
        for r in (0.6, 0.8, 0.9, 0.95, 0.99)
    ]
    section.say(
        "Beyond the paper: any number of bits can be combined, and the best number is about 0.797 / (1 − R). By theory, for "
        "sparse sets (measured in the section on 1/2, 1/4 and 1/8 bit):"
    )
    section.table(["R", "best number", "gain over single bits per stored bit"], best)
    return section


def _check_errors(section: Section, pairs: dict[str, Pair], found: Any) -> None:
    """(26), (11), (3), and the exact law of the truncated root at every k."""
    for key, what in ((ONE, "(11)"), (WHOLE, "(3)")):
        ratio, error = pooled_ratio(
            np.stack([found[name][key] for name in pairs]), np.stack([_theory(pair, key, SAMPLES) for pair in pairs.values()])
        )
        section.agrees(f"{key}: {what}, four pairs, every k: variance over theory", ratio, 1.0, error, name="plain")
    for name, pair in pairs.items():
        mse, error = mean_error((found[name][HALF] - pair.resemblance) ** 2)
        exact = [xor_bits.mean_squared_error(pair.resemblance, 2, int(k), *pair.densities) for k in SAMPLES]
        section.agrees(
            f"{name}, 1/2 bit: the mean square error of (25) under the binomial law of (23), each k",
            mse,
            exact,
            error,
            name="mse",
        )
    pair = pairs["LOW-PAY"]
    mse, error = (v[0] for v in mean_error((found["LOW-PAY"][HALF] - pair.resemblance) ** 2))
    section.below(
        "LOW-PAY, k = 20: the root cut at 0 keeps the error below a tenth of (26), as the paper says",
        mse, _theory(pair, HALF, 20) / 10, error, name="cut",
    )  # fmt: skip


def _gains(section: Section, rng: Any, repetitions: int) -> tuple[list[tuple[float, float, float]], list[tuple[Any, Any]]]:
    """Gains (R, Var(1) / Var(1/2), its error) at equal numbers of stored bits, sparse sets, on both sides of R = 0.5774.

    Returns also the estimates of 1/2 bit and their variance by (26), where it applies.
    """
    gains, halves = [], []
    for r in (0.45, 0.5, 0.68, 0.8, 0.9, 0.98):
        pair = pair_of(rng, 1 << 14, 0.02, 0.02, r)
        found = estimates(rng, pair, repetitions, [1024], {HALF: PACKINGS[HALF], ONE: PACKINGS[ONE]})
        (half, half_error), (one, one_error) = (tuple(float(v[0]) for v in variance_error(found[key])) for key in (HALF, ONE))
        gain = one / half
        if r > 0.6:
            halves.append((found[HALF][0], _theory(pair, HALF, 1024)))
        gains.append((pair.resemblance, gain, gain * ((half_error / half) ** 2 + (one_error / one) ** 2) ** 0.5))
        claim = f"R = {pair.resemblance:.3f}: Var(1 bit) / Var(1/2 bit) = {gain:.2f}, "
        if r < 3**-0.5:
            section.below(claim + "XORed bits lose", gain, 1.0, gains[-1][2], name="loses")
        else:
            section.below(claim + "XORed bits win", 1.0, gain, gains[-1][2], name="wins")
    at, gain, error = np.array(gains).T
    high = at > 0.75  # nearer to E = 1/2, (26) needs more samples
    rho = 2.0 * bbit.match_probability(at[high], 1, 0.02, 0.02) - 1.0
    section.agrees(
        "the gain at R = 0.8, 0.9, 0.98: 4 ρ² / (1 + ρ²), ρ = 2 E - 1, which (27) takes to 2",
        gain[high],
        4 * rho**2 / (1 + rho**2),
        error[high],
        name="limit",
    )
    return gains, halves


def _below_one_half(section: Section, rng: Any, repetitions: int) -> None:
    """Dense sets with E < 1/2: (25) tends to a wrong value, and the error that the library states reaches the right one."""
    packing, samples, density = la.sketches.XorBits(combined=2), 4096, 0.5
    section.say(
        "(24) takes the root for 2 E − 1, which is negative for dense sets with R < r/2: there (25) tends to r − R. The "
        "paper does "
        f"not say so. Sets of density {density}, {samples:,} stored bits:"
    )
    rows = []
    for r in (0.1, 0.4, 0.8):
        pair = pair_of(rng, 1 << 14, density, density, r)
        packed = packing.pack(signatures_of(rng, pair, repetitions, 2 * samples))
        mean, error = (float(v) for v in mean_error(xored(packed)))
        found, stated = estimated(packed, with_error=True)
        covered = int((np.abs(found - pair.resemblance) <= 1.96 * stated).sum())
        rows.append([f"{pair.resemblance:.3f}", f"{mean:.3f} ± {2 * error:.3f}", f"{covered} of {repetitions}"])
        if r < density / 2:
            mirror = density - pair.resemblance
            section.refutes(
                f"R = {r}: (25) does not estimate R", mean, pair.resemblance, error, name="ambiguous", sense="limits"
            )
            section.agrees(
                f"R = {r}: (25) tends to r - R",
                mean,
                mirror + xor_bits.bias(mirror, 2, samples, density, density),
                error,
                name="ambiguous",
                sense="limits",
            )
        elif r > 1.2 * density:
            section.agrees(
                f"R = {r}: (25), with its bias",
                mean,
                pair.resemblance + xor_bits.bias(pair.resemblance, 2, samples, *pair.densities),
                error,
                name="dense",
            )
        section.holds(
            f"R = {r}: 1.96 errors that the library states contain R for 90 % of the pairs and more",
            covered >= 0.9 * repetitions,
            name="nan",
        )
    section.table(["R", "mean of (25)", "R within 1.96 stated errors"], rows)
