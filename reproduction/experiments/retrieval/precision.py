"""Retrieval of pairs by estimates on real documents: precision and recall, for whole and for fractional bits."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from figures import band, name_lines
from report import Section, mean_error

from retrieval.estimates import normal_error
from retrieval.model import Spread, by_binomials
from retrieval.runs import Runs, runs
from retrieval.schemes import NAMES, SIZES, THRESHOLDS

WHOLE = ["b = 1", "b = 2", "b = 3", "b = 4", "32 bits"]
FRACTIONAL = ["b = 1", "f = 1.25", "f = 1.5", "f = 1.75", "b = 2", "32 bits"]
SHOWN = (0.3, 0.5, 0.7, 0.9)
# With fewer slots, which way a tie falls moves more pairs than a bit does.
LARGE = SIZES >= 96
AT = int(np.flatnonzero(SIZES == 120)[0])
LEAST_PAIRS, EDGE = 2000.0, 0.02
PRECISION, RECALL = 1, 2


@lru_cache(maxsize=1)
def measured_and_expected(quick: bool) -> tuple[Runs, np.ndarray] | None:
    """Return the repetitions, and what the spread of the pairs' resemblances lets expect; None without documents."""
    found = runs(quick)
    if found is None:
        return None
    return found, by_binomials(Spread.of(found.pairs.exact, found.pairs.weights))


def at(threshold: float) -> int:
    """Place of a threshold."""
    return int(np.argmin(np.abs(THRESHOLDS - threshold)))


def places(names: list[str]) -> list[int]:
    """Places of schemes."""
    return [NAMES.index(name) for name in names]


def agrees_with_spread(section: Section, found: Runs, expected: np.ndarray, names: list[str]) -> None:
    """Check precision and recall of all schemes, sizes and thresholds against what the spread of the pairs lets expect."""
    some, n = places(names), len(found.retrieved)
    enough = expected[some][..., 1] * n >= LEAST_PAIRS
    for which, name in ((PRECISION, "precision"), (RECALL, "recall")):
        theory = (expected[..., 0] / expected[..., which])[some]
        mean, error = mean_error(found.shares(which)[:, some], 0)
        chosen = enough & (theory > EDGE) & (theory < 1 - EDGE) & (error > 0)
        error = normal_error(mean[chosen], theory[chosen], error[chosen], n)
        section.agrees(
            f"the {name} is what binomial matches give, with Theorem 1's probability at each pair's own resemblance",
            mean[chosen], theory[chosen], error, name="law",
        )  # fmt: skip


def ordered(section: Section, claim: str, values: np.ndarray, name: str) -> None:
    """Check that each scheme's values (repetitions, schemes, ...) lie below those of the scheme before."""
    steps = values[:, :-1] - values[:, 1:]
    mean, error = mean_error(steps, 0)
    section.below(claim, 0.0, mean, normal_error(mean, np.zeros_like(mean), error, len(values)), name=name)


def lost(found: Runs) -> np.ndarray:
    """Wrong share of what is retrieved plus missed share of what should be, (repetitions, schemes, large sizes, thresholds)."""
    return (2.0 - found.shares(PRECISION) - found.shares(RECALL))[:, :, LARGE]


def draw_lost(found: Runs, expected: np.ndarray, names: list[str], which: int) -> Any:
    """Return what draws 1 - precision or 1 - recall over k: measured as points, expected as lines."""
    mean, theory = 1.0 - found.shares(which).mean(0), 1.0 - expected[..., 0] / expected[..., which]

    def draw(axes: Any) -> None:
        for axis, threshold in zip(axes, SHOWN, strict=True):
            for name in names:
                colour = f"C{WHOLE.index(name)}"
                axis.plot(SIZES, mean[NAMES.index(name), :, at(threshold)], "o", ms=3, color=colour, label="_measured")
                axis.plot(SIZES, theory[NAMES.index(name), :, at(threshold)], lw=1, color=colour, label=name)
            axis.set(xscale="log", yscale="log", xlabel="slots k", title=f"R0 = {threshold}")
            axis.set(ylabel="wrong share of those retrieved" if which == PRECISION else "missed share of those to find")
            name_lines(axis, apart=0.085)

    return draw


def table_of(found: Runs, names: list[str]) -> tuple[list[str], list[list[Any]]]:
    """Return (names, rows) of precision and recall at one size."""
    rows = []
    values = [mean_error(found.shares(which)[:, places(names), AT], 0) for which in (PRECISION, RECALL)]
    for t, threshold in enumerate(THRESHOLDS):
        rows.append([f"{threshold:.1f}", *(f"{m[i, t]:.3f} ± {e[i, t]:.3f}" for m, e in values for i in range(len(names)))])
    return ["R0", *(f"{what}, {name}" for what in ("precision", "recall") for name in names)], rows


def curves(quick: bool) -> Section:
    """Precision and recall by number of slots, for b = 1, 2, 3, 4 and 32 bits."""
    section = Section(
        "a-retrieval",
        "Experiments 2 and 3: retrieval of near-duplicates by estimates",
        "precision or recall that differ from what binomial matches at each pair's own resemblance give; fewer bits that lose no "
        "more than more bits do at the same number of slots; or recall that is the same for all numbers of bits.",
    )
    both = measured_and_expected(quick)
    if both is None:
        return section.left_out("licence texts")
    found, expected = both
    n = len(found.retrieved)
    section.say(
        f"{found.pairs.words} A pair is retrieved when its estimate reaches R0. Each of {n} repetitions signs all documents with "
        f"{SIZES[-1]:,} other hash functions (`MinHash`), of which the first k are used, and packs them (`BBit`); standard errors "
        "are those of the repetitions. No binomial is drawn: they only say what is to be expected."
    )
    section.figure(
        "a-retrieval-precision", (2, 2), draw_lost(found, expected, ["b = 1", "b = 2", "b = 4", "32 bits"], PRECISION),
        "Wrong pairs among those retrieved (1 - precision, logarithmic), measured (points) and expected (lines): the fewer the bits, the more of them at the same k. The "
        "gap is widest at R0 = 0.3, below which most pairs lie. Steps are no noise: an estimate is a whole number of matches.",
    )  # fmt: skip
    section.figure(
        "a-retrieval-recall", (2, 2), draw_lost(found, expected, ["b = 1", "b = 2", "b = 4", "32 bits"], RECALL),
        "Pairs missed (1 - recall, logarithmic), measured (points) and expected (lines): recall tells the schemes apart too, if by less. The "
        "teeth are no noise: they stand where R0 can be met exactly by a whole number of matches.",
    )  # fmt: skip
    agrees_with_spread(section, found, expected, WHOLE)
    names = places(WHOLE)
    ordered(
        section,
        "wrong and missed shares together fall from b = 1 over 2, 3 and 4 to 32 (mean over R0, k of 96 and more)",
        lost(found).mean((2, 3))[:, names],
        "fewer-bits",
    )
    one, four, all_bits = places(["b = 1", "b = 4", "32 bits"])
    for which, name in ((PRECISION, "precision"), (RECALL, "recall")):
        whole = found.shares(which)[:, :, LARGE].mean(2)
        ordered(
            section, f"the {name} of 1 bit is below that of 32 bits at each R0", -whole[:, [one, all_bits]], f"one-bit-{name}"
        )
        mean, error = mean_error((whole[:, all_bits] - whole[:, four]).mean(1))
        claim = f"the {name} of 4 bits is {mean:.4f} ± {error:.4f} below that of 32 bits at the same k of 96 and more"
        section.observe(claim, name=f"four-bits-{name}", found=mean, error=error)
    _compare_losses(section, found)
    section.say(f"At k = {SIZES[AT]} (± standard errors):")
    section.table(*table_of(found, ["b = 1", "b = 2", "b = 4", "32 bits"]))
    return section


def _compare_losses(section: Section, found: Runs) -> None:
    """Say how much more 1 bit loses than 32 bits, in precision and in recall, with few slots and with many."""
    one, whole = places(["b = 1", "32 bits"])
    logs = {}
    for few, sizes in ((True, ~LARGE), (False, LARGE)):
        for which in (PRECISION, RECALL):
            shares = 1.0 - found.shares(which)[:, :, sizes].mean(2)
            mean = shares.mean(0)
            # Logarithm of the ratio, linearised: one value a repetition, and the mean of them is that of the means.
            each = np.log(mean[one] / mean[whole]) + shares[:, one] / mean[one] - shares[:, whole] / mean[whole]
            logs[few, which] = each
    section.say(
        "The papers say that recall does not tell the schemes apart. It does, where as many pairs lie right above R0 as right "
        "below: errors of estimates carry pairs over R0 both ways. Recall is high and alike for all schemes only where most pairs "
        "to be found lie far above R0. But where R0 is low and slots are few, 1 bit also lets pairs pass that have nothing in common: "
        "then precision tells much more. What 1 bit loses, as a multiple of what 32 bits lose at the same k (mean over k):"
    )
    cells = {key: mean_error(value, 0) for key, value in logs.items()}
    section.table(
        ["R0", "wrong, k < 96", "missed, k < 96", "wrong, k >= 96", "missed, k >= 96"],
        [
            [f"{threshold:.1f}", *(f"{np.exp(m[t]):.2f} ± {np.exp(m[t]) * e[t]:.2f}" for m, e in cells.values())]
            for t, threshold in enumerate(THRESHOLDS)
        ],
    )
    apart = logs[True, PRECISION] - logs[True, RECALL]
    mean, error = mean_error(apart[:, : at(0.5) + 1], 0)
    section.below(
        "with fewer than 96 slots and R0 up to 0.5, 1 bit loses more in precision than in recall, as a multiple of what 32 bits lose",
        0.0, mean, normal_error(mean, np.zeros_like(mean), error, len(apart)), name="few-slots",
    )  # fmt: skip


def fractional_figure_5(quick: bool) -> Section:
    """Precision and recall of f = 1.25, 1.5, 1.75 bits beside 1, 2 and 32."""
    section = Section(
        "c-retrieval",
        "Figure 5: retrieval with fractional bits",
        "precision or recall that differ from what binomial matches of both kinds of slots give; or an f whose losses do not lie "
        "between those of the next smaller and the next larger f (so 1.5 bits replaced by 1 or by 2.5 bits would fail).",
    )
    both = measured_and_expected(quick)
    if both is None:
        return section.left_out("licence texts")
    found, expected = both
    section.say(
        f"{found.pairs.words} {len(found.retrieved)} repetitions with other hash functions. f = 1.25 keeps 1 bit of the first "
        "three quarters of the slots and 2 of the others, f = 1.5 and 1.75 likewise (`Fractional`); all from the same signatures."
    )
    agrees_with_spread(section, found, expected, FRACTIONAL)
    names, lines = places(FRACTIONAL), FRACTIONAL[1:]
    total = lost(found).mean(2)[:, names]
    ordered(
        section,
        "wrong and missed shares together fall from f = 1 over 1.25, 1.5, 1.75 and 2 to 32 (mean over R0, k of 96 and more)",
        total.mean(2),
        "fewer-bits",
    )
    precise = 1.0 - found.shares(PRECISION)[:, :, LARGE].mean((2, 3))[:, places(["b = 1", "f = 1.5", "b = 2"])]
    ordered(
        section,
        "the precision of 1.5 bits lies between those of 1 and of 2 (mean over R0, k of 96 and more)",
        precise,
        "between",
    )
    # Ratios, linearised: what all schemes of a repetition have in common cancels.
    ratio = total.mean(0) / total.mean(0)[0]
    mean, error = mean_error(ratio + (total - ratio * total[:, :1]) / total.mean(0)[0], 0)

    def draw(axes: Any) -> None:
        for i, name in enumerate(lines, 1):
            band(axes[0], THRESHOLDS, mean[i], error[i], color=f"C{i}")
            axes[0].plot(THRESHOLDS, mean[i], color=f"C{i}", label=name)
        axes[0].set(xlabel="R0", ylabel="lost, against 1 bit", title="wrong + missed, k of 96 and more")
        name_lines(axes[0])
        whole = 1.0 - found.shares(PRECISION).mean(0)[..., at(0.5)]
        for i, name in enumerate(lines, 1):
            axes[1].plot(SIZES, whole[NAMES.index(name)] / whole[names[0]], color=f"C{i}", label=name)
        axes[1].set(xscale="log", xlabel="slots k", ylabel="wrong share, against 1 bit", title="precision, R0 = 0.5")
        name_lines(axes[1])

    section.figure(
        "c-retrieval", (1, 2), draw,
        "What is lost by f bits a slot, as a share of what 1 bit loses (bars: two standard errors). Left: wrong and missed shares "
        "together fall with every quarter of a bit. Right: precision alone follows, in steps, since estimates are whole numbers "
        "of matches.",
    )  # fmt: skip
    recall = mean_error(found.shares(RECALL)[:, :, LARGE].mean((2, 3))[:, names], 0)
    section.say(
        "Recall alone need not rise with f: with which numbers of matches an estimate just reaches R0 differs from f to f, which "
        "moves pairs from one kind of error to the other. Means over R0 and k of 96 and more: "
        + ", ".join(f"{name} {m:.4f} ± {e:.4f}" for name, m, e in zip(FRACTIONAL, *recall, strict=True))
        + ". The paper's sentence that precision and recall of f bits lie between those of 1 and 2 bits holds for precision, and "
        "for both errors together."
    )
    section.say(f"At k = {SIZES[AT]} (± standard errors):")
    section.table(*table_of(found, ["b = 1", "f = 1.25", "f = 1.5", "f = 1.75", "b = 2"]))
    return section
