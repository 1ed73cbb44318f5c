"""Minima of two sets under random permutations, for simulations, and laws of counts."""

import numpy as np
from scipy import stats

from lookalike.theory.mixture import Part


def minima(rng, resemblance, density_left, density_right, shape):
    """Pairs of minima for D -> infinity at given densities and resemblance, exactly distributed.

    The union's minimum is geometric; it belongs to both sets, or to one alone, in which case the other's comes later.
    """
    common = resemblance / (1 + resemblance) * (density_left + density_right)
    union = density_left + density_right - common
    z = rng.geometric(union, shape) - 1
    u = rng.random(shape) * union
    left = np.where(u < density_left, z, z + rng.geometric(density_left, shape))
    right = np.where((u < common) | (u >= density_left), z, z + rng.geometric(density_right, shape))
    return left, right


def parts_of(shares, slots):
    """The kinds of so many slots of which shares have so many bits."""
    return [Part(slots=round(share * slots), bits=bits) for bits, share in shares if round(share * slots)]


def sparse_matches(rng, resemblance, bits, shape):
    """Whether b bits of slots agree, for vanishing densities."""
    return rng.random(shape) < resemblance + (1 - resemblance) * 2.0**-bits


def agrees(found, mean, variance, slack=0.0):
    """Estimates have the mean and the variance of theory, within four standard errors; ``slack``: what it leaves out of the variance."""
    n, fourth = len(found), ((found - found.mean()) ** 4).mean() / found.var() ** 2
    assert abs(found.mean() - mean) < 4 * (variance / n) ** 0.5
    assert abs(found.var() / variance - 1) < 4 * ((fourth - 1) / n) ** 0.5 + slack


def mean_and_variance(values, trials, probability):
    """Of a function of Bin(trials, probability), given for each number of successes."""
    weights = stats.binom.pmf(np.arange(trials + 1), trials, probability)
    mean = weights @ values
    return mean, weights @ (values - mean) ** 2
