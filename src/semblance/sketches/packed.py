"""A few bits of each slot: b bits, mixtures of several numbers of bits, less than one bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..kernels import bbit as kernel
from ..kernels.constants import EMPTY
from ..theory import bbit, fractional, mixture, xor_bits
from ..theory.mixture import Part
from ..theory.shares import share_error
from ..values import Float64Array, Int64Array, PackedSignatures, Signatures, UInt64Array
from ..values.arrays import number, whole
from .one_permutation import OnePermutation
from .permutation import PermutationMinHash


def _words(slots: int) -> int:
    return (slots + 63) // 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packing:
    """Base of packings."""

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
            word += _words(part.slots) * part.bits
        return np.array(rows, np.int64)

    def pack(self, signatures: Signatures) -> PackedSignatures:
        """Pack signatures.

        Bits come from slot values mixed with their place, so that no structure of the hash shows in them; only signatures of
        true permutations are cut as they are, since there the densities they carry account for it.

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
        slots = np.ascontiguousarray(signatures.values).astype(np.uint64)
        scheme = signatures.scheme
        if isinstance(scheme, OnePermutation) and scheme.densify == "none":
            raise ParameterError("raw one-permutation bins may be empty: fill them first, or pack with BBit")
        layout = self.layout(slots.shape[1])
        empty = np.flatnonzero((signatures.values == np.iinfo(signatures.values.dtype).max).all(1))
        if len(empty):
            raise ParameterError(
                f"document {empty[0]} is empty, and {len(empty) - 1} more: bits cannot tell an empty set from others; "
                "leave such documents out before signing"
            )
        words = np.zeros((len(slots), self._n_words(slots.shape[1])), np.uint64)
        self._fill(slots, not isinstance(scheme, PermutationMinHash), layout, words)
        return PackedSignatures(words, layout, self, scheme, signatures.shingling, signatures.densities)

    def _n_words(self, permutations: int) -> int:
        return sum(_words(part.slots) * part.bits for part in self.parts(permutations))

    def _fill(self, slots: UInt64Array, remix: bool, layout: Int64Array, words: UInt64Array) -> None:
        begin = 0
        for first_word, count, bits in layout.tolist():
            kernel.pack_planes(slots, begin, begin + count, bits, remix, words, first_word)
            begin += count

    def estimate(
        self, matches: Int64Array, permutations: int, density_left: Float64Array, density_right: Float64Array
    ) -> tuple[Any, Any]:
        """Return (unbiased estimate, its standard error) from matches of shape (..., n_parts)."""
        raise NotImplementedError

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
        found, error = mixture.most_likely(matches, self.parts(permutations), density_left, density_right)
        return self._if_clear(found, error, density_left, density_right), error

    def _if_clear(self, found: Any, error: Any, density_left: Any, density_right: Any) -> Any:
        """Return estimates, nan where several resemblances fit the matches."""
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BBit(_Packing):
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
    Memory: k b bits a document, rounded up to whole words a plane. Raw one-permutation bins take one plane more, which tells
    the filled from the empty ones.

    References
    ----------
    Li & König, "b-Bit Minwise Hashing", WWW 2010, algorithm 1, equations 9-11.

    Examples
    --------
    >>> import semblance as sb
    >>> shingles = sb.Shingles.from_arrays(list(range(300)) + list(range(100, 400)), [0, 300, 600])
    >>> packed = sb.BBit(bits=2).pack(sb.FastSimilarity(permutations=4096).sign(shingles))
    >>> packed.n_bytes
    2048
    >>> bool(abs(packed.estimated_resemblance(0, 1) - 0.5) < 0.05)
    True
    """

    bits: int = 1

    def __post_init__(self) -> None:
        """Check the number of bits."""
        object.__setattr__(self, "bits", whole("bits", self.bits, 1, 32))
        if 16 < self.bits < 32:
            raise ParameterError(f"bits must be in 1..16 or 32; got {self.bits}")

    def parts(self, permutations: int) -> tuple[Part, ...]:
        """Return the one part there is.

        Parameters
        ----------
        permutations : int >= 1
        """
        return (Part(slots=permutations, bits=self.bits),)

    def pack(self, signatures: Signatures) -> PackedSignatures:
        """Pack signatures; raw one-permutation bins too.

        Parameters
        ----------
        signatures : Signatures

        Returns
        -------
        PackedSignatures
        """
        if not (isinstance(signatures.scheme, OnePermutation) and signatures.scheme.densify == "none"):
            return _Packing.pack(self, signatures)
        slots = signatures.values.astype(np.uint64)
        filled = (signatures.values != EMPTY).astype(np.uint64)
        layout = self.layout(slots.shape[1])
        width = _words(slots.shape[1])
        words = np.zeros((len(slots), width * (self.bits + 1)), np.uint64)
        kernel.pack_planes(slots, 0, slots.shape[1], self.bits, True, words, 0)
        kernel.pack_planes(filled, 0, slots.shape[1], 1, False, words, width * self.bits)
        return PackedSignatures(words, layout, self, signatures.scheme, signatures.shingling, None, has_empty=True)

    def estimate(
        self, matches: Int64Array, permutations: int, density_left: Float64Array, density_right: Float64Array
    ) -> tuple[Any, Any]:
        """Return (unbiased estimate, its standard error) from matches of shape (..., 1).

        Parameters
        ----------
        matches : ndarray of int64, shape (..., n_parts)
        permutations : int >= 1
        density_left, density_right : ndarray of float64
        """
        found = bbit.resemblance(matches[..., 0] / permutations, self.bits, density_left, density_right)
        _, c2 = bbit.constants(self.bits, density_left, density_right)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = share_error(matches[..., 0], permutations) / (1.0 - c2)
        return found, error


@dataclass(frozen=True, slots=True, kw_only=True)
class Fractional(_Packing):
    """Slots with different numbers of bits: f bits a slot on average, for storage in finer steps.

    Parameters
    ----------
    shares : sequence of (bits, share)
        A share of the slots, in the order given, keeps so many bits; shares sum to 1 and must make whole numbers of slots.

    References
    ----------
    f-fractional bit minwise hashing, equations 11-16 and 39-43 (17, 20, 42 corrected).
    """

    shares: Sequence[tuple[int, float]]

    def __post_init__(self) -> None:
        """Check the shares."""
        fractional.check_parts(self.shares)
        object.__setattr__(self, "shares", tuple((whole("bits", b, 1, 64), number("share", w)) for b, w in self.shares))

    def parts(self, permutations: int) -> tuple[Part, ...]:
        """Return the parts; raises ParameterError where shares do not make whole numbers of slots.

        Parameters
        ----------
        permutations : int >= 1

        Raises
        ------
        ParameterError
            If the shares do not make whole numbers of slots.
        """
        counts = [share * permutations for _, share in self.shares]
        if any(abs(count - round(count)) > 1e-6 or round(count) < 1 for count in counts):
            raise ParameterError(f"the shares {self.shares} of {permutations} slots are no whole numbers of slots")
        return tuple(Part(slots=round(c), bits=b) for c, (b, _) in zip(counts, self.shares, strict=True))

    def estimate(
        self, matches: Int64Array, permutations: int, density_left: Float64Array, density_right: Float64Array
    ) -> tuple[Any, Any]:
        """Return (pooled unbiased estimate, its standard error) from matches of shape (..., n_parts).

        Parameters
        ----------
        matches : ndarray of int64, shape (..., n_parts)
        permutations : int >= 1
        density_left, density_right : ndarray of float64
        """
        found = fractional.resemblance(matches.sum(-1) / permutations, self.shares, density_left, density_right)
        spread: Any = 0.0
        slope: Any = 0.0
        for i, (bits, share) in enumerate(self.shares):
            e = (matches[..., i] + 2.0 * share) / (round(share * permutations) + 4.0 * share)  # as for ``share_error``
            spread = spread + share * e * (1.0 - e)
            slope = slope + share * (1.0 - bbit.constants(bits, density_left, density_right)[1])
        return found, np.sqrt(spread / (permutations + 4)) / slope


@dataclass(frozen=True, slots=True, kw_only=True)
class XorBits(_Packing):
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
    distinguish 2 E - 1 from its opposite: estimates that fit a lower resemblance too are nan. Hashes have densities of 0.

    References
    ----------
    Li & König, WWW 2010, section 5.3; f-fractional bit minwise hashing, equations 27-34 (29, 30, 32 corrected).
    """

    combined: int = 2

    def __post_init__(self) -> None:
        """Check the number combined."""
        object.__setattr__(self, "combined", whole("combined", self.combined, 1))

    def parts(self, permutations: int) -> tuple[Part, ...]:
        """Return the one part; raises ParameterError where ``combined`` does not divide the number of slots.

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

    def _fill(self, slots: UInt64Array, remix: bool, layout: Int64Array, words: UInt64Array) -> None:
        kernel.pack_xor(slots, self.combined, int(layout[0, 1]), remix, words)

    def estimate(
        self, matches: Int64Array, permutations: int, density_left: Float64Array, density_right: Float64Array
    ) -> tuple[Any, Any]:
        """Return (estimate, its standard error) from matches of shape (..., 1); biased by the root, see the theory.

        Parameters
        ----------
        matches : ndarray of int64, shape (..., n_parts)
        permutations : int >= 1
        density_left, density_right : ndarray of float64
        """
        samples = permutations // self.combined
        share = matches[..., 0] / samples
        found = xor_bits.resemblance(share, self.combined, density_left, density_right)
        _, c2 = bbit.constants(1, density_left, density_right)
        likely = (matches[..., 0] + 2.0) / (samples + 4.0)  # as for ``share_error``: the root is taken of a share below 1
        rho = np.maximum(2.0 * likely - 1.0, 1.0 / samples) ** (1.0 / self.combined)
        spread = (1.0 - rho ** (2.0 * self.combined)) / rho ** (2.0 * self.combined - 2.0)
        error = np.sqrt(np.maximum(spread, 0.0) / (samples + 4.0)) / (2.0 * self.combined * (1.0 - c2))
        return self._if_clear(found, error, density_left, density_right), error

    def _if_clear(self, found: Any, error: Any, density_left: Any, density_right: Any) -> Any:
        """Return estimates, nan where their mirror image at E = 1/2 is, within 1.96 errors, a resemblance too."""
        middle = xor_bits.least_resemblance(density_left, density_right)
        mirrored = (self.combined > 1) & (middle > 0.0) & (found - 1.96 * error <= 2.0 * middle)
        return np.where(mirrored, np.nan, found)


def unpack(packed: PackedSignatures) -> list[NDArray[np.uint64]]:
    """Return the codes of each part, uint64 of shape (n_documents, slots)."""
    out = []
    for first_word, slots, bits in packed.layout.tolist():
        codes = np.empty((len(packed.words), slots), np.uint64)
        kernel.unpack_planes(packed.words, first_word, slots, bits, codes)
        out.append(codes)
    return out
