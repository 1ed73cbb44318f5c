"""Numbers of slots that a precision takes, and standard errors from few repetitions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
NEAR, EACH_SIDE = 3.0, 1


def near(wrong: Floats, target: float) -> NDArray[np.bool_]:
    """Choose the points of a curve whose value is within a factor of a target; none where too few lie on either side of it."""
    with np.errstate(divide="ignore"):
        away = np.log(wrong / target)
    chosen = np.abs(away) <= np.log(NEAR)
    enough = min((chosen & (away > 0)).sum(), (chosen & (away <= 0)).sum()) >= EACH_SIDE
    return chosen if enough else np.zeros_like(chosen)


def needed(wrong: Floats, sizes: Floats, target: float, chosen: NDArray[np.bool_]) -> float:
    """Number of slots with which a share of wrong pairs falls to a target; nan where no points were chosen.

    A line of log k over the log of the share, fitted to the chosen points: single points lie off it to both sides, since an
    estimate is a whole number of matches, and reaches a threshold with one more or one less of them.
    """
    if not chosen.any():
        return float("nan")
    with np.errstate(divide="ignore"):
        x = np.log(np.maximum(wrong[chosen], 1e-12) / target)
    line = np.polynomial.polynomial.polyfit(x, np.log(sizes[chosen]), 1)
    return float(np.exp(line[0]))


def jackknife(repetitions: Floats, statistic: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """(statistic of the mean over repetitions, the first axis; its standard error by leaving out one at a time)."""
    n = len(repetitions)
    mean = repetitions.mean(0)
    without = np.stack([statistic((n * mean - one) / (n - 1)) for one in repetitions])
    return statistic(mean), np.sqrt((n - 1) / n * ((without - without.mean(0)) ** 2).sum(0))


def normal_error(found: Floats, expected: Floats, error: Floats, repetitions: int) -> Floats:
    """Errors with which a normal deviation is as improbable as the Student t of errors estimated from few repetitions."""
    t = np.abs(found - expected) / error
    z = stats.norm.isf(stats.t.sf(t, repetitions - 1))
    # Where both are tiny the ratio of errors is that of a moderate deviation.
    moderate = 1.0 / stats.norm.isf(stats.t.sf(1.0, repetitions - 1))
    usable = (t > 1e-3) & np.isfinite(z)
    return np.asarray(error * np.where(usable, t / np.where(usable, z, 1.0), moderate))
