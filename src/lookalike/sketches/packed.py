"""Packings: as many bits of every slot, or one of several slots together, as bit planes one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..kernels import packing as kernel
from ..theory import bbit, mixture, pooling
from ..theory.mixture import Part
from ..theory.shares import share_error
from ..values import Float64Array, Int64Array, PackedSignatures, Signatures, UInt64Array
from ..values.arrays import whole
from .permutation import PermutationMinHash


def n_words(slots: int) -> int:
    """Return the words of a bit plane of so many slots."""
    return (slots + 63) // 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
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
            word += n_words(part.slots) * part.bits
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
        if getattr(scheme, "may_be_empty", False):
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
        return sum(n_words(part.slots) * part.bits for part in self.parts(permutations))

    def _fill(self, slots: UInt64Array, remix: bool, layout: Int64Array, words: UInt64Array) -> None:
        begin = 0
        for part, first_word in zip(self.parts(slots.shape[1]), layout[:, 0].tolist(), strict=True):
            end = begin + part.slots * part.combined
            if part.combined > 1:
                kernel.pack_xor(slots, begin, end, part.combined, remix, words, first_word)
            else:
                kernel.pack_planes(slots, begin, end, part.bits, remix, words, first_word)
            begin = end

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
        parts = self.parts(permutations)
        found, error = mixture.most_likely(matches, parts, density_left, density_right)
        return if_clear(found, error, parts, density_left, density_right), error


def if_clear(found: Any, error: Any, parts: tuple[Part, ...], density_left: Any, density_right: Any) -> Any:
    """Return estimates, nan where a resemblance that would give the same matches is, within 1.96 errors, possible too.

    Combined bits of dense sets match as often at the mirror image about the resemblance from which matches rise: exactly if
    there is one kind of them alone, or pairs beside whole slots; nearly in other mixtures. Of sets so sparse that all
    resemblances with a mirror image lie within one error, the interval is as good as it says.
    """
    mirrored = 2.0 * mixture.rises_from(parts, density_left, density_right)
    return np.where((mirrored > error) & (found - mixture.Z * error <= mirrored), np.nan, found)


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
    Memory: k b bits a document, rounded up to whole words a plane. Raw one-permutation bins take one plane more, which tells
    the filled from the empty ones.

    References
    ----------
    Li & König, "b-Bit Minwise Hashing", WWW 2010, algorithm 1, equations 9-11.

    Examples
    --------
    >>> import lookalike as la
    >>> shingles = la.Shingles.from_arrays(list(range(300)) + list(range(100, 400)), [0, 300, 600])
    >>> packed = la.BBit(bits=2).pack(la.FastSimilarity(permutations=4096).sign(shingles))
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
        if not getattr(signatures.scheme, "may_be_empty", False):
            return Packing.pack(self, signatures)
        slots = signatures.values.astype(np.uint64)
        filled = (signatures.values != np.iinfo(signatures.values.dtype).max).astype(np.uint64)
        layout = self.layout(slots.shape[1])
        width = n_words(slots.shape[1])
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
        parts = self.parts(permutations)
        found, error = pooling.estimate(matches, parts, density_left, density_right)
        return if_clear(found, error, parts, density_left, density_right), error


def unpack(packed: PackedSignatures) -> list[NDArray[np.uint64]]:
    """Return the codes of each part, uint64 of shape (n_documents, slots)."""
    out = []
    for first_word, slots, bits in packed.layout.tolist():
        codes = np.empty((len(packed.words), slots), np.uint64)
        kernel.unpack_planes(packed.words, first_word, slots, bits, codes)
        out.append(codes)
    return out
