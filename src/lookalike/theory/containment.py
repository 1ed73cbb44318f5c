"""Containment from a sample of the contained document: how many of its sampled shingles a candidate must have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ._check import ROUNDING, within
from .banding import binomial

SAMPLE, MOST_SAMPLED = 32, 127


def sample_recall(containment: float, sample: int, least: int) -> float:
    """Probability that a document with a share C of another one's shingles has ``least`` or more of its sample.

    P(X >= least) for X binomial of ``sample`` trials of probability C. A sample is drawn without replacement, so that X is
    hypergeometric; below ``least`` <= ``sample`` C its tail is no heavier than that of the binomial.

    Parameters
    ----------
    containment : float in [0, 1]
    sample : int >= 1
    least : int >= 0

    Returns
    -------
    float in [0, 1]

    References
    ----------
    Uhlmann, "Vergleich der hypergeometrischen mit der Binomial-Verteilung", Metrika 10 (1966).
    """
    return float(min(1.0, binomial(sample, containment)[least:].sum()))


def plan_sample(threshold: float, recall: float) -> tuple[int, int]:
    """Size of a sample, and how many of it must be shared, such that a pair at the threshold is found.

    The sample has 32 shingles, or as many as it takes for the recall; of these, the largest number with ``found`` >= recall,
    but no more than are shared on average.

    Parameters
    ----------
    threshold : float in (0, 1]
        Containment t.
    recall : float in (0, 1)

    Returns
    -------
    (int, int)
        Both at least 1.

    Raises
    ------
    ParameterError
        If 127 shingles are not enough: 1 - (1 - t)^127 is below the recall.

    References
    ----------
    Broder, "On the resemblance and containment of documents", 1997: the shingles of smallest hashes are a random sample, and
    the share of it that is in another document estimates the containment.
    """
    t = float(within("threshold", threshold, 0.0, 1.0, above=True))
    wanted = float(within("recall", recall, 0.0, 1.0, above=True, below=True))
    with np.errstate(divide="ignore"):
        needed = np.log1p(-wanted) / np.log1p(-t)
    sample = max(SAMPLE, int(np.ceil(needed - ROUNDING)))
    if sample > MOST_SAMPLED:
        raise ParameterError(
            f"a containment of {threshold} cannot be found with recall {recall} by {MOST_SAMPLED} sampled shingles of a "
            f"document: {sample:,} are needed; raise the threshold, or lower the recall"
        )
    tails = np.cumsum(binomial(sample, t)[::-1])[::-1]
    return sample, max(1, min(int(np.flatnonzero(tails >= wanted - ROUNDING)[-1]), int(sample * t + ROUNDING)))


def least_shared(threshold: float, sample: int, least: int) -> NDArray[np.int64]:
    """How many of its sampled shingles must be shared, by their number.

    A document of fewer than ``sample`` shingles is its own sample: its containment is the share of these, and it takes just
    the threshold.

    Parameters
    ----------
    threshold : float in (0, 1]
    sample, least : int >= 1
        As of ``plan_sample``.

    Returns
    -------
    ndarray of int64, shape (sample + 1,)
        By the number of shingles in the sample, from 0.

    References
    ----------
    The smallest whole number with least / size >= t, and ``plan_sample``.
    """
    sizes = np.arange(sample + 1)
    needed = np.ceil(threshold * sizes - ROUNDING * sizes).astype(np.int64)
    needed[sample] = least
    return needed


def crowded_recall(threshold: float, sample: int, least: int) -> NDArray[np.float64]:
    """Least probability that a pair at the threshold is found, by the sampled shingles, and by how many of them tell nothing.

    With u shingles that tell nothing, because too many documents have them, max(1, n - u) others must be shared, n being the
    number of ``least_shared``. If at least max(n, u + 1) of the sample are shared they are, whichever tell nothing. A document
    that is its own sample surely shares n, and no more.

    Parameters
    ----------
    threshold : float in (0, 1]
    sample, least : int >= 1
        As of ``plan_sample``.

    Returns
    -------
    ndarray of float64, shape (sample + 1, sample + 1)
        Rows are numbers of sampled shingles, columns those of shingles that tell nothing.

    References
    ----------
    ``found`` with max(n, u + 1) in place of n.
    """
    needed, u = least_shared(threshold, sample, least), np.arange(sample + 1)
    found_by = (u < needed[:, None]).astype(np.float64)
    tails = np.append(np.cumsum(binomial(sample, threshold)[::-1])[::-1], 0.0).clip(0.0, 1.0)
    found_by[sample] = tails[np.maximum(least, u + 1)]
    return found_by


def looked_for(
    threshold: float, sample: int, least: int, sizes: NDArray[np.int64], few: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Of how many of its rarest shingles so many are looked for that a pair at the threshold is found as by its sample.

    Of s shingles of a document, a document that contains it at the threshold t lacks d at most, s - d being the least number
    that reaches t. They are drawn from the ``few`` shingles that few documents have, if these are more than d, and from the 4 d
    rarest otherwise. Of r shingles q that are drawn are all lacking with probability (d / r)^q at most, and never if q > d. A
    document that is its own sample has q = d + 1.

    Parameters
    ----------
    threshold : float in (0, 1]
    sample, least : int >= 1
        As of ``plan_sample``.
    sizes, few : ndarray of int64, at least 1 and 0
        Shingles of each document, and how many of them few documents have.

    Returns
    -------
    (ndarray of int64, ndarray of int64)
        r and q, 1 <= q <= r.

    References
    ----------
    C(d, q) / C(r, q) <= (d / r)^q for d <= r; with q = d + 1, Chaudhuri, Ganti and Kaushik, "A primitive operator for
    similarity joins in data cleaning", ICDE 2006.
    """
    lacking = sizes - np.maximum(1, np.ceil(threshold * sizes - ROUNDING * sizes).astype(np.int64))
    among = np.where(few > lacking, few, np.minimum(sizes, np.maximum(4 * lacking, 1)))
    missed = max(1 - sample_recall(threshold, sample, least), np.finfo(float).tiny)
    with np.errstate(divide="ignore"):
        drawn = np.ceil(np.log(missed) / np.log(lacking / among) - ROUNDING).astype(np.int64)
    return among, np.where(sizes <= sample, lacking + 1, np.clip(drawn, 1, lacking + 1))
