"""Banding: documents that agree in all rows of at least one band become candidates."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._check import count, within

FloatArray = Any


def candidate_probability(resemblance: ArrayLike, bands: ArrayLike, rows: ArrayLike) -> FloatArray:
    """Probability that two documents share at least one of ``bands`` bands: 1 - (1 - R^rows)^bands.

    Parameters
    ----------
    resemblance : array_like of float in [0, 1]
    bands, rows : array_like of int >= 1

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; rises with the resemblance.

    References
    ----------
    Leskovec, Rajaraman & Ullman, "Mining of Massive Datasets", section 3.4.2.
    """
    band = within("resemblance", resemblance, 0.0, 1.0) ** count("rows", rows)
    with np.errstate(divide="ignore"):
        return -np.expm1(count("bands", bands) * np.log1p(-band))


def bands_for_recall(threshold: ArrayLike, recall: ArrayLike, rows: ArrayLike) -> FloatArray:
    """Least number of bands with which a pair at the threshold becomes a candidate with probability ``recall``.

    Parameters
    ----------
    threshold : array_like of float in (0, 1]
    recall : array_like of float in (0, 1)
    rows : array_like of int >= 1

    Returns
    -------
    int or ndarray of float64
        At least 1; infinite where ``threshold ** rows`` vanishes.

    References
    ----------
    Inverse of ``candidate_probability``: ln(1 - recall) / ln(1 - R^rows), rounded up.
    """
    t, wanted = within("threshold", threshold, 0.0, 1.0, above=True), within("recall", recall, 0.0, 1.0, above=True, below=True)
    with np.errstate(divide="ignore", over="ignore"):
        miss = np.log1p(-(t ** count("rows", rows)))
        needed = np.log1p(-wanted) / miss
    return np.maximum(1.0, np.ceil(needed - 1e-9))


def mean_candidate_probability(threshold: float, bands: int, rows: int, points: int = 301) -> float:
    """Mean of the candidate probability over resemblances uniform in [0, threshold], by the trapezoid rule.

    Parameters
    ----------
    threshold : float in (0, 1]
    bands, rows : int >= 1
    points : int >= 2
        Points of the rule.

    Returns
    -------
    float in [0, 1]

    References
    ----------
    Integral of ``candidate_probability`` over [0, threshold], divided by the threshold.
    """
    within("threshold", threshold, 0.0, 1.0, above=True)
    grid = np.linspace(0.0, threshold, int(count("points", points, 2)))
    return float(np.trapezoid(candidate_probability(grid, bands, rows), grid) / threshold)
