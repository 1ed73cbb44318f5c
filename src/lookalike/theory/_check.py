"""Checks of arguments that formulas share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ParameterError

Float = Any
"""A float, or a float64 array of the shape that the arguments broadcast to."""


ROUNDING = 1e-12


def within(
    name: str, value: ArrayLike, low: float, high: float, *, above: bool = False, below: bool = False
) -> NDArray[np.float64]:
    """Return a value as float64, cut to [low, high], if all of it is in there but for rounding; nan is not.

    With ``above`` it must be above ``low``, with ``below`` below ``high``.
    """
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ParameterError("must be a number", name, value) from None
    inside = (array >= low - ROUNDING * abs(low)) & (array <= (high if np.isinf(high) else high + ROUNDING * abs(high)))
    if above:
        inside &= array > low
    if below:
        inside &= array < high
    if not np.all(inside):
        ends = f"{'(' if above else '['}{low:g}, {high:g}{')' if below or np.isinf(high) else ']'}"
        raise ParameterError(f"must be in {ends}", name, value)
    return np.clip(array, low, high)


def fraction(name: str, value: ArrayLike) -> NDArray[np.float64]:
    """Return a value as float64 if all of it is in [0, 1]."""
    return within(name, value, 0.0, 1.0)


def densities(left: ArrayLike, right: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the densities of two sets as float64 if all are in [0, 1]."""
    return fraction("density_left", left), fraction("density_right", right)


def count(name: str, value: ArrayLike, least: int = 1) -> NDArray[np.float64]:
    """Return a count as float64 if all of it is at least ``least``."""
    return within(name, value, least, np.inf)


def resemblance_of(
    resemblance: ArrayLike, density_left: ArrayLike, density_right: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Check a resemblance and two densities, and that sets of such densities can have it."""
    r = fraction("resemblance", resemblance)
    left, right = densities(density_left, density_right)
    smaller, larger = np.minimum(left, right), np.maximum(left, right)
    with np.errstate(invalid="ignore", divide="ignore"):
        highest = np.where(larger > 0, smaller / larger, 1.0)
        crowded = (left + right) / (1.0 + r) > 1.0 + 1e-9
    if np.any(r > highest * (1 + 1e-9)) or np.any(crowded):
        raise ParameterError(
            f"no two sets of densities {left} and {right} have resemblance {r}: it is at most min / max of the densities, "
            "and their union, (r1 + r2) / (1 + R), at most 1"
        )
    return r, left, right
