"""Forms of the paper: (17) and (42) as printed; 3/4 bit, (35) to (38), with the variance left out; slots that are drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lookalike.theory import bbit, mixture


def printed_variance(
    resemblance: float, parts: Any, permutations: int, density_left: float = 0.0, density_right: float = 0.0
) -> float:
    """Equations 17 and 42 as printed: the square of each share where the share belongs."""
    spread, slope = 0.0, 1.0
    for bits, share in parts:
        e = float(bbit.match_probability(resemblance, bits, density_left, density_right))
        spread += share**2 * e * (1.0 - e)
        slope -= share * float(bbit.constants(bits, density_left, density_right)[1])
    return spread / (permutations * slope**2)


def three_quarter_match_probability(resemblance: Any, *densities: float) -> Any:
    """Return T of (36): half of the slots are single bits, half XORs of two, (2 E^2 - E + 1) / 2."""
    e = bbit.match_probability(resemblance, 1, *densities)
    return (2.0 * e**2 - e + 1.0) / 2.0


def three_quarter_resemblance(match_share: Any, *densities: float) -> Any:
    """Return the estimate of (37), (38) from that share: E = (1 + sqrt(max(16 T - 7, 0))) / 4, R = (E - C1) / (1 - C2)."""
    e = (1.0 + np.sqrt(np.maximum(16.0 * np.asarray(match_share) - 7.0, 0.0))) / 4.0
    return bbit.resemblance(e, 1, *densities)


def three_quarter_variance(resemblance: Any, samples: int, *densities: float) -> Any:
    """Return the variance of (38) from n stored bits by the delta method.

    4 / ((4 E - 1)^2 (1 - C2)^2 n) times the mean of T (1 - T) of the XORs and E (1 - E) of the single bits.
    """
    e, (_, c2) = bbit.match_probability(resemblance, 1, *densities), bbit.constants(1, *densities)
    t = e**2 + (1.0 - e) ** 2
    return 2.0 * (t * (1.0 - t) + e * (1.0 - e)) / ((4.0 * e - 1.0) ** 2 * (1.0 - c2) ** 2 * samples)


def drawn_variance(resemblance: Any, parts: Sequence[mixture.Part]) -> Any:
    """Return the variance if each slot draws its number of bits at random: E (1 - E) of the mixture, more than of fixed slots.

    Parts are of whole bits, as many slots of each kind as are drawn on average; sets are sparse.
    """
    e, slope = mixture.pooled_curve(parts, resemblance)
    return e * (1.0 - e) / (sum(part.slots for part in parts) * slope**2)
