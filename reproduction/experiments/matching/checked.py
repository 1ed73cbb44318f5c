"""What is compared, by the number of tables: the thesis' Figure 7, (6.6), (6.7) and (7.6)."""

from __future__ import annotations

from functools import partial
from itertools import product
from math import comb, log2
from typing import Any

import numpy as np
from figures import COLOURS, name_lines
from pair_model import RADIUS, Trial, families
from report import Section

import lookalike as la
from lookalike.core import weak_prefixes
from lookalike.search.tables import BlockTables, Layout, block_ranges
from lookalike.theory.blocks import STEINER, block_candidates
from lookalike.theory.weak_bits import table_equivalents, weak_bit_candidates

from .real import real_trial
from .trials import alternating, held, needed, probe_ranks, told_ratio, turn_ratio, uniform_compared

FEWEST = 25
MANKU = ((4, 1), (5, 2), (6, 3))  # 4, 10 and 20 tables
ORDERED = (21, 26, 34)  # bits of which sets are found; the library's index takes 26 at most


def _tables(section: Section, trial: Trial, stored_bits: int) -> dict[str, list]:
    """Count and time Manku's tables and PSM_A; check the counts."""
    n, asked = len(trial.stored), len(trial.queries)
    uniform = (n - len(trial.special)) * asked
    works, counted, tables, met, probes = {}, {}, {}, {}, {}
    for blocks, lead in MANKU:
        make = partial(la.search.TableIndex, radius=RADIUS, blocks=blocks, lead=lead, lookup="binary")
        index, name = make().add(trial.stored), f"Manku, {comb(blocks, lead)}"
        found = index.query(trial.queries)
        compared, met[name] = uniform_compared(trial, index, make)
        counted[name] = compared, block_candidates(uniform, 64, blocks, lead)
        tables[name] = float(comb(blocks, lead))
        section.holds(
            f"{trial.name}: {comb(blocks, lead)} tables find every pair once", len(found) == len(trial.asked), name="complete"
        )
        works[name] = partial(index.query, trial.queries)
    for prefix in range(stored_bits - 3, stored_bits + 1):
        name = f"PSM_A, p = {prefix}"
        k = probes[name] = needed(probe_ranks(trial, prefix))
        make = partial(la.search.WeakBitIndex, radius=RADIUS, prefix_bits=prefix, probes=k)
        index = make().add(trial.stored)
        index.query(trial.queries, trial.margins)
        compared, met[name] = uniform_compared(trial, index, make, trial.margins)
        counted[name] = compared, weak_bit_candidates(uniform, prefix, k)
        tables[name] = table_equivalents(n, prefix)
        works[name] = partial(index.query, trial.queries, trial.margins)
    seconds = alternating(works, 7)
    section.table(
        [
            f"method ({trial.name})",
            "tables",
            "flips",
            "uniform ones compared a query",
            "theory",
            "others, a query",
            "us a query",
        ],
        [
            [
                name,
                f"{tables[name]:.2f}",
                probes.get(name, ""),
                f"{c / asked:.3f}",
                f"{e / asked:.3f}",
                f"{met[name] / asked:.2f}",
                f"{seconds[name].min() / asked * 1e6:.2f}",
            ]
            for name, (c, e) in counted.items()
        ],
    )
    found, expected = np.array([c for c in counted.values() if c[1] >= FEWEST]).T
    section.agrees(
        f"{trial.name}: uniform fingerprints compared are those of (6.6), summed over the tables, and of (6.21), "
        f"wherever {FEWEST} and more are expected",
        found / expected,
        1.0,
        1 / np.sqrt(expected),
        name="compared",
    )
    best = [min((s for name, s in seconds.items() if name.startswith(kind)), key=np.min) for kind in ("Manku", "PSM_A")]
    section.observe(
        f"{trial.name}: the fastest of Manku's tables, by bisection as in the thesis, takes {told_ratio(*best)} "
        f"times as long as the fastest PSM_A "
        "(thesis: at least 3.5)",
        name=f"{trial.name}-speed", **turn_ratio(*best),
    )  # fmt: skip
    few, weak = (counted[name][0] / asked for name in ("Manku, 10", f"PSM_A, p = {stored_bits}"))
    times = weak / few
    section.observe(
        f"{trial.name}: PSM_A with p = d compares {weak:.2f} uniform fingerprints a query, 10 tables {few:.2f}: {times:.1f} times as many",
        name=f"{trial.name}-compared", found=times, error=times * (1 / counted["Manku, 10"][0] + 1 / counted[f"PSM_A, p = {stored_bits}"][0]) ** 0.5,
    )  # fmt: skip
    section.holds(
        f"{trial.name}: of the look-ups in Manku's 10 and 20 tables fewer than one in twenty meet a uniform fingerprint: "
        + " and ".join(f"{counted[name][0] / asked / tables[name]:.4f}" for name in ("Manku, 10", "Manku, 20")),
        all(counted[name][0] / asked / tables[name] < 0.05 for name in ("Manku, 10", "Manku, 20")),
        name="empty",
    )
    return {
        "tables": np.array(list(tables.values())),
        "compared": np.array(list(counted.values())).T / asked,
        "error": np.sqrt([e for _, e in counted.values()]) / asked,
        "us": np.array([s / asked * 1e6 for s in seconds.values()]),
    }


def _memory(section: Section, trial: Trial, stored_bits: int) -> None:
    """What the arrays of real indexes take, beside (6.12) and (6.17), which count fingerprints and offsets of 64 bits alone."""
    taken = {}
    tables = la.search.TableIndex(radius=RADIUS).add(trial.stored)
    weak = la.search.WeakBitIndex(radius=RADIUS, prefix_bits=stored_bits).add(trial.stored)
    tables.query(trial.queries[:1]), weak.query(trial.queries[:1], trial.margins[:1])
    ten = la.search.TableIndex(radius=RADIUS, blocks=5, lead=2).add(trial.stored)
    ten.query(trial.queries[:1])
    for name, index in (("4 tables", tables), ("10 tables", ten), ("PSM, p = d", weak)):
        taken[name] = held(index) / len(trial.stored)
    times = taken["4 tables"] / taken["PSM, p = d"]
    section.observe(
        f"a fingerprint takes {taken['4 tables']:.1f} bytes in the arrays of 4 tables and {taken['PSM, p = d']:.1f} in those of PSM with "
        f"p = d, so that the same memory holds {times:.2f} times as many (16 GiB: 2^{log2(2**34 / taken['4 tables']):.1f} and "
        f"2^{log2(2**34 / taken['PSM, p = d']):.1f})",
        name="memory", found=times,
    )  # fmt: skip
    times = taken["10 tables"] / taken["PSM, p = d"]
    section.observe(f"the arrays of 10 tables take {times:.2f} times the bytes", name="memory-10", found=times)


def _unequal_blocks(section: Section, n: int, asked: int) -> None:
    """Compare (6.6) as printed, with fractions of bits, with the count of 10 tables, whose blocks have 13 and 12 bits."""
    rng = np.random.default_rng(11)
    stored, queries = (rng.integers(0, 1 << 64, size, dtype=np.uint64) for size in (n, asked))
    index = la.search.TableIndex(radius=RADIUS, blocks=5, lead=2).add(stored)
    index.query(queries)
    exact, printed = block_candidates(n * asked, 64, 5, 2), 10 * n * asked * 2.0 ** (-2 * 64 / 5)
    section.say(
        f"{asked:,} uniform queries of 10 tables of {n:,} uniform fingerprints: {index.compared:,} compared; over "
        f"blocks of 13, 13, 13, 13 and 12 bits "
        f"{exact:,.0f} are expected, by (6.6) as printed, with blocks of 12.8 bits, {printed:,.0f}."
    )
    error = exact**0.5
    section.agrees("they are those of the blocks as they are", index.compared, exact, error, name="as-blocks")
    section.refutes("(6.6) as printed is too low", index.compared, printed, error, name="as-printed", sense="limits")


def _other_blocks(section: Section, trial: Trial) -> None:
    """Search by tables that are no C(z, x) of equal blocks: (6.1) and (6.2) in general, and fewer choices of blocks than (6.7)."""
    sizes = (22, 18, 14, 10)
    some = tuple((block_ranges(64, 8, choice, 20), 0) for choice in STEINER)

    def of_some(words: np.ndarray) -> BlockTables:
        return BlockTables(words[:, None], radius=RADIUS, bits=64, layout=Layout(some, 1.0, 0.0, 0.0))

    chosen = {
        "four blocks of 22, 18, 14 and 10 bits": (
            lambda words: la.search.TableIndex(radius=RADIUS, blocks=sizes).add(words),
            block_candidates(1.0, 64, sizes, 1),
        ),
        "14 of the 70 choices of four of eight blocks, 20 bits of each": (of_some, len(some) * 2.0**-20),
    }
    found, expected, complete = [], [], True
    for make, share in chosen.values():
        index, alone = make(trial.stored), make(trial.stored[trial.special])
        pairs = index.query(trial.queries)
        alone.query(trial.queries)
        complete &= len(pairs) == len(trial.asked)
        found.append(index.compared - alone.compared)
        expected.append((len(trial.stored) - len(trial.special)) * len(trial.queries) * share)
    section.holds(
        f"{' and '.join(chosen)} find every pair too: (6.1), (6.2) with unequal blocks, and fewer tables than (6.7)",
        complete,
        name="other-blocks",
    )
    section.agrees(
        "they compare n 2^-p in each table, (6.6) before it is simplified",
        np.array(found) / expected,
        1.0,
        1 / np.sqrt(expected),
        name="other-compared",
    )


def _numbers(section: Section) -> None:
    """The thesis' figures for 2^34 fingerprints, which are Manku's, and what the formulas say of its own 2^26."""
    at_26 = block_candidates(2.0**26, 64, 5, 2), weak_bit_candidates(2.0**26, 26, 23)
    section.equals(
        "2^26 fingerprints: 10 tables leave 14 to compare, PSM_A with p = d and 23 flips 23: two fifths fewer",
        at_26, [14, 23], 0.5, name="at-26", sense="limits",
    )  # fmt: skip
    for name, value in (("ten-tables", block_candidates(2.0**34, 64, 5, 2)), ("of-twenty", 2.0 ** (34 - 3 * 64 / 6))):
        section.observe(f"2^34 fingerprints, {name.replace('-', ' ')}: {value:,.0f} to compare", name=name, found=value)
    sums = [block_candidates(2.0**34, 64, z, x) for z, x in MANKU]
    section.equals("2^34 fingerprints: 4 tables leave 4 x 2^18 to compare (1,024 K), exactly", sums[0], 4 * 2**18, name="four")
    section.equals(
        "10 tables 3,584 with blocks of 13, 13, 13, 13 and 12 bits; (6.6) says 3,378, the thesis' 5,120 takes 25 bits in each",
        [sums[1], 10 * 2.0 ** (34 - 25.6), 10 * 2.0 ** (34 - 25)],
        [3584, 3378, 5120],
        0.5,
        name="ten",
    )
    section.equals(
        "20 tables 88 in all; a table by (6.3) 2^(34 - 32) = 4, not 8 as chapter VI says",
        [sums[2], 2.0 ** (34 - 3 * 64 / 6)],
        [88, 4],
        name="twenty",
    )


def _ordered(section: Section, trial: Trial) -> dict[tuple[int, int], np.ndarray]:
    """Time the search for the k weakest sets of 21, 26 and 34 bits: {(p, k): microseconds a query of each turn}."""
    works = {}
    for p, k in product(ORDERED, (5, 10, 20, 40, 80)):
        out = np.empty((len(trial.margins), k), np.uint32)  # of the longest prefixes the lower bits only: none is looked up
        works[p, k] = partial(weak_prefixes, trial.queries[:, None], trial.margins, 64 - p, p, RADIUS, out)
    us = {at: s / len(trial.margins) * 1e6 for at, s in alternating(works, 5).items()}
    ks = sorted({k for _, k in us})
    section.table(
        ["k", *(f"us, p = {p}" for p in ORDERED), *(f"(p + k) log2(k + h), {p}" for p in ORDERED)],
        [[k, *(f"{us[p, k].min():.2f}" for p in ORDERED), *(f"{(p + k) * log2(k + RADIUS):.0f}" for p in ORDERED)] for k in ks],
    )
    unit = [x.min() / ((p + k) * log2(k + RADIUS)) for (p, k), x in us.items()]
    section.observe(
        f"finding the sets takes {1000 * min(unit):.1f} to {1000 * max(unit):.1f} ns for each of the (p + k) log2(k + h) steps of "
        f"(6.16); with 80 instead of 5 sets of 34 bits {us[34, 80].min() / us[34, 5].min():.1f} times as long"
    )
    return us


def _draw(axes: Any, us: dict[tuple[int, int], np.ndarray], drawn: dict[str, dict[str, np.ndarray]]) -> None:
    def ranged(axis: Any, x: Any, turns: np.ndarray, **style: Any) -> None:
        low, middle, high = turns.min(1), np.median(turns, 1), turns.max(1)
        axis.errorbar(x, middle, yerr=(middle - low, high - middle), fmt="o", capsize=2, elinewidth=1, **style)

    ks = sorted({k for _, k in us})
    for colour, p in zip(COLOURS, ORDERED, strict=False):
        turns = np.array([us[p, k] for k in ks])
        axes[0].plot(ks, np.median(turns, 1), color=colour, lw=0.8, label=f"p = {p}")
        ranged(axes[0], ks, turns, color=colour)
    axes[0].set(xlabel="flips k", ylabel="us to find the sets")
    name_lines(axes[0])
    colours = [COLOURS[0]] * len(MANKU) + [COLOURS[1]] * 4
    for axis, kind in ((axes[1], "modelled"), (axes[2], "modelled"), (axes[3], "real")):
        found = drawn.get(kind)
        if found is None:
            continue
        axis.set(xscale="log", yscale="log", xlabel="tables", title=f"{kind} pairs", xlim=(0.9, 28))
        axis.set_xticks([1, 2, 4, 10, 20], ["1", "2", "4", "10", "20"])
        axis.set_xticks([], minor=True)
        for i, (tables, colour) in enumerate(zip(found["tables"], colours, strict=True)):
            if axis is axes[1]:
                (count, theory), error = found["compared"][:, i], found["error"][i]
                axis.errorbar(tables, count, yerr=2 * error, fmt="o", capsize=2, elinewidth=1, color=colour)
                axis.plot(tables, theory, "_", ms=14, color="black")
            else:
                ranged(axis, [tables], found["us"][i : i + 1], color=colour)
        y = found["compared"][0] if axis is axes[1] else np.median(found["us"], 1)
        axis.set_ylabel("compared a query" if axis is axes[1] else "us a query")
        if axis is not axes[1]:
            axis.set_yticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
            axis.set_yticks([], minor=True)
            axis.set_ylim(0.7 * found["us"].min(), 1.3 * found["us"].max())
        for i, name, place in ((0, "Manku", "left"), (-1, "PSM_A", "left")):
            axis.annotate(
                name, (found["tables"][i], y[i]), xytext=(9, 0), textcoords="offset points", color=colours[i],
                ha=place, va="center", fontsize=9,
            )  # fmt: skip


def figure_7(quick: bool) -> Section:
    """Time to order weak bits; what is compared and time by the number of tables."""
    section = Section(
        "t-checked",
        "Thesis, Theorem 1 (6.6), Figure 7: ordering bits, fingerprints checked, time",
        "Fingerprints compared, by Manku's 4, 10 and 20 tables or by PSM_A, are not those of the formulas; or some tables "
        "miss a pair.",
    )
    size = 16 if quick else 20
    n, asked = 1 << size, 4000 if quick else 10_000
    section.say(
        f"2^{size} fingerprints (thesis: 2^26). Modelled: families of near-duplicates by the model of margins; real: "
        f"versions of policies. Both among "
        "uniform fingerprints. A near-duplicate is one match, but is compared in each of Manku's tables in which it "
        "agrees, on average "
        "in more tables the more there are, and versions of one page agree in many bits: what is compared of "
        "near-duplicates and of "
        "real fingerprints is counted apart, as others, by an index that holds them alone."
    )
    trial = families(n, asked)
    drawn = {"modelled": _tables(section, trial, size)}
    real = real_trial(quick, n)
    if real is not None:
        drawn["real"] = _tables(section, real, size)
    _other_blocks(section, trial)
    _memory(section, trial, size)
    _unequal_blocks(section, 1 << 19 if quick else 1 << 20, 120_000 if quick else 300_000)
    _numbers(section)
    us = _ordered(section, trial)
    section.figure(
        "t-checked",
        (2, 2),
        lambda axes: _draw(axes, us, drawn),
        f"2^{size} fingerprints. Top left: processor time to find the k weakest sets of p bits, observed (bars: fastest to slowest "
        "turn). Top right: fingerprints compared besides near-duplicates, modelled pairs, counted (dots, two standard errors) and "
        "by formula (dashes): many tables leave fewest; PSM_A, at recall .95, compares more with 2 tables than Manku with 10. "
        "Bottom: time of a query, observed in the same way, by bisection for Manku as in the thesis; left modelled pairs, right "
        "real ones. PSM_A with 1 + 2^(p - d) tables, (7.6).",
    )
    return section
