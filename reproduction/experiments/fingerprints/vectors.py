"""Fingerprints against feature vectors: the thesis' Table II and Figure 6."""

from __future__ import annotations

import time

import numpy as np
from documents import Documents, documents
from figures import band, name_lines
from report import Section, mean_error
from scipy import stats

import lookalike as la
from lookalike.core import search_all
from lookalike.theory import simhash

RADIUS, SIMILAR, WIDEST = 3, 0.9, 16


def _alternating(works: dict, times: int) -> dict[str, np.ndarray]:
    """Seconds of some works, run in turns after one run of each that is not counted."""
    for work in works.values():
        work()
    out: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(times):
        for name, work in works.items():
            start = time.process_time()
            work()
            out[name].append(time.process_time() - start)
    return {name: np.array(seconds) for name, seconds in out.items()}


def table_2(quick: bool) -> Section:
    """Bytes and time of all pairs of 1,000 documents, by distance and by cosine."""
    section = Section(
        "t-vectors",
        "Thesis, chapter III, Table II: fingerprints against feature vectors",
        "Fingerprints of 1,000 documents take other than 8,000 bytes, or more than a hundredth of their vectors; or the 10 "
        "days of "
        "chapter III follow from Table II.",
    )
    real = documents(quick)
    if real is None:
        return section.left_out("policies")
    n = min(1000, len(real.texts))
    words, parts = real.prints.words[:n], slice(0, int(real.features.offsets[n]))
    sets = la.sketches.WeightedSets(real.features.values[parts], real.features.weights[parts], real.features.offsets[: n + 1])
    left, right = np.triu_indices(n, 1)
    seconds = _alternating(
        {
            "distance": lambda: search_all(words, 0, n, words, 0, False, True),
            "cosine": lambda: sets.cosine(left, right),
        },
        3,
    )
    sizes = {"distance": words.nbytes, "cosine": sets.values.nbytes + sets.weights.nbytes}
    section.say(
        f"The thesis' 1,000 web pages are not to be had. {n:,} versions of policies of web services stand in for them: "
        f"{len(sets.values) / n:,.0f} different stems a document."
    )
    section.table(
        ["all pairs", "seconds", "bytes", "thesis: seconds", "thesis: bytes"],
        [
            ["Hamming distance", f"{np.median(seconds['distance']):.5f}", f"{sizes['distance']:,}", 0.04, "8,000"],
            ["cosine", f"{np.median(seconds['cosine']):.3f}", f"{sizes['cosine']:,}", 1.914, "27,000,000"],
        ],
    )
    ratio = seconds["cosine"] / seconds["distance"]
    section.observe(
        f"distances are had {np.median(ratio):,.0f} times as fast as cosines (runs in turns: {ratio.min():,.0f} to "
        f"{ratio.max():,.0f}); thesis: 48",
        name="time", found=round(np.median(ratio)), turns=(round(ratio.min()), round(ratio.max())),
    )  # fmt: skip
    section.equals("fingerprints of 64 bits take 8 bytes a document", sizes["distance"], 8 * n, name="bytes")
    share = sizes["cosine"] / sizes["distance"]
    section.holds(
        f"vectors take {share:,.0f} times as many bytes (thesis: 3,375)", share > 100, name="vector-bytes", found=share
    )
    pairs = 7e14
    days = pairs * 0.04 / (1000 * 999 / 2) / 86400
    section.holds(
        f'the thesis\' "about 10 days" for 7e14 pairs do not follow from its Table II: .04 s for 499,500 pairs '
        f"make {days:,.0f} days, "
        f"and {days * 499_500 / 1e6:,.0f} if its 1,000 documents made 10^6 pairs",
        round(days) == 649,
        found=days,
        name="days",
    )
    per_pair = float(np.median(seconds["distance"])) / len(left)
    section.observe(
        f"at this machine's {1e9 * per_pair:.2f} ns a pair they take {pairs * per_pair / 86400:,.1f} days of one core"
    )
    return section


def _by_seed(real: Documents, seeds: int) -> list[np.ndarray]:
    """Distances of all pairs under several seeds: what the hash functions decide differs, the documents do not."""
    return [la.sketches.SimHash(seed=seed).sign(real.features).distance(real.left, real.right) for seed in range(1, seeds + 1)]


def figure_6(quick: bool) -> Section:
    """Precision and recall by distance, mean cosine at each distance, and the chance of distance 3 by cosine."""
    section = Section(
        "t-cosine",
        "Thesis, (7.1)-(7.3), Figure 6: Hamming distance against cosine",
        "Precision at distance 3 is not above recall; the mean cosine does not fall with the distance; pairs of cosine .90 "
        "to .98 are "
        "within 3 bits more often than not (the thesis: distance 3 serves as well as cosine .9); or the mean distance is not "
        "that of the "
        "angle, (2.3).",
    )
    real = documents(quick)
    if real is None:
        return section.left_out("policies")
    runs = _by_seed(real, 32 if quick else 48)
    similar = real.cosine >= SIMILAR
    at = np.arange(1, WIDEST + 1)
    precision, recall, mean = (np.empty((WIDEST, len(runs))) for _ in range(3))
    for run, distance in enumerate(runs):
        for i, h in enumerate(at):
            within = (distance >= 1) & (distance <= h)
            precision[i, run] = similar[within].mean()
            recall[i, run] = (similar & within).sum() / (similar & (distance > 0)).sum()
            mean[i, run] = real.cosine[distance == h].mean()
    (p, p_error), (r, r_error), (m, m_error) = (mean_error(x) for x in (precision, recall, mean))
    section.say(
        f"{len(real.left):,} pairs of {len(real.texts):,} versions of policies, a stand-in for the thesis' 100 "
        f"million random pairs of "
        "web pages, where few pairs are alike and most of ours, versions of one page, are. Similar: cosine of stems "
        "weighed by TF-IDF at "
        f"least {SIMILAR}. Equal fingerprints are left out, as in the thesis. Each figure is a mean over {len(runs)} "
        f"seeds of the hash "
        "function, and its standard error is that over the seeds: it says what the hash decides, given these "
        "documents."
    )
    section.table(
        ["distance", "mean cosine", "thesis", "precision P_h", "recall R_h"],
        [
            [
                int(h),
                f"{m[h - 1]:.3f} ± {m_error[h - 1]:.3f}",
                {1: 0.95, 2: 0.93, 3: 0.89}.get(int(h), ""),
                f"{p[h - 1]:.3f}",
                f"{r[h - 1]:.3f}",
            ]
            for h in (1, 2, 3, 4, 6, 8, 10, 16)
        ],
    )
    edges = np.array([0.9, 0.95, 0.98, 0.99, 0.995, 0.999])
    rows, found = [], []
    for low, high in zip(edges, [*edges[1:], 1.0], strict=True):
        chosen = (real.cosine >= low) & (real.cosine < high)
        share, error = mean_error(np.array([(distance[chosen] <= RADIUS).mean() for distance in runs]))
        cosines = np.minimum(real.cosine[chosen], 1.0)
        angle, theory = simhash.differ_probability(cosines), float(simhash.within_radius(cosines, RADIUS).mean())
        bits, bits_error = mean_error(np.array([distance[chosen].mean() for distance in runs]))
        found.append((share, error, theory, bits, bits_error, 64 * float(angle.mean())))
        rows.append(
            [
                f"{low} to {high}",
                int(chosen.sum()),
                f"{share:.3f} ± {error:.3f}",
                f"{theory:.3f}",
                f"{bits:.2f} ± {bits_error:.2f}",
                f"{64 * angle.mean():.2f}",
            ]
        )
    section.table(["cosine", "pairs", "within 3 bits", "binomial of (2.3)", "mean distance", "64 angle / pi"], rows)
    share, error, theory, bits, bits_error, angles = (np.array(x) for x in zip(*found, strict=True))

    def draw(axes):
        axes[0].plot(at, p, label="precision")
        axes[0].plot(at, r, label="recall")
        band(axes[0], at, p, p_error, color="#0072B2")
        band(axes[0], at, r, r_error, color="#D55E00")
        axes[0].set_xlabel("Hamming distance at most")
        axes[0].set_ylabel("share of pairs")
        name_lines(axes[0])
        axes[1].plot(at, m, label="measured")
        band(axes[1], at, m, m_error, color="#0072B2")
        axes[1].plot(at, simhash.cosine(at, 64), label="cos(pi d / 64)")
        axes[1].plot([1, 2, 3], [0.95, 0.93, 0.89], "s-", label="thesis")
        axes[1].set_xlabel("Hamming distance")
        axes[1].set_ylabel("mean cosine")
        name_lines(axes[1])

    section.figure(
        "t-cosine",
        (1, 2),
        draw,
        f"Real pairs, {len(runs)} seeds, bars of two standard errors. Left: distance 3 "
        f"is precise, and finds "
        "a small part of the similar pairs. Right: the mean cosine falls with the distance.",
    )
    for name, text, x, e in (
        ("recall-3", "recall at distance 3", r[2], r_error[2]),
        ("cosine-3", "mean cosine at distance 3", m[2], m_error[2]),
        ("within-90", "share within 3 bits of pairs of cosine .90 to .95", share[0], error[0]),
    ):
        section.observe(f"{text}: {x:.4f} ± {e:.4f}", name=name, found=x, error=e)
    section.below(
        "at distance 3 precision is above recall (few false positives, many false negatives)",
        r[2],
        p[2],
        np.hypot(p_error[2], r_error[2]),
        name="precision",
    )
    falls = mean[[0, 3, 7]] - mean[[3, 7, 15]]
    section.below("the mean cosine falls from distance 1 to 4, 8 and 16", 0.0, *mean_error(falls), name="falls")
    section.below(
        "of pairs of cosine .90 to .95 and of .95 to .98 fewer than half are within 3 bits: distance 3 is far "
        "stricter than "
        "cosine .9",
        share[:2],
        0.5,
        error[:2],
        name="strict",
        sense="excludes",
    )
    section.below("of pairs of cosine .995 to .999 more than half are", 0.5, share[4], error[4], name="loose")
    cosines = np.array([0.9, 0.95, 0.98, 0.99, 0.995])
    section.equals(
        "by (2.3) the chance of at most 3 bits is .013, .101, .411, .674 and .853 at cosine .90, .95, .98, .99 and .995",
        stats.binom.cdf(RADIUS, 64, np.arccos(cosines) / np.pi),
        [0.013, 0.101, 0.411, 0.674, 0.853],
        5e-4,
        name="chance",
    )
    section.equals(
        "and the library's is the same",
        simhash.within_radius(cosines, RADIUS),
        stats.binom.cdf(RADIUS, 64, np.arccos(cosines) / np.pi),
        1e-12,
        name="chance",
    )
    section.agrees(
        "the share within 3 bits in each class is that of a binomial law of 64 bits that differ with chance angle / pi",
        share,
        theory,
        error,
        name="binomial",
    )
    section.agrees("the mean distance in each class of cosine is 64 angle / pi, (2.3)", bits, angles, bits_error, name="angle")
    return section
