"""Batches of queries against a file: the thesis' Figures 9 and 10."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
from figures import COLOURS, name_lines
from pair_model import RADIUS, Trial, families
from report import Section

import lookalike as la

from .real import real_trial
from .trials import alternating, counting, first_ranks, probe_ranks, told_ratio, turn_ratio

PROBES, PARTS = 23, 16
THESIS = {"PSM_A": 7.7, "PSM_F": 14.0}  # Figure 10: how many times faster than Manku's tables, with the largest batch


def _methods() -> dict[str, tuple[la.search.FingerprintFile, bool]]:
    """Return {name: (an empty index, whether the first answer is enough)}."""
    return {
        "PSM_A": (la.search.WeakBitIndex(radius=RADIUS, probes=PROBES), False),
        "PSM_F": (la.search.WeakBitIndex(radius=RADIUS, probes=PROBES), True),
        "Manku, 4": (la.search.TableIndex(radius=RADIUS, lookup="binary"), False),
        "HammingIndex": (la.search.HammingIndex(radius=RADIUS), False),
    }


def written(path: Path, stored: np.ndarray, parts: int) -> la.search.FingerprintFile:
    """Append fingerprints in so many batches, sorted each, as the thesis' Figure 9 has it."""
    file = la.search.FingerprintFile(path)
    for part in np.array_split(stored, parts):
        file.append(part)
    return file


def asked(trial: Trial, queries: int) -> Trial:
    """Return the first queries only."""
    chosen = trial.asked < queries
    return replace(
        trial,
        queries=trial.queries[:queries],
        margins=trial.margins[:queries],
        groups=trial.groups[:queries],
        asked=trial.asked[chosen],
        rows=trial.rows[chosen],
    )


def _memory(n: int, parts: int) -> int:
    """Bytes with which the file is read in about so many pieces: three are counted as under way, 64 bytes a fingerprint."""
    return max(1 << 20, 3 * 64 * -(-n // parts))


def _answers(section: Section, file: la.search.FingerprintFile, trial: Trial, memory: int) -> None:
    """Check what each method finds, and what it reads."""
    planted = set(zip(trial.asked.tolist(), trial.rows.tolist(), strict=True))
    most = max(1024, memory // 3 // 64)
    prefix = _methods()["PSM_A"][0].weak_bits(min(most, len(file))).count
    ranks = probe_ranks(trial, prefix, PROBES)
    rows = []
    for name, (using, first) in _methods().items():
        with counting(file) as counts:
            if first:
                out = file.first(trial.queries, using, trial.margins, memory=memory)
                hits = {(q, r) for q, r in enumerate(out.tolist()) if r >= 0}
                right = hits <= planted and bool(((out >= 0) == (first_ranks(trial, ranks) <= PROBES)).all())
                recall = len(hits) / len(trial.queries)
            else:
                found = file.query(trial.queries, using, trial.margins if "PSM" in name else None, memory=memory)
                hits = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
                wanted = ranks <= PROBES if "PSM" in name else np.ones(len(ranks), np.bool_)
                right = hits == set(zip(trial.asked[wanted].tolist(), trial.rows[wanted].tolist(), strict=True))
                recall = len(hits) / len(planted)
        rows.append(
            [
                name,
                f"{recall:.4f}",
                counts["pieces"],
                f"{counts['compared'] / len(trial.queries):.1f}" if counts["compared"] else "not counted",
            ]
        )
        what = "all pairs" if "PSM" not in name else f"what {PROBES} flips of {prefix} bits hold"
        section.holds(f"{trial.name}: {name} finds {what}, neither more nor less", right, name="answers")
    section.table(
        [
            f"method ({trial.name}, {len(trial.queries):,} queries, {len(file):,} in the file)",
            "recall",
            "pieces read",
            "compared a query",
        ],
        rows,
    )


def _stops(section: Section, folder: Path, trial: Trial, n: int) -> None:
    """Count the pieces that are read until each query is answered."""
    ranks = probe_ranks(trial, 10, PROBES)
    number = np.unique(trial.asked[ranks <= 5])[:1000]  # such as are found for sure
    queries, margins = trial.queries[number], trial.margins[number]
    rows = np.array([trial.rows[(trial.asked == q) & (ranks <= 5)][0] for q in number])
    rng, rest = np.random.default_rng(4), n - len(rows)
    stored = np.concatenate([trial.stored[rows], rng.integers(0, 1 << 64, rest, dtype=np.uint64)])
    head = n // PARTS
    stored[:head] = stored[rng.permutation(head)]  # all answers lie in the first batch of the file
    file = written(folder / "answers-first.fps", stored, PARTS)
    memory, pieces = _memory(n, PARTS), {}
    using = la.search.WeakBitIndex(radius=RADIUS, probes=PROBES, prefix_bits=10)
    for name, more in (("all answered", 0), ("one without an answer", 1)):
        values = np.append(queries, ~queries[:more])
        sums = np.concatenate([margins, margins[:more]])
        with counting(file) as counts:
            out = file.first(values, using, sums, memory=memory)
        pieces[name] = counts["pieces"]
        section.holds(
            f"{name}: {(out >= 0).sum():,} of {len(values):,} queries are answered",
            (out >= 0).sum() == len(queries),
            name="answered",
        )
    section.holds(
        f"PSM_F reads {pieces['all answered']} of {pieces['one without an answer']} pieces where all answers lie "
        f"in the first of {PARTS} batches "
        "(thesis, V.B: stop as soon as there is a match for all), and the whole file for one query without an answer",
        pieces["all answered"] == 1 and pieces["one without an answer"] == PARTS,
        name="stops",
    )
    seconds = alternating(
        {
            "stops": lambda: file.first(queries, using, margins, memory=memory),
            "reads all": lambda: file.first(
                np.append(queries, ~queries[:1]), using, np.concatenate([margins, margins[:1]]), memory=memory
            ),
        }
    )
    section.observe(
        f"one query without an answer makes the batch take {told_ratio(seconds['reads all'], seconds['stops'])} times as long"
    )


Speeds = list[tuple[list[int], dict[str, np.ndarray]]]


def _speeds(section: Section, folder: Path, trial: Trial, batches: list[int], batch: int) -> Speeds:
    """Time batches of several sizes against the whole file, and one batch against parts of it.

    Returns (sizes, {method: how many times faster than Manku's 4 tables, turn by turn: (sizes, turns)}).
    """
    n = len(trial.stored)
    files = [n // 4, n // 2, n]
    stored = {size: written(folder / f"{trial.name}-{size}.fps", trial.stored[:size], PARTS) for size in files}
    out, columns, largest = [], [], {}
    for sizes, works in ((batches, [(stored[n], b) for b in batches]), (files, [(stored[size], batch) for size in files])):
        times: dict[str, list[np.ndarray]] = {m: [] for m in _methods()}
        for file, count in works:
            part = asked(trial, count)
            seconds = alternating(
                {
                    m: partial(file.first if first else file.query, part.queries, using, part.margins)
                    for m, (using, first) in _methods().items()
                },
                5,
            )
            for m, s in seconds.items():
                times[m].append(seconds["Manku, 4"] / s)
            columns.append({m: f"{count / float(s.min()):,.0f}" for m, s in seconds.items()})
            if sizes is batches:
                largest = seconds
        out.append((sizes, {m: np.array(each) for m, each in times.items()}))
    section.table(
        [f"queries/s ({trial.name})", *(f"batch of {b:,}" for b in batches), *(f"{batch:,} against {f:,}" for f in files)],
        [[m, *(column[m] for column in columns)] for m in _methods()],
    )
    for name, method in (("all", "PSM_A"), ("first", "PSM_F")):
        times = largest["Manku, 4"], largest[method]
        claim = (
            f"{trial.name}, batch of {batches[-1]:,}: Manku's 4 tables take {told_ratio(*times)} times as long as {method} "
            f"(thesis, with batches of 10 million: {THESIS[method]:g})"
        )
        section.observe(claim, name=f"{trial.name}-{name}", **turn_ratio(*times))
    return out


def _draw(axes: Any, drawn: dict[str, Speeds]) -> None:
    for row, (kind, speeds) in enumerate(drawn.items()):
        for axis, (x, rows), label in zip(
            axes[2 * row :], speeds, ("queries in a batch", "fingerprints in the file"), strict=False
        ):
            for colour, (m, times) in zip(COLOURS, rows.items(), strict=False):
                middle = np.median(times, 1)
                if m == "Manku, 4":
                    axis.axhline(1.0, color=colour, label=m)
                    continue
                axis.plot(x, middle, color=colour, lw=1, label=m)
                axis.errorbar(
                    x,
                    middle,
                    yerr=(middle - times.min(1), times.max(1) - middle),
                    fmt="o",
                    color=colour,
                    capsize=2,
                    elinewidth=1,
                )
                if m in THESIS:
                    axis.axhline(THESIS[m], color=colour, ls=":", lw=1.2, label=f"{m}, thesis")
            axis.set(xscale="log", yscale="log", title=f"{kind} pairs", xlabel=label, ylabel="times as fast as 4 tables")
            ticks = [0.2, 0.5, 1, 2, 5, 10] if axis.get_ylim()[0] < 0.3 else [0.5, 1, 2, 5, 10]
            axis.set_yticks(ticks, [f"{t:g}" for t in ticks])
            axis.set_xticks(x, [f"$2^{{{log2(v):.0f}}}$" if v & (v - 1) == 0 else f"{v:,}" for v in x])
            for which in (axis.set_xticks, axis.set_yticks):
                which([], minor=True)
            name_lines(axis)


def figure_10(quick: bool) -> Section:
    """Queries a second by the size of the batch and of the file; what is found; what is read."""
    n = 1 << (16 if quick else 20)
    section = Section(
        "t-batches",
        "Thesis, chapters V.B and VII.G, Figures 9 and 10: batches against a file",
        "A method finds another set of pairs in the file than it must; or PSM_F reads on when every query is answered.",
    )
    modelled = families(n, n // 8)
    real = real_trial(quick, n)
    section.say(
        f"A file of {PARTS} sorted batches, {n:,} fingerprints (thesis: 60 million; IRLbot's pages are not to be "
        f"had). Modelled: batches of queries with "
        "families of near-duplicates by the model of margins, uniform fingerprints besides. Real: versions of "
        "policies among uniform ones; their batch is "
        "small. As in the thesis, Manku's tables are those of the queries, which fingerprints of the file look up; "
        "they cannot leave out queries "
        "that were answered."
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = written(folder / "all.fps", modelled.stored, PARTS)
        _answers(section, file, modelled, _memory(n, PARTS))
        if real is not None:
            _answers(section, written(folder / "real.fps", real.stored, PARTS), real, _memory(n, PARTS))
        _stops(section, folder, modelled, n)
        drawn = {"modelled": _speeds(section, folder, modelled, [n // 64, n // 16, n // 8], n // 16)}
        if real is not None:
            count = len(real.queries)
            drawn["real"] = _speeds(section, folder, real, [count // 4, count // 2, count], count)

    section.figure(
        "t-batches",
        (len(drawn), 2),
        lambda axes: _draw(axes, drawn),
        f"How many times faster than Manku's 4 tables, processor time, observed (bars: least to most of five turns). Left: by the size "
        f"of the batch, against {n:,} fingerprints. Right: by the size of the file. Dotted: the thesis' largest gains, of batches of "
        "10 million against 60 million, 76 and 57 times as many as here: a sixth of the file there, an eighth for the largest "
        "modelled batch. HammingIndex, here of the queries as Manku's tables are, has no tables for 2,048 queries and fewer, "
        "but compares each with all of the file: it is last with the small batches of real pairs.",
    )
    return section
