"""The best sketch for a wanted error and a budget of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from ..errors import ParameterError
from . import bbit, mixture, xor_bits
from ._check import count, fraction
from .mixture import Part, curve

BITS = (1, 2, 3, 4, 6, 8, 16, 32)
COMBINED = (2, 3, 4, 6, 8, 16, 32, 64)
LEAST_ERROR = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A sketch and what it gives.

    Parameters
    ----------
    scheme : {"bbit", "xor_bits", "fractional"}
    bits : int
        Bits a slot; 1 for combined bits; of a mixture the most.
    combined : int
        Permutations XORed into each stored bit; 1 for ``bbit``; of a mixture the most.
    slots : int
        Stored slots.
    total_bits : int
        Bits of a sketch.
    standard_error : float
        Root of the mean squared error at the resemblance asked about.
    permutations : int
        Slots of the signature that is packed.
    shares : tuple of (bits, share)
        Bits that each share of these is packed into, 1 / m where m make one stored bit.
    """

    scheme: str
    bits: int
    combined: int
    slots: int
    total_bits: int
    standard_error: float
    permutations: int
    shares: tuple[tuple[float, float], ...]


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
    fraction("resemblance", resemblance)
    for b in bits:
        yield "bbit", b, 1, float(bbit.variance(resemblance, b, 1, density, density))
    if resemblance >= density / 2.0 and resemblance > 0.0:
        for m in combined:
            yield "xor_bits", 1, m, float(xor_bits.variance(resemblance, m, 1, density, density))


def _error(spread: float, resemblance: float, combined: int, density: float, slots: int) -> float:
    """Root of the mean squared error of so many slots: exact; of combined bits never less than by the delta method."""
    squared = spread / slots
    if combined > 1:
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
        raise ParameterError("must be in [0, 1): at 1 no sketch errs", "resemblance", resemblance)
    choices: list[tuple[int, int, str, int, int, int, float]] = []
    for scheme, b, m, spread in candidates(resemblance, density, bits, combined):
        if not np.isfinite(spread):
            continue
        slots = max(1, int(np.ceil(spread / standard_error**2 - 1e-9)))
        if choices and slots * b > min(choices)[0]:
            continue  # more slots than by the delta method cannot make it the smallest
        error = partial(_error, spread, resemblance, m, density)
        slots = _least_slots(error, standard_error * (1.0 + 1e-9), slots)
        choices.append((slots * b, slots * m, scheme, b, m, slots, error(slots)))
    _, _, _, b, m, slots, found = min(choices)
    return _choice_of([Part(slots=slots, bits=b, combined=m)], found)


def _choice_of(parts: list[Part], error: float) -> Choice:
    permutations = sum(part.slots * part.combined for part in parts)
    bits, combined = max(part.bits for part in parts), max(part.combined for part in parts)
    kinds = [(part.bits if part.combined == 1 else 1.0 / part.combined, part.slots * part.combined) for part in parts]
    return Choice(
        scheme="fractional" if len(parts) > 1 else "xor_bits" if combined > 1 else "bbit",
        bits=bits,
        combined=combined,
        slots=sum(part.slots for part in parts),
        total_bits=sum(part.slots * part.bits for part in parts),
        standard_error=error,
        permutations=permutations,
        shares=tuple((kind, slots / permutations) for kind, slots in kinds),
    )


def _packed_bits(parts: Iterable[Part]) -> int:
    """Return the bits of a sketch in memory: a plane takes whole words of 64."""
    return sum(64 * -(-part.slots // 64) * part.bits for part in parts)


def mixtures(permutations: int, total_bits: int) -> Iterator[list[Part]]:
    """Yield the sketches of a signature of so many slots, of one kind of slots or two, that fit a budget of bits.

    A mixture gives as many slots as fit the larger of two numbers of bits, in whole words of 64.

    Parameters
    ----------
    permutations : int >= 1
    total_bits : int >= 1

    Returns
    -------
    iterator of list of Part

    Raises
    ------
    ParameterError
        If there are no permutations, or no bits.

    References
    ----------
    f-fractional bit minwise hashing, equations 13 and 39.
    """
    k = int(count("permutations", permutations))
    count("total_bits", total_bits)
    kinds = [(1, m) for m in reversed(COMBINED)] + [(b, 1) for b in BITS]
    for bits, m in kinds:
        if k % m == 0 and _packed_bits(one := [Part(slots=k // m, bits=bits, combined=m)]) <= total_bits:
            yield one
    for (low, few), (high, many) in combinations(kinds, 2):
        ends = {*range(0, k, 64 * many), *range(k, 0, -64 * few)} - {0, k}  # where the one kind, or the other, fills its words
        for slots in sorted(ends, reverse=True):
            if slots % many or (k - slots) % few:
                continue
            parts = [
                Part(slots=(k - slots) // few, bits=low, combined=few),
                Part(slots=slots // many, bits=high, combined=many),
            ]
            if _packed_bits(parts) <= total_bits:
                yield parts
                break


def _pooled_error(resemblance: float, parts: list[Part], density: float) -> float:
    """Root of the mean squared error of the pooled estimate: exact of one kind, else with a share of matches that is normal.

    The estimate from combined bits is far from linear in it.
    """
    spread = float(mixture.variance(resemblance, parts, density, density))
    if len(parts) == 1:
        return _error(spread * parts[0].slots, resemblance, parts[0].combined, density, parts[0].slots)
    if any(part.combined > 1 for part in parts):
        expected = [(part.slots, float(curve(part, resemblance, density, density)[0])) for part in parts]
        total = sum(n for n, _ in expected)
        steps = np.linspace(-6.0, 6.0, 241)
        shares = sum(n * t for n, t in expected) / total + steps * sum(n * t * (1.0 - t) for n, t in expected) ** 0.5 / total
        found = mixture.resemblance(np.clip(shares, 0.0, 1.0), parts, density, density)
        weights = np.exp(-0.5 * steps**2)
        spread = max(spread, float(np.sum(weights * (found - resemblance) ** 2) / weights.sum()))
    return float(spread**0.5)


def for_memory(
    resemblance: float, total_bits: int, density: float = 0.0, *, permutations: int | None = None,
    bits: Sequence[int] = BITS, combined: Sequence[int] = COMBINED,
) -> Choice:  # fmt: skip
    """Choose the sketch of at most ``total_bits`` bits with the smallest error at a resemblance; parameters are as above.

    A mixture never uses a bit better than the better of its parts. But where the number of permutations is fixed, whole bits of
    all slots leave a part of the budget unused: there mixtures are offered too.

    Parameters
    ----------
    resemblance : float in [0, 1]
    total_bits : int >= 1
    density : float in [0, 1]
    permutations : int >= 1, optional
        Slots of the signature, all of which are to be packed, into whole words of 64 bits. By default as many as are best.
    bits, combined : sequence of int

    Raises
    ------
    ParameterError
        If ``total_bits`` is below 1, or too few for so many permutations.

    References
    ----------
    The variances of ``bbit``, ``xor_bits``, ``minhash`` and ``mixture``, compared at equal memory.
    """
    if not 1 <= total_bits < float("inf"):
        raise ParameterError(f"a sketch needs at least one bit; got {total_bits}")
    total_bits = int(total_bits)
    choices: list[tuple[float, int, list[Part]]] = []
    if permutations is None:
        for _, b, m, spread in candidates(resemblance, density, bits, combined):
            slots = total_bits // b
            if slots >= 1 and np.isfinite(spread):
                error = _error(spread, resemblance, m, density, slots)
                choices.append((error, slots * m, [Part(slots=slots, bits=b, combined=m)]))
    else:
        known = candidates(resemblance, density, bits, combined)
        offered = {(b, m) for _, b, m, spread in known if np.isfinite(spread)}
        for parts in mixtures(permutations, total_bits):
            if not all((part.bits, part.combined) in offered for part in parts):
                continue
            least = min((error for error, _, _ in choices), default=np.inf)  # the error is never below the variance's root
            if mixture.variance(resemblance, parts, density, density) < least**2:
                choices.append((_pooled_error(resemblance, parts, density), len(choices), parts))
        if not choices:
            raise ParameterError(f"{total_bits} bits are too few for a sketch of {permutations} permutations")
    error, _, parts = min(choices, key=lambda choice: choice[:2])
    return _choice_of(parts, error)
