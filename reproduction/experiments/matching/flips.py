"""Flips against linear scan: the thesis' Figure 5 and (6.21)."""

from __future__ import annotations

import numpy as np
from figures import name_lines
from pair_model import RADIUS, Trial, families
from report import Section

import lookalike as la
from lookalike.theory.weak_bits import weak_bit_candidates, weak_bit_recall

from .real import real_trial
from .trials import (
    WANTED,
    alternating,
    drawn_shares,
    first_ranks,
    measured_recall,
    needed,
    probe_ranks,
    share_error,
    theory_recall,
    uniform_compared,
    with_probes,
)

KS, MISSES = (1, 2, 5, 10), 20


def _interval(ranks: np.ndarray, groups: np.ndarray) -> tuple[int, int]:
    """Flips that recalls of .95 less and plus two standard errors need."""
    error = share_error(ranks <= needed(ranks), groups)[1]
    ordered = np.sort(ranks)
    return tuple(int(ordered[min(len(ordered) - 1, int((WANTED + times * error) * len(ordered)))]) for times in (-2, 2))


def counted_first(trial: Trial, ranks: np.ndarray, prefix: int, k: int) -> tuple[float, float]:
    """Expected fingerprints compared by PSM_F with k flips, and the standard deviation of their number.

    Those of the buckets before the one with an answer, and in that one those before it: if m answers lie there, at random
    places, they are the least of m uniform numbers, of mean 1 / (m + 1) and variance m / (m + 1)^2 / (m + 2), times the bucket.
    """
    first = first_ranks(trial, ranks)
    m = np.bincount(trial.asked, ranks == first[trial.asked], len(first))
    in_bucket = len(trial.stored) / 2.0**prefix
    found = first <= k
    mean = np.where(found, (first - 1 + 1 / (m + 1)) * in_bucket + 1, k * in_bucket)
    place = np.where(found, m / (m + 1) ** 2 / (m + 2), 0.0) * in_bucket**2
    return float(mean.sum()), float(np.sqrt((mean + place).sum()))


def _one(section: Section, trial: Trial, prefixes: list[int]) -> dict[int, dict]:
    """Measure at each prefix: flips needed, what is compared, time."""
    out: dict[int, dict] = {}
    compared, expected, first_compared, first_expected, same = [], [], [], [], True
    uniform = len(trial.stored) - len(trial.special)
    for prefix in prefixes:
        ranks = probe_ranks(trial, prefix)
        first = first_ranks(trial, ranks)
        k, k_first = needed(ranks), needed(first)
        index = la.search.WeakBitIndex(radius=RADIUS, prefix_bits=prefix).add(trial.stored)
        index.query(trial.queries[:1], trial.margins[:1])
        found = with_probes(index, k).query(trial.queries, trial.margins)
        compared.append(
            uniform_compared(
                trial,
                index,
                lambda k=k, p=prefix: la.search.WeakBitIndex(radius=RADIUS, prefix_bits=p, probes=k),
                trial.margins,
            )[0]
        )
        expected.append(weak_bit_candidates(uniform, prefix, k) * len(trial.queries))
        same &= len(found) == (ranks <= k).sum()
        answers = with_probes(index, k_first).first(trial.queries, trial.margins)
        first_compared.append(index.compared)
        first_expected.append(counted_first(trial, ranks, prefix, k_first))
        same &= bool(((answers >= 0) == (first <= k_first)).all())
        seconds = alternating(
            {
                "all": lambda k=k, index=index: with_probes(index, k).query(trial.queries, trial.margins),
                "first": lambda k=k_first, index=index: with_probes(index, k).first(trial.queries, trial.margins),
            },
            3,
        )
        us = {name: float(s.min()) / len(trial.queries) * 1e6 for name, s in seconds.items()}
        out[prefix] = {
            "k": k,
            "first": k_first,
            "us": us,
            "ranks": ranks,
            "k interval": _interval(ranks, trial.groups[trial.asked]),
            "first interval": _interval(first, trial.groups),
        }
    asked = len(trial.queries)
    section.table(
        [
            f"p ({trial.name})",
            "flips, PSM_A",
            "flips, PSM_F",
            "compared a query, A",
            "k 2^(d-p)",
            "compared, F",
            "us, A",
            "us, F",
        ],
        [
            [
                p,
                f"{r['k']} ({r['k interval'][0]} to {r['k interval'][1]})",
                f"{r['first']} ({r['first interval'][0]} to {r['first interval'][1]})",
                f"{c / asked:.1f}",
                f"{e / asked:.1f}",
                f"{f / asked:.1f}",
                f"{r['us']['all']:.1f}",
                f"{r['us']['first']:.1f}",
            ]
            for (p, r), c, e, f in zip(out.items(), compared, expected, first_compared, strict=True)
        ],
    )
    section.holds(
        f"{trial.name}: query finds as many pairs, and first answers the same queries, as the prefixes probed hold",
        same,
        name="answers",
    )
    compared, expected, first_compared, first_expected = map(np.array, (compared, expected, first_compared, first_expected))
    section.agrees(
        f"{trial.name}: PSM_A compares k 2^(d-p) fingerprints a query, (6.21), of the uniform ones",
        compared / expected,
        1.0,
        1 / np.sqrt(expected),
        name="compared",
    )
    if trial.name == "modelled":
        section.agrees(
            "modelled: PSM_F compares those of the buckets before its answer, and in that bucket those before it",
            first_compared,
            *first_expected.T,
            name="compared-first",
        )
    section.below(
        f"{trial.name}: each two bits more of the prefix leave fewer to compare, although more flips are needed",
        compared[1:],
        compared[:-1],
        np.sqrt(compared[1:] + compared[:-1]),
        name="longer",
    )
    return out


def _fixed_sigmas(section: Section, queries: int, times: int) -> None:
    """Check (4.4) and (4.6) for one sigma at a time: how many others are near, and how many of these are found."""
    margins = np.random.default_rng(12).normal(0, 1, (queries, 64)).astype(np.float32)
    found, expected, error, rows = [], [], [], []
    for sigma in (0.05, 0.1, 0.2):
        share, near = weak_bit_recall(margins, sigma, 16, 5, RADIUS)
        by_theory = np.array([near, share[:, -1]])
        drawn = drawn_shares(margins, sigma, 16, 5, times)
        found.append(drawn.mean(1)), expected.append(by_theory.mean(1))
        error.append(np.sqrt((by_theory * (1 - by_theory)).sum(1) / times) / queries)
        rows.append([sigma, *(f"{x:.4f}" for x in (found[-1][0], expected[-1][0], found[-1][1], expected[-1][1]))])
    section.table(["sigma", "share 1 to 3 bits apart", "theory", "and found by 5 flips of 16 bits", "theory"], rows)
    section.agrees(
        f"drawn for {queries:,} random queries {times} times: shares of others that are 1 to 3 bits apart, and of those also "
        f"found, are those "
        "of weak_bit_recall",
        found,
        expected,
        error,
        name="drawn",
    )


def figure_5(quick: bool) -> Section:
    """Flips needed for recall .95, what is compared, and the time of a query, against the length of the prefix."""
    size = 16 if quick else 20
    section = Section(
        "t-flips",
        "Thesis, (6.16), (6.21), Figure 5: flips against linear scan",
        "Fingerprints compared are not k 2^(d-p) a query; recall of the model's pairs is not that of (4.4) and (4.6), for "
        "all pairs or "
        "for the first of several; PSM_F does not need fewer flips than PSM_A; or a longer prefix leaves more to compare.",
    )
    prefixes = list(range(size - 8, size + 1, 2))
    trial = families(1 << size, 4000 if quick else 10_000)
    section.say(
        f"2^{size} fingerprints (thesis: 2^26, of IRLbot's pages, which are not to be had). Modelled: "
        f"{len(trial.queries):,} queries and families of "
        "near-duplicates by the model of margins, among uniform fingerprints. Real: versions of policies among "
        "uniform fingerprints. Flips in "
        "brackets: for recalls of two standard errors less and more."
    )
    sample, most = (200, 16) if quick else (500, 30)
    measured = {"modelled": _one(section, trial, prefixes)}
    theory, same, cells = {}, {}, []
    for prefix in prefixes:
        mean, error, misses = theory_recall(trial, sample, prefix, most)
        found = measured_recall(trial, sample, measured["modelled"][prefix]["ranks"], most)
        theory[prefix], same[prefix] = ([int(np.argmax(recall >= WANTED)) + 1 for recall in x] for x in (mean, found))
        cells += [
            (prefix, k, "AF"[w], found[w, k - 1], mean[w, k - 1], error[w, k - 1])
            for k in KS
            for w in (0, 1)
            if misses[w, k - 1] >= MISSES
        ]
    section.table(
        ["p", "k", "recall", "measured", "(4.4), (4.6)", "standard error"],
        [[p, k, f"R_{w}", *(f"{x:.4f}" for x in r)] for p, k, w, *r in cells],
    )
    found, mean, error = np.array([c[3:] for c in cells]).T
    section.agrees(
        f"modelled: recall of pairs is that of weak_bit_recall, and of queries with s near-duplicates 1 - (1 - "
        f"recall)^s, query by query "
        f"({sample:,} of them; where {MISSES} and more are missed)",
        found,
        mean,
        error,
        name="recall",
    )
    _fixed_sigmas(section, 400 if quick else 1000, 50 if quick else 100)
    real = real_trial(quick, 1 << size)
    if real is not None:
        measured["real"] = _one(section, real, prefixes)
    for name, rows in measured.items():
        flips = [(r["first"], r["k"]) for r in rows.values()]
        section.holds(
            f"{name}: PSM_F needs fewer flips than PSM_A at p = {prefixes[-1]}, and at no p more: "
            f"{', '.join(f'{first} and {every}' for first, every in flips)} (thesis: 15 and 23 at p = d = 26)",
            flips[-1][0] < flips[-1][1] and all(first <= every for first, every in flips),
            name="first-fewer",
        )
        us = [r["us"]["all"] for r in rows.values()]
        section.observe(
            f"{name}: from p = {prefixes[0]} to {prefixes[-1]} a query of PSM_A falls from {us[0]:.1f} to {us[-1]:.1f} us"
        )

    def draw(axes):
        for row, (name, rows) in enumerate(measured.items()):
            left, right = axes[2 * row], axes[2 * row + 1]
            for aside, key, label in ((0.0, "k", "all"), (0.15, "first", "first")):
                middle = np.array([r[key] for r in rows.values()])
                low, high = np.array([r[f"{key} interval"] for r in rows.values()]).T
                (line,) = left.plot(prefixes, middle, label=label)
                left.errorbar(
                    np.array(prefixes) + aside,
                    middle,
                    [middle - low, np.maximum(high - middle, 0)],
                    fmt="o",
                    capsize=2,
                    color=line.get_color(),
                )
                right.plot(prefixes, [r["us"]["all" if key == "k" else "first"] for r in rows.values()], "o-", label=label)
            if name == "modelled":
                for which, colour in enumerate(("C0", "C1")):
                    left.plot(prefixes, [theory[p][which] for p in prefixes], ":", color=colour, label="_theory")
                    left.plot(prefixes, [same[p][which] for p in prefixes], "x", ms=7, color=colour, label="_same")
            left.set_title(f"{name} pairs")
            left.set_ylabel("flips for recall .95")
            right.set_title(f"{name} pairs")
            right.set_ylabel("us a query")
            right.set_yscale("log")
            for axis in (left, right):
                axis.set_xlabel("prefix bits p")
                name_lines(axis)

    section.figure(
        "t-flips",
        (len(measured), 2),
        draw,
        f"2^{size} fingerprints. Left: flips needed for recall .95 of all "
        f"pairs and of the first (bars: recall two standard "
        "errors less and more); they grow slowly with the prefix. Dotted: theory, for some hundreds of the queries; crosses: measured "
        "on just these queries. Right: "
        "processor time of a query, observed; it falls "
        "until buckets are nearly empty.",
    )
    return section
