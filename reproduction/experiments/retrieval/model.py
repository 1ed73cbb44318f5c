"""What retrieval by estimates should give: each pair's estimate errs by the variance at that pair's own resemblance.

The slots of a pair match independently with the probability of Theorem 1. So the number of matches is binomial (the sum of two
binomials where some slots keep more bits), and what is retrieved follows from how the resemblances of all pairs are spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy import stats

from lookalike.theory import bbit
from retrieval.schemes import SCHEMES, SIZES, THRESHOLDS, bounds

Floats = NDArray[np.float64]
Parts = list[tuple[int, float]]
compiled = njit(nogil=True, error_model="numpy", cache=True)


@dataclass(frozen=True)
class Spread:
    """Resemblances of pairs in narrow bins, none of which a threshold cuts: their mean, and how many pairs are there."""

    resemblance: Floats
    weight: Floats

    @classmethod
    def of(cls, exact: Floats, weights: Floats, bins: int = 2000) -> Spread:
        """Put pairs into bins. ``bins`` must be a multiple of 10: thresholds are tenths, and belong to the bin above."""
        place = np.searchsorted(np.arange(bins + 1) / bins, exact, side="right") - 1
        total = np.bincount(place, weights, bins + 1)
        some = total > 0
        mean = np.bincount(place, weights * exact, bins + 1)[some] / total[some]
        return cls(np.clip(mean, 0.0, 1.0), total[some])

    def retrieved(self, chosen: Floats) -> Floats:
        """Return (..., thresholds, 3): rightly retrieved, retrieved, to be retrieved, from (..., thresholds, bins): chances."""
        wanted = (self.resemblance >= THRESHOLDS[:, None] - 1e-12) * self.weight
        right, all_of_them = (chosen * wanted).sum(-1), (chosen * self.weight).sum(-1)
        return np.stack(np.broadcast_arrays(right, all_of_them, wanted.sum(-1)), -1)


@compiled
def binomial(n, p, out):
    """Write the probabilities of 0..n successes; from the most likely number outwards, so that none is lost to rounding."""
    out[:] = 0.0
    if p <= 0.0 or p >= 1.0:
        out[n if p >= 1.0 else 0] = 1.0
        return
    top = min(n, int((n + 1) * p))
    out[top] = exp(lgamma(n + 1.0) - lgamma(top + 1.0) - lgamma(n - top + 1.0) + top * log(p) + (n - top) * log(1.0 - p))
    odds = p / (1.0 - p)
    for i in range(top, n):
        out[i + 1] = out[i] * odds * (n - i) / (i + 1)
    for i in range(top, 0, -1):
        out[i - 1] = out[i] / odds * i / (n - i + 1)


@compiled
def reach_in_two(least, first, p_first, second, p_second, out):
    """Write the chance that two binomials add up to each of ``least``, shape (len(least), len(p_first))."""
    one, upper = np.empty(first + 1), np.empty(second + 1)
    for i in range(len(p_first)):
        binomial(first, p_first[i], one)
        binomial(second, p_second[i], upper)
        for x in range(second, 0, -1):
            upper[x - 1] += upper[x]
        for t in range(len(least)):
            total = 0.0
            for x in range(max(0, least[t] - second), first + 1):
                if one[x] > 1e-18:
                    total += one[x] * (upper[least[t] - x] if least[t] > x else 1.0)
            out[t, i] = total


def matches_reach(least: NDArray[np.int64], parts: Parts, k: int, resemblance: Floats) -> Floats:
    """Probability that at least so many of k slots match, shape (len(least), len(resemblance)), by exact distributions."""
    counts = [round(share * k) for _, share in parts]
    chances = [np.asarray(bbit.match_probability(resemblance, bits)) for bits, _ in parts]
    if len(parts) == 1:
        return np.asarray(stats.binom.sf(least[:, None] - 1, k, chances[0]))
    out = np.empty((len(least), len(resemblance)))
    reach_in_two(least, counts[0], chances[0], counts[1], chances[1], out)
    return out


def by_binomials(spread: Spread) -> Floats:
    """Return (schemes, sizes, thresholds, 3), as ``runs.Runs.retrieved`` on average."""
    least = bounds()
    return np.array([
        [spread.retrieved(matches_reach(least[i, j], parts, int(k), spread.resemblance)) for j, k in enumerate(SIZES)]
        for i, parts in enumerate(SCHEMES.values())
    ])  # fmt: skip


def by_normals(spread: Spread, bits: int, sizes: Floats, at_threshold: bool) -> Floats:
    """Return the share of wrong pairs (sizes, thresholds) if estimates were normal, and k any number.

    Their variance is that of b bits at each pair's own resemblance or, ``at_threshold``, at the threshold for all pairs alike.
    """
    where = THRESHOLDS[:, None] if at_threshold else spread.resemblance
    sigma = np.sqrt(np.maximum(np.asarray(bbit.variance(where, bits, 1)), 1e-12) / sizes[:, None, None])
    found = spread.retrieved(stats.norm.sf((THRESHOLDS[:, None] - spread.resemblance) / sigma))
    return np.asarray(1.0 - found[..., 0] / found[..., 1])
