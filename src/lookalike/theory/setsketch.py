"""SetSketch: registers that tell cardinality and joint quantities (Ertl, VLDB 2021)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, count, within


def cardinality(register_sums: ArrayLike, registers: int, base: float, rate: float) -> Float:
    """Cardinality from the sum of b^-K over the registers: m (1 - 1/b) / (a ln b sum).

    Parameters
    ----------
    register_sums : array_like of float > 0
    registers : int >= 1
    base : float > 1
    rate : float > 0

    References
    ----------
    Ertl, "SetSketch: filling the gap between MinHash and HyperLogLog", VLDB 2021, equation 12.
    """
    m, b = count("registers", registers), within("base", base, 1.0, np.inf, above=True)
    a, sums = within("rate", rate, 0.0, np.inf, above=True), within("register_sums", register_sums, 0.0, np.inf, above=True)
    return m * (1.0 - 1.0 / b) / (a * np.log(b) * sums)


def cardinality_relative_error(registers: ArrayLike, base: ArrayLike) -> Float:
    """Relative standard error of that estimate: sqrt(((b + 1) / (b - 1) ln b - 1) / m).

    Parameters
    ----------
    registers : array_like of int >= 1
    base : array_like of float > 1

    References
    ----------
    Ertl, "SetSketch: filling the gap between MinHash and HyperLogLog", VLDB 2021.
    """
    b = within("base", base, 1.0, np.inf, above=True)
    return np.sqrt(((b + 1.0) / (b - 1.0) * np.log(b) - 1.0) / count("registers", registers))


def order_probabilities(resemblance: ArrayLike, share_left: ArrayLike, base: float) -> tuple[Float, Float]:
    """Probabilities that a register of the left set is the larger, and that one of the right is.

    p_b(u - v J) and p_b(v - u J) with u the left share of the summed cardinalities, v = 1 - u, and
    p_b(x) = -log_b(1 - x (b - 1) / b).

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    share_left : array_like of float in [0, 1]
    base : float > 1

    References
    ----------
    Ertl, VLDB 2021, section 3.2.
    """
    j, u = within("resemblance", resemblance, 0.0, 1.0), within("share_left", share_left, 0.0, 1.0)
    v, base = 1.0 - u, float(within("base", base, 1.0, np.inf, above=True))

    def p(x: Float) -> Float:
        return -np.log1p(-np.maximum(x, 0.0) * (base - 1.0) / base) / np.log(base)

    return p(u - v * j), p(v - u * j)


def most_likely_resemblance(
    larger_left: ArrayLike, larger_right: ArrayLike, registers: int, share_left: ArrayLike, base: float
) -> Float:
    """Resemblance of highest likelihood given how many registers are larger on either side and the cardinalities.

    Found by golden-section search on [0, min(u, v) / max(u, v)]; the likelihood has one peak there.

    Parameters
    ----------
    larger_left, larger_right : array_like of int >= 0
    registers : int >= 1
    share_left : array_like of float in [0, 1]
    base : float > 1

    References
    ----------
    Ertl, "SetSketch: filling the gap between MinHash and HyperLogLog", VLDB 2021.
    """
    left, right = count("larger_left", larger_left, 0), count("larger_right", larger_right, 0)
    u, m = within("share_left", share_left, 0.0, 1.0), count("registers", registers)
    within("(larger_left + larger_right) / registers", (left + right) / m, 0.0, 1.0)
    low = np.zeros(np.broadcast(left, right, u).shape)
    high = low + np.minimum(u, 1.0 - u) / np.maximum(u, 1.0 - u)
    equal = m - left - right

    def likelihood(j: Float) -> Float:
        p_left, p_right = order_probabilities(np.clip(j, 0.0, 1.0), u, base)
        tiny = 1e-300
        same = np.maximum(1.0 - p_left - p_right, tiny)
        return left * np.log(np.maximum(p_left, tiny)) + right * np.log(np.maximum(p_right, tiny)) + equal * np.log(same)

    ratio = (5.0**0.5 - 1.0) / 2.0
    for _ in range(80):
        width = high - low
        a, b = high - ratio * width, low + ratio * width
        better = likelihood(a) > likelihood(b)
        low, high = np.where(better, low, a), np.where(better, b, high)
    return ((low + high) / 2.0)[()]
