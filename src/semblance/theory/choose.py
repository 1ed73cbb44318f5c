"""The best sketch for a wanted error and a budget of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ParameterError
from . import bbit, xor_bits
from ._check import within

BITS = (1, 2, 3, 4, 6, 8, 16, 32)
COMBINED = (2, 3, 4, 6, 8, 16, 32, 64)
LEAST_ERROR = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A sketch and what it gives.

    Parameters
    ----------
    scheme : {"bbit", "xor_bits"}
    bits : int
        Bits a slot; 1 for combined bits.
    combined : int
        Permutations XORed into each stored bit; 1 for ``bbit``.
    slots : int
        Stored slots; ``slots * combined`` permutations are computed.
    total_bits : int
        Bits of a sketch.
    standard_error : float
        Root of the mean squared error at the resemblance asked about.
    """

    scheme: str
    bits: int
    combined: int
    slots: int
    total_bits: int
    standard_error: float


def candidates(
    resemblance: float, density: float = 0.0, bits: Sequence[int] = BITS, combined: Sequence[int] = COMBINED
) -> Iterable[tuple[str, int, int, float]]:
    """Yield (scheme, bits, combined, variance of one slot) of all sketches to choose from.

    Parameters
    ----------
    resemblance, density : float in [0, 1]
    bits, combined : sequence of int
        Of ``bbit`` and of ``xor_bits``.

    Returns
    -------
    iterator of (str, int, int, float)

    References
    ----------
    The variances of ``bbit``, ``xor_bits`` and ``minhash``.
    """
    within("resemblance", resemblance, 0.0, 1.0)
    for b in bits:
        yield "bbit", b, 1, float(bbit.variance(resemblance, b, 1, density, density))
    if resemblance >= density / 2.0 and resemblance > 0.0:
        for m in combined:
            yield "xor_bits", 1, m, float(xor_bits.variance(resemblance, m, 1, density, density))


def _error(scheme: str, spread: float, resemblance: float, combined: int, slots: int, density: float) -> float:
    """Root of the mean squared error of so many slots: exact; of combined bits never less than by the delta method."""
    squared = spread / slots
    if scheme == "xor_bits":
        squared = max(squared, xor_bits.mean_squared_error(resemblance, combined, slots, density, density))
    return float(squared**0.5)


def _least_slots(error: Callable[[int], float], wanted: float, first: int) -> int:
    """Return a number of slots from ``first`` on that reaches an error, the least one if more slots never err more."""
    low, high = first - 1, first
    while error(high) > wanted:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= wanted else (middle, high)
    return high


def for_error(
    resemblance: float, standard_error: float, density: float = 0.0, bits: Sequence[int] = BITS,
    combined: Sequence[int] = COMBINED,
) -> Choice:  # fmt: skip
    """Choose the smallest sketch that reaches a standard error at a resemblance.

    Parameters
    ----------
    resemblance : float in [0, 1)
    standard_error : float >= 0.0001
    density : float in [0, 1]
        Of both sets in the range of the permutation; 0 for hashes.
    bits, combined : sequence of int
        To choose from: bits a slot, and permutations XORed into a bit.

    Returns
    -------
    Choice

    Raises
    ------
    ParameterError
        If the error is too small or the resemblance out of range.

    References
    ----------
    Storage factors B(b): Li & König, WWW 2010, section 2.3.
    """
    if not LEAST_ERROR <= standard_error < float("inf"):
        raise ParameterError(f"the standard error must be a number of at least {LEAST_ERROR:g}; got {standard_error}")
    if not 0.0 <= resemblance < 1.0:
        raise ParameterError(f"resemblance must be in [0, 1): at 1 no sketch errs; got {resemblance}")
    choices: list[tuple[int, int, str, int, int, int, float]] = []
    for scheme, b, m, spread in candidates(resemblance, density, bits, combined):
        if not np.isfinite(spread):
            continue
        slots = max(1, int(np.ceil(spread / standard_error**2 - 1e-9)))
        if choices and slots * b > min(choices)[0]:
            continue  # more slots than by the delta method cannot make it the smallest

        def error(n: int, scheme: str = scheme, spread: float = spread, m: int = m) -> float:
            return _error(scheme, spread, resemblance, m, n, density)

        slots = _least_slots(error, standard_error * (1.0 + 1e-9), slots)
        choices.append((slots * b, slots * m, scheme, b, m, slots, error(slots)))
    size, _, scheme, b, m, slots, found = min(choices)
    return Choice(scheme=scheme, bits=b, combined=m, slots=slots, total_bits=size, standard_error=found)


def for_memory(
    resemblance: float, total_bits: int, density: float = 0.0, bits: Sequence[int] = BITS, combined: Sequence[int] = COMBINED
) -> Choice:
    """Choose the sketch of at most ``total_bits`` bits with the smallest error at a resemblance; parameters are as above.

    Parameters
    ----------
    resemblance : float in [0, 1]
    total_bits : int >= 1
    density : float in [0, 1]
    bits, combined : sequence of int

    Returns
    -------
    Choice

    Raises
    ------
    ParameterError
        If ``total_bits`` is below 1.

    References
    ----------
    The variances of ``bbit``, ``xor_bits`` and ``minhash``, compared at equal memory.
    """
    if not 1 <= total_bits < float("inf"):
        raise ParameterError(f"a sketch needs at least one bit; got {total_bits}")
    total_bits = int(total_bits)
    choices = []
    for scheme, b, m, spread in candidates(resemblance, density, bits, combined):
        slots = total_bits // b
        if slots >= 1 and np.isfinite(spread):
            error = _error(scheme, spread, resemblance, m, slots, density)
            choices.append((error, slots * m, scheme, b, m, slots))
    error, _, scheme, b, m, slots = min(choices)
    return Choice(scheme=scheme, bits=b, combined=m, slots=slots, total_bits=slots * b, standard_error=error)


def error_for_precision(threshold: float, margin: float, confidence_z: float = 1.6448536269514722) -> float:
    """Standard error at which documents ``margin`` below a threshold pass it by estimate with at most 5% probability.

    Both precision (what lies below is kept out) and recall (what lies ``margin`` above is let in) then reach 95% for
    pairs that far from the threshold; other levels by ``confidence_z``, the normal quantile.

    Parameters
    ----------
    threshold, margin : float in (0, 1)
    confidence_z : float > 0
        Quantile of the normal distribution.

    Returns
    -------
    float

    Raises
    ------
    ParameterError
        If threshold or margin are outside (0, 1), or the quantile is not positive.

    References
    ----------
    One-sided normal bound: margin / z.
    """
    if not 0.0 < margin < 1.0 or not 0.0 < threshold < 1.0 or not 0.0 < confidence_z < float("inf"):
        raise ParameterError(
            f"threshold and margin must be in (0, 1), confidence_z above 0; got {threshold}, {margin} and {confidence_z}"
        )
    return margin / confidence_z
