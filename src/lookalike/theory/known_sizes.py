"""Intersections of sets whose sizes are known: it tells of them, too, which minimum is the smaller, and codes of quantiles do.

With sizes f1 and f2 there is one unknown, the intersection a. A minimum of the union of u = f1 + f2 - a members lies in both
sets, in the left one alone or in the right one alone with probabilities a / u, (f1 - a) / u and (f2 - a) / u. Estimates are the
most likely ones; their error is the wider half of the interval that the likelihood ratio gives at 1.96 errors, over 1.96.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ParameterError
from ._check import Float, count, within
from .mixture import Z

SIZE_STEPS = 2047  # for each doubling: 16 bits for sizes below 2^32, to 0.017 percent
_FAR = 745.0  # an exponential variable is larger with a probability below 1e-323
_GRID, _STEPS = 17, 24
_LEAST = 1e-300

Likelihood = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def size_steps(sizes: ArrayLike) -> NDArray[np.uint16]:
    """Round sizes to what 16 bits keep: 0, or 1 + the logarithm in steps of 1 / 2047 of a doubling, uint16.

    Parameters
    ----------
    sizes : array_like of int in [0, 2^32)

    Returns
    -------
    ndarray of uint16

    Raises
    ------
    ParameterError
        If a size is out of its range.

    References
    ----------
    A logarithmic scale, as registers of counting sketches have: the relative error is 2^(1 / 4094) - 1 at most.
    """
    sizes = within("sizes", sizes, 0, (1 << 32) - 1)
    return np.where(sizes > 0, 1 + np.rint(SIZE_STEPS * np.log2(np.maximum(sizes, 1))), 0).astype(np.uint16)


def sizes_of(steps: ArrayLike) -> NDArray[np.float64]:
    """Return the sizes that ``size_steps`` keeps, float64.

    Parameters
    ----------
    steps : array_like of int in [0, 65505]

    Returns
    -------
    ndarray of float64

    References
    ----------
    ``size_steps``, inverted.
    """
    steps = within("steps", steps, 0, 1 + 32 * SIZE_STEPS)
    return np.where(steps > 0, np.exp2((steps - 1) / SIZE_STEPS), 0.0)


def _checked(intersection: ArrayLike, size_left: ArrayLike, size_right: ArrayLike) -> tuple[Float, Float, Float]:
    """Return an intersection and two sizes as float64 if there are such sets."""
    left, right = count("size_left", size_left), count("size_right", size_right)
    common = count("intersection", intersection, 0)
    if np.any(common > np.minimum(left, right) * (1 + 1e-9)):
        raise ParameterError(f"sets of sizes {left} and {right} have no {common} members in common")
    return np.minimum(common, np.minimum(left, right)), left, right


def variance(intersection: ArrayLike, size_left: ArrayLike, size_right: ArrayLike, permutations: ArrayLike) -> Float:
    """Variance of the most likely intersection from k whole minima, for large k; 0 where one set holds the other.

    Of a plain estimate it is u^4 R (1 - R) / (k (f1 + f2)^2): the ratio falls to 0 as the containment rises to 1, and is 1 for
    sets of equal sizes.

    Parameters
    ----------
    intersection : array_like of float in [0, min(size_left, size_right)]
    size_left, size_right : array_like of int >= 1
    permutations : array_like of int >= 1

    Raises
    ------
    ParameterError
        If there are no such sets.

    References
    ----------
    Li & König, "Accurate estimators for improving minwise hashing and b-bit minwise hashing", 2011: the inverse of the Fisher
    information k (1 / (a u) + 1 / ((f1 - a) u) + 1 / ((f2 - a) u) - 1 / u^2).
    """
    a, left, right = _checked(intersection, size_left, size_right)
    union = left + right - a
    with np.errstate(divide="ignore"):
        information = (1.0 / a + 1.0 / (left - a) + 1.0 / (right - a)) / union - union**-2.0
    return 1.0 / (count("permutations", permutations) * information)


def most_likely(
    equal: ArrayLike, left_first: ArrayLike, right_first: ArrayLike, size_left: ArrayLike, size_right: ArrayLike
) -> tuple[Float, Float]:
    """Return the most likely intersection and its standard error from minima that are equal, smaller left and smaller right.

    Parameters
    ----------
    equal, left_first, right_first : array_like of int >= 0
        Slots in which the minima are equal, the left one is the smaller, the right one is.
    size_left, size_right : array_like of int >= 1

    Returns
    -------
    (float or ndarray of float64, likewise)
        Members in common, in [0, min(size_left, size_right)].

    References
    ----------
    Li & König 2011, the estimator from the three counts together.
    """
    given = (("equal", equal), ("left_first", left_first), ("right_first", right_first))
    sizes = count("size_left", size_left), count("size_right", size_right)
    *counts, left, right = np.broadcast_arrays(*(count(name, value, 0) for name, value in given), *sizes)

    def likelihood(a: NDArray[np.float64]) -> NDArray[np.float64]:
        logs = [np.log(np.maximum(part, _LEAST)) for part in (a, left - a, right - a)]
        total = sum(n * log for n, log in zip(counts, logs, strict=True))
        return np.asarray(total - sum(counts) * np.log(left + right - a))

    return _peak(likelihood, np.minimum(left, right))


def code_of(minima: ArrayLike, sizes: ArrayLike, bits: int) -> NDArray[np.uint64]:
    """Return in which of 2^b equally likely intervals the least of some uniform numbers lies.

    Parameters
    ----------
    minima : array_like of float in [0, 1]
    sizes : array_like of float >= 1
        Of how many numbers each is the least.
    bits : int in [1, 16]

    Returns
    -------
    ndarray of uint64

    References
    ----------
    The least of n uniform numbers is below x with probability 1 - (1 - x)^n.
    """
    with np.errstate(divide="ignore"):
        below = -np.expm1(count("sizes", sizes) * np.log1p(-within("minima", minima, 0.0, 1.0)))
    return np.asarray(np.minimum(below * (1 << bits), (1 << bits) - 1), np.uint64)


def _edges(bits: int) -> NDArray[np.float64]:
    """Where the intervals of codes begin, for exponential variables of rate 1, and where the last one ends."""
    return np.append(-np.log1p(-np.arange(1 << bits) / (1 << bits)), _FAR)


def _code_probability(
    share: NDArray[np.float64], ratio: NDArray[np.float64], left: tuple[Float, Float], right: tuple[Float, Float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probability of minima in two intervals, in units of 1 / f1, and its derivative by the share of the left set
    that lies in the right one, which is ``ratio`` times as large."""
    probability, slope = np.zeros(()), np.zeros(())
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            lesser = np.minimum(x, y)
            above = np.exp(share * lesser - x - ratio * y)
            sign = 1.0 if i == j else -1.0
            probability, slope = probability + sign * above, slope + sign * lesser * above
    return np.asarray(probability), np.asarray(slope)


def code_probabilities(intersection: float, size_left: float, size_right: float, bits: int) -> NDArray[np.float64]:
    """Probability of each pair of codes, float64 of shape (2^b, 2^b): row by left code, column by right code.

    Minima are exponential variables of rates f1 and f2 with a common shock: the left one is above x and the right one
    above y with probability exp(-f1 x - f2 y + a min(x, y)).

    Parameters
    ----------
    intersection : float in [0, min(size_left, size_right)]
    size_left, size_right : float >= 1
    bits : int in [1, 16]

    Returns
    -------
    ndarray of float64, shape (2^b, 2^b)

    Raises
    ------
    ParameterError
        If there are no such sets.

    References
    ----------
    Marshall & Olkin, "A multivariate exponential distribution", JASA 1967.
    """
    return _law(intersection, size_left, size_right, bits)[0]


def _law(
    intersection: float, size_left: float, size_right: float, bits: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities of pairs of codes and their derivatives with respect to the intersection."""
    a, f1, f2 = _checked(intersection, size_left, size_right)
    edges = _edges(int(within("bits", bits, 1, 16)))
    x, y = edges[:, None], edges[None, :] * f1 / f2
    p, slope = _code_probability(a / f1, f2 / f1, (x[:-1], x[1:]), (y[:, :-1], y[:, 1:]))
    return p, slope / f1


def code_variance(intersection: float, size_left: float, size_right: float, bits: int, permutations: int) -> float:
    """Variance of the most likely intersection from k pairs of b-bit codes of quantiles, for large k.

    Parameters
    ----------
    intersection : float in [0, min(size_left, size_right)]
    size_left, size_right : float >= 1
    bits : int in [1, 16]
    permutations : int >= 1

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        If there are no such sets.

    References
    ----------
    The inverse of the Fisher information of ``code_probabilities``.
    """
    p, slope = _law(intersection, size_left, size_right, bits)
    some = p > 1e-15
    return float(1.0 / (count("permutations", permutations) * (slope[some] ** 2 / p[some]).sum()))


def most_likely_of_codes(
    codes_left: ArrayLike, codes_right: ArrayLike, size_left: ArrayLike, size_right: ArrayLike, bits: int
) -> tuple[Float, Float]:
    """Return the most likely intersection and its standard error from pairs of b-bit codes of quantiles.

    Parameters
    ----------
    codes_left, codes_right : array_like of int in [0, 2^b), shape (..., permutations)
    size_left, size_right : array_like of float >= 1, shape (...)
    bits : int in [1, 16]

    Returns
    -------
    (float or ndarray of float64, likewise)
        Members in common, in [0, min(size_left, size_right)], and standard errors; shape (...).

    References
    ----------
    ``code_probabilities``; slots are independent.
    """
    edges = _edges(int(within("bits", bits, 1, 16)))
    i, j = (np.asarray(codes, np.int64) for codes in (codes_left, codes_right))
    f1, f2 = np.broadcast_arrays(count("size_left", size_left), count("size_right", size_right), i[..., 0], j[..., 0])[:2]
    ratio = (f2 / f1)[..., None]
    left, right = (edges[i], edges[i + 1]), (edges[j] / ratio, edges[j + 1] / ratio)

    def likelihood(share: NDArray[np.float64]) -> NDArray[np.float64]:
        p, _ = _code_probability(share[..., None], ratio, left, right)
        return np.asarray(np.log(np.maximum(p, _LEAST)).sum(-1))

    share, error = _peak(likelihood, np.minimum(1.0, f2 / f1))
    return share * f1, error * f1


def _peak(likelihood: Likelihood, top: NDArray[np.float64]) -> tuple[Float, Float]:
    """Return where in [0, top] a likelihood is highest, and the standard error."""
    grid = np.stack([likelihood(top * step / (_GRID - 1)) for step in range(_GRID)])
    best = grid.argmax(0)
    low, high = (top * np.clip(best + side, 0, _GRID - 1) / (_GRID - 1) for side in (-1, 1))
    for _ in range(_STEPS):
        a, b = low + (high - low) / 3.0, high - (high - low) / 3.0
        rises = likelihood(a) < likelihood(b)
        low, high = np.where(rises, a, low), np.where(rises, high, b)
    candidates = np.stack([(low + high) / 2.0, np.zeros_like(top), top])
    values = np.stack([likelihood(c) for c in candidates])
    chosen = values.argmax(0)[None]
    found, most = (np.take_along_axis(array, chosen, 0)[0] for array in (candidates, values))
    reach = np.zeros_like(found)
    for end in (np.zeros_like(top), top):
        near, far = np.where(most - likelihood(end) < Z * Z / 2.0, end, found), end  # an end that fits is reached itself
        for _ in range(_STEPS):
            middle = (near + far) / 2.0
            fits = most - likelihood(middle) < Z * Z / 2.0
            near, far = np.where(fits, middle, near), np.where(fits, far, middle)
        reach = np.maximum(reach, np.abs(near - found))
    return found[()], (reach / Z)[()]
