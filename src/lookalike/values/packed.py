"""Packed signatures: a few bits of each slot."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import core
from ..errors import IncompatibleSketchError, ParameterError
from ..theory import one_permutation, xor_bits
from ..theory.bbit import quantized
from ..theory.mixture import Part
from ..wording import Brief, plural
from .arrays import Float64Array, Int64Array, UInt64Array, matrix, pairs_of_rows, whole
from .signatures import SketchScheme


class PackingScheme(Protocol):
    """What a parameter object offers to the packed signatures it made."""

    def parts(self, permutations: int) -> tuple[Part, ...]:
        """Return what a signature of so many slots is packed into."""
        ...

    def layout(self, permutations: int) -> Int64Array:
        """Return (first word, slots, bits) of each part."""
        ...

    def estimate(self, matches: Any, permutations: int, density_left: Any, density_right: Any) -> tuple[Any, Any]:
        """Return (estimated resemblance, standard error) from counted matches."""
        ...

    def most_likely(self, matches: Any, permutations: int, density_left: Any, density_right: Any) -> tuple[Any, Any]:
        """Return (maximum-likelihood estimate, standard error) from counted matches."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PackedSignatures(Brief):
    """Signatures cut to a few bits a slot.

    Parameters
    ----------
    words : ndarray of uint64, shape (n_documents, n_words)
        Bit planes of each part, one after another.
    layout : ndarray of int64, shape (n_parts, 3)
        First word, slots and bits of each part.
    packing, scheme, shingling : object
        What made them.
    densities : ndarray of float64, shape (n_documents,), optional
    has_empty : bool
        Whether a last plane tells filled slots from empty ones.
    density_bits : int in [1, 16], optional
        Bits that each density is saved in: densities are the middles of 2^bits equal steps. Without, 64.

    Raises
    ------
    ParameterError
        If the arrays are of other types, the layout is not that of the packing, the words are more or fewer, or densities no
        such middles.
    """

    words: UInt64Array
    layout: Int64Array
    packing: PackingScheme
    scheme: SketchScheme
    shingling: object = "arrays"
    densities: Float64Array | None = None
    has_empty: bool = False
    density_bits: int | None = None

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        n, words = self.words.shape
        return {
            "documents": plural(n, "document"), "size": f"{plural(8 * words, 'byte')} each", "packed by": repr(self.packing),
            "made by": repr(self.scheme),
        }  # fmt: skip

    def __post_init__(self) -> None:
        """Check types and shapes."""
        object.__setattr__(self, "words", matrix("words", self.words, {"u8": np.uint64}))
        layout = matrix("layout", self.layout, {"i8": np.int64})
        object.__setattr__(self, "layout", layout)
        n, n_words = self.words.shape
        wanted = self.packing.layout(self.permutations)
        if not np.array_equal(layout, wanted):
            raise ParameterError(f"layout must be {wanted.tolist()}, that of {self.packing}; got {layout.tolist()}")
        needed = max(first + (slots + 63) // 64 * (bits + self.has_empty) for first, slots, bits in layout.tolist())
        if needed != n_words:
            raise ParameterError(f"the layout needs {needed} words per document; got {n_words}")
        if self.densities is not None and np.shape(self.densities) != (n,):
            raise ParameterError(f"densities must be one for each of {n} rows; got shape {np.shape(self.densities)}")
        if self.density_bits is not None:
            levels = 1 << whole("density_bits", self.density_bits, 1, 16)
            if self.densities is None or not np.array_equal(quantized(self.densities, levels), self.densities):
                raise ParameterError(f"densities of {self.density_bits} bits must be middles of {levels} steps")

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.words)

    @property
    def n_bytes(self) -> int:
        """Bytes of all documents' bits."""
        return int(self.words.nbytes)

    @property
    def permutations(self) -> int:
        """Slots of the signatures before packing."""
        return self.scheme.permutations

    @property
    def holds_bins(self) -> bool:
        """Whether these are raw bins whose bits hold whole places, so that different ones never match."""
        return self.has_empty and bool(self.layout[0, 2] >= getattr(self.scheme, "plain_bits", 65))

    def with_quantized_densities(self, bits: int) -> PackedSignatures:
        """Return the same with densities rounded to what 1..16 bits can store: to 1/32 at most with 4, to 1/512 with 8.

        ``la.sketches.save`` then writes so many bits for each.

        Parameters
        ----------
        bits : int in [1, 16]

        Raises
        ------
        ParameterError
            If ``bits`` lies outside 1..16.

        References
        ----------
        Li & König, WWW 2010, section 5.2: the bias this causes is (r' - r) (1 - R) / (2 - r) for single bits.
        """
        if self.densities is None:
            raise ParameterError("these signatures have no densities: hashes of any practical set have density 0")
        bits = whole("bits", bits, 1, 16)
        return replace(self, densities=np.asarray(quantized(self.densities, 1 << bits)), density_bits=bits)

    @property
    def density_steps(self) -> NDArray[np.uint16]:
        """The step of 2^``density_bits`` that each density is the middle of, uint16 of shape (n_documents,).

        Raises
        ------
        ParameterError
            If densities are not rounded to steps.
        """
        if self.densities is None or self.density_bits is None:
            raise ParameterError("these densities are not rounded: call with_quantized_densities")
        return (self.densities * (1 << self.density_bits)).astype(np.uint16)  # the middle of a step is cut to its number

    def check_compatible(self, other: PackedSignatures) -> None:
        """Raise IncompatibleSketchError unless another value was made with the same parameters.

        Parameters
        ----------
        other : PackedSignatures

        Raises
        ------
        IncompatibleSketchError
            If it was not.
        """
        mine = (self.packing, self.scheme, self.shingling, self.has_empty)
        theirs = (other.packing, other.scheme, other.shingling, other.has_empty)
        if mine != theirs:
            raise IncompatibleSketchError(f"sketches of {mine} cannot be compared with those of {theirs}")

    def matches(self, left: ArrayLike, right: ArrayLike, other: PackedSignatures | None = None) -> Int64Array:
        """Count the matching slots of rows ``left`` and rows ``right`` (of ``other``) in each part.

        Parameters
        ----------
        left, right : array_like of int
        other : PackedSignatures, optional
            Default this value.

        Returns
        -------
        ndarray of int64, shape (..., n_parts); (..., 3) where slots may be empty: equal, filled in both, filled in one

        Raises
        ------
        ParameterError
            If a row is not there.
        """
        if other is not None:
            self.check_compatible(other)
        there = self if other is None else other
        rows = np.broadcast_arrays(*pairs_of_rows(left, len(self), right, len(there)))
        a, b = (r.flatten() for r in rows)
        pairs = self.words, a, there.words, b
        out: Int64Array
        if self.has_empty:
            out = core.count_filled(*pairs, *self.layout[0, 1:].tolist())
        else:
            out = core.count_matches(*pairs, self.layout)
        return out.reshape(*rows[0].shape, out.shape[1])

    def estimated_resemblance(
        self,
        left: ArrayLike,
        right: ArrayLike,
        *,
        other: PackedSignatures | None = None,
        with_error: bool = False,
        clip: bool = False,
        most_likely: bool = False,
    ) -> Any:
        """Estimate the resemblance of rows ``left`` and rows ``right`` (of ``other``, where given).

        Parameters
        ----------
        left, right : int or array_like of int
            Row numbers, broadcast against each other.
        other : PackedSignatures, optional
        with_error : bool
            Also return the standard error.
        clip : bool
            Cut the estimate to [0, Rmax], where Rmax is the highest resemblance that the densities allow (1 without): smaller
            error near the ends, at the price of a bias. The raw estimate is unbiased (but for combined bits) and may be
            negative.
        most_likely : bool
            The maximum-likelihood estimate in [0, Rmax]: for mixtures of bits it errs less than the pooled one.

        Returns
        -------
        float or ndarray of float64, or a pair of them
            Nan where both documents are empty, and for densities of which combined bits tell nothing.

        Raises
        ------
        IncompatibleSketchError
            If ``other`` was made with different parameters.
        ParameterError
            If there is no such row, or the error of packed filled bins is wanted.

        Warns
        -----
        RuntimeWarning
            If XORed bits give an estimate that is too low to be of use: see ``theory.xor_bits.least_usable``.
        """
        if with_error and getattr(self.scheme, "may_be_copied", False):
            raise ParameterError(
                "bits of filled bins do not show copies, on which their error depends: pack raw bins with BBit, or leave "
                "with_error out"
            )
        counted = self.matches(left, right, other)
        highest: Any = 1.0
        sides = (self, left), (self if other is None else other, right)
        densities: list[Any] = [0.0 if side.densities is None else side.densities[np.asarray(rows)] for side, rows in sides]
        if self.has_empty:
            chance = 0.0 if self.holds_bins else 0.5 ** float(self.layout[0, 2])
            union = counted[..., 1] + counted[..., 2]
            with np.errstate(invalid="ignore", divide="ignore"):
                found = (counted[..., 0] - counted[..., 1] * chance) / (1.0 - chance) / union
            universe = getattr(self.scheme, "universe", one_permutation.HASHES)
            error = one_permutation.raw_error(counted[..., 0], union, self.permutations, universe, counted[..., 1], chance)
            found = np.clip(found, 0.0, 1.0) if most_likely else found
        elif most_likely:
            found, error = self.packing.most_likely(counted, self.permutations, *densities)
        else:
            found, error = self.packing.estimate(counted, self.permutations, *densities)
            if self.densities is not None:
                highest = np.minimum(*densities) / np.maximum(*densities)
        shape = counted.shape[:-1]
        found, error = np.reshape(found, shape), np.reshape(error, shape)
        part = self.packing.parts(self.permutations)[0]
        if part.combined > 1 and len(self.layout) == 1:
            least = xor_bits.least_usable(part.combined, part.slots, *densities)
            if np.any(found < least):
                warnings.warn(
                    f"estimates from XORs of {part.combined} bits are useful only from a resemblance of "
                    f"{np.max(least):.2f} on; "
                    "below, chance makes sets that share nothing seem alike: store whole bits, or combine fewer",
                    RuntimeWarning, stacklevel=2,
                )  # fmt: skip
        found = (np.clip(found, 0.0, np.reshape(np.broadcast_to(highest, shape), shape)) if clip else found)[()]
        return (found, error[()]) if with_error else found
