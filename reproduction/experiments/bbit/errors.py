"""Biases and mean square errors of the b-bit estimates: ten pairs of words, sampled and as real sets."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from figures import band, name_lines
from report import DATA, Section, limit, mean_error, variance_error
from sampling import minima

import lookalike as la
from bbit.words import REPETITIONS, SLOTS, told_source
from bbit.wordsets import BITS, PAIRS, Repeated, WordSets, licence_words, numbers, repeated, resemblance, stand_ins
from lookalike.theory import bbit

KS = np.array([10, 20, 50, 100, 200, 500])
ORDERED_AT = 2  # k = 50, the index in KS: there the order of the variances is checked
DENSE = ("RIGHTS-RESERVED", "OF-AND", "TIME-JOB", "A-TEST")


def theory(bits: int | None, r: float, left: float, right: float) -> float:
    """Return k Var by (11), or by (3) for whole minima."""
    return float(bbit.variance(r, bits, 1, left, right)) if bits else r * (1 - r)


def name_of(bits: int | None) -> str:
    """Return the name of a number of bits in figures and tables."""
    return f"b = {bits}" if bits else "M"


def sampled(
    rng: np.random.Generator, pair: tuple[str, ...], repetitions: int
) -> tuple[dict[int | None, np.ndarray], np.ndarray]:
    """Return estimates from the first k of 500 sampled minima, by bits: (KS, repetitions); and those of one bit with 2^-b."""
    left, right, r = numbers(pair)
    found = {bits: np.empty((len(KS), repetitions)) for bits in BITS}
    blind = np.empty((len(KS), repetitions))
    for begin in range(0, repetitions, 1250):
        part = slice(begin, min(begin + 1250, repetitions))
        one, other = minima(rng, r, left, right, (part.stop - begin, int(KS[-1])))
        apart = one ^ other
        for bits in BITS:
            agree = apart == 0 if bits is None else apart & ((1 << bits) - 1) == 0
            share = (np.add.reduceat(agree, np.r_[0, KS[:-1]], axis=1, dtype=np.int64).cumsum(1) / KS).T
            found[bits][:, part] = share if bits is None else bbit.resemblance(share, bits, left, right)
            if bits == 1:
                blind[:, part] = bbit.resemblance(share, 1)
    return found, blind


def in_order(section: Section, what: str, rows: list[tuple[tuple[float, float, float], dict[int | None, np.ndarray]]]) -> None:
    """Check Var(1) > ... > Var(4) > Var(M) on paired samples, for gaps that by theory are too large to be missed."""
    gaps, errors, steps, tight = [], [], 0, 0
    for (left, right, r), found in rows:
        squares = {b: (x - x.mean()) ** 2 for b, x in found.items()}
        for few, more in pairwise(BITS):
            lost = squares[few] - squares[more]
            error = lost.std(ddof=1) / len(lost) ** 0.5
            expected = (
                (theory(few, r, left, right) - theory(more, r, left, right))
                * squares[None].mean()
                / theory(None, r, left, right)
            )
            steps += 1
            if error > 0 and expected > (limit(40) + 3) * error:
                gaps.append(lost.mean())
                errors.append(error)
            else:
                tight += 1
    section.below(
        f"{what}: variances fall with the number of bits, Var(1) > Var(2) > Var(3) > Var(4) > Var(M), in the "
        f"{len(gaps)} of {steps} steps that this "
        f"many repetitions can resolve (in {tight} the gap is too small by theory)", np.zeros(len(gaps)), gaps, errors, name="order",
    )  # fmt: skip


def _sampled(section: Section, repetitions: int) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    shape = (len(PAIRS), len(BITS), len(KS))
    out = {name: np.empty(shape) for name in ("bias", "bias_error", "variance", "variance_error", "mse", "theory")}
    blind, blind_error, blind_expected, ordered = [], [], [], []
    for i, pair in enumerate(PAIRS):
        left, right, r = numbers(pair)
        found, bare = sampled(rng, pair, repetitions)
        for j, bits in enumerate(BITS):
            out["bias"][i, j], out["bias_error"][i, j] = mean_error(found[bits] - r)
            out["variance"][i, j], out["variance_error"][i, j] = variance_error(found[bits])
            out["mse"][i, j] = ((found[bits] - r) ** 2).mean(-1)
            out["theory"][i, j] = theory(bits, r, left, right) / KS
        ordered.append(((left, right, r), {b: found[b][ORDERED_AT] for b in BITS}))
        mean, error = mean_error(bare[-1] - r)
        blind.append(mean)
        blind_error.append(error)
        blind_expected.append(bbit.resemblance(bbit.match_probability(r, 1, left, right), 1) - r)
    cells = f"{len(PAIRS)} pairs, b = 1, 2, 3, 4 and whole, k = 10 to 500"
    section.agrees(f"sampled minima, {cells}: no bias", out["bias"], 0.0, out["bias_error"], name="bias")
    section.agrees(
        f"sampled minima, {cells}: the variances of (11) and (3)",
        out["variance"],
        out["theory"],
        out["variance_error"],
        name="variance",
    )
    mean = (out["variance"] / out["theory"]).mean(0)
    error = ((out["variance_error"] / out["theory"]) ** 2).sum(0) ** 0.5 / len(PAIRS)
    section.agrees("sampled minima: so are their ratios, averaged over the pairs", mean, 1.0, error, name="ratio")
    section.refutes(
        "sampled minima: variances by 5 % larger than those of (11) and (3) are excluded", mean, 1.05, error, name="sharp"
    )
    section.refutes("sampled minima: and smaller by 5 %", mean, 0.95, error, name="sharp")
    in_order(section, f"sampled minima at k = {KS[ORDERED_AT]}", ordered)
    closed = [[theory(b, r, left, right) for b in BITS] for left, right, r in (numbers(p) for p in PAIRS)]
    section.holds("by (11) and (3) all forty steps are falls", bool((np.diff(closed, axis=1) < 0).all()), name="order-theory")
    section.agrees(
        "(1 + R) / 2 in place of Theorem 1: the bias of one bit is what Theorem 1 foresees, for all ten pairs",
        blind,
        blind_expected,
        blind_error,
        name="heuristic-bias",
    )
    dense = [i for i, pair in enumerate(PAIRS) if pair[0] in DENSE]
    for i in dense:
        section.refutes(
            f"{PAIRS[i][0]}: (1 + R) / 2 is excluded, the estimate is off by {blind[i]:+.3f}",
            blind[i],
            0.0,
            blind_error[i],
            name="heuristic",
        )
    return out


def _hashed(section: Section, sets: WordSets, pair: tuple[int, int], repetitions: int) -> None:
    """Estimate a dense pair from 64-bit hashes: with densities of 0, and wrongly with those of the universe."""
    values, offsets = sets.members(pair)
    shingles = la.sketches.Shingles.from_arrays(values, offsets)
    r, densities = resemblance(sets, *pair), sets.densities[list(pair)]
    right, wrong = np.empty(repetitions), np.empty(repetitions)
    for seed in range(repetitions):
        packed = la.sketches.BBit(bits=1).pack(la.sketches.MinHash(permutations=SLOTS, seed=seed).sign(shingles))
        right[seed] = packed.estimated_resemblance(0, 1)
        dense = la.sketches.PackedSignatures(
            packed.words, packed.layout, packed.packing, packed.scheme, packed.shingling, densities
        )
        wrong[seed] = dense.estimated_resemblance(0, 1)
    (mean, error), (off, off_error) = mean_error(right), mean_error(wrong)
    words = "-".join(sets.words[i] for i in pair)
    section.agrees(
        f"{words} by 64-bit hashes (`MinHash`): densities are 0 and (1 + R) / 2 is right", mean, r, error, name="hashes"
    )
    section.refutes(
        f"{words} by 64-bit hashes: with the densities of the documents one bit is off by {off - r:+.3f}",
        off,
        r,
        off_error,
        name="hash-densities",
    )


def _real(section: Section, sets: WordSets, pairs: list[tuple[int, int]], found: Repeated) -> dict[str, np.ndarray]:
    exact = np.array([resemblance(sets, *pair) for pair in pairs])
    densities = [tuple(sets.densities[list(pair)]) for pair in pairs]
    expected = np.array([[theory(b, r, *d) / found.slots for b in BITS] for r, d in zip(exact, densities, strict=True)])
    stack = np.stack([found.found[b] for b in BITS], axis=1)  # (pairs, bits, repetitions)
    bias, bias_error = mean_error(stack - exact[:, None, None])
    variance, error = variance_error(stack)
    many = stack.shape[-1]
    section.agrees(
        f"algorithm 1 from sets to estimates, ten pairs of words, {many:,} repetitions of {found.slots} permutations: no bias",
        bias,
        0.0,
        bias_error,
        name="algorithm-bias",
    )
    section.agrees("algorithm 1: the variances of (11) and (3)", variance, expected, error, name="algorithm-variance")
    squares = ((stack - stack.mean(-1, keepdims=True)) ** 2 / expected[:, :, None]).mean(0)  # pairs of words share permutations
    section.agrees(
        "algorithm 1: so are their ratios, averaged over the pairs",
        squares.mean(-1),
        1.0,
        squares.std(-1) / many**0.5,
        name="algorithm-ratio",
    )
    in_order(section, f"algorithm 1 at k = {found.slots}", [
        ((*d, r), {b: found.found[b][i] for b in BITS}) for i, (r, d) in enumerate(zip(exact, densities, strict=True))
    ])  # fmt: skip
    blind, blind_error = mean_error(found.blind - exact[:, None])
    ones = [bbit.resemblance(bbit.match_probability(r, 1, *d), 1) - r for r, d in zip(exact, densities, strict=True)]
    section.agrees(
        "algorithm 1 without densities: one bit is biased as Theorem 1 foresees",
        blind,
        ones,
        blind_error,
        name="algorithm-heuristic",
    )
    return {"bias": bias, "bias_error": bias_error, "ratio": variance / expected, "ratio_error": error / expected}


def _panels(axes: Any, draw: Any) -> None:
    for i, (axis, pair) in enumerate(zip(axes, PAIRS, strict=True)):
        draw(axis, i)
        axis.set(xscale="log", xlabel="k", title=f"{pair[0]}, R = {pair[3]}")
        axis.set_xticks(KS, KS)
        axis.minorticks_off()


def _draw_sampled(section: Section, out: dict[str, Any], repetitions: int) -> None:
    apart = 1.07 ** (np.arange(len(BITS)) - 2)  # side by side, not one on another

    def biases(axis: Any, i: int) -> None:
        axis.axhline(0, color="grey", lw=0.8)
        for j, bits in enumerate(BITS):
            # Times sqrt(k): bias and error fall alike, and stay visible.
            band(
                axis,
                KS * apart[j],
                out["bias"][i, j] * KS**0.5,
                out["bias_error"][i, j] * KS**0.5,
                color=f"C{j}",
                ms=3,
                label=name_of(bits),
            )
        axis.set_ylabel("bias x sqrt(k)")
        if i < 2:
            axis.legend(ncols=5, fontsize=7, handletextpad=0.1, columnspacing=0.6, loc="upper center")
            low, high = axis.get_ylim()
            axis.set_ylim(low, high + 0.25 * (high - low))

    def errors(axis: Any, i: int) -> None:
        for j, bits in enumerate(BITS):
            axis.loglog(KS, out["theory"][i, j], color=f"C{j}", label=name_of(bits))
            axis.loglog(KS, out["mse"][i, j], "o", color=f"C{j}", label="_measured")
        axis.set_ylabel("MSE")
        name_lines(axis)

    def ratios(axis: Any, i: int) -> None:
        axis.axhline(1, color="grey", lw=0.8)
        for j, bits in enumerate(BITS):
            share = 1 / out["theory"][i, j]
            band(
                axis,
                KS * apart[j],
                out["mse"][i, j] * share,
                out["variance_error"][i, j] * share,
                color=f"C{j}",
                ms=3,
                label=name_of(bits),
            )
        axis.set_ylabel("MSE / theory")
        if i < 2:
            axis.legend(ncols=5, fontsize=7, handletextpad=0.1, columnspacing=0.6, loc="upper center")
            low, high = axis.get_ylim()
            axis.set_ylim(low, high + 0.25 * (high - low))

    section.figure(
        "a-errors-bias", (5, 2), lambda axes: _panels(axes, biases),
        f"Biases of {repetitions:,} repetitions, times the root of k, with two standard errors: none is systematic. "
        f"The values of a panel share their "
        "minima, so their errors are correlated.",
    )  # fmt: skip
    section.figure(
        "a-errors-mse", (5, 2), lambda axes: _panels(axes, errors),
        "Mean square errors (dots) and variances by (11) and (3) (lines). More bits err less; for dense sets, three "
        "and four bits are as good as "
        "whole minima, and their lines coincide.",
    )  # fmt: skip
    section.figure(
        "a-errors-ratio", (5, 2), lambda axes: _panels(axes, ratios),
        "The same errors divided by theory, with bars of two standard errors: the differences that the curves above "
        "hide are no larger than chance explains.",
    )  # fmt: skip


def figures_2_and_3(quick: bool) -> Section:
    """Bias and mean square error of the estimates of ten pairs; algorithm 1 on real sets."""
    repetitions = 2500 if quick else 25_000
    section = Section(
        "a-errors", "Biases and mean square errors of ten pairs",
        "A bias, or a variance unlike (11) or (3), beyond chance in any of 300 cells; variances at equal k that do "
        "not fall with the number of bits; "
        "dense sets for which the heuristic (1 + R) / 2 does as well as Theorem 1.",
    )  # fmt: skip
    section.say(
        f"The papers repeat 25,000 times at each k; here it is {repetitions:,} times. The sets of words behind the ten "
        f"pairs are not to be had, only their densities "
        "and resemblances: the minima are sampled from the law of a random permutation of a large universe, which "
        "none of the "
        "checked formulas enters. Each repetition has 500 minima, of which the first k are used."
    )
    out = _sampled(section, repetitions)
    _draw_sampled(section, out, repetitions)
    sets = licence_words(DATA)
    if sets is None:
        return section.left_out("licence texts")
    section.say(
        f"Then the library runs algorithm 1 on sets. {told_source(sets)} The pairs are those of the section on Table 1."
    )
    pairs = stand_ins(sets)
    real = _real(section, sets, pairs, repeated(sets, tuple(pairs), SLOTS, REPETITIONS[quick]))
    _hashed(section, sets, pairs[2], 500 if quick else 4000)

    def draw(axes: Any) -> None:
        for j, bits in enumerate(BITS):
            at = np.arange(len(pairs)) + 0.12 * (j - 2)
            band(axes[0], at, real["bias"][:, j], real["bias_error"][:, j], color=f"C{j}", ms=3, label=name_of(bits))
            band(axes[1], at, real["ratio"][:, j], real["ratio_error"][:, j], color=f"C{j}", ms=3, label=name_of(bits))
        axes[0].axhline(0, color="grey", lw=0.8)
        axes[1].axhline(1, color="grey", lw=0.8)
        axes[0].set(ylabel="bias")
        axes[1].set(ylabel="variance / theory")
        for axis in axes:
            axis.set_xticks(
                np.arange(len(pairs)),
                ["-".join(sets.words[i] for i in pair) for pair in pairs],
                rotation=20,
                ha="right",
                fontsize=8,
            )
            axis.legend(ncols=5, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 1.15))

    section.figure(
        "a-errors-sets", (2, 1), draw,
        f"Algorithm 1 on ten pairs of words, {SLOTS} permutations: biases, and variances over theory, with two "
        f"standard errors.",
    )  # fmt: skip
    return section
