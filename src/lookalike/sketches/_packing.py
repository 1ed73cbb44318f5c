"""What all packings share: parts of a signature as bit planes, one after another, and how they are filled and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..kernels import bbit as kernel
from ..theory import mixture
from ..theory.mixture import Part
from ..values import Float64Array, Int64Array, PackedSignatures, Signatures, UInt64Array
from .permutation import PermutationMinHash


def words_of(slots: int) -> int:
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
            word += words_of(part.slots) * part.bits
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
        return sum(words_of(part.slots) * part.bits for part in self.parts(permutations))

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
