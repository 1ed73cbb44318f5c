import numpy as np
from scipy import stats

from lookalike.theory.mixture import Part


def minima(rng, resemblance, density_left, density_right, shape):
    """For D -> infinity, exactly distributed.

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
    return [Part(slots=round(share * slots), bits=bits) for bits, share in shares if round(share * slots)]


def sparse_matches(rng, resemblance, bits, shape):
    """For vanishing densities."""
    return rng.random(shape) < resemblance + (1 - resemblance) * 2.0**-bits


def agrees(found, mean, variance, slack=0.0):
    """Within four standard errors; ``slack``: what theory leaves out of the variance."""
    n, fourth = len(found), ((found - found.mean()) ** 4).mean() / found.var() ** 2
    assert abs(found.mean() - mean) < 4 * (variance / n) ** 0.5
    assert abs(found.var() / variance - 1) < 4 * ((fourth - 1) / n) ** 0.5 + slack


def mean_and_variance(values, trials, probability):
    """``values``: of a function of Bin(trials, probability), for each number of successes."""
    weights = stats.binom.pmf(np.arange(trials + 1), trials, probability)
    mean = weights @ values
    return mean, weights @ (values - mean) ** 2
