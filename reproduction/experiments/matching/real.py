"""Probabilistic SimHash matching on fingerprints and margins of real documents: recall by probes and prefix."""

from __future__ import annotations

import numpy as np
from documents import Versions, versions
from figures import band, name_lines
from pair_model import RADIUS, SIZES, Trial
from report import Section

import lookalike as la
from lookalike.theory.weak_bits import weak_bit_recall

from .trials import MOST, WANTED, among_random, first_ranks, needed, probe_ranks, recalls, share_error, with_probes

KS = (1, 2, 5, 10, 15, 23, 40, 80, MOST)


def real_trial(quick: bool, n: int) -> Trial | None:
    """Real fingerprints asked among real and random ones; None where the corpus is absent."""
    found = versions(quick)
    return None if found is None else among_random(found.words, found.margins, found.pages, n)


def _sigmas(real: Versions, trial: Trial) -> np.ndarray:
    """Sigma of each pair: the root mean square of the differences of its sums, in units of the query's."""
    by_word = np.argsort(real.words)
    other = real.margins[by_word[np.searchsorted(real.words, trial.near, sorter=by_word)]].astype(np.float64)
    own = trial.margins[trial.asked].astype(np.float64)
    return np.sqrt(((other - own) ** 2).mean(1))


def policies(quick: bool) -> Section:
    """Recall of PSM_A and PSM_F on versions of policies, against the exhaustive search, and by the theory."""
    section = Section(
        "t-real",
        "Thesis, chapters IV, V and (7.4), (7.5), on real fingerprints and margins",
        "The index finds other pairs than the exhaustive search's whose prefix it probes; weak bits first do not beat bits "
        "in the order of "
        "their places; PSM_F does not need fewer flips than PSM_A; or recall with the margins does not agree with (4.4) and "
        "(4.6) with "
        "the sigma of each pair.",
    )
    real = versions(quick)
    if real is None:
        return section.left_out("policies")
    n = 1 << (16 if quick else 20)
    trial = among_random(real.words, real.margins, real.pages, n)
    exact = la.search.ExhaustiveHammingIndex(radius=RADIUS).add(trial.stored).query(trial.queries)
    pairs = set(zip(trial.asked.tolist(), trial.rows.tolist(), strict=True))
    sizes = np.bincount(np.bincount(trial.asked))[1:]
    section.say(
        f"{real.documents:,} versions of the policies of web services (a stand-in for the thesis' 70 million pages "
        f"of IRLbot) have {len(real.words):,} "
        f"different fingerprints; equal ones are left out, as in the thesis. A third is asked, the rest stored, "
        f"filled up with random fingerprints to "
        f"{n:,}. {len(trial.queries):,} queries have a near-duplicate, {len(trial.asked):,} pairs in all. Standard "
        f"errors are taken over pages."
    )
    section.say(
        f"Queries with 1, 2, ... near-duplicates: {', '.join(map(str, sizes))}; as shares "
        f"{', '.join(f'{x / sizes.sum():.2f}' for x in sizes[:8])}. "
        f"The model of the other sections plants {', '.join(map(str, SIZES))}."
    )
    found_pairs = set(zip(exact.left.tolist(), exact.right.tolist(), strict=True))
    section.holds(
        "the exhaustive search finds these pairs and no others: no random fingerprint is within 3 bits",
        found_pairs == pairs,
        name="exhaustive",
    )
    prefixes = [10, 14, 16] if quick else [12, 16, 20, 24]
    rows, curves, same = [], {}, True
    for prefix in prefixes:
        ranks = probe_ranks(trial, prefix)
        curves[prefix] = recalls(trial, ranks, KS)
        index = la.search.WeakBitIndex(radius=RADIUS, prefix_bits=prefix).add(trial.stored)
        index.query(trial.queries[:1], trial.margins[:1])
        for k in (5, 23):
            found = with_probes(index, k).query(trial.queries, trial.margins)
            chosen = ranks <= k
            same &= set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == set(
                zip(trial.asked[chosen].tolist(), trial.rows[chosen].tolist(), strict=True)
            )
            answers = index.first(trial.queries, trial.margins)
            same &= bool(((answers >= 0) == (first_ranks(trial, ranks) <= k)).all())
            same &= {(q, r) for q, r in enumerate(answers.tolist()) if r >= 0} <= found_pairs
        plain = with_probes(index, 23).query(trial.queries)
        (a, a_error), (f, f_error) = curves[prefix]
        at = KS.index(23)
        rows.append(
            [
                prefix,
                needed(ranks),
                needed(first_ranks(trial, ranks)),
                f"{a[at]:.3f} ± {a_error[at]:.3f}",
                f"{f[at]:.3f} ± {f_error[at]:.3f}",
                f"{len(plain) / len(pairs):.3f}",
            ]
        )
    section.table(
        ["p", f"flips for {WANTED}, PSM_A", "PSM_F", "R_A with 23", "R_F with 23", "R_A with 23, without margins"], rows
    )
    section.holds(
        "query and first of the index give what the exhaustive search finds and the first 5 and 23 prefixes hold, at each p",
        same,
        name="answers",
    )
    prefix = prefixes[-1]
    ranks = probe_ranks(trial, prefix)
    groups = trial.groups[trial.asked]
    plain = with_probes(index, 5).query(trial.queries)
    met = set(zip(plain.left.tolist(), plain.right.tolist(), strict=True))
    blind = np.array([pair in met for pair in zip(trial.asked.tolist(), trial.rows.tolist(), strict=True)])
    gain, error = share_error((ranks <= 5).astype(float) - blind, groups)
    section.below(f"p = {prefix}: 5 flips find more with margins than without", 0.0, gain, error, name="margins")
    first = first_ranks(trial, ranks)[trial.asked]
    gain, error = share_error(np.mean([(first <= k).astype(float) - (ranks <= k) for k in range(1, 11)], 0), groups)
    section.below(
        "a query has some answer sooner than a given pair of it is found (share of pairs, mean over 1 to 10 flips)",
        0.0,
        gain,
        error,
        name="first-sooner",
    )
    section.holds(
        f"PSM_F needs fewer flips for recall {WANTED} than PSM_A at p = {prefix}, and at no p more: "
        f"{', '.join(f'{r[2]} and {r[1]}' for r in rows)} (thesis: 15 and 23 at p = 26)",
        rows[-1][2] < rows[-1][1] and all(r[2] <= r[1] for r in rows),
        name="first-fewer",
    )
    sigma = _sigmas(real, trial)
    ks = (1, 2, 5, 10, 23)
    share, near = weak_bit_recall(trial.margins[trial.asked], sigma, prefix, max(ks), RADIUS)
    expected = np.array([(share[:, k - 1] / near) for k in ks])
    off = np.array([share_error((ranks <= k) - e, groups) for k, e in zip(ks, expected, strict=True)]).T
    section.table(
        ["k", "recall of pairs", "by (4.4), (4.6)", "difference"],
        [
            [k, f"{(ranks <= k).mean():.3f}", f"{e.mean():.3f}", f"{d:+.3f} ± {s:.3f}"]
            for k, e, d, s in zip(ks, expected, *off, strict=True)
        ],
    )
    section.agrees(
        f"recall with {', '.join(map(str, ks))} flips of {prefix} bits is that of (4.4) and (4.6) with each "
        f"pair's own sigma, given that it is 1 to "
        "3 bits apart",
        (ranks <= np.array(ks)[:, None]).mean(1),
        expected.mean(1),
        off[1],
        name="recall",
    )

    def draw(axes):
        for axis, which, title in zip(axes, (0, 1), ("all, PSM_A", "first, PSM_F"), strict=True):
            for p, curve in curves.items():
                share, error = curve[which]
                missed = np.where(share < 1, 1 - share, np.nan)
                (line,) = axis.plot(KS, missed, label=f"p = {p}")
                band(axis, KS, missed, error, 1.0, color=line.get_color())
            axis.axhline(1 - WANTED, color="k", lw=0.8, ls=":")
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.set_ylim(1e-3, 1)
            axis.set_title(title)
            axis.set_xlabel("flips k")
            axis.set_ylabel("share missed")
            name_lines(axis)

    section.figure(
        "t-real",
        (1, 2),
        draw,
        f"Real fingerprints among random ones, {n:,} in all: share of pairs (left) and of "
        f"queries (right) missed with k "
        "flips of p bits; bars of one standard error, over pages; dotted: .05. Longer prefixes need more flips; "
        "some answer is found sooner "
        "than all.",
    )
    return section
