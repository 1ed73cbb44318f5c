"""One permutation hashing: the range cut into bins, a minimum from each (Li, Owen & Zhang, NIPS 2012)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..choices import check_choice
from ..errors import ParameterError
from ._check import Float, count, fraction, within

# Probability that two of t bins, drawn with replacement, hold the same member, after m were filled: S / t^2 for the sum S of
# squared numbers of bins with the same content; by what made them of a union of f members. Bins that are filled in different
# rounds hold the same member by chance.
ALIKE: dict[str, Callable[[Float, float, Float], Float]] = {
    "rotation": lambda m, t, f: (2.0 * t - m + 1.0) / (m + 1.0) / t,
    "optimal": lambda m, t, f: 1.0 / m + (t - m) * (1.0 - 1.0 / m) / t**2,
    "reverse": lambda m, t, f: 1.0 / m + (t - m) * (1.0 - 1.0 / m) * (t + m) / 2.0 / t**3,
    "rounds": lambda m, t, f: 1.0 / t + (1.0 - np.maximum(m / (2.0 * t - m), 1.0 / t)) / f,
}
HASHES = 2.0**64  # the universe of hashes


def occupancy(union_size: int, bins: int, universe: int | None = None) -> NDArray[np.float64]:
    """Probability that exactly m of the bins hold a member, for m = 0..bins.

    Members fall into bins independently or, with a universe, onto its places, each of which takes one.

    Parameters
    ----------
    union_size : int >= 0
    bins : int >= 1
    universe : int >= 1, optional
        D; bins have D / t places.

    Returns
    -------
    ndarray of float64, shape (bins + 1,)

    Raises
    ------
    ParameterError
        If the union is negative or does not fit the universe, or there is no bin.

    Notes
    -----
    Time: union_size steps, or as many as fill all bins, over the numbers of bins that have a probability above 1e-30.

    References
    ----------
    The occupancy problem: each further member falls into a filled bin with probability m / t, or (m D / t - j) / (D - j).
    """
    union_size, bins = int(count("union_size", union_size, 0)), int(count("bins", bins))
    universe = None if universe is None else int(count("universe", universe))
    if universe is not None and union_size > universe:
        raise ParameterError(f"a union of {union_size} does not fit a universe of {universe}")
    out, p, low = np.zeros(bins + 1), np.ones(1), 0  # p: of low filled bins, and of more one by one
    for j in range(union_size):
        m = np.arange(low, low + len(p))
        taken = m / bins if universe is None else np.maximum(m * universe / bins - j, 0.0) / (universe - j)
        p = np.append(p * taken, 0.0) + np.append(0.0, p * (1.0 - taken))
        counts = np.flatnonzero(p > 1e-30)
        low, p = low + counts[0], p[counts[0] : counts[-1] + 1]
        if low == bins:
            break
    out[low : low + len(p)] = p
    return out


def expected_empty(union_size: ArrayLike, bins: ArrayLike, universe: ArrayLike | None = None) -> Float:
    """Expected number of jointly empty bins, t (1 - 1/t)^f; with a finite universe the product of the report.

    Parameters
    ----------
    union_size : array_like of int >= 0
    bins, universe : array_like of int >= 1

    Raises
    ------
    ParameterError
        If the union does not fit the universe.

    References
    ----------
    Report on minwise, b-bit and one-permutation hashing, equation 27.
    """
    f, t = count("union_size", union_size, 0), count("bins", bins)
    if universe is None:
        return t * (1.0 - 1.0 / t) ** f
    d = count("universe", universe)
    if np.any(f > d):
        raise ParameterError(f"a union of {union_size!r} does not fit a universe of {universe!r}")
    product = np.ones(np.broadcast(f, t, d).shape)
    for j in range(int(np.max(f))):
        product = product * np.where(j < f, np.maximum(d * (1.0 - 1.0 / t) - j, 0.0) / np.maximum(d - j, 1.0), 1.0)
    return (t * product)[()]


def expected_matches(resemblance: ArrayLike, union_size: ArrayLike, bins: ArrayLike) -> Float:
    """Expected number of matching bins, R (t - E[N_emp]): each jointly non-empty bin matches with probability R.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    union_size : array_like of int >= 0
    bins : array_like of int >= 1

    References
    ----------
    Report, equations 28-30 (30 corrected: the sum runs over all bins).
    """
    r = fraction("resemblance", resemblance)
    return r * (count("bins", bins) - expected_empty(union_size, bins))


def resemblance(matches: ArrayLike, empty: ArrayLike, bins: ArrayLike) -> Float:
    """R_mat = N_mat / (t - N_emp), unbiased; nan where all bins are jointly empty.

    Parameters
    ----------
    matches : array_like of int >= 0
    empty : array_like of int >= 0
        Jointly empty bins.
    bins : array_like of int >= 1

    Raises
    ------
    ParameterError
        If there are more matches and empty bins than bins.

    References
    ----------
    Report, equations 25 and 26.
    """
    filled, found = count("bins", bins) - count("empty", empty, 0), count("matches", matches, 0)
    if np.any(found > filled):
        raise ParameterError(f"matches and empty bins must be at most the bins; got {matches!r}, {empty!r} and {bins!r}")
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(filled > 0, found / filled, np.nan)[()]


def expected_inverse_filled(union_size: int, bins: int, universe: int | None = None) -> float:
    """E[1 / (t - N_emp)] for a non-empty union, by the occupancy law; 1 / t for unions beyond 50 t ln t.

    Parameters
    ----------
    union_size : int >= 1
    bins : int >= 1
    universe : int >= 1, optional

    Raises
    ------
    ParameterError
        If the union is empty, or does not fit the universe.

    References
    ----------
    Expectation under ``occupancy``.
    """
    count("union_size", union_size)
    count("bins", bins)
    if universe is None and union_size > 50 * bins * max(1.0, np.log(bins)):
        return 1.0 / bins
    p = occupancy(union_size, bins, universe)
    return float(np.sum(p[1:] / np.arange(1, bins + 1)))


def _each(function: Callable[[int, int], float], union_size: ArrayLike, bins: ArrayLike) -> Float:
    """Apply a function of two integers elementwise."""
    f, t = count("union_size", union_size, 0), count("bins", bins)
    return np.vectorize(lambda f, t: function(int(f), int(t)), otypes=[np.float64])(f, t)[()]


def variance(resemblance: ArrayLike, union_size: ArrayLike, bins: ArrayLike, universe: int | None = None) -> Float:
    """Variance of R_mat: R (1 - R) (E[1 / (t - N_emp)] (1 + 1 / (f - 1)) - 1 / (f - 1)).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    union_size : array_like of int >= 1
        Members f of the union; 0 for f = 1.
    bins : array_like of int >= 1
    universe : int >= 1, optional
        D, with a true permutation of [0, D) in place of hashes.

    References
    ----------
    Report, equation 32. (33) holds only where no bin is empty; it turns negative for f < t.
    """
    inverse = _each(lambda f, t: expected_inverse_filled(f, t, universe), union_size, bins)
    return copied_variance(resemblance, union_size, bins, inverse * np.square(bins, dtype=np.float64))


def copied_variance(resemblance: ArrayLike, union_size: ArrayLike, bins: ArrayLike, square_copies: ArrayLike) -> Float:
    """Variance of the share of equal bins after empty ones copied filled ones: R (1 - R) (f / (f - 1) S / t^2 - 1 / (f - 1)).

    It is least where all copies are equal, S = t^2 / m: that of the raw bins. Hence estimates are best made from raw bins.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    union_size : array_like of int >= 0
    bins : array_like of int >= 1
    square_copies : array_like of float >= 0
        S, the expected sum of squared numbers of bins with the same content.

    References
    ----------
    Second moments of the number of equal bins, given who copied whom.
    """
    r, f, t = fraction("resemblance", resemblance), count("union_size", union_size, 0), count("bins", bins)
    alike = within("square_copies", square_copies, 0.0, np.inf) / t**2
    return np.where(f > 1.0, r * (1.0 - r) * _spread(f, alike), 0.0)[()]


def _spread(f: Float, alike: Float) -> Float:
    """Return the variance of the share of equal bins over R (1 - R)."""
    return (f * alike - 1.0) / np.maximum(f - 1.0, 1.0)


def densified_variance(resemblance: ArrayLike, union_size: ArrayLike, bins: ArrayLike, kind: str) -> Float:
    """Variance after the empty bins were filled: ``copied_variance`` with S as expected of the bins that are filled.

    "rounds" are those of ``FastSimilarity``. Below about t / 4 members this states too much for them, up to twice the variance,
    and a few per cent too little for reverse filling.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    union_size : array_like of int >= 0
    bins : array_like of int >= 1
    kind : {"rotation", "optimal", "reverse", "rounds"}

    Raises
    ------
    ParameterError
        If `kind` is none of these.

    References
    ----------
    Shrivastava & Li, ICML 2014: rotation; Shrivastava, ICML 2017: optimal; Mai et al., UAI 2019: reverse; Dahlgaard et al.,
    FOCS 2017: rounds.
    """
    check_choice("kind", kind, ALIKE)

    def expected(f: int, t: int) -> float:
        return float(np.sum(occupancy(f, t)[1:] * ALIKE[kind](np.arange(1.0, t + 1.0), t, f))) * t**2

    return copied_variance(resemblance, union_size, bins, _each(expected, union_size, bins))


@lru_cache(8)
def _members(bins: int, universe: float) -> NDArray[np.float64]:
    """Return how many members to expect of a set that fills m = 0..bins bins: those drawn before one more is filled.

    Of D - f members left, (t - i) D / t fall into empty bins: the first that does is the (D - f + 1) / ((t - i) D / t + 1)th on
    average. All of the universe where no bin is empty.
    """
    places = np.arange(bins - 1.0, -1.0, -1.0) * (universe / bins)
    with np.errstate(divide="ignore"):
        return np.append(0.0, -universe * np.expm1(np.cumsum(np.log1p(-1.0 / (places + 1.0)))))


def _filled(filled: ArrayLike, bins: int, universe: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bins that are filled, checked, and the members to expect of them."""
    count("bins", bins)
    count("universe", universe)
    m = within("filled", filled, 0, bins)
    return m, _members(int(bins), universe)[m.astype(np.int64)]


def raw_error(
    matches: ArrayLike, filled: ArrayLike, bins: int, universe: float = HASHES, both: ArrayLike = 0, chance: float = 0.0
) -> Float:
    """Standard error of R_mat, or of b bits of raw bins, by the members that the filled bins let expect.

    Wider by the probability that all members have bins of their own, with which the estimate is exact: then the others are the
    further off. Two matches and two mismatches are added, as for ``shares.share_error``.

    Parameters
    ----------
    matches : array_like of int >= 0
        Of bins that are filled in both, equal ones.
    filled : array_like of int in [0, bins]
        Bins that are filled in one of both, or in both.
    bins : int >= 1
    universe : float >= 1
    both : array_like of int >= 0
        Bins that are filled in both; of no account with whole values.
    chance : float in [0, 1)
        Probability that bits of different values match.

    References
    ----------
    Report, equation 32, for as many filled bins as there are, and the binomial variance of matches by chance.
    """
    rest = 1.0 - within("chance", chance, 0.0, 1.0, below=True)
    m, f = _filled(filled, bins, universe)
    equal, shared, n = count("matches", matches, 0), count("both", both, 0), m + 4.0
    alone = np.exp(m - f)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.maximum(m * _spread(f, 1.0 / m), 0.0) * (1.0 + alone)
    p = np.maximum((equal - shared * chance + 2.0 - 4.0 * chance) / rest / n, 0.0)
    unlike = (shared - equal + 2.0 * spread) / rest + (1.0 - p) * (f - m) * alone  # in bins that are filled in both
    return np.where(m > 0, np.sqrt(p * (1.0 - p) / n * spread + unlike * chance / rest / n**2), np.nan)[()]


def filled_error(share: ArrayLike, filled: ArrayLike, bins: int, kind: str) -> Float:
    """Standard error of the share of equal bins after all were filled, by the members that those filled first let expect.

    Parameters
    ----------
    share : array_like of float in [0, 1]
    filled : array_like of int in [0, bins]
        Bins filled by a member of one set or of both.
    bins : int >= 1
    kind : {"rotation", "optimal", "reverse", "rounds"}
        How the others were filled.

    Raises
    ------
    ParameterError
        If `kind` is none of these.

    References
    ----------
    ``copied_variance``; that of as many independent bins as have the same variance. Two matches and two mismatches are added to
    the share, as for ``shares.share_error``, but not to the bins, which can be few.
    """
    check_choice("kind", kind, ALIKE)
    m, f = _filled(filled, bins, HASHES)
    with np.errstate(divide="ignore", invalid="ignore"):
        trials = np.where(m > 0, 1.0 / _spread(f, ALIKE[kind](m, bins, f)), np.nan)
    p = (fraction("share", share) * trials + 2.0) / (trials + 4.0)
    return np.sqrt(p * (1.0 - p) / trials)


def space_bits(universe: float, permutations: int, bits: int = 1) -> dict[str, float]:
    """Bits of the hashing structures and the signature, scheme by scheme, if permutations are stored as tables.

    Parameters
    ----------
    universe : float >= 1
        D.
    permutations : int >= 1
        k permutations, or bins.
    bits : int in [1, 64]
        b of b-bit hashing.

    Returns
    -------
    dict of str to float

    References
    ----------
    Report, table 1. In practice hash functions replace the tables.
    """
    d, k = float(count("universe", universe)), float(count("permutations", permutations))
    within("bits", bits, 1, 64)
    log = np.log2(d)
    return {
        "naive": d,
        "minwise": k * d * log + k * log,
        "b-bit minwise": k * d * log + k * bits,
        "one permutation": d * log + k * np.log2(max(d / k, 1.0)),
    }
