"""The thesis' chapter VI: steps of searches in memory and in batches, counted, and how far times are those of the model."""

from __future__ import annotations

import tempfile
from copy import deepcopy
from dataclasses import replace
from math import comb, log2
from pathlib import Path

import numpy as np
from machine import measure_costs
from pair_model import RADIUS, families
from report import Section

import lookalike as la
from lookalike.theory import hamming_costs
from lookalike.theory.hamming_costs import Costs
from lookalike.theory.weak_bits import table_equivalents

from .batches import written
from .counts import counted_searches, heap_steps, ranking_steps
from .trials import alternating, counting

NOTHING = Costs(
    sizes=(2.0, 4.0, 8.0),
    probe=(0.0,) * 3,
    lookup=(0.0,) * 3,
    gather=(0.0,) * 3,
    compare=0.0,
    scan=0.0,
    hit=0.0,
    flip=0.0,
    step=0.0,
    key=0.0,
    sort=0.0,
    read=0.0,
)
COMPARISONS = replace(NOTHING, compare=1.0, gather=(1.0,) * 3)
LOOKUPS = replace(NOTHING, probe=(1.0,) * 3, lookup=(1.0,) * 3)
READ, STEPS = replace(NOTHING, read=1.0), replace(NOTHING, step=1.0)
GIB = 1 << 30


def _memory(section: Section) -> None:
    """(6.12), (6.17) and (7.6) in whole numbers."""
    fits = [d for d in range(20, 40) if comb(4, 1) * 2**d * 8 <= 16 * GIB]
    section.equals(
        "(6.12): 16 GB hold 4 tables of at most 2^29 fingerprints of 64 bits, and exactly that many",
        [fits[-1], 4 * 2**29 * 8 / GIB],
        [29, 16],
        name="memory-tables",
    )
    ours = [d for d in range(20, 40) if (2**d + 2**d) * 8 <= 16 * GIB]
    section.equals(
        "(6.17): one table with p = d and 2^p entries of 8 bytes holds 2^30, twice as many, and exactly",
        [ours[-1], 2 * 2**30 * 8 / GIB],
        [30, 16],
        name="memory-weak-bits",
    )
    section.equals(
        "(7.6): it counts as 1 + 2^(p-d) tables, as theory.table_equivalents has it",
        [table_equivalents(2.0**26, p) for p in (23, 25, 26)],
        [1.125, 1.5, 2.0],
        name="equivalents",
    )
    section.equals(
        "(6.12) leaves 2^(d-16) to compare in each of its tables, and so 4 x 2^(d-16) a query (the thesis names one table's)",
        [hamming_costs.manku_query(2.0**29, 64, 4, 1, COMPARISONS)],
        [4 * 2**13],
        name="compared-tables",
    )


def _steps_to_a_match(keys: np.ndarray, queries: np.ndarray, prefix: int) -> np.ndarray:
    """Return the keys that a bisection reads for each query until one has its prefix."""
    shift = np.uint64(64 - prefix)
    low, high = np.zeros(len(queries), np.int64), np.full(len(queries), len(keys), np.int64)
    steps, wanted = np.zeros(len(queries), np.int64), queries >> shift
    while len(at := np.flatnonzero(low < high)):
        middle = (low[at] + high[at]) // 2
        found = keys[middle] >> shift
        steps[at] += 1
        low[at] = np.where(found < wanted[at], middle + 1, low[at])
        high[at] = np.where(found > wanted[at], middle, np.where(found == wanted[at], low[at], high[at]))
    return steps


def _counted(section: Section, quick: bool) -> None:
    """Steps that the loops of searches take, run as plain Python with a count."""
    n, m, pieces, prefix, probes = 1 << 14, 50 if quick else 200, 4, 11, 23
    rng = np.random.default_rng(17)
    stored, queries = (rng.integers(0, 1 << 64, size, dtype=np.uint64) for size in (n, m))
    margins = rng.normal(0, 1, (m, 64)).astype(np.float32)
    section.say(
        f"Steps are counted in the loops of the library's kernels, written out in plain Python, which find the same; among "
        f"{n:,} uniform fingerprints, for {m} queries."
    )
    steps = []
    for blocks, lead in ((4, 1), (5, 2)):
        index = la.search.TableIndex(radius=RADIUS, blocks=blocks, lead=lead, lookup="binary").add(stored)
        with counted_searches() as counts:
            index.query(queries)
        looked_up = m * comb(blocks, lead)  # behind a bisection one key is read, and two for each that is equal
        steps.append((counts["keys"] - looked_up - 2 * index.compared) / looked_up)
    section.equals(
        f"the library's bisection, which looks for the first of equal keys, of 2^{n.bit_length() - 1} keys reads log2 n of them "
        "in 4 and in 10 tables, whatever their prefix, or one more",
        steps,
        [hamming_costs.manku_query(n, 64, z, x, STEPS, binary=True) / comb(z, x) for z, x in ((4, 1), (5, 2))],
        1.0,
        name="bisection",
    )
    d = 20
    keys, wanted = (rng.integers(0, 1 << 64, size, dtype=np.uint64) for size in (1 << d, 4000))
    keys.sort()
    prefixes = (8, 12, 16, 25)
    section.equals(
        f"(6.10): a bisection of 2^{d} keys that stops at any key of the prefix takes p = 8, 12, 16 steps, or one less; "
        f"with p = 25, more than d, it takes d = {d}",
        [_steps_to_a_match(keys, wanted, p).mean() for p in prefixes],
        [min(p - 0.5, d) for p in prefixes],
        0.5,
        name="stops",
    )
    memory, rows, counted, by_model = 1 << 20, [], [], []  # the least, with which each batch is a piece
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder) / "counted.fps", stored, pieces)
        for name, using, what, model in (
            ("PSM_A", la.search.WeakBitIndex(radius=RADIUS, prefix_bits=prefix, probes=probes), "wanted", None),
            ("Manku, 4", la.search.TableIndex(radius=RADIUS), "offsets", hamming_costs.manku_batch(n, m, 64, 4, 1, LOOKUPS)),
            (
                "Manku, 10",
                la.search.TableIndex(radius=RADIUS, blocks=5, lead=2),
                "offsets",
                hamming_costs.manku_batch(n, m, 64, 5, 2, LOOKUPS),
            ),
        ):
            with counting(file) as read, counted_searches() as counts:
                file.query(queries, using, margins if model is None else None, memory=memory)
            expected = model or hamming_costs.weak_bits_batch(n, m, 1, prefix, probes, RADIUS, LOOKUPS, pieces=read["pieces"])
            counted.append(counts[what])
            by_model.append(expected)
            rows.append([name, read["pieces"], f"{counts[what]:,}", f"{expected:,.0f}", f"{counts['offsets']:,}"])
    section.table([f"batch of {m} against {n:,}", "pieces", "look-ups counted", "by the model", "offsets read"], rows)
    section.equals("look-ups, counted, are n for each of Manku's tables, (6.14)", counted[1:], by_model[1:], name="look-ups")
    section.equals(
        "for PSM they are m k in each piece, which (6.19) leaves out", counted[0], by_model[0], name="buckets", sense="excludes"
    )
    _ordering(section, margins)


def _ordering(section: Section, margins: np.ndarray) -> None:
    """(6.16): the steps by which weak bits are ordered and their cheapest sets found."""
    rows, found, expected, error, within = [], [], [], [], True
    for p, k in ((16, 23), (20, 23), (26, 40), (26, 160), (26, 1000)):
        ranked = ranking_steps(margins, p)
        costs = np.sort(np.abs(margins[:, -p:]).astype(np.float64), axis=1)
        heap = heap_steps(costs[:20], k, RADIUS)
        found.append(ranked.mean())
        expected.append(p * (p - 1) / 4 + p - sum(1 / i for i in range(1, p + 1)))
        error.append(ranked.std(ddof=1) / np.sqrt(len(ranked)))
        levels = log2(k + RADIUS)
        within &= bool((heap <= k * (8 * levels + 2)).all())
        by_model = hamming_costs.weak_bits_query(2.0**20, p, k, RADIUS, replace(NOTHING, flip=1.0))
        rows.append([p, k, f"{found[-1]:.0f}", f"{expected[-1]:.0f}", f"{heap.mean():,.0f}", f"{by_model:,.0f}"])
    section.table(
        ["p", "k", "margins compared", "p (p - 1) / 4 + p - H(p)", "costs read of the heap", "(p + k) log2(k + h)"], rows
    )
    section.agrees(
        "where k > p, weak bits are ordered by insertion: p (p - 1) / 4 + p - H(p) comparisons of random margins, not the "
        "p log(k + h) of (6.16), which are as many for the p there are; fewer probes need the k - 1 weakest bits only",
        found,
        expected,
        error,
        name="ordering",
    )
    section.holds(
        "the sets come from a heap: 2 + 8 log2(k + h) costs read for each at most (four a level on the way down, two a level "
        "up for each of two new sets), as (6.16) has it; a list that is searched would read k / 2",
        within,
        name="heap",
    )


def chapter_6(quick: bool) -> Section:
    """Count steps in memory and in batches against the models, and compare modelled times with measured ones."""
    n, m = 1 << (16 if quick else 20), 1 << (12 if quick else 15)
    section = Section(
        "t-costs",
        "Thesis, chapter VI, (6.10)-(6.21), (7.6): what searches cost",
        "Fingerprints compared, buckets looked up, bytes read or steps of bisections, counted in the library's kernels, are not "
        "as many as the model says; finding the cheapest sets takes more than a heap does; or 16 GB hold other numbers of "
        "fingerprints than 2^29 and 2^30.",
    )
    _memory(section)
    trial = families(n, m)
    _counted(section, quick)
    section.say(
        "(6.15) as printed multiplies the reading by the number of tables; the file is read once, and the computing "
        "is done for each table: "
        "max(reading, tables x computing). (6.14) is for all n fingerprints of the file, not for one. (6.19) lacks "
        "the buckets looked up, m k in each "
        "piece of the file, and its index."
    )
    pieces, prefix, probes = 8, 14, 23
    methods = {
        "PSM_A": (
            la.search.WeakBitIndex(radius=RADIUS, prefix_bits=prefix, probes=probes),
            lambda costs: hamming_costs.weak_bits_batch(n, m, 1, prefix, probes, RADIUS, costs, pieces=pieces),
        ),
        "Manku, 4": (la.search.TableIndex(radius=RADIUS), lambda costs: hamming_costs.manku_batch(n, m, 64, 4, 1, costs)),
        "Manku, 10": (
            la.search.TableIndex(radius=RADIUS, blocks=5, lead=2),
            lambda costs: hamming_costs.manku_batch(n, m, 64, 5, 2, costs),
        ),
    }
    costs = measure_costs((1 << 14, 1 << 17, 1 << 20)) if not quick else hamming_costs.DEFAULT
    memory, rows, found, expected, read_once, sizes = 3 * 64 * (n // pieces), [], [], [], True, []
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder) / "file.fps", trial.stored, pieces)
        for name, (using, model) in methods.items():
            with counting(file) as counts:
                file.query(trial.queries, using, trial.margins, memory=memory)
            alone = deepcopy(using).add(trial.stored[trial.special])
            alone.query(trial.queries, trial.margins)
            read_once &= counts["bytes"] == model(READ) and counts["fingerprints"] == n
            sizes.append(counts["bytes"])
            found.append(counts["compared"] - alone.compared)
            expected.append(model(COMPARISONS) * (1 - len(trial.special) / n))
            seconds = alternating(
                {name: lambda u=using, name=name: file.query(trial.queries, u, trial.margins, memory=memory)}, 3
            )[name]
            ratio = model(costs) / 1e9 / seconds
            rows.append(
                [
                    name,
                    f"{counts['bytes']:,}",
                    counts["pieces"],
                    f"{found[-1]:,}",
                    f"{expected[-1]:,.0f}",
                    f"{seconds.min():.3f}",
                    f"{np.median(ratio):.2f} ({ratio.min():.2f} to {ratio.max():.2f})",
                ]
            )
    section.table(
        [
            f"batch of {m:,} against {n:,}",
            "bytes read",
            "pieces",
            "compared",
            "by the model",
            "seconds",
            "modelled / measured time",
        ],
        rows,
    )
    section.holds("the file is read once, whatever the tables: n (8 + 4) bytes, (6.13), (6.18)", read_once, name="read-once")
    section.holds(
        "so 4 and 10 tables read as much as one, not 4 and 10 times as much, (6.15)",
        len(set(sizes)) == 1,
        name="reading",
        sense="excludes",
    )
    section.agrees(
        "fingerprints compared are n m 2^(-xf/z) in each of Manku's tables, over blocks as they are, (6.14), and "
        "k n m 2^-p, (6.19)",
        np.array(found) / expected,
        1.0,
        1 / np.sqrt(expected),
        name="compared",
    )
    section.observe(
        f"modelled times, by constants that {'come with the library' if quick else 'were measured right before'}, are the last "
        f"column "
        "times the measured ones: the model has no term for the hits, nor for what Python does for each piece"
    )
    online = {
        "PSM_A": (
            la.search.WeakBitIndex(radius=RADIUS, prefix_bits=min(20, n.bit_length() - 1), probes=probes),
            hamming_costs.weak_bits_query(n, min(20, n.bit_length() - 1), probes, RADIUS, costs),
        ),
        "Manku, 4": (la.search.TableIndex(radius=RADIUS), hamming_costs.manku_query(n, 64, 4, 1, costs)),
        "Manku, 10, bisection": (
            la.search.TableIndex(radius=RADIUS, blocks=5, lead=2, lookup="binary"),
            hamming_costs.manku_query(n, 64, 5, 2, costs, binary=True),
        ),
    }
    rows = []
    for name, (index, model) in online.items():
        index.add(trial.stored)
        seconds = alternating({name: lambda i=index: i.query(trial.queries, trial.margins)}, 3)[name]
        us, by_model = seconds / m * 1e6, (model + costs.hit * len(trial.asked) / m) / 1e3
        rows.append([name, f"{us.min():.2f}", f"{by_model:.2f}", f"{by_model / us.max():.2f} to {by_model / us.min():.2f}"])
    section.table(["in memory", "us a query", "by the model, (6.11), (6.16)", "modelled / measured"], rows)
    return section
