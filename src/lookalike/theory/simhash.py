"""SimHash: how Hamming distance, angle and cosine hang together (Charikar 2002; Manku, Jain & Das Sarma 2007).

Fingerprints have f ``bits``.
"""

from __future__ import annotations

from math import comb, log

import numpy as np
from numpy.typing import ArrayLike

from ._check import Float, count, fraction, within


def differ_probability(cosine: ArrayLike) -> Float:
    """Probability that one bit of two fingerprints differs: angle / pi.

    Right for many features of comparable weight; one feature with most of the weight lowers it.

    Parameters
    ----------
    cosine : array_like of float in [-1, 1]

    References
    ----------
    Charikar, STOC 2002; thesis on PSM, equation 2.3.
    """
    return np.arccos(within("cosine", cosine, -1.0, 1.0)) / np.pi


def expected_distance(cosine: ArrayLike, bits: ArrayLike = 64) -> Float:
    """Expected Hamming distance of two fingerprints.

    Parameters
    ----------
    cosine : array_like of float in [-1, 1]
    bits : array_like of int >= 1

    References
    ----------
    Thesis on PSM, equation 2.3.
    """
    return count("bits", bits) * differ_probability(cosine)


def cosine(distance: ArrayLike, bits: ArrayLike = 64) -> Float:
    """Cosine estimated from a Hamming distance: cos(pi d / f).

    Parameters
    ----------
    distance : array_like of float >= 0
    bits : array_like of int >= 1

    References
    ----------
    Thesis on PSM, equation 2.3, solved for the cosine.
    """
    share = within("distance", distance, 0.0, np.inf) / count("bits", bits)
    return np.cos(np.pi * fraction("distance / bits", share))


def cosine_variance(cosine: ArrayLike, bits: ArrayLike = 64) -> Float:
    """Variance of that estimate by the delta method: pi^2 sin^2(angle) p (1 - p) / f.

    Parameters
    ----------
    cosine : array_like of float in [-1, 1]
    bits : array_like of int >= 1

    References
    ----------
    Delta method on ``cosine``.
    """
    c = within("cosine", cosine, -1.0, 1.0)
    p = differ_probability(c)
    return np.pi**2 * (1.0 - c**2) * p * (1.0 - p) / count("bits", bits)


def cosine_error(distance: ArrayLike, bits: ArrayLike = 64) -> Float:
    """Standard error of a cosine estimated from a distance: pi sin(angle) sqrt(p (1 - p) / (f + 4)), p = (d + 2) / (f + 4).

    With two differing and two equal bits more, as for ``shares.share_error``: it is not 0 at distance 0.

    Parameters
    ----------
    distance : array_like of float >= 0
    bits : array_like of int >= 1

    References
    ----------
    Delta method on ``cosine``; Agresti & Coull, The American Statistician 1998.
    """
    d, f = within("distance", distance, 0.0, np.inf), count("bits", bits)
    fraction("distance / bits", d / f)
    p = (d + 2.0) / (f + 4.0)
    return np.pi * np.sin(np.pi * p) * np.sqrt(p * (1.0 - p) / (f + 4.0))


def within_radius(cosine: ArrayLike, radius: int, bits: int = 64) -> Float:
    """Probability that two fingerprints differ in at most ``radius`` bits.

    A radius of 3 in 64 bits finds pairs of cosine 0.90 with probability 0.013, of 0.95 with 0.101, of 0.984 with one half, of
    0.99 with 0.674. It is precise, not complete.

    Parameters
    ----------
    cosine : array_like of float in [-1, 1]
    radius : int >= 0
    bits : int >= 1

    References
    ----------
    Thesis on PSM, equation 2.3: a binomial number of bits.
    """
    p = np.asarray(differ_probability(cosine))
    bits, radius = int(count("bits", bits)), int(count("radius", radius, 0))
    if radius >= bits:
        return np.ones(p.shape)[()]
    with np.errstate(divide="ignore"):
        differ, agree = np.log(p), np.log1p(-p)
    # As logarithms: with more than a thousand bits the binomial coefficients are beyond the range of floats.
    terms = (log(comb(bits, d)) + (d * differ if d else 0.0) + (bits - d) * agree for d in range(radius + 1))
    return np.minimum(sum(np.exp(term) for term in terms), 1.0)[()]
