"""Packings: as many bits of every slot, one of several slots together, or mixtures, as bit planes one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, ClassVar

import numpy as np

from .. import core
from ..errors import ParameterError, from_caller
from ..theory import likelihood, mixture
from ..theory.mixture import Part
from ..values import Float64Array, Int64Array, PackedSignatures, Signatures
from ..values.arrays import number, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """Base of packings."""

    _takes_empty: ClassVar[bool] = False  # slots that are empty where others are not

    def parts(self, permutations: int) -> tuple[Part, ...]:
        """Return what a signature of so many slots is packed into."""
        raise NotImplementedError

    def layout(self, permutations: int) -> Int64Array:
        """Return (first word, slots, bits) of each part, int64 of shape (n_parts, 3).

        Parameters
        ----------
        permutations : int >= 1
        """
        rows, word = [], 0
        for part in self.parts(permutations):
            rows.append((word, part.slots, part.bits))
            word += (part.slots + 63) // 64 * part.bits
        return np.array(rows, np.int64)

    @from_caller
    def pack(self, signatures: Signatures) -> PackedSignatures:
        """Pack signatures.

        Bits come from slot values mixed with their place, so that no structure of the hash shows in them. Signatures of true
        permutations are cut as they are: their densities account for it. So are ``PermutationBins`` if bits hold them whole.

        Parameters
        ----------
        signatures : Signatures

        Returns
        -------
        PackedSignatures

        Raises
        ------
        ParameterError
            If the number of slots does not suit, a document is empty, or bins are.
        """
        scheme, permutations = signatures.scheme, signatures.values.shape[1]
        layout, raw = self.layout(permutations), getattr(scheme, "may_be_empty", False)
        if raw and not self._takes_empty:
            raise ParameterError("raw one-permutation bins may be empty: fill them first, or pack with BBit")
        empty = np.flatnonzero((signatures.values == np.iinfo(signatures.values.dtype).max).all(1))
        if len(empty) and not raw:
            raise ParameterError(
                f"document {empty[0]} is empty, and {len(empty) - 1} more: bits cannot tell an empty set from others; "
                "leave these documents out before signing"
            )
        parts = np.array([(part.slots, part.bits, part.combined) for part in self.parts(permutations)], np.int64)
        remix = bool(parts[0, 1] < getattr(scheme, "plain_bits", 65))
        words = core.pack_planes(np.ascontiguousarray(signatures.values), parts, remix, raw)
        return PackedSignatures(words, layout, self, scheme, signatures.shingling, None if raw else signatures.densities, raw)

    def estimate(
        self, matches: Int64Array, permutations: int, density_left: Float64Array, density_right: Float64Array
    ) -> tuple[Any, Any]:
        """Return (pooled estimate, its standard error) from matches of shape (..., n_parts). It is unbiased if all bits are
        whole; else biased by the root, see the theory.

        Parameters
        ----------
        matches : ndarray of int64, shape (..., n_parts)
        permutations : int >= 1
        density_left, density_right : ndarray of float64
        """
        parts = self.parts(permutations)
        found = mixture.estimate(matches, parts, density_left, density_right)
        return with_mirrored(*found, parts, density_left, density_right)

    def most_likely(
        self, matches: Int64Array, permutations: int, density_left: Float64Array, density_right: Float64Array
    ) -> tuple[Any, Any]:
        """Return (maximum-likelihood estimate in [0, Rmax], its standard error).

        Parameters
        ----------
        matches : ndarray of int64, shape (..., n_parts)
        permutations : int >= 1
        density_left, density_right : ndarray of float64
        """
        parts = self.parts(permutations)
        found = likelihood.most_likely(matches, parts, density_left, density_right)
        return with_mirrored(*found, parts, density_left, density_right)


def with_mirrored(found: Any, error: Any, parts: tuple[Part, ...], density_left: Any, density_right: Any) -> tuple[Any, Any]:
    """Return estimates and errors that reach down to resemblances that would give the same matches.

    Combined bits of dense sets match as often at the mirror image about the resemblance from which matches rise: exactly if
    there is one kind of them alone, or pairs beside whole slots; nearly in other mixtures. Estimates are nan where sets of
    such densities have no resemblance without one.
    """
    mirrored, reach = 2.0 * mixture.rises_from(parts, density_left, density_right), mixture.Z * error
    lowest, highest = np.maximum(density_left + density_right - 1.0, 0.0), likelihood.highest(density_left, density_right)
    odd = any(part.combined % 2 for part in parts if part.combined > 1)  # all below where matches rise are estimated there
    farthest = lowest if odd else np.maximum(mirrored - found - reach, lowest)
    wider = np.where(mirrored - found + reach >= lowest, np.maximum(reach, found - farthest), reach)
    return np.where(mirrored - highest > lowest, np.nan, found), wider / mixture.Z


@dataclass(frozen=True, slots=True, kw_only=True)
class BBit(Packing):
    """The lowest ``bits`` bits of each slot, as bit planes.

    Parameters
    ----------
    bits : int in 1..16, or 32

    Raises
    ------
    ParameterError
        If ``bits`` is out of range.

    Notes
    -----
    Memory: k b bits a document, in whole words a plane; raw one-permutation bins take one more, which tells the filled ones.
    With log2(D / t) bits or more, ``PermutationBins`` lose nothing: estimates and errors are those of the whole bins.

    References
    ----------
    Li & König, "b-Bit Minwise Hashing", WWW 2010, algorithm 1, equations 9-11.

    Examples
    --------
    >>> import lookalike as la
    >>> shingles = la.sketches.Shingles.from_arrays(list(range(300)) + list(range(100, 400)), [0, 300, 600])
    >>> packed = la.sketches.BBit(bits=2).pack(la.sketches.FastSimilarity(permutations=4096).sign(shingles))
    >>> packed.n_bytes
    2048
    >>> bool(abs(packed.estimated_resemblance(0, 1) - 0.5) < 0.05)
    True
    """

    bits: int = 1
    _takes_empty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the number of bits."""
        object.__setattr__(self, "bits", whole("bits", self.bits, 1, 32))
        if 16 < self.bits < 32:
            raise ParameterError("must be in 1..16 or 32", "bits", self.bits)

    def parts(self, permutations: int) -> tuple[Part, ...]:
        """Return the one part there is.

        Parameters
        ----------
        permutations : int >= 1
        """
        return (Part(slots=permutations, bits=self.bits),)


@dataclass(frozen=True, slots=True, kw_only=True)
class XorBits(Packing):
    """One stored bit for every ``combined`` slots: the XOR of their lowest bits. For high resemblances.

    Parameters
    ----------
    combined : int >= 1
        It need not be a power of two; the best for sparse sets is about 0.8 / (1 - R).

    Raises
    ------
    ParameterError
        If it is below 1, or does not divide the number of slots when packing.

    Notes
    -----
    Single bits of dense sets match with a probability E below 1/2 if R < r / 2 at equal densities r, and combined bits do not
    distinguish 2 E - 1 from its opposite: errors reach down to a lower resemblance that fits too. Estimates are nan where all
    resemblances that the densities allow have such an opposite. Hashes have densities of 0.

    Estimates are of use from ``theory.xor_bits.least_usable`` on, a resemblance of 0.50 for 2 and 0.71 for 4 combined in each
    of 256 stored bits; lower ones come with a warning.

    References
    ----------
    Li & König, WWW 2010, section 5.3; f-fractional bit minwise hashing, equations 27-34 (29, 30, 32 corrected).

    Examples
    --------
    >>> import lookalike as la
    >>> shingles = la.sketches.Shingles.from_arrays([*range(300), *range(10, 310)], [0, 300, 600])
    >>> packed = la.sketches.XorBits(combined=2).pack(la.sketches.FastSimilarity(permutations=4096).sign(shingles))
    >>> bool(abs(packed.estimated_resemblance(0, 1) - 290 / 310) < 0.03)
    True
    """

    combined: int = 2

    def __post_init__(self) -> None:
        """Check the number combined."""
        object.__setattr__(self, "combined", whole("combined", self.combined, 1))

    def parts(self, permutations: int) -> tuple[Part, ...]:
        """Return the one part there is.

        Parameters
        ----------
        permutations : int >= 1

        Raises
        ------
        ParameterError
            If ``combined`` does not divide the number of slots.
        """
        if permutations % self.combined:
            raise ParameterError(f"{permutations} slots cannot be combined by {self.combined}: it must divide them")
        return (Part(slots=permutations // self.combined, bits=1, combined=self.combined),)


def _bits(value: Any) -> int | float:
    """Return a number of bits a slot: a whole one, or a fraction 1 / m, of which ``_combined`` makes m."""
    if not isinstance(value, (float, np.floating)) or not 0.0 < value < 1.0:
        return whole("bits", value, 1, 64)
    bits = float(value)
    m = _combined(bits)
    if abs(bits * m - 1.0) > 1e-9:
        raise ParameterError(f"bits below 1 must be 1/2, 1/3, 1/4 and so on: that many slots make one bit; got {bits}")
    return 1.0 / m


def _combined(bits: float) -> int:
    """Return how many slots make one stored slot."""
    return max(1, round(1.0 / bits))


def _shares_of(value: Any) -> list[tuple[int | float, float]]:
    """Return the shares of slots by which a stored one has f bits on average: of the next whole numbers of bits, or 1 / m."""
    bits = number("shares", value, "a number of bits, or pairs (bits, share)")
    if not 2.0**-16 <= bits <= 64.0:
        raise ParameterError("must be in [1/65536, 64]", "shares", bits)
    m = max(2, ceil(1.0 / bits - 1e-9))
    low, high = (1.0 / m, 1.0 / (m - 1)) if bits < 1.0 else (int(bits), int(bits) + 1)
    slots = (high - bits) * _combined(low), (bits - low) * _combined(high)
    return [(b if b < 1 else int(b), n / sum(slots)) for b, n in zip((low, high), slots, strict=True) if n > 1e-9]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fractional(Packing):
    """Slots with different numbers of bits: f bits per stored slot on average, for storage in finer steps.

    Parameters
    ----------
    shares : float in [1/65536, 64], or sequence of (bits, share)
        A share of the slots, in the order given, keeps so many bits; shares sum to 1, and are rounded to what divides the
        slots. Bits below 1 are 1/m, such as 0.5: one stored bit is then the XOR of the lowest bits of m slots. A number f is
        the mean of the bits of stored slots, of the two kinds next to it: 1.25 is ``[(1, 3/4), (2, 1/4)]``; 0.75, as many XORs
        of two as single bits, ``[(0.5, 2/3), (1, 1/3)]``.

    Raises
    ------
    ParameterError
        If shares or bits are others; when packing, if the shares do not suit the number of slots.

    Notes
    -----
    Estimates are pooled: all stored bits and slots count alike. With bits below 1 they are biased by the root, and errors of
    dense sets are those of ``XorBits``.

    References
    ----------
    f-fractional bit minwise hashing, equations 11-16 and 39-43 (17, 20, 42 corrected), 35-38 for 3/4 bit.

    Examples
    --------
    >>> import lookalike as la
    >>> shingles = la.sketches.Shingles.from_arrays(list(range(300)) + list(range(10, 310)), [0, 300, 600])
    >>> packed = la.sketches.Fractional(0.75).pack(la.sketches.FastSimilarity(permutations=4096).sign(shingles))
    >>> packed.n_bytes, bool(abs(packed.estimated_resemblance(0, 1) - 290 / 310) < 0.03)
    (704, True)
    """

    shares: float | Sequence[tuple[int | float, float]] = field(kw_only=False)

    def __post_init__(self) -> None:
        """Check the shares."""
        try:
            given: Any = _shares_of(self.shares) if np.isscalar(self.shares) else self.shares
            shares = tuple((_bits(b), round(number("share", w), 12)) for b, w in given)
        except ParameterError:
            raise
        except (TypeError, ValueError):
            raise ParameterError("must be pairs (bits, share)", "shares", self.shares) from None
        mixture.check_shares([(max(1, b), w) for b, w in shares])
        object.__setattr__(self, "shares", shares)

    def _kinds(self) -> list[tuple[int, int, float]]:
        """Return (slots combined, bits, share) of each kind."""
        shares: Any = self.shares
        return [(_combined(bits), max(1, int(bits)), share) for bits, share in shares]

    def parts(self, permutations: int) -> tuple[Part, ...]:
        """Return the parts; a kind whose share is none of these slots is left out.

        Parameters
        ----------
        permutations : int >= 1

        Raises
        ------
        ParameterError
            If no whole numbers of stored slots take up all of these slots.
        """
        kinds, left, counts = self._kinds(), permutations, {}
        last, *others = sorted(range(len(kinds)), key=kinds.__getitem__)
        for i in others[::-1]:  # the last of these leaves what the remaining kind divides
            m, _, share = kinds[i]
            near, step = round(share * permutations / m), kinds[last][0] if i == others[0] else 1
            fit = (n for k in range(step) for n in (near - k, near + k) if left - n * m in range(0, left + 1, step))
            counts[i] = next(fit, 0)
            left -= counts[i] * m
        counts[last], rest = divmod(left, kinds[last][0])
        if rest:
            raise ParameterError(
                f"the shares {self.shares} of {permutations} slots make no whole numbers of slots, or of combined ones"
            )
        return tuple(Part(slots=counts[i], bits=bits, combined=m) for i, (m, bits, _) in enumerate(kinds) if counts[i])


def packing_of(shares: Sequence[tuple[float, float]]) -> BBit | XorBits | Fractional:
    """Return the packing of some shares, of a ``theory.choose.Choice`` for example: the plainest that there is."""
    found = Fractional(shares)
    (combined, bits, _), *others = found._kinds()
    return found if others else BBit(bits=bits) if combined == 1 else XorBits(combined=combined)
