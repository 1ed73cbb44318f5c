"""Mixtures: some slots keep more bits than others, or less than one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..theory.mixture import Part, estimate
from ..values import Float64Array, Int64Array
from ..values.arrays import number, whole
from .packed import BBit, Packing, XorBits, if_clear


def _bits(value: Any) -> int | float:
    """Return a number of bits a slot: a whole one, or a fraction 1 / m, of which ``_combined`` makes m."""
    if not isinstance(value, (float, np.floating)) or not 0.0 < value < 1.0:
        return whole("bits", value, 1, 64)
    bits = float(value)
    if abs(bits * _combined(bits) - 1.0) > 1e-9:
        raise ParameterError(f"bits below 1 must be 1/2, 1/3, 1/4 and so on: so many slots make one bit; got {bits}")
    return 1.0 / _combined(bits)


def _combined(bits: float) -> int:
    """Return how many slots make one stored slot."""
    return max(1, round(1.0 / bits))


def _check(shares: tuple[tuple[int, float], ...]) -> None:
    """Raise ParameterError unless there are shares, which sum to 1 (f-fractional bit minwise hashing, equations 13 and 39)."""
    if not shares or not all(0.0 <= share <= 1.0 for _, share in shares):
        raise ParameterError(f"parts must be (bits in 1..64, share in [0, 1]); got {[*shares]!r}")
    if abs(sum(share for _, share in shares) - 1.0) > 1e-9:
        raise ParameterError(f"the shares of the parts must sum to 1; those of {[*shares]} sum to {sum(w for _, w in shares)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fractional(Packing):
    """Slots with different numbers of bits: f bits a slot on average, for storage in finer steps.

    Parameters
    ----------
    shares : sequence of (bits, share)
        A share of the slots of the signature, in the order given, keeps so many bits; shares sum to 1 and must make whole
        numbers of slots. Bits below 1 are 1/m, such as 0.5: one stored bit is then the XOR of the lowest bits of m slots.

    Raises
    ------
    ParameterError
        If shares or bits are others; when packing, if the shares do not suit the number of slots.

    Notes
    -----
    Half a bit of one half of the slots, one bit of the other, is ``[(1, 1/2), (0.5, 1/2)]``: 3/4 bit. Equations 35-38 take as
    many XORs as single bits, which is ``[(1, 1/3), (0.5, 2/3)]``. Estimates are pooled: all stored bits and slots count alike.
    With bits below 1 they are biased by the root, and nan where dense sets could have a lower resemblance too, as ``XorBits``.

    References
    ----------
    f-fractional bit minwise hashing, equations 11-16 and 39-43 (17, 20, 42 corrected), 35-38 for 3/4 bit.

    Examples
    --------
    >>> import lookalike as la
    >>> shingles = la.Shingles.from_arrays(list(range(300)) + list(range(10, 310)), [0, 300, 600])
    >>> packed = la.Fractional(shares=[(1, 0.5), (0.5, 0.5)]).pack(la.FastSimilarity(permutations=4096).sign(shingles))
    >>> packed.n_bytes
    768
    >>> bool(abs(packed.estimated_resemblance(0, 1) - 290 / 310) < 0.03)
    True
    """

    shares: Sequence[tuple[int | float, float]]

    def __post_init__(self) -> None:
        """Check the shares."""
        try:
            shares = tuple((_bits(b), number("share", w)) for b, w in self.shares)
        except (TypeError, ValueError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(f"shares must be pairs (bits, share); got {self.shares!r}") from None
        _check(tuple((max(1, int(b)), w) for b, w in shares))
        object.__setattr__(self, "shares", shares)

    def parts(self, permutations: int) -> tuple[Part, ...]:
        """Return the parts; raises ParameterError where shares do not make whole numbers of slots.

        Parameters
        ----------
        permutations : int >= 1

        Raises
        ------
        ParameterError
            If the shares do not make whole numbers of slots, or of combined ones.
        """
        counts = [share * permutations for _, share in self.shares]
        if any(abs(count - round(count)) > 1e-6 or round(count) < 1 for count in counts):
            raise ParameterError(f"the shares {self.shares} of {permutations} slots are no whole numbers of slots")
        parts = []
        for slots, bits in zip(map(round, counts), (bits for bits, _ in self.shares), strict=True):
            combined = _combined(bits)
            if slots % combined:
                raise ParameterError(f"{slots} of {permutations} slots cannot be combined by {combined}: it must divide them")
            parts.append(Part(slots=slots // combined, bits=max(1, int(bits)), combined=combined))
        return tuple(parts)

    def estimate(
        self, matches: Int64Array, permutations: int, density_left: Float64Array, density_right: Float64Array
    ) -> tuple[Any, Any]:
        """Return (pooled estimate, its standard error) from matches of shape (..., n_parts); unbiased if all bits are whole.

        Parameters
        ----------
        matches : ndarray of int64, shape (..., n_parts)
        permutations : int >= 1
        density_left, density_right : ndarray of float64
        """
        parts = self.parts(permutations)
        found, error = estimate(matches, parts, density_left, density_right)
        return if_clear(found, error, parts, density_left, density_right), error


def packing_of(shares: Sequence[tuple[float, float]]) -> BBit | XorBits | Fractional:
    """Return the packing of some shares, of a ``theory.choose.Choice`` for example: the plainest that there is."""
    mixture = Fractional(shares=shares)
    if len(mixture.shares) > 1:
        return mixture
    bits = mixture.shares[0][0]
    return BBit(bits=int(bits)) if bits >= 1 else XorBits(combined=_combined(bits))
