"""Storage factors: how much less b bits need than whole minima for the same variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from figures import band, name_lines
from report import Section, variance_error
from sampling import minima

from bbit import laws
from lookalike.theory import bbit

BITS = (1, 2, 3, 4)
DENSITIES = (1e-10, 0.1, 0.5, 0.9)
SPARSE = 1e-10
SUMMABLE = 1e-4  # a sum over multiples of 2^b has ten thousand terms and more at this density
SAMPLES = 40  # minima a repetition


def least(density: float) -> float:
    """Return the least resemblance that two sets of a density can have."""
    return max(0.0, 2 * density - 1)


def summed_ratio(bits_from: int | None, bits_to: int, resemblance: float, left: float, right: float) -> float:
    """Return B(bits_from) / B(bits_to) by series, where whole values count as 64 bits."""
    factors = [(b or 64) * laws.variance(b, resemblance, left, right) for b in (bits_from, bits_to)]
    return factors[0] / factors[1]


def estimates(rng: np.random.Generator, resemblance: float, density: float, repetitions: int, whole: int = 64) -> np.ndarray:
    """Return estimates of 1, 2, 3, 4 and ``whole`` bits from minima of sets of equal density: (5, repetitions)."""
    one, other = minima(rng, resemblance, density, density, (repetitions, SAMPLES))
    apart = one ^ other
    shares = [((apart if b == 64 else apart & ((1 << b) - 1)) == 0).mean(1) for b in (*BITS, whole)]
    return np.stack([bbit.resemblance(x, b, density, density) for x, b in zip(shares, (*BITS, whole), strict=True)])


def ratio_error(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return (ratio of the variances of paired samples, its standard error from the fourth moments)."""
    squares = [(x - x.mean()) ** 2 for x in (one, other)]
    ratio = squares[0].mean() / squares[1].mean()
    spread = squares[0] / squares[0].mean() - squares[1] / squares[1].mean()
    return float(ratio), float(ratio * spread.std() / len(one) ** 0.5)


def crossing(few: int, more: int, density: float) -> float:
    """Return the resemblance at which two numbers of bits have equal storage factors, by bisection of sums."""
    low, high = 1e-3, 0.999
    for _ in range(50):
        middle = (low + high) / 2
        if summed_ratio(few, more, middle, density, density) > 1:
            low = middle
        else:
            high = middle
    return (low + high) / 2


Points = dict[tuple[float, int], list[tuple[float, float, float]]]


def _measure(section: Section, repetitions: int, whole: int) -> tuple[Points, Points]:
    """Measure B(whole) / B(b) and B(b) with the sampler, for each density and number of bits: (R, value, its error)."""
    rng = np.random.default_rng(whole)
    points: Points = {}
    factors: Points = {}
    for density in DENSITIES:
        for resemblance in (0.85, 0.95) if density == 0.9 else (0.1, 0.3, 0.5, 0.7, 0.9):
            found = estimates(rng, resemblance, density, repetitions, whole)
            for i, bits in enumerate(BITS):
                ratio, error = ratio_error(found[-1], found[i])
                points.setdefault((density, bits), []).append((resemblance, whole / bits * ratio, whole / bits * error))
                variance, error = (bits * SAMPLES * float(v) for v in variance_error(found[i]))
                factors.setdefault((density, bits), []).append((resemblance, variance, error))
    for name, what, found, theory in (
        ("measured", f"B({whole})/B(b)", points, lambda b, r, d: bbit.storage_ratio(whole, b, r, d, d)),
        (
            "factor",
            f"B(b), with those of the ratios to {whole} bits,",
            factors,
            lambda b, r, d: bbit.storage_factor(r, b, d, d),
        ),
    ):
        flat = np.array([(theory(b, r, d), x, e) for (d, b), row in found.items() for r, x, e in row])
        sure = flat[:, 2] > 1e-9  # where two estimates never differ there is nothing to tell
        section.agrees(
            f"{what} measured on sampled minima, {repetitions:,} repetitions of {SAMPLES}, is that of (12)",
            flat[sure, 1], flat[sure, 0], flat[sure, 2], name=name,
        )  # fmt: skip
    return points, factors


def _factors(section: Section) -> None:
    worst = 0.0
    for left, right in ((SUMMABLE, SUMMABLE), (0.1, 0.05), (0.3, 0.3), (0.5, 0.2), (0.57, 0.554), (0.6, 0.035), (0.9, 0.85)):
        for share in (0.05, 0.3, 0.6, 0.95):
            r = max(left + right - 1, 0.0) + share * (min(left, right) / max(left, right) - max(left + right - 1, 0.0))
            for bits in (*BITS, 8):
                summed = bits * laws.variance(bits, r, left, right)
                worst = max(worst, abs(bbit.storage_factor(r, bits, left, right) / summed - 1))
    section.equals(
        "(12): storage factors of the library, at seven pairs of equal and unequal densities, relative to those of "
        "sums over multiples of 2^b",
        worst, 0.0, 1e-9, name="factors",
    )  # fmt: skip


def _theorem_2(section: Section) -> None:
    worst = last = 0.0
    rising = True
    for density in (SUMMABLE, 0.01, 0.1, 0.5, 0.9):
        r = np.linspace(least(density) + 0.01, 0.999, 60)
        a = {b: laws.chance(b, density) for b in (*BITS, 32)}
        for one, two in ((64, 1), (64, 2), (64, 4), (32, 1), (4, 1), (2, 1), (4, 3)):
            summed = np.array([summed_ratio(one, two, x, density, density) for x in r])
            # If even the fewer bits hardly ever agree by chance, both variances are those of whole values.
            rising &= bool((np.diff(summed) > 0).all() if a[two] > 1e-5 else (np.abs(np.diff(summed)) < 1e-5).all())
            worst = max(worst, np.abs(bbit.storage_ratio(one, two, r, density, density) / summed - 1).max())
            a1, a2 = a.get(one, 0.0), a[two]
            printed = one / two * (a1 * (1 - r) + r) / (a2 * (1 - r) + r) * (1 - a2) / (1 - a1)
            worst = max(worst, np.abs(printed / summed - 1).max())
            # E (1 - E) vanishes as 1 - R: what remains of the ratio at R = 1 is what it tends to.
            near = summed_ratio(one, two, 1 - 1e-7, density, density)
            limit = one / two * (1 - a2) / (1 - a1)
            last = max(last, abs(near - limit), abs(near - bbit.storage_ratio_limit(one, two, density)))
        whole = np.array([summed_ratio(64, 1, x, density, density) for x in r])
        worst = max(worst, np.abs(64 * r / (r + 1 - density) / whole - 1).max())
    section.equals(
        "the library's ratio of (12), and (13) and (15) as printed, are those of sums over multiples of 2^b",
        worst,
        0.0,
        1e-9,
        name="ratio",
    )
    section.holds(
        "these sums rise with R, at five densities and for seven pairs of bits (Theorem 2); if A < 10^-5 they are flat",
        rising,
        name="rises",
    )
    claim = "(14), as printed and by the library, is what the sums come to at R = 1 - 10^-7"
    section.equals(claim, last, 0.0, 1e-4, name="limit-14")
    for name, r in (("four-bits", 0.5), ("four-bits-limit", 1 - 1e-9)):
        found = summed_ratio(32, 4, r, SUMMABLE, SUMMABLE)
        section.observe(f"B(32)/B(4) of sparse sets at R = {r:g}: {found:.3f}", name=name, found=found)


def _claims(section: Section) -> None:
    grid = np.concatenate([np.logspace(-4, -1, 30), np.linspace(0.11, 1.0, 90)])
    left, right = np.meshgrid(grid, grid)
    worst, where = [], []
    chances = np.array([laws.chance(1, x) for x in grid])
    for r in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        fits = (left + right <= 1 + r) & (np.minimum(left, right) >= r * np.maximum(left, right))
        union = (left + right) / (1 + r)
        common = r * union
        by_left, by_right = chances[None, :], chances[:, None]
        e = r + by_left * (right - common) / union + by_right * (left - common) / union
        low = (by_left * right + by_right * left) / (left + right)
        times = np.where(fits, e * (1 - e) / ((e - low) / r) ** 2 / (r * (1 - r)), 0.0)
        at = np.unravel_index(times.argmax(), times.shape)
        worst.append(times[at])
        where.append((left[at], right[at]))
    worst = np.array(worst)
    r = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
    section.table(
        ["R", "largest variance of 1 bit over that of whole values", "least B(64)/B(1)", "least B(32)/B(1)", "found at r1, r2"],
        [
            [x, f"{v:.4f}", f"{64 / v:.2f}", f"{32 / v:.2f}", f"{a:g}, {b:g}"]
            for x, v, (a, b) in zip(r, worst, where, strict=True)
        ],
    )
    section.equals(
        "over all feasible densities on a grid of 120 x 120, the variance of one bit is at most (1 + R) / R times "
        "that of whole values: 3 at R = 0.5",
        worst, (1 + r) / r, 1e-3, name="worst",
    )  # fmt: skip
    section.holds(
        "the worst is at the lowest densities of the grid, 0.0001: r1, r2 -> 0 is least favourable",
        all(max(w) < 1.5e-4 for w in where),
        name="sparse-worst",
    )
    section.equals(
        "so 64 bits need at least 21.3 times as much at R = 0.5, and 32 bits 10.7 times",
        [64 / worst[0], 32 / worst[0]],
        [21.3, 10.7],
        0.05,
        name="at-half",
    )
    ends = np.array([summed_ratio(64, 1, x, SUMMABLE, SUMMABLE) for x in (0.5, 1 - 1e-7)])
    section.equals(
        "sparse sets, R from 0.5 to 1: from 21.3 to 32 times (64 bits), from 10.7 to 16 times (32 bits)",
        [*ends, *ends / 2],
        [21.3, 32, 10.7, 16],
        0.05,
        name="from-half",
    )
    section.equals(
        "64 times at r1 = r2 -> 1, R -> 1", summed_ratio(64, 1, 1 - 1e-9, 1 - 1e-6, 1 - 1e-6), 64.0, 0.001, name="at-most"
    )


def _last_crossing() -> float:
    """Return the largest resemblance, on a grid of it and of all feasible r1 and r2, at which one bit is not best."""
    r = np.linspace(0.3, 0.6, 301)[:, None, None]
    grid = np.concatenate([[SPARSE], np.linspace(0.02, 0.98, 49)])
    left, right = grid[:, None], grid[None, :]
    fits = (left + right <= 1 + r) & (np.minimum(left, right) >= r * np.maximum(left, right))
    at, one, other = (np.where(fits, x, 0.0) for x in np.broadcast_arrays(r, left, right))  # no sets: zeros, which are left out
    factors = [bits * bbit.variance(at, bits, 1, one, other) for bits in BITS]
    worse = fits & (np.min(factors[1:], axis=0) < factors[0])
    return float(r[worse.any((1, 2))].max())


def _bits(section: Section, repetitions: int) -> None:
    section.table(
        ["r1 = r2", "1 and 2 bits equal at R", "2 and 3 bits", "3 and 4 bits", "least R of such sets"],
        [
            [
                f"{d:g}",
                *(f"{x:.3f}" if (x := crossing(b, b + 1, d)) > least(d) else "below" for b in (1, 2, 3)),
                f"{least(d):g}",
            ]
            for d in (SUMMABLE, 0.1, 0.5, 0.9)
        ],
    )
    found = [crossing(b, b + 1, SUMMABLE) for b in (1, 2, 3)]
    section.equals(
        "for sparse sets, b and b + 1 bits are equally good at R = 1/3, 5/21 and 17/105",
        found,
        [1 / 3, 5 / 21, 17 / 105],
        1e-4,
        name="crossings",
    )
    section.equals(
        "1 and 2 bits at r = 0.1, 0.5: 0.362, 0.357",
        [crossing(1, 2, d) for d in (0.1, 0.5)],
        [0.362, 0.357],
        5e-4,
        name="crossings-dense",
    )
    densities = (SUMMABLE, 0.05, 0.1, 0.2, 0.3, 0.5)
    largest = 20 + int(np.argmax([crossing(1, 2, d / 100) for d in range(20, 41)]))
    section.equals(
        "1 and 2 bits meet at a resemblance that rises with the density and falls again: at r = 0, 0.05, 0.1, 0.2, 0.3, 0.5 at "
        "R = 0.3334, 0.3489, 0.3620, 0.3803, 0.3868, 0.3571",
        [crossing(1, 2, d) for d in densities],
        [0.3334, 0.3489, 0.3620, 0.3803, 0.3868, 0.3571],
        1e-4,
        name="crossings-density",
    )
    section.holds("of r = 0.20, 0.21, ... 0.40 they meet at the largest R at 0.30", largest == 30, name="crossings-density")
    section.equals(
        "between r = 0.121 and 0.465 they meet nearer to 0.4 than to 1/3: at both at R = 11/30",
        [crossing(1, 2, 0.121), crossing(1, 2, 0.465)],
        11 / 30,
        2e-4,
        name="crossings-density",
    )
    section.observe("in sparse sets 1 and 2 bits meet at R = 1/3", name="crossing-sparse", found=found[0])
    at = _last_crossing()
    section.observe(
        f"at any densities, 2, 3 or 4 bits need less than one up to R = {at:.3f} at most", name="crossing-most", found=at
    )
    section.holds("so from R = 0.4 on one bit always needs least, whatever r1 and r2", 0.38 < at < 0.4, name="one-bit-from-04")
    section.holds(
        "at r = 0.9 they meet at 0.098, below the least resemblance of such sets, 0.8: there one bit is always better",
        abs(crossing(1, 2, 0.9) - 0.098) < 5e-4 and least(0.9) > 0.79,
        name="crossings-dense",
    )
    best = {
        r: min(range(1, 17), key=lambda b: b * laws.variance(b, r, SUMMABLE, SUMMABLE)) for r in (0.1, 0.2, 0.3, 0.35, 0.5, 0.9)
    }
    section.holds(
        "the best number of bits of sparse sets is 5, 3, 2, 1, 1, 1 at R = 0.1, 0.2, 0.3, 0.35, 0.5, 0.9",
        list(best.values()) == [5, 3, 2, 1, 1, 1],
        name="best",
    )
    section.holds("the library names the same", bbit.best_bits(list(best)).tolist() == list(best.values()), name="best")
    rng = np.random.default_rng(2)
    for r, few, more in ((0.37, 1, 2), (0.29, 2, 1)):
        sample = estimates(rng, r, SPARSE, repetitions)
        ratio, error = ratio_error(sample[few - 1], sample[more - 1])
        section.below(
            f"measured on {repetitions:,} repetitions of sparse sets, R = {r}: {few} bit{'s' * (few > 1)} "
            f"need{'s' * (few < 2)} less than {more}"
            + (", though the papers say that 2 bits are better below 0.4" if r > 1 / 3 else ""),
            few / more * ratio, 1.0, few / more * error,
            name="crossing-measured", sense="excludes",
        )  # fmt: skip


def _draw(axes: Any, points: Points, whole: int) -> None:
    for axis, density in zip(axes, DENSITIES, strict=True):
        r = np.linspace(max(0.005, least(density) + 1e-6), 0.999, 200)
        for i, bits in enumerate(BITS):
            axis.plot(r, bbit.storage_ratio(whole, bits, r, density, density), color=f"C{i}", label=f"b = {bits}")
            band(axis, *np.array(points[density, bits]).T, color=f"C{i}", ms=3)
        axis.set(
            xlabel="R", ylabel=f"B({whole}) / B(b)", title=f"r1 = r2 = {density:g}", xlim=(least(density), 1), ylim=(0, whole)
        )
        name_lines(axis)


def _draw_factors(axes: Any, points: Points) -> None:
    for axis, density in zip(axes, DENSITIES, strict=True):
        r = np.linspace(max(0.002, least(density) + 1e-6), 0.999, 300)
        at = 0.87 if density == 0.9 else 0.6  # where the curves are well apart, all ending at 0, and nothing is measured
        for i, bits in enumerate(BITS):
            axis.plot(r, bbit.storage_factor(r, bits, density, density), color=f"C{i}")
            band(axis, *np.array(points[density, bits]).T, color=f"C{i}", ms=3)
            axis.text(
                at, bbit.storage_factor(at, bits, density, density), f"b = {bits}", color=f"C{i}",
                fontsize=9, ha="center", va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
        axis.set(xlabel="R", ylabel="B(b)", title=f"r1 = r2 = {density:g}", xlim=(least(density), 1), ylim=(0, None))


def figure_1(quick: bool) -> Section:
    """Storage factors and their ratios, Theorem 2, and what the papers read from them."""
    section = Section(
        "a-storage", "Storage factors and Theorem 2",
        "A storage factor (12), or a ratio of two by (13) to (15), that is not that of sums over the appendix's law "
        "before any closed form, or "
        "lies beyond chance from variances of sampled minima; a ratio that falls with R; densities at which one bit "
        "has more than three "
        "times the variance of whole values at R = 0.5; numbers of bits that change places elsewhere than stated.",
    )  # fmt: skip
    section.say(
        "B(b) = b k Var is the storage in bits for a given variance. All curves are formulas. They are held to two other "
        "computations: the series that the closed forms sum up (the match probability of the appendix's law, and its "
        "difference between "
        "two resemblances in place of 1 - C2), and variances of estimates from sampled minima. No data are needed here."
    )
    measured = {whole: _measure(section, 2_500 if quick else 25_000, whole) for whole in (64, 32)}
    _factors(section)
    _theorem_2(section)
    _claims(section)
    _bits(section, 40_000 if quick else 200_000)
    section.figure(
        "a-storage-64", (2, 2), lambda axes: _draw(axes, measured[64][0], 64),
        "How many times less storage b bits need than 64 for the same variance (curves: theory; dots: measured, with two "
        "standard errors). One bit is best at high resemblance, the more so the denser the sets; for sparse sets more bits "
        "are better below R = 1/3. Sets of density 0.9 resemble each other by 0.8 at least.",
    )  # fmt: skip
    section.figure(
        "a-storage-32", (2, 2), lambda axes: _draw(axes, measured[32][0], 32),
        "The same compared with 32 bits: the curves are half as high. The dots are measured on other minima than those above, "
        "of which the lowest 32 bits are compared.",
    )  # fmt: skip
    section.figure(
        "a-storage-factor", (2, 2), lambda axes: _draw_factors(axes, measured[64][1]),
        "Storage factors themselves, the lower the better (curves: formula (12); dots: measured on the minima of the first "
        "figure, with two standard errors): for sparse sets the curves cross near R = 1/3; at density 0.9 one bit is always best.",
    )  # fmt: skip
    return section
