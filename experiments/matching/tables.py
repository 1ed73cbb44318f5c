"""Weak bits in one, two and three tables: beyond the thesis, which has one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from figures import band, name_lines
from pair_model import RADIUS, Trial, families
from report import Section

import lookalike as la
from lookalike.theory import hamming_costs
from lookalike.theory.weak_bits import exact_probes

from .real import real_trial
from .trials import MOST, alternating, measured_recall, needed, probe_ranks, share_error, theory_recall, told_ratio

TABLES, WANTED, MISSES = (1, 2, 3), (0.95, 0.99), 20
NEVER = 1 << 20  # the probe at which a pair is found that no probe leads to


def _measured(section: Section, trial: Trial, prefix: int) -> dict[int, np.ndarray]:
    """Return at which probe each pair is found, by the number of tables; check what more tables save."""
    groups = trial.groups[trial.asked]
    ranks = {}
    for tables in TABLES:  # with more probes a search is exact, and flips other sets
        most = min(MOST, exact_probes(prefix, RADIUS, tables) - 1)
        found = probe_ranks(trial, prefix, most, tables)
        ranks[tables] = np.where(found <= most, found, NEVER)
    shares, at = [], (5, 10, 20, 30)
    for tables in TABLES:
        shares.append([share_error(ranks[tables] > k, groups) for k in at])
    section.table(
        [f"tables ({trial.name})", *(f"missed, {k} probes" for k in at), *(f"probes for {r}" for r in WANTED)],
        [
            [
                tables,
                *(f"{100 * share:.2f}% ± {100 * error:.2f}" for share, error in row),
                *(_probes(ranks[tables], wanted) for wanted in WANTED),
            ]
            for tables, row in zip(TABLES, shares, strict=True)
        ],
    )
    # Of the real ones, which are few, two tables miss next to none, and at short prefixes one does.
    for fewer in (1, 2) if trial.name == "modelled" else (1,) if prefix >= 20 else ():
        section.below(
            f"{trial.name}: as many probes miss fewer pairs with {fewer + 1} tables than with {fewer} (mean over 6 to 20 probes)",
            0.0,
            *share_error(np.mean([(ranks[fewer] > k) * 1.0 - (ranks[fewer + 1] > k) for k in range(6, 21)], axis=0), groups),
            name="fewer-missed",
        )
    one = _needed(ranks[1], 0.99) or MOST
    share, error = share_error(ranks[2] <= one // 2, groups)
    section.holds(
        f"{trial.name}: two tables find .99 of the pairs with half of the {one} probes that one table takes: "
        f"{share:.4f} ± {error:.4f}",
        share >= 0.99,
        name="half",
        found=share,
        error=error,
    )
    return ranks


def _needed(ranks: np.ndarray, wanted: float) -> int | None:
    """Fewest probes that reach a recall; None where those tried do not."""
    probes = needed(ranks, wanted)
    return probes if probes < NEVER else None


def _probes(ranks: np.ndarray, wanted: float) -> str:
    """Say how many probes a recall needs."""
    return str(_needed(ranks, wanted) or "more")


def _by_theory(section: Section, trial: Trial, prefix: int, sample: int, ranks: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Check recall with more tables against ``weak_bit_recall``, query by query; return what it says is missed."""
    missed, cells, at = {}, [], np.array([2, 3, 5, 8, 12, 20, 30]) - 1
    for tables in TABLES:
        mean, error, misses = (x[0] for x in theory_recall(trial, sample, prefix, int(at[-1]) + 1, tables))
        found = measured_recall(trial, sample, ranks[tables], int(at[-1]) + 1)[0]
        missed[tables] = 1 - mean
        cells += [(tables, i + 1, found[i], mean[i], error[i]) for i in at if misses[i] >= MISSES]
    section.table(
        ["tables", "probes", "recall measured", "weak_bit_recall", "standard error"],
        [[tables, k, *(f"{x:.4f}" for x in r)] for tables, k, *r in cells],
    )
    found, mean, error = np.array([c[2:] for c in cells]).T
    section.agrees(
        f"modelled: recall with 1, 2 and 3 tables is that of weak_bit_recall, query by query ({sample:,} of them; where "
        f"{MISSES} and more are missed)",
        found,
        mean,
        error,
        name="recall",
    )
    return missed


def _works(trial: Trial, prefix: int, ranks: dict[int, np.ndarray], wanted: float) -> dict[str, tuple[float, Any, bool]]:
    """Return {method: (bytes, index, with margins)} of the searches that reach a recall."""
    n = len(trial.stored)
    out: dict[str, tuple[float, Any, bool]] = {}
    for tables in TABLES:
        probes = _needed(ranks[tables], wanted)
        if probes is not None:
            name = f"weak bits, {tables} table{'s' * (tables > 1)}, {max(probes, tables)} probes"
            index = la.WeakBitIndex(radius=RADIUS, prefix_bits=prefix, probes=max(probes, tables), tables=tables)
            out[name] = hamming_costs.weak_bits_memory(n, 1, prefix, tables), index, True
    exact = la.WeakBitIndex(radius=RADIUS, prefix_bits=prefix, probes=None, tables=2)
    out[f"all flips, 2 tables, {exact_probes(prefix, RADIUS, 2)} probes"] = (
        hamming_costs.weak_bits_memory(n, 1, prefix, 2), exact, False,
    )  # fmt: skip
    for tables in (2, 3):
        memory = hamming_costs.weak_bits_memory(n, 1, prefix, tables)
        out[f"HammingIndex, memory of {tables} tables"] = memory, la.HammingIndex(radius=RADIUS, memory=memory), False
    out["HammingIndex"] = 0.0, la.HammingIndex(radius=RADIUS), False
    for z, x in ((4, 1), (5, 2)):
        index = la.TableIndex(radius=RADIUS, blocks=z, lead=x)
        out[f"Manku, {index.n_tables}, direct access"] = hamming_costs.manku_memory(n, 1, z, x), index, False
    return out


def _times(section: Section, trial: Trial, prefix: int, ranks: dict[int, np.ndarray]) -> None:
    """Time a query at a recall of .99, beside searches that find all."""
    pairs = set(zip(trial.asked.tolist(), trial.rows.tolist(), strict=True))
    methods, works, same = _works(trial, prefix, ranks, 0.99), {}, True
    rows: list[list[Any]] = []
    again = max(1, 10_000 // len(trial.queries))  # few queries are asked several times in one batch
    queries = np.tile(trial.queries, again)
    for name, (_, index, weighed) in methods.items():
        index.add(trial.stored)
        margins = trial.margins if weighed else None
        index.query(trial.queries[:1], None if margins is None else margins[:1])
        index.compared = 0
        found = index.query(trial.queries, margins)
        hits = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
        if weighed:
            chosen = ranks[index.tables] <= index.probes
            same &= hits == set(zip(trial.asked[chosen].tolist(), trial.rows[chosen].tolist(), strict=True))
        else:
            same &= hits == pairs
        rows.append([len(hits) / len(pairs), index.compared / len(trial.queries)])

        works[name] = partial(index.query, queries, None if margins is None else np.tile(margins, (again, 1)))
    section.holds(
        f"{trial.name}: each search finds the pairs that its prefixes probed hold, or all of them, each once and no other",
        same,
        name="complete",
    )
    seconds = alternating(works, 12)
    for row, (name, (memory, index, _)) in zip(rows, methods.items(), strict=True):
        if isinstance(index, la.HammingIndex):
            memory = 8.0 * len(trial.stored) if index.layout is None else index.layout.memory
        us = float(seconds[name].min()) / len(queries) * 1e6
        row[:] = [name, f"{memory / 1e6:,.1f}", f"{row[0]:.4f}", f"{row[1]:,.1f}", f"{us:.2f}"]
    section.table(
        [f"method ({trial.name}, {len(trial.queries):,} queries)", "MB", "recall", "compared a query", "us a query"], rows
    )
    names = {tables: next((n for n in works if n.startswith(f"weak bits, {tables} ")), None) for tables in TABLES}
    for one, other in ((1, 2), (2, 3)):
        if names[one] and names[other]:
            section.observe(
                f"{trial.name}, recall .99: {one} table{'s' * (one > 1)} take{'s' * (one == 1)} "
                f"{told_ratio(seconds[names[one]], seconds[names[other]])} times as long as {other}"
            )
    for other in ("HammingIndex, memory of 2 tables", "HammingIndex"):
        section.observe(
            f"{trial.name}: two tables at recall .99 take {told_ratio(seconds[names[2]], seconds[other])} times as long as "
            f"{other}, which is exact"
        )


def _draw(
    prefix: int, curves: dict[str, tuple[Trial, dict[int, np.ndarray]]], missed: dict[int, np.ndarray]
) -> Callable[[Any], None]:
    """Return what draws the share missed by so many probes."""

    def draw(axes: Any) -> None:
        for axis, (name, (trial, ranks)) in zip(axes, curves.items(), strict=True):
            ks = np.arange(1, 31)
            axis.axhline(0.01, color="#888888", lw=0.8, label="_")
            for tables in TABLES:
                share = np.array([share_error(ranks[tables] > k, trial.groups[trial.asked]) for k in ks])
                kept = share[:, 0] > 0
                (line,) = axis.plot(ks[kept], share[kept, 0], label=f"{tables} table{'s' * (tables > 1)}")
                some = kept & (ks % 3 == tables % 3)
                band(axis, ks[some], share[some, 0], share[some, 1], 1.0, color=line.get_color())
                if name == "modelled":
                    axis.plot(ks, missed[tables][:30], "k:", lw=1, label="_theory")
            axis.set_yscale("log")
            axis.set_ylim(2e-4, 1)
            axis.set_xlabel("probes in all tables")
            axis.set_ylabel("share missed")
            axis.set_title(f"{name} pairs, p = {prefix}")
            name_lines(axis)

    return draw


def few_tables(quick: bool) -> Section:
    """Recall by probes and tables, modelled and real; time beside one table and exact tables."""
    size = 16 if quick else 20
    section = Section(
        "t-tables",
        "Beyond the thesis: weak bits in two and three tables",
        "With two tables, whose prefixes have no bit in common and which take turns with the probes, a recall of .99 takes more "
        "than half of the probes that one table takes; recall is not that of weak_bit_recall; or an index finds other pairs "
        "than the prefixes probed hold.",
    )
    section.say(
        "The thesis has one sorted table, and flips the query's weakest bits. Several tables with flips, all bits alike, are "
        "those of Norouzi, Punjani & Fleet (CVPR 2012). Here both are joined: a pair is missed only if every table misses it, "
        f"and the probes are divided among the tables. 2^{size} fingerprints, prefixes of {size} bits, probes counted in all "
        "tables together; modelled and real pairs are those of t-flips and t-real."
    )
    trials = {"modelled": families(1 << size, 4000 if quick else 20_000)}
    real = real_trial(quick, 1 << size)
    if real is not None:
        trials["real"] = real
    curves = {name: (trial, _measured(section, trial, size)) for name, trial in trials.items()}
    missed = _by_theory(section, trials["modelled"], size, 1000 if quick else 4000, curves["modelled"][1])
    for trial, ranks in curves.values():
        _times(section, trial, size, ranks)
    section.figure(
        "t-tables",
        (1, len(curves)),
        _draw(size, curves, missed),
        f"2^{size} fingerprints. Share of pairs missed by so many probes in 1, 2 and 3 tables (bars: one standard error; dotted: "
        "theory of some thousands of the same queries; the grey line is a recall of .99).",
    )
    return section
