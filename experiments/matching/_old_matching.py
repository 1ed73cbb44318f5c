"""Probabilistic SimHash matching against Manku's tables: the thesis' Figures 5, 7, 8 and 10, on up to a million fingerprints."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from math import comb
from pathlib import Path

import numpy as np
from pair_model import SIGMA, SPREAD, stored_and_queries
from report import Section

import semblance as sb
from semblance.search.tune import fastest
from semblance.search.weak_bits import WeakBits
from semblance.theory import hamming_search

RADIUS, WANTED, QUERIES = 3, 0.95, 10_000


def _recall(index, queries: np.ndarray, margins: np.ndarray | None, first: bool) -> float:
    """Share of queries whose planted near-duplicate is found; with ``first``, for which anything is."""
    if first:
        return float((index.first(queries, margins) >= 0).mean())
    found = index.query(queries, margins)
    return len(np.unique(found.left[found.left == found.right])) / len(queries)


def _modelled(margins: np.ndarray, prefix: int, probes: int) -> np.ndarray:
    """Recall with 1, 2, ... probes by the model of margins."""
    rng = np.random.default_rng(3)
    sums = rng.normal(0, 1, (400, 64))
    sigma = SIGMA * np.exp(SPREAD * rng.normal(0, 1, len(sums)))
    found, near = hamming_search.weak_bit_recall(sums, sigma, prefix, probes, RADIUS)
    return found.sum(0) / near.sum()


def _needed(index: Callable[[int], sb.WeakBitIndex], queries, margins, first: bool, most: int) -> int:
    """Fewest probes that reach the wanted recall, by bisection."""
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if _recall(index(middle), queries, margins, first) >= WANTED:
            high = middle
        else:
            low = middle + 1
    return low


def _with_probes(table: sb.WeakBitIndex) -> Callable[[int], sb.WeakBitIndex]:
    """The same table with other numbers of probes."""

    def change(probes: int) -> sb.WeakBitIndex:
        table.probes = probes
        table._weak = table.weak_bits(len(table))
        return table

    return change


def figure_5(quick: bool) -> Section:
    """Probes needed for recall .95, and the time of a query, against the length of the prefix."""
    section = Section("Thesis, Figure 5: flips against linear scan")
    size = 18 if quick else 20
    stored, queries, margins = stored_and_queries(1 << size, QUERIES)
    rows, measured = [], {}
    prefixes = list(range(size - 10, size + 1, 2))
    for prefix in prefixes:
        table = sb.WeakBitIndex(radius=RADIUS, prefix_bits=prefix).add(stored)
        table.first(queries[:10], margins[:10])
        change = _with_probes(table)
        needed = {first: _needed(change, queries, margins, first, 120) for first in (False, True)}
        model = int(np.argmax(_modelled(margins, prefix, 120) >= WANTED)) + 1
        times = {}
        for first in (False, True):
            index = change(needed[first])
            call = index.first if first else index.query
            times[first] = fastest(lambda call=call: call(queries, margins)) / len(queries) * 1e6
        measured[prefix] = needed[False], needed[True], times[False], times[True], model
        rows.append([prefix, needed[False], model, needed[True], f"{times[False]:.1f}", f"{times[True]:.1f}"])

    def draw(axes):
        axes[0].plot(prefixes, [measured[p][0] for p in prefixes], "o-", label="all (PSM_A)")
        axes[0].plot(prefixes, [measured[p][1] for p in prefixes], "s-", label="first (PSM_F)")
        axes[0].plot(prefixes, [measured[p][4] for p in prefixes], "k--", label="model")
        axes[0].set_ylabel("probes for recall .95")
        axes[1].plot(prefixes, [measured[p][2] for p in prefixes], "o-", label="all")
        axes[1].plot(prefixes, [measured[p][3] for p in prefixes], "s-", label="first")
        axes[1].set_yscale("log")
        axes[1].set_ylabel("us a query")
        for axis in axes:
            axis.set_xlabel("prefix bits p")
            axis.legend()

    section.figure("thesis_5", 2, 1, draw, f"2^{size} fingerprints: probes needed, and time, by the length of the prefix")
    section.table(["p", "probes, all", "by the model", "probes, first", "us, all", "us, first"], rows)
    a, z = prefixes[0], prefixes[-1]
    section.check(
        measured[z][0] < 2.0 ** ((z - a) / 2) * measured[a][0],
        "probes grow far more slowly than buckets: not by two for each bit",
    )
    section.check(
        measured[z][2] < 0.5 * measured[a][2], f"a longer prefix saves time: {measured[a][2]:.1f} to {measured[z][2]:.1f} us"
    )
    off = max(abs(measured[p][4] - measured[p][0]) / measured[p][0] for p in prefixes)
    section.check(off < 0.35, f"the model's number of probes is within {100 * off:.0f} % of what is needed")
    return section


def figure_7(quick: bool) -> Section:
    """Time to order weak bits; fingerprints checked and time by the number of tables."""
    section = Section("Thesis, Figure 7: preprocessing, checked fingerprints, time")
    size = 18 if quick else 20
    stored, queries, margins = stored_and_queries(1 << size, QUERIES)
    ks = [5, 10, 20, 40, 80]
    ordering: dict[int, list[float]] = {}
    words = queries[:, None]
    for prefix in (21, 34):
        ordering[prefix] = []
        for k in ks:
            weak = WeakBits(64 - prefix, prefix, RADIUS, k)
            weak.prefixes(words, margins, 0, 10)
            ordering[prefix].append(fastest(lambda weak=weak: weak.prefixes(words, margins, 0, QUERIES)) / QUERIES * 1e6)
    checked: dict[str, list[tuple[float, float, float]]] = {"Manku": [], "PSM_A": []}
    for blocks, lead in ((4, 1), (5, 2), (6, 3)):
        index = sb.TableIndex(radius=RADIUS, blocks=blocks, lead=lead, lookup="binary").add(stored)
        index.query(queries[:10])
        index.compared = 0
        index.query(queries)
        per_query = index.compared / len(queries)
        checked["Manku"].append((comb(blocks, lead), per_query, fastest(lambda i=index: i.query(queries)) / QUERIES * 1e6))
    for prefix in (size - 3, size - 2, size - 1, size):
        index = sb.WeakBitIndex(radius=RADIUS, prefix_bits=prefix).add(stored)
        index.query(queries[:10], margins[:10])
        index = _with_probes(index)(_needed(_with_probes(index), queries, margins, False, 120))
        index.compared = 0
        index.query(queries, margins)
        per_query = index.compared / len(queries)
        tables = hamming_search.table_equivalents(2.0**size, prefix)
        checked["PSM_A"].append((tables, per_query, fastest(lambda i=index: i.query(queries, margins)) / QUERIES * 1e6))

    def draw(axes):
        for prefix, times in ordering.items():
            axes[0].plot(ks, times, "o-", label=f"p = {prefix}")
        axes[0].set_xlabel("probes k")
        axes[0].set_ylabel("us a fingerprint")
        for name, points in checked.items():
            x, count, us = zip(*points, strict=True)
            axes[1].plot(x, count, "o-", label=name)
            axes[2].plot(x, us, "o-", label=name)
        axes[1].set_ylabel("fingerprints checked a query")
        axes[2].set_ylabel("us a query")
        for axis in axes[1:]:
            axis.set_xlabel("tables")
            axis.set_yscale("log")
        for axis in axes:
            axis.legend()

    section.figure(
        "thesis_7",
        3,
        1,
        draw,
        f"2^{size} fingerprints, recall .95: ordering weak bits; checked; time (Manku by bisection, as in the thesis)",
    )
    growth = ordering[21][-1] / ordering[21][0]
    section.check(growth < ks[-1] / ks[0], f"ordering grows more slowly than k: {growth:.1f} times from k = 5 to 80")
    section.check(
        min(c[1] for c in checked["Manku"]) < min(c[1] for c in checked["PSM_A"]), "many tables check fewest fingerprints"
    )
    best = {name: min(points, key=lambda p: p[2]) for name, points in checked.items()}
    ratio = best["Manku"][2] / best["PSM_A"][2]
    section.check(ratio > 1, f"and PSM_A, with {best['PSM_A'][0]:.1f} tables, is {ratio:.1f} times faster than the best of theirs "
                  f"({best['Manku'][0]} tables; thesis: 3.5 times)")  # fmt: skip
    return section


def figure_8(quick: bool) -> Section:
    """Recall by the number of fingerprints and probes; time at the same memory."""
    section = Section("Thesis, Figure 8: recall and time by the number of fingerprints")
    sizes = list(range(14, 18 if quick else 21, 1 if quick else 2))
    ks = (5, 15, 23, 40)
    recall: dict[tuple[bool, int], list[float]] = {(first, k): [] for first in (False, True) for k in ks}
    times: dict[str, list[float]] = {"PSM_A": [], "PSM_F": [], "Manku, 4 tables": [], "Manku, 10 tables": []}
    for size in sizes:
        stored, queries, margins = stored_and_queries(1 << size, QUERIES)
        table = sb.WeakBitIndex(radius=RADIUS, prefix_bits=size).add(stored)
        table.query(queries[:10], margins[:10])
        for first, k in recall:
            recall[first, k].append(_recall(_with_probes(table)(k), queries, margins, first))
        for first, name in ((False, "PSM_A"), (True, "PSM_F")):
            index = _with_probes(table)(_needed(_with_probes(table), queries, margins, first, 120))
            call = index.first if first else index.query
            times[name].append(fastest(lambda c=call, q=queries, m=margins: c(q, m)) / QUERIES * 1e6)
        for blocks, lead in ((4, 1), (5, 2)):
            index = sb.TableIndex(radius=RADIUS, blocks=blocks, lead=lead, lookup="binary").add(stored)
            index.query(queries[:10])
            name = f"Manku, {comb(blocks, lead)} tables"
            times[name].append(fastest(lambda i=index, q=queries: i.query(q)) / QUERIES * 1e6)

    def draw(axes):
        for (first, k), values in recall.items():
            axes[int(not first)].plot(sizes, values, "o-", label=f"k = {k}")
        for axis, title in zip(axes, ("PSM_F", "PSM_A"), strict=False):
            axis.set_title(title)
            axis.set_ylabel("recall")
        for name, values in times.items():
            axes[2].plot(sizes, values, "o-", label=name)
        axes[2].set_ylabel("us a query at recall .95")
        axes[2].set_yscale("log")
        for axis in axes:
            axis.set_xlabel("log2 of the fingerprints = p")
            axis.legend()

    section.figure(
        "thesis_8", 3, 1, draw, "Recall by size for several k; time of a query (PSM 2 tables, recall .95; Manku's exact)"
    )
    drop = {k: recall[False, k][0] - recall[False, k][-1] for k in ks}
    section.check(drop[5] > drop[40] >= -0.01, "recall falls with the number of fingerprints, the less the more probes")
    section.check(
        all(f >= a for k in ks for f, a in zip(recall[True, k], recall[False, k], strict=True)),
        "PSM_F finds one of several sooner",
    )
    last = recall[False, 23][-1]
    section.check(last > 0.85, f"23 probes find {last:.3f} at 2^{sizes[-1]} (thesis: .95 at 2^26)")
    return section


def figure_10(quick: bool) -> Section:
    """Batches of queries against a file: speed by the size of the batch and of the file."""
    section = Section("Thesis, Figure 10: batches against a file")
    n = 1 << (18 if quick else 20)
    batches = [n // 64, n // 16, n // 4]
    names = {"PSM_A": (lambda: sb.WeakBitIndex(radius=RADIUS, probes=23), False), "PSM_F": (lambda: sb.WeakBitIndex(radius=RADIUS, probes=23), True),
             "Manku, 4 tables": (lambda: sb.TableIndex(radius=RADIUS, lookup="binary"), False), "HammingIndex, exact": (lambda: sb.HammingIndex(radius=RADIUS), False)}  # fmt: skip
    stored, queries, margins = stored_and_queries(n, batches[-1])
    by_batch: dict[str, list[float]] = {name: [] for name in names}
    by_file: dict[str, list[float]] = {name: [] for name in names}
    files = [n // 4, n // 2, n]
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in files:
            file = sb.FingerprintFile(Path(folder) / f"{size}.fps")
            for part in np.array_split(stored[:size], 4):
                file.append(part)
            for name, (method, first) in names.items():
                for batch in batches if size == n else batches[1:2]:
                    asked, sums = queries[:batch], margins[:batch]
                    search = file.first if first else file.query
                    seconds = fastest(lambda s=search, a=asked, m=sums, i=method: s(a, i(), m), 2)
                    if size == n:
                        by_batch[name].append(batch / seconds)
                        if batch == batches[-1]:
                            result = search(asked, method(), sums)
                            hits = result >= 0 if first else np.isin(np.arange(batch), result.left[result.left == result.right])
                            found[name] = float(hits.mean())
                    if batch == batches[1]:
                        by_file[name].append(batch / seconds)

    def draw(axes):
        for name in names:
            axes[0].plot(batches, by_batch[name], "o-", label=name)
            axes[1].plot(files, by_file[name], "o-", label=name)
        axes[0].set_xlabel(f"queries in a batch, file of {n:,}")
        axes[1].set_xlabel(f"fingerprints in the file, batch of {batches[1]:,}")
        for axis in axes:
            axis.set_ylabel("queries/s")
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            axis.legend(fontsize=7)

    section.figure("thesis_10", 2, 1, draw, "Batches of queries against fingerprints on disk")
    section.table(["method", "recall", *(f"{b:,} queries, /s" for b in batches)],
                  [[name, f"{found[name]:.4f}", *(f"{x:,.0f}" for x in by_batch[name])] for name in names])  # fmt: skip
    ratios = [f / m for f, m in zip(by_batch["PSM_F"], by_batch["Manku, 4 tables"], strict=True)]
    section.check(
        min(ratios) > 1,
        f"PSM_F is {', '.join(f'{r:.1f}' for r in ratios)} times faster than Manku's tables (thesis: 3.7 to 14, 60 times as many)",
    )
    section.check(found["HammingIndex, exact"] == found["Manku, 4 tables"] == 1.0, "tables of the queries are exact")
    return section


def run(quick: bool) -> list[Section]:
    """All sections."""
    return [figure_5(quick), figure_7(quick), figure_8(quick), figure_10(quick)]
