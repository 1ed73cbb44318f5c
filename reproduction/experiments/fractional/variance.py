"""Figures 1 and 2 of "f-Fractional bit minwise hashing": variance and storage factor of f bits, with the variance corrected."""

from __future__ import annotations

from typing import Any

import numpy as np
from estimates import batches, equal_sets, estimated, pair_of, signatures_of
from figures import COLOURS, band, name_lines
from packed_codes import unpack
from report import Section, variance_error

import lookalike as la
from fractional.forms import drawn_variance, printed_variance
from lookalike.theory import mixture
from lookalike.theory.mixture import Part

MIXES: dict[float, list[tuple[int, float]]] = {
    1.0: [(1, 1.0)],
    1.25: [(1, 0.75), (2, 0.25)],
    1.5: [(1, 0.5), (2, 0.5)],
    1.75: [(1, 0.25), (2, 0.75)],
    2.0: [(2, 1.0)],
}
DENSITIES = (1e-10, 0.1, 0.5, 0.9)
POINTS = {1e-10: (0.1, 0.3, 0.5, 0.8), 0.1: (0.1, 0.3, 0.5, 0.8), 0.5: (0.2, 0.4, 0.6, 0.85), 0.9: (0.85, 0.9, 0.95)}
SLOTS, UNIVERSE, SPARSE = 256, 1 << 14, 1e-9


def parts_of(mix: list[tuple[int, float]]) -> list[Part]:
    """The slots of each kind."""
    return [Part(slots=round(share * SLOTS), bits=bits) for bits, share in mix]


def _measure(rng: np.random.Generator, density: float, resemblance: float, pairs: int, mixes: dict[Any, Any]) -> Any:
    """Estimates of each mixture from the same signatures, with the exact resemblance and densities of the sets."""
    packings = {f: la.sketches.Fractional(shares=parts) for f, parts in mixes.items()}
    found: dict[Any, list[np.ndarray]] = {f: [] for f in mixes}
    pair = None if density < SPARSE else pair_of(rng, UNIVERSE, density, density, resemblance)
    for begin, end in batches(pairs, 4 * SLOTS):
        if pair is None:
            shingles, exact = equal_sets(rng, end - begin, 100, resemblance)
            signatures = la.sketches.MinHash(permutations=SLOTS, seed=21).sign(shingles)
        else:
            signatures, exact = signatures_of(rng, pair, end - begin, SLOTS), pair.resemblance
        for f, packing in packings.items():
            found[f].append(estimated(packing.pack(signatures)))
    return {f: np.concatenate(each) for f, each in found.items()}, exact, (0.0, 0.0) if pair is None else pair.densities


def figures_1_and_2(quick: bool) -> Section:
    """Variances of mixtures of one and two bits, at four densities."""
    pairs = 3000 if quick else 20_000
    section = Section(
        "c-variance",
        f"Figures 1 and 2: variance and storage factor of f bits, {pairs:,} pairs of sets",
        "The variance of the library's estimates from f bits per slot differs from the corrected (17) by more than the "
        "limit of standard "
        "errors, at any density; or from the printed (17) by less; or bits drawn at random for each slot err as little as "
        "a fixed "
        "assignment.",
    )
    section.say(
        f"Pairs of sets of equal size, k = {SLOTS} slots, `Fractional`: random keys hashed by `MinHash` for density 10⁻¹⁰ "
        "(hashes have "
        f"a density of 0), random subsets of [0, {UNIVERSE:,}) under true random permutations for 0.1, 0.5 and 0.9. The "
        "paper prints w² for w "
        "in the numerator of (17), (20) and (42): a part's share of matches rests on w k slots, not on k."
    )
    rng = np.random.default_rng(17)
    points: dict[float, list[tuple[float, dict[Any, Any]]]] = {}
    cells: dict[float, list[tuple[float, float, float, float]]] = {f: [] for f in MIXES}
    for density in DENSITIES:
        points[density] = []
        for r in POINTS[density]:
            found, exact, densities = _measure(rng, density, r, pairs, MIXES)
            spreads = {f: tuple(float(v) for v in variance_error(values)) for f, values in found.items()}
            points[density].append((exact, spreads))
            for f, parts in MIXES.items():
                right = float(mixture.variance(exact, parts_of(parts), *densities))
                cells[f].append((*spreads[f], right, printed_variance(exact, parts, SLOTS, *densities)))
    _against_both(section, cells)
    _random_bits(section, rng, pairs)
    _claims(section, points)
    _draw(section, points, cells)
    return section


def _against_both(section: Section, cells: dict[float, Any]) -> None:
    """The corrected formula holds and the printed one does not; a mixture of three."""
    for f, values in cells.items():
        variance, error, right, printed = np.array(values).T
        section.agrees(
            f"f = {f:g}: corrected (17), {len(values)} densities and resemblances", variance, right, error, name="corrected"
        )
        ratio = (variance / right).mean()
        section.agrees(
            f"f = {f:g}: variance over corrected (17), mean",
            ratio,
            1.0,
            ((error / right) ** 2).sum() ** 0.5 / len(values),
            name="ratio",
        )
        if f not in (1.0, 2.0):
            section.refutes(f"f = {f:g}: not (17) as printed", variance, printed, error, name="printed", sense="excludes")
    at = POINTS[DENSITIES[0]].index(0.5)
    one = SLOTS * np.array(cells[1.5][at])
    section.observe(f"f = 1.5, R = 0.5, sparse sets: k Var is {one[0]:.4f}", name="f-1.5", found=one[0], error=one[1])
    values = np.array([cells[f] for f in MIXES])
    section.table(
        ["f", "measured over corrected", "measured over printed"],
        [
            [f"{f:g}", f"{(v[:, 0] / v[:, 2]).mean():.3f}", f"{(v[:, 0] / v[:, 3]).mean():.3f}"]
            for f, v in zip(MIXES, values, strict=True)
        ],
    )


def _random_bits(section: Section, rng: np.random.Generator, pairs: int) -> None:
    """Three kinds of slots; kinds drawn at random; the best weights."""
    three = [(1, 0.25), (2, 0.25), (4, 0.5)]
    two = [(1, 0.5), (8, 0.5)]
    found, exact, _ = _measure(rng, 0.0, 0.6, pairs, {3: three})
    variance, error = variance_error(found[3])
    section.agrees(
        "(42) corrected, three kinds of slots, R = 0.6", variance, mixture.variance(exact, parts_of(three)), error, name="three"
    )
    section.observe(
        f"k Var of the three kinds is {SLOTS * variance:.4f}", name="three-value", found=SLOTS * variance, error=SLOTS * error
    )
    section.refutes(
        "not (42) as printed", variance, printed_variance(exact, three, SLOTS), error, name="three-printed", sense="excludes"
    )
    shingles, exact = equal_sets(rng, pairs, 100, 0.1)
    signatures = la.sketches.MinHash(permutations=SLOTS, seed=22).sign(shingles)
    codes = {bits: unpack(la.sketches.BBit(bits=bits).pack(signatures))[0] for bits, _ in two}
    drawn = rng.random((pairs, SLOTS)) < two[0][1]
    match = np.where(drawn, *((codes[bits][::2] == codes[bits][1::2]) for bits, _ in two))
    variance, error = variance_error(mixture.resemblance(match.mean(1), parts_of(two)))
    theory = drawn_variance(exact, parts_of(two))
    section.agrees(
        "bits drawn at random for each slot, b = 1 or 8, R = 0.1: E_f (1 - E_f)", variance, theory, error, name="random"
    )
    packed = la.sketches.Fractional(shares=two).pack(signatures)
    fixed, fixed_error = variance_error(estimated(packed))
    section.below("a fixed assignment errs less", fixed, variance, np.hypot(error, fixed_error), name="fixed")
    likely, likely_error = variance_error(estimated(packed, most_likely=True))
    section.below(
        "and the most likely resemblance less than the pooled estimate (15)",
        likely,
        fixed,
        np.hypot(likely_error, fixed_error),
        name="likely",
    )


def _claims(section: Section, points: dict[float, Any]) -> None:
    """Which f uses a bit best."""
    curve = np.linspace(0.805, 0.995, 200)
    factors = np.stack([mixture.storage_factor(curve, parts_of(parts), 0.9, 0.9) for parts in MIXES.values()])
    section.holds(
        "by formula, at density 0.9 f = 1 has the least storage factor of the five at "
        f"{(factors.argmin(0) == 0).mean():.0%} of R from 0.805 to 0.995",
        bool((factors.argmin(0) == 0).mean() > 0.95),
        name="dense-factor",
    )
    one, two = (np.array([[f * v for v in spreads[f]] for _, spreads in points[0.9]]).T for f in (1.0, 2.0))
    section.below(
        "measured at density 0.9: variance times bits is less for f = 1 than for f = 2",
        one[0],
        two[0],
        np.hypot(one[1], two[1]),
        name="dense",
    )
    sparse = dict(zip(POINTS[1e-10], points[1e-10], strict=True))
    for r, better, worse in ((0.1, 2.0, 1.0), (0.8, 1.0, 2.0)):
        low, high = (np.array(sparse[r][1][f]) * f for f in (better, worse))
        section.below(
            f"sparse sets, R = {r}: f = {better:g} uses a bit better than f = {worse:g}",
            low[0],
            high[0],
            np.hypot(low[1], high[1]),
            name="sparse",
        )
    thirds = [float(mixture.storage_factor(1 / 3, parts_of(MIXES[f]))) for f in (1.0, 2.0)]
    section.equals(
        "the two are equal at R = 1/3 for sparse sets (the paper reads off about 0.4)",
        thirds[0],
        thirds[1],
        1e-12,
        name="third",
    )


def _draw(section: Section, points: dict[float, Any], cells: dict[float, Any]) -> None:
    """Figures 1 and 2, and measured over theory."""

    def panels(factor: bool) -> Any:
        def draw(axes: Any) -> None:
            for axis, density in zip(axes, DENSITIES, strict=True):
                curve = np.linspace(max(0.01, 2 * density - 1 + 1e-6), 0.995, 150)
                for colour, (f, parts) in zip(COLOURS, MIXES.items(), strict=False):
                    times = f if factor else 1.0
                    axis.plot(
                        curve,
                        times * SLOTS * mixture.variance(curve, parts_of(parts), density, density),
                        color=colour,
                        label=f"f = {f:g}",
                    )
                    at, values = zip(*((exact, spreads[f]) for exact, spreads in points[density]), strict=True)
                    band(axis, at, *(times * SLOTS * np.array(values).T), color=colour)
                axis.set(xlabel="R", ylabel="f · k · variance" if factor else "k · variance", title=f"r1 = r2 = {density:g}")
                name_lines(axis)

        return draw

    section.figure(
        "c-variance", (2, 2), panels(False),
        "k times the variance of f bits: corrected (17) (lines) and estimates of the library from sets (points, ±2 standard "
        "errors). More bits err less at every density, f = 1.25 to 1.75 between 1 and 2 bits.",
    )  # fmt: skip
    section.figure(
        "c-variance-storage", (2, 2), panels(True),
        "The storage factor f · k · variance: lower uses a bit better. For sparse sets 2 bits are better below R = 1/3 and "
        "1 bit above; "
        "at density 0.9 it is 1 bit almost everywhere.",
    )  # fmt: skip

    def ratios(axes: Any) -> None:
        for axis, column, name in zip(axes, (2, 3), ("corrected (17)", "(17) as printed"), strict=True):
            for shift, (f, values) in enumerate(cells.items()):
                variance, error, *theory = np.array(values).T
                right = theory[column - 2]
                band(
                    axis,
                    f + 0.012 * (np.arange(len(values)) - len(values) / 2),
                    variance / right,
                    error / right,
                    color=COLOURS[shift],
                )
            axis.axhline(1.0, color="black", lw=0.8)
            axis.set(xlabel="f", ylabel=f"measured variance / {name}", ylim=(0.7, 2.3), xticks=list(MIXES))

    section.figure(
        "c-variance-ratio", (1, 2), ratios,
        "Measured variance over the corrected formula and over the printed one, for all densities and resemblances, ±2 "
        "standard "
        "errors. The printed formula is too low between whole numbers of bits, by half at f = 1.5.",
    )  # fmt: skip
