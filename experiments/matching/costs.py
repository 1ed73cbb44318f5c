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
    )
    ours = [d for d in range(20, 40) if (2**d + 2**d) * 8 <= 16 * GIB]
    section.equals(
        "(6.17): one table with p = d and 2^p entries of 8 bytes holds 2^30, twice as many, and exactly",
        [ours[-1], 2 * 2**30 * 8 / GIB],
        [30, 16],
    )
    section.equals(
        "(7.6): it counts as 1 + 2^(p-d) tables, as theory.table_equivalents has it",
        [table_equivalents(2.0**26, p) for p in (23, 25, 26)],
        [1.125, 1.5, 2.0],
    )
    section.equals(
        "(6.12) leaves 2^(d-16) to compare in each of its tables, and so 4 x 2^(d-16) a query (the thesis names one table's)",
        [hamming_costs.manku_query(2.0**29, 64, 4, 1, COMPARISONS)],
        [4 * 2**13],
    )


def _bisection(words: np.ndarray, key: int) -> int:
    """Count the steps of the bisection for a key, as the tables' kernel takes them."""
    low, high, steps = 0, len(words), 0
    while low < high:
        middle = (low + high) // 2
        steps += 1
        low, high = (middle + 1, high) if words[middle] < key else (low, middle)
    return steps


def chapter_6(quick: bool) -> Section:
    """Count steps in memory and in batches against the models, and compare modelled times with measured ones."""
    n, m = 1 << (16 if quick else 20), 1 << (12 if quick else 15)
    section = Section(
        "t-costs",
        "Thesis, chapter VI, (6.10)-(6.21), (7.6): what searches cost",
        "Fingerprints compared, buckets looked up, bytes read or steps of bisections are not as many as the model says; or "
        "16 GB hold "
        "other numbers of fingerprints than 2^29 and 2^30.",
    )
    _memory(section)
    trial = families(n, m)
    words = np.sort(trial.stored)
    steps = np.array([_bisection(words, int(q)) for q in trial.queries[:2000]])
    most = hamming_costs.manku_query(n, 64, 5, 2, STEPS, binary=True) / 10
    section.equals(
        f"(6.10) corrected: a bisection of 2^{n.bit_length() - 1} keys takes log2 n steps, whatever the prefix; "
        f"the 25 of 10 tables' prefixes "
        "would be wrong",
        steps,
        most,
        1.0,
    )
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
            la.WeakBitIndex(radius=RADIUS, prefix_bits=prefix, probes=probes),
            lambda costs: hamming_costs.weak_bits_batch(n, m, 1, prefix, probes, RADIUS, costs, pieces=pieces),
        ),
        "Manku, 4": (la.TableIndex(radius=RADIUS), lambda costs: hamming_costs.manku_batch(n, m, 64, 4, 1, costs)),
        "Manku, 10": (
            la.TableIndex(radius=RADIUS, blocks=5, lead=2),
            lambda costs: hamming_costs.manku_batch(n, m, 64, 5, 2, costs),
        ),
    }
    costs = measure_costs((1 << 14, 1 << 17, 1 << 20)) if not quick else hamming_costs.DEFAULT
    memory, rows, found, expected, read_once, looked_up = 3 * 64 * (n // pieces), [], [], [], True, True
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder) / "file.fps", trial.stored, pieces)
        for name, (using, model) in methods.items():
            with counting(file) as counts:
                file.query(trial.queries, using, trial.margins, memory=memory)
            alone = deepcopy(using).add(trial.stored[trial.special])
            alone.query(trial.queries, trial.margins)
            lookups = m * probes * counts["pieces"] if "PSM" in name else counts["fingerprints"] * using.n_tables
            read_once &= counts["bytes"] == model(READ) and counts["fingerprints"] == n
            looked_up &= lookups == model(LOOKUPS)
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
                    f"{lookups:,}",
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
            "look-ups",
            "compared",
            "by the model",
            "seconds",
            "modelled / measured time",
        ],
        rows,
    )
    section.holds("the file is read once, whatever the tables: n (8 + 4) bytes, (6.13), (6.18)", read_once)
    section.holds(
        "look-ups are n for each of Manku's tables, (6.14), and m k in each piece for PSM, which (6.19) leaves out", looked_up
    )
    section.agrees(
        "fingerprints compared are n m 2^(-xf/z) in each of Manku's tables, over blocks as they are, (6.14), and "
        "k n m 2^-p, (6.19)",
        np.array(found) / expected,
        1.0,
        1 / np.sqrt(expected),
    )
    section.observe(
        f"modelled times, by constants that {'come with the library' if quick else 'were measured right before'}, are the last "
        f"column "
        "times the measured ones: the model has no term for the hits, nor for what Python does for each piece"
    )
    online = {
        "PSM_A": (
            la.WeakBitIndex(radius=RADIUS, prefix_bits=min(20, n.bit_length() - 1), probes=probes),
            hamming_costs.weak_bits_query(n, min(20, n.bit_length() - 1), probes, RADIUS, costs),
        ),
        "Manku, 4": (la.TableIndex(radius=RADIUS), hamming_costs.manku_query(n, 64, 4, 1, costs)),
        "Manku, 10, bisection": (
            la.TableIndex(radius=RADIUS, blocks=5, lead=2, lookup="binary"),
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
    section.equals(
        "ordering weak bits takes (p + k) log2(k + h) steps in (6.16)",
        hamming_costs.weak_bits_query(n, 20, 23, 3, replace(NOTHING, flip=1.0)),
        43 * log2(26),
        1e-9,
    )
    return section
