"""How far the sums behind a bit are apart in near-duplicates: the thesis' (4.3), (4.4) and Figure 1."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from documents import Documents, documents
from figures import band
from report import Section, mean_error
from scipy import stats

import lookalike as la
from lookalike.theory.weak_bits import flip_probability

ALIKE = 0.98  # cosine: pairs are chosen without a look at their hashes, so that the 64 bits are 64 independent trials


def changes(features: la.sketches.WeightedSets, left: int, right: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (features, change of weight from left to right, whether in both) of those whose weight differs."""
    (a, wa), (b, wb) = (
        (features.values[s], features.weights[s].astype(np.float64))
        for s in (slice(*features.offsets[i : i + 2].tolist()) for i in (left, right))
    )
    every, place = np.unique(np.concatenate([a, b]), return_inverse=True)
    change = np.bincount(place, np.concatenate([-wa, wb]), len(every))
    both = np.bincount(place, minlength=len(every)) == 2
    differ = change != 0
    return every[differ], change[differ], both[differ]


def signs(values: np.ndarray) -> np.ndarray:
    """Return 2 b - 1 for each feature and bit, by the library: the sums of the feature alone with weight 1."""
    alone = la.sketches.WeightedSets(values, np.ones(len(values), np.float32), np.arange(len(values) + 1))
    return la.sketches.SimHash(margins=True).sign(alone).margins.astype(np.float64)


def _under_seeds(real: Documents, left: np.ndarray, right: np.ndarray, seeds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the sums of both documents of each pair under one hash function after the other."""
    for seed in range(seeds):
        margins = la.sketches.SimHash(seed=seed, margins=True).sign(real.features).margins.astype(np.float64)
        yield margins[left], margins[right]


def _pairs(real: Documents, most: int) -> np.ndarray:
    """Return rows of pairs of versions of one page of cosine at least .98 that differ, at most so many, in random order."""
    chosen = np.flatnonzero(
        (real.pages[real.left] == real.pages[real.right]) & (real.cosine >= ALIKE) & (real.cosine < 1 - 1e-9)
    )
    return np.random.default_rng(1).permutation(chosen)[:most]


def figure_1(quick: bool) -> Section:
    """Check (4.3) sum by sum, the law of the differences within pairs and over pairs, and (4.4)."""
    section = Section(
        "t-sums",
        "Thesis, (4.3), (4.4), Figure 1: how far the sums of near-duplicates are apart",
        "(4.3), with the weights of common features, is not what the library's sums differ by; the variance or the fourth "
        "moment of the "
        "differences are not those of sums of independent signs; one normal law (Figure 1) does describe them; or (4.4) "
        "fails where many features changed.",
    )
    real = documents(quick)
    if real is None:
        return section.left_out("policies")
    pairs = _pairs(real, 150 if quick else 800)
    n = len(pairs)
    left, right = real.left[pairs], real.right[pairs]
    margins = real.prints.margins.astype(np.float64)
    changed = [changes(real.features, int(a), int(b)) for a, b in zip(left, right, strict=True)]
    second = np.array([(change**2).sum() for _, change, _ in changed])[:, None]
    fourth = np.array([(change**4).sum() for _, change, _ in changed])[:, None]
    reach = np.array([np.abs(change).sum() for _, change, _ in changed])[:, None]
    effective = (second**2 / fourth)[:, 0]
    summed = min(n, 100)
    by_features, without = np.empty((summed, 64)), np.empty((summed, 64))
    for i, (values, change, both) in enumerate(changed[:summed]):
        signed = signs(values) * change[:, None]
        by_features[i], without[i] = signed.sum(0), signed[~both].sum(0)
    measured = (margins[right] - margins[left])[:summed]
    rounding = 4e-6 * np.abs(margins).max()
    seeds = 16 if quick else 24
    sums, others = (np.concatenate(x, 1) for x in zip(*_under_seeds(real, left, right, seeds), strict=True))
    apart, flips = others - sums, (others > 0) != (sums > 0)
    section.say(
        f"{n:,} pairs of versions of policies with cosine from {ALIKE} to 1, a stand-in for the thesis' 45 million "
        f"pairs. They are "
        "chosen by their texts, not by their fingerprints: then, whatever the documents have in common, the 64 bits "
        "are 64 independent "
        f"draws of a hash function. With {seeds} seeds there are {64 * seeds:,}, and standard errors are taken over "
        f"them: the pairs of one "
        "page are not used as if they were independent."
    )
    section.equals(
        "(4.3) holds sum by sum if the changed weights of common features are counted too",
        measured,
        by_features,
        rounding,
        name="weights",
    )
    off = np.sqrt(((measured - without) ** 2).mean() / (measured**2).mean())
    section.holds(
        f"as printed, with features of one document only, it leaves {off:.0%} of the differences (root mean square)",
        off > 0.01,
        name="as-printed",
        sense="excludes",
    )
    sigma = np.sqrt(second)
    standard = apart / sigma
    mean, error = mean_error(standard.mean(0))
    section.agrees("the differences have mean zero", mean, 0.0, error, name="mean")
    mean, error = mean_error((standard**2).mean(0))
    section.agrees(
        "their variance within a pair is the sum of the squared changes of weight", mean, 1.0, error, name="variance"
    )
    expected = float((3 - 2 * fourth / second**2).mean())
    mean, error = mean_error((standard**4).mean(0))
    section.agrees(
        "their fourth moment within a pair is that of a sum of independent signs, 3 - 2 sum d^4 / (sum d^2)^2",
        mean,
        expected,
        error,
        name="fourth",
    )
    section.refutes(
        "within a pair they are not normal: the fourth moment is not 3", mean, 3.0, error, name="not-normal", sense="excludes"
    )
    pooled = apart / np.sqrt((apart**2).mean())
    middle, middle_error = mean_error((np.abs(pooled) < 0.25).mean(0))
    normal = float(2 * stats.norm.cdf(0.25) - 1)
    section.refutes(
        f"all pairs together are not normal either (Figure 1): {middle:.0%} of the differences lie within a "
        f"quarter of their standard "
        f"deviation, of a normal law {normal:.0%}: pairs that differ much and little are mixed",
        middle,
        normal,
        middle_error,
        name="pooled",
    )
    section.agrees(
        "the fourth moment of all pairs together is that of the mixture of the pairs' laws (as a ratio)",
        (apart**4).mean(0).mean() / (3 * second**2 - 2 * fourth).mean(),
        1.0,
        mean_error((apart**4).mean(0))[1] / (3 * second**2 - 2 * fourth).mean(),
        name="mixture",
    )
    section.say(
        f"A pair that differs in one feature has differences +d and -d only: {(effective < 1.001).mean():.0%} of "
        f"these pairs do, and "
        f"{(effective < 4).mean():.0%} differ in effect, (sum d^2)^2 / sum d^4, in fewer than four features. Drawn "
        f"pair by pair on one scale these make two shoulders at +1 and -1, "
        "which are no property of the others."
    )
    edges = np.array([0, 1.5, 3, 6, 12, 24, 1e9])
    groups = [np.flatnonzero((effective >= low) & (effective < high)) for low, high in itertools.pairwise(edges)]
    groups = [g for g in groups if len(g) >= 5]
    kurtosis = [mean_error((standard[g] ** 4).mean(0)) for g in groups]
    theory = [float((3 - 2 * fourth[g] / second[g] ** 2).mean()) for g in groups]
    places = [2 / (3 - t) for t in theory]  # so many equal features would have the fourth moment that the group should have
    section.agrees(
        "the same in groups by the number of features changed",
        [k[0] for k in kurtosis],
        theory,
        [max(k[1], 1e-9) for k in kurtosis],
        name="groups",
    )
    model = flip_probability(sums, sigma)
    ratio = np.abs(sums) / sigma
    bins = np.array([0, 0.5, 1, 1.5, 2, 3, 4])
    classes = {}
    for name, chosen in (("one", effective < 1.001), ("8 and more", effective >= 8), ("any", np.ones(n, np.bool_))):
        rows = []
        for low, high in itertools.pairwise(bins):
            here = (ratio >= low) & (ratio < high) & chosen[:, None]
            total, by_bit = here.sum(), (here * (flips - model)).sum(0)  # one figure for each bit of each seed
            modelled = float((here * model).sum() / total)
            error = (
                max(np.sqrt(len(by_bit)) * by_bit.std(ddof=1), np.sqrt(total * modelled)) / total
            )  # where none differs the law must say how sure that is
            rows.append([total, (here * flips).sum() / total, modelled, error])
        classes[name] = np.array(rows).T
    section.table(
        ["features changed, in effect", "\\|W\\| / sigma", "bits", "share that differ", "by (4.4)", "standard error"],
        [
            [name, f"{low} to {high}", f"{int(t):,}", f"{s:.4f}", f"{m:.4f}", f"{e:.4f}"]
            for name, rows in classes.items()
            for low, high, (t, s, m, e) in zip(bins[:-1], bins[1:], rows.T, strict=True)
        ],
    )
    _, shares, modelled, errors = classes["8 and more"]
    section.agrees(
        "where eight features and more changed, bits differ as (4.4) says, sigma being that of the pair",
        shares,
        modelled,
        errors,
        name="many",
    )
    beyond = (np.abs(sums) > 1.001 * reach) & (effective < 1.001)[:, None]
    section.say(
        f"Where in effect one feature changed, no bit can differ whose sum is larger than all changes together ({int(beyond.sum()):,} bits)."
    )
    section.refutes(
        f"but (4.4) would have {model[beyond].sum():.0f} of them differ: a normal law does not hold for the single change",
        flips[beyond].sum(),
        model[beyond].sum(),
        np.sqrt((model * (1 - model))[beyond].sum()),
        name="single-normal",
        sense="limits",
    )
    _, shares, modelled, errors = classes["any"]
    section.below(
        "the weaker a bit, the likelier it differs (first, third and fifth class)",
        shares[[2, 4]],
        shares[[0, 2]],
        np.hypot(errors[[0, 2]], errors[[2, 4]]),
        name="weak-first",
    )
    spread = sigma[:, 0] / np.sqrt((sums**2).mean(1))

    def draw(axes):
        grid = np.linspace(-6, 6, 49)
        axes[0].hist(pooled.ravel(), grid, density=True, histtype="step", label="all pairs")
        axes[0].plot(grid, stats.norm.pdf(grid), label="normal")
        axes[0].set_yscale("log")
        axes[0].set_ylim(1e-4, 5)
        axes[0].set_xlabel("difference / standard deviation of all")
        axes[0].legend(loc="upper right")
        band(axes[1], places, [k[0] for k in kurtosis], [k[1] for k in kurtosis])
        x = np.geomspace(1, max(places), 50)
        axes[1].plot(x, 3 - 2 / x, color="#D55E00")
        axes[1].axhline(3, color="k", lw=1, ls=":")
        axes[1].set_xscale("log")
        axes[1].set_xlabel("features changed, in effect")
        axes[1].set_ylabel("fourth moment within a pair")
        middle = (bins[:-1] + bins[1:]) / 2
        for (name, (_, share, _, error)), colour in zip(classes.items(), ("#0072B2", "#009E73"), strict=False):
            band(axes[2], middle, np.where(share > 0, share, np.nan), error, color=colour)
            axes[2].plot(middle, np.where(share > 0, share, np.nan), color=colour, lw=0.8, label=f"{name} changed")
        axes[2].plot(middle, classes["8 and more"][2], color="#D55E00", label="(4.4)")
        axes[2].set_yscale("log")
        axes[2].set_ylim(1e-4, 1)
        axes[2].legend(loc="lower left")
        axes[2].set_xlabel("|W| / sigma")
        axes[2].set_ylabel("share of bits that differ")
        axes[3].hist(np.log10(spread), 30)
        axes[3].set_xlabel("log10 of sigma / size of the sums")
        axes[3].set_ylabel("pairs")

    section.figure(
        "t-sums",
        (2, 2),
        draw,
        "Real pairs of cosine .98 and more. Top left: all differences on one scale have "
        "far longer tails than a normal "
        "law. Top right: within a pair the fourth moment is that of a sum of signs (orange), and reaches the "
        "normal 3 (dotted) as "
        "more features change. Bottom left: bits differ the more often the nearer to zero their sum is, as (4.4) "
        "says "
        "where many features changed; where one did, no bit differs whose sum is larger. Bottom right: sigmas "
        "spread over orders of magnitude. Bars: two standard errors, over bits and seeds.",
    )
    low, middle, high = np.quantile(spread, [0.05, 0.5, 0.95])
    near = (real.distance[pairs] >= 1) & (real.distance[pairs] <= 3)
    section.say(
        f"Sigma in units of the sums: 5 % {low:.3f}, median {middle:.3f}, 95 % {high:.3f}; of the pairs among them "
        f"that are 1 to 3 bits apart "
        f"{', '.join(f'{x:.3f}' for x in np.quantile(spread[near], [0.05, 0.5, 0.95]))}."
    )
    return section
