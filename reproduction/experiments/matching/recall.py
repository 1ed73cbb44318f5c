"""Recall by the number of fingerprints and flips, and time at equal memory: the thesis' Figure 8, (7.4) and (7.5)."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
from figures import band, name_lines
from pair_model import RADIUS, Trial, families
from report import Section

import lookalike as la
from lookalike.theory import hamming_costs

from .real import real_trial
from .trials import (
    alternating,
    first_ranks,
    held,
    measured_recall,
    needed,
    probe_ranks,
    recalls,
    share_error,
    theory_recall,
    told_ratio,
    turn_ratio,
    with_probes,
)

KS, MISSES = (2, 5, 15, 23), 20


def _recall(section: Section, trial: Trial, sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return recall and error, of shape (pairs or queries, sizes, ks), for prefixes as long as log2 of the fingerprints."""
    out = np.array([recalls(trial, probe_ranks(trial, size), KS) for size in sizes])  # sizes, (A, F), (share, error), ks
    share, error = out[:, :, 0].transpose(1, 0, 2), out[:, :, 1].transpose(1, 0, 2)
    section.table(
        [f"log2 n ({trial.name})", *(f"R_{name}, k = {k}" for name in "AF" for k in KS)],
        [[size, *(f"{x:.3f}" for x in share[:, i].ravel())] for i, size in enumerate(sizes)],
    )
    ranks = {size: probe_ranks(trial, size) for size in (sizes[0], sizes[-1])}
    ks = np.arange(1, 11)[:, None]
    large, small = (ranks[size] <= ks for size in (sizes[-1], sizes[0]))
    any_found = first_ranks(trial, ranks[sizes[-1]])[trial.asked] <= ks
    groups = trial.groups[trial.asked]
    section.below(
        f"{trial.name}: with as many flips a query has some answer more often than a given pair of it is found (share of "
        f"pairs, mean "
        "over 1 to 10 flips)",
        0.0,
        *share_error((any_found.astype(float) - large).mean(0), groups),
        name="first-more",
    )
    section.below(
        f"{trial.name}: fewer pairs are found at 2^{sizes[-1]} than at 2^{sizes[0]} with p = d (mean over 1 to 10 flips)",
        0.0,
        *share_error((small.astype(float) - large).mean(0), groups),
        name="falls",
    )
    section.holds(
        f"{trial.name}: from 2^{sizes[0]} to 2^{sizes[-1]} R_F falls less than R_A at each k: "
        + ", ".join(
            f"{share[1, 0, i] - share[1, -1, i]:.3f} and {share[0, 0, i] - share[0, -1, i]:.3f}" for i in range(len(KS))
        ),
        bool((share[1, 0] - share[1, -1] < share[0, 0] - share[0, -1]).all()),
        name="first-falls",
    )
    return share, error


def _theory(section: Section, trial: Trial, sizes: list[int], sample: int) -> np.ndarray:
    """Check recall against (4.4) and (4.6), query by query; return theory and the same queries' recall, (2, 2, sizes, ks)."""
    out, cells = np.empty((2, 2, len(sizes), len(KS))), []
    at = np.array(KS) - 1
    for i, size in enumerate(sizes):
        mean, error, misses = (x[:, at] for x in theory_recall(trial, sample, size, max(KS)))
        found = measured_recall(trial, sample, probe_ranks(trial, size), max(KS))[:, at]
        out[0][:, i], out[1][:, i] = mean, found
        enough = misses >= MISSES
        cells += list(zip(found[enough], mean[enough], error[enough], strict=True))
    found, mean, error = np.array(cells).T
    section.agrees(
        f"modelled: R_A and R_F are those of (4.4) and (4.6) at each size and k, query by query ({sample:,} of "
        f"them; where {MISSES} and more are "
        "missed)",
        found,
        mean,
        error,
        name="recall",
    )
    return out


def _works(part: Trial, size: int, blocks: int, lead: int) -> tuple[dict[str, Callable[[], Any]], bool]:
    """Return the searches to be timed, and whether all keep to the memory of Manku's tables."""
    budget = hamming_costs.manku_memory(2.0**size, 1, blocks, lead)
    tables = la.search.TableIndex(radius=RADIUS, blocks=blocks, lead=lead, lookup="binary").add(part.stored)
    weak = la.search.WeakBitIndex(radius=RADIUS, prefix_bits=size).add(part.stored)
    exact = la.search.HammingIndex(radius=RADIUS, memory=budget).add(part.stored)
    tables.query(part.queries[:1])
    weak.query(part.queries[:1], part.margins[:1])
    exact.query(part.queries[:1])
    ranks = probe_ranks(part, size)
    k, k_first = needed(ranks), needed(first_ranks(part, ranks))
    works = {
        f"Manku, {comb(blocks, lead)}": lambda: tables.query(part.queries),
        f"Manku_F, {comb(blocks, lead)}": lambda: tables.first(part.queries),
        "PSM_A": lambda: with_probes(weak, k).query(part.queries, part.margins),
        "PSM_F": lambda: with_probes(weak, k_first).first(part.queries, part.margins),
        "HammingIndex": lambda: exact.query(part.queries),
    }
    taken = [held(index) for index in (tables, weak, exact)]
    return works, taken[1] < taken[0] and taken[2] <= taken[0] + 256  # what does not grow is granted


def _at_equal_memory(section: Section, trial: Trial, sizes: list[int], blocks: int, lead: int) -> dict[str, list[float]]:
    """Time a query at each size within the memory of Manku's tables."""
    count = comb(blocks, lead)
    names = f"Manku, {count}", f"Manku_F, {count}", "PSM_A", "PSM_F", "HammingIndex"
    out: dict[str, list[float]] = {name: [] for name in names}
    ratios, within = [], True
    for size in sizes:
        part = trial.among(1 << size) if len(trial.stored) > 1 << size else trial
        works, fits = _works(part, size, blocks, lead)
        within &= fits
        seconds = alternating(works, 3)
        for name, s in seconds.items():
            out[name].append(float(s.min()) / len(part.queries) * 1e6)
        ratios.append(told_ratio(seconds[f"Manku, {count}"], seconds["PSM_A"]))
        first = seconds[f"Manku_F, {count}"], seconds["PSM_F"]
    section.holds(
        f"the arrays that {count} tables hold take more bytes than those of one sorted table with p = d and its offsets, and as many at "
        f"least as those of a HammingIndex, at each size",
        within,
        name="memory",
    )
    section.observe(
        f"{count} tables, by bisection, take {ratios[0]} times as long as PSM_A at 2^{sizes[0]}, {ratios[-1]} at 2^{sizes[-1]}"
    )
    section.observe(
        f"for the first match they take {told_ratio(*first)} times as long as PSM_F at 2^{sizes[-1]} (thesis: 4.5, of 4 tables)",
        name=f"first-speed-{count}",
        **turn_ratio(*first),
    )
    return out


def figure_8(quick: bool) -> Section:
    """Recall by size and flips, modelled and real; time at the memory of 4 and of 10 tables."""
    section = Section(
        "t-recall",
        "Thesis, (7.4), (7.5), Figure 8: recall and time by the number of fingerprints",
        "Recall does not fall with the number of fingerprints (p = d); R_F is not above R_A, or falls more; or the model's "
        "recall is not "
        "that of (4.4) and (4.6).",
    )
    sizes = [12, 16] if quick else [14, 16, 18, 20]
    modelled = families(1 << sizes[-1], 2000 if quick else 10_000)
    real = real_trial(quick, 1 << sizes[-1])
    section.say(
        "Recall depends on the number of fingerprints through the prefix alone, p = d = log2 n, for no random "
        "fingerprint is within 3 bits: the same "
        "queries and near-duplicates are looked for at each size. R_A (7.5) counts pairs, R_F (7.4) queries with any "
        "answer. Modelled pairs are of the "
        "model of margins, real ones versions of policies; the rest of the fingerprints is uniform. The thesis' are "
        "not to be had."
    )
    shares = {"modelled": _recall(section, modelled, sizes)}
    theory = _theory(section, modelled, sizes, 200 if quick else 500)
    if real is not None:
        shares["real"] = _recall(section, real, sizes)
    section.say(
        "Flips for recall .95 at the largest size, all and first: "
        + "; ".join(
            f"{trial.name} {needed(ranks)} and {needed(first_ranks(trial, ranks))}"
            for trial in (modelled, real)
            if trial is not None
            for ranks in (probe_ranks(trial, sizes[-1]),)
        )
        + "; thesis, at "
        "2^26, 23 and 15."
    )
    timed = families(1 << sizes[-1], 1000)  # few enough near-duplicates for the smallest size
    times = {f"{comb(z, x)}|T|": _at_equal_memory(section, timed, sizes, z, x) for z, x in ((4, 1), (5, 2))}

    def draw(axes):
        for row, (share, error) in enumerate(shares.values()):
            for which, letter in ((1, "F"), (0, "A")):
                axis = axes[2 * row + 1 - which]
                for i, k in enumerate(KS):
                    (line,) = axis.plot(sizes, 1 - share[which, :, i], label=f"k = {k}")
                    band(axis, sizes, 1 - share[which, :, i], error[which, :, i], 1.0, color=line.get_color())
                    if row == 0:
                        axis.plot(sizes, 1 - theory[0, which, :, i], ":", color=line.get_color(), label="_theory")
                        axis.plot(sizes, 1 - theory[1, which, :, i], "x", ms=6, color=line.get_color(), label="_same")
                axis.set_yscale("log")
                axis.set_title(f"PSM_{letter}, {list(shares)[row]} pairs")
                axis.set_ylabel("share missed")
        for axis, (memory, rows) in zip(axes[2 * len(shares) :], times.items(), strict=True):
            for name, us in rows.items():
                axis.plot(sizes, us, "o-", label=name)
            axis.set_yscale("log")
            axis.set_title(f"memory {memory}, modelled pairs")
            axis.set_ylabel("us a query")
        for axis in axes:
            axis.set_xlabel("log2 of the fingerprints = p")
            name_lines(axis)

    section.figure(
        "t-recall",
        (len(shares) + 1, 2),
        draw,
        "Share missed by k flips as the fingerprints grow, of queries "
        "(left) and of pairs (right); bars: one standard "
        "error. Dotted: theory, for some hundreds of the queries; crosses: measured on just these "
        "queries. Last row: processor time of a query, observed, within the memory of 4 and of 10 tables; PSM "
        "at recall .95 takes two "
        "tables of it, HammingIndex is exact.",
    )
    return section
