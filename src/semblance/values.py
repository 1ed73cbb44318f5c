"""The values that steps hand to each other: arrays, plus the parameters that made them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import IncompatibleSketchError, ParameterError
from .kernels.bbit import count_filled, count_matches
from .kernels.hashing import mix_keys
from .kernels.shingling import distinct_rows
from .theory.bbit import quantized

if TYPE_CHECKING:
    import pyarrow as pa

UInt64Array = NDArray[np.uint64]
UInt32Array = NDArray[np.uint32]
Int64Array = NDArray[np.int64]
Float64Array = NDArray[np.float64]


class SketchScheme(Protocol):
    """What a parameter object offers to the signatures it made."""

    @property
    def mergeable(self) -> bool:
        """Whether the signature of a union is the slot-wise minimum."""
        ...

    def estimate(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Return (estimated resemblance, standard error) of rows of slots."""
        ...


class PackingScheme(Protocol):
    """What a parameter object offers to the packed signatures it made."""

    def estimate(self, matches: Any, permutations: int, density_left: Any, density_right: Any) -> tuple[Any, Any]:
        """Return (estimated resemblance, standard error) from counted matches."""
        ...

    def most_likely(self, matches: Any, permutations: int) -> tuple[Any, Any]:
        """Return (maximum-likelihood estimate, standard error) from counted matches."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Shingles:
    """The shingle sets of documents: 64-bit hashes without repeats, in order of first appearance.

    Parameters
    ----------
    values : ndarray of uint64, shape (n_shingles,)
        Well-mixed hashes, row after row.
    offsets : ndarray of int64, shape (n_documents + 1,)
        Row i is ``values[offsets[i]:offsets[i + 1]]``.
    parameters : object
        What made them, a :class:`Shingling` or a text; rows made differently are not comparable.

    Notes
    -----
    Two different shingles of a pair of documents share a hash with probability 2^-64.
    """

    values: UInt64Array
    offsets: Int64Array
    parameters: object = "arrays"

    @classmethod
    def from_arrays(cls, values: ArrayLike, offsets: ArrayLike) -> Shingles:
        """Make shingle sets of ready integer keys, however structured, by a strong mixing; repeats are dropped.

        Parameters
        ----------
        values : array_like of int, shape (n,)
            Any integer dtype; negative keys are taken modulo 2^64.
        offsets : array_like of int32 or int64, shape (n_documents + 1,)
            Not decreasing, from 0 to n.

        Returns
        -------
        Shingles

        Raises
        ------
        ParameterError
            If the keys are no integers, or the offsets do not fit them.

        Examples
        --------
        >>> import semblance as sb
        >>> sb.Shingles.from_arrays([1, 2, 2, 3, 1, 2], [0, 4, 6]).sizes.tolist()
        [3, 2]
        """
        keys = np.ascontiguousarray(values)
        bounds = np.ascontiguousarray(offsets)
        if keys.ndim != 1 or (keys.size and keys.dtype.kind not in "iu"):
            raise ParameterError(f"values must be one-dimensional integers; they are {keys.dtype} of shape {keys.shape}")
        if bounds.ndim != 1 or bounds.size == 0 or bounds.dtype.kind not in "iu":
            raise ParameterError(
                f"offsets must be one-dimensional integers with at least the entry 0; they are {bounds.dtype} "
                f"of shape {bounds.shape}"
            )
        bounds = bounds.astype(np.int64)
        if bounds[0] != 0 or bounds[-1] != keys.size or (np.diff(bounds) < 0).any():
            raise ParameterError(
                f"offsets must rise from 0 to the number of values, {keys.size}; "
                f"they go from {bounds[0]} to {bounds[-1]}" + (", falling" if (np.diff(bounds) < 0).any() else "")
            )
        mixed = np.empty(keys.size, np.uint64)
        mix_keys(keys.astype(np.uint64), mixed)
        return cls(*drop_repeats(mixed, bounds))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Int64Array:
        """Number of shingles of each document, int64 of shape (n_documents,)."""
        return np.diff(self.offsets)

    def row(self, row: int) -> UInt64Array:
        """Return the shingle hashes of one document, uint64 of shape (size,)."""
        if not -len(self) <= row < len(self):
            raise ParameterError(f"there is no row {row} among {len(self)} documents")
        row %= len(self)
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def resemblance(self, left: int, right: int) -> float:
        """Exact resemblance of two rows: common shingles / all shingles; nan where both are empty."""
        common = np.intersect1d(self.row(left), self.row(right), assume_unique=True).size
        union = self.row(left).size + self.row(right).size - common
        return common / union if union else float("nan")

    def containment(self, left: int, right: int) -> float:
        """Exact share of the shingles of row ``left`` that row ``right`` has too; nan where ``left`` is empty."""
        common = np.intersect1d(self.row(left), self.row(right), assume_unique=True).size
        return common / self.row(left).size if self.row(left).size else float("nan")


def drop_repeats(values: UInt64Array, offsets: Int64Array) -> tuple[UInt64Array, Int64Array]:
    """Return (values, offsets) of the same rows without repeated values, in order of first appearance."""
    longest = int(np.diff(offsets).max(initial=1))
    table = np.zeros(1 << max(1, (2 * longest - 1).bit_length()), np.uint64)
    out, out_offsets = np.empty(len(values), np.uint64), np.empty(len(offsets), np.int64)
    return out[: distinct_rows(values, offsets, table, out_offsets, out)], out_offsets


@dataclass(frozen=True, slots=True, eq=False)
class Signatures:
    """Signatures of documents: one row of slots each.

    Parameters
    ----------
    values : ndarray of uint32, shape (n_documents, permutations)
        The slots; all of a row are 2^32 - 1 where the document has no shingle.
    scheme : SketchScheme
        The parameter object that made them.
    shingling : object
        What made the shingles.
    densities : ndarray of float64, shape (n_documents,), optional
        Sizes over the universe, where the slots come from true permutations of one.
    """

    values: Any
    scheme: SketchScheme
    shingling: object = "arrays"
    densities: Float64Array | None = None

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.values)

    def estimated_resemblance(
        self, left: ArrayLike, right: ArrayLike, *, other: Signatures | None = None, with_error: bool = False
    ) -> Any:
        """Estimate the resemblance of rows ``left`` and rows ``right`` (of ``other``, where given).

        Parameters
        ----------
        left, right : int or array_like of int
            Row numbers, broadcast against each other.
        other : Signatures, optional
            Where the right rows are, if not in this value.
        with_error : bool
            Also return the standard error.

        Returns
        -------
        float or ndarray of float64, or a pair of them
            The unbiased estimate in [0, 1] (nan where both documents are empty); with ``with_error`` also its standard error.

        Raises
        ------
        IncompatibleSketchError
            If ``other`` was made with different parameters.
        """
        if other is not None and (other.scheme != self.scheme or other.shingling != self.shingling):
            raise IncompatibleSketchError(
                f"signatures of {self.scheme} on {self.shingling} cannot be compared with those of "
                f"{other.scheme} on {other.shingling}: sign both with the same parameters"
            )
        values = self.values if other is None else other.values
        estimate, error = self.scheme.estimate(self.values[np.asarray(left)], values[np.asarray(right)])
        return (estimate, error) if with_error else estimate

    def merge(self, other: Signatures) -> Signatures:
        """Return the signatures of the unions of rows with equal numbers: the smaller of each pair of slots."""
        if other.scheme != self.scheme or other.shingling != self.shingling or len(other) != len(self):
            raise IncompatibleSketchError(
                f"{len(self)} signatures of {self.scheme} cannot be merged with {len(other)} of {other.scheme}: "
                "merge the same number of rows made with the same parameters"
            )
        if not self.scheme.mergeable:
            raise IncompatibleSketchError(f"signatures of {self.scheme} cannot be merged: only minima of whole sets can")
        return Signatures(np.minimum(self.values, other.values), self.scheme, self.shingling)


@dataclass(frozen=True, slots=True, eq=False)
class PackedSignatures:
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
    """

    words: UInt64Array
    layout: Int64Array
    packing: PackingScheme
    scheme: Any
    shingling: object = "arrays"
    densities: Float64Array | None = None
    has_empty: bool = False

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
        return int(self.scheme.permutations)

    def with_quantized_densities(self, bits: int) -> PackedSignatures:
        """Return the same with densities rounded to what 1..16 bits can store: to 1/32 at most with 4, to 1/512 with 8.

        References
        ----------
        Li & König, WWW 2010, section 5.2: the bias this causes is (r' - r) (1 - R) / (2 - r) for single bits.
        """
        if self.densities is None:
            raise ParameterError("these signatures have no densities: hashes of any practical set have density 0")
        if not 1 <= bits <= 16:
            raise ParameterError(f"bits must lie in 1..16; {bits} was given")
        return replace(self, densities=np.asarray(quantized(self.densities, 1 << bits)))

    def check_compatible(self, other: PackedSignatures) -> None:
        """Raise IncompatibleSketchError unless another value was made with the same parameters."""
        mine = (self.packing, self.scheme, self.shingling)
        theirs = (other.packing, other.scheme, other.shingling)
        if mine != theirs:
            raise IncompatibleSketchError(f"sketches of {mine} cannot be compared with those of {theirs}")

    def matches(self, left: ArrayLike, right: ArrayLike, other: PackedSignatures | None = None) -> Int64Array:
        """Count the matching slots of rows ``left`` and rows ``right`` (of ``other``) in each part.

        Returns
        -------
        ndarray of int64, shape (..., n_parts); (..., 3) where slots may be empty: equal, filled in both, filled in one
        """
        if other is not None:
            self.check_compatible(other)
        there = self if other is None else other
        rows = np.broadcast_arrays(np.asarray(left, np.int64), np.asarray(right, np.int64))
        a, b = (np.ascontiguousarray(r).ravel() for r in rows)
        for r, n in ((a, len(self)), (b, len(there))):
            if r.size and not (r.min() >= 0 and r.max() < n):
                raise ParameterError(f"rows must lie in 0..{n - 1}; {r.min()}..{r.max()} were given")
        if self.has_empty:
            out = np.empty((len(a), 3), np.int64)
            count_filled(self.words, a, there.words, b, int(self.layout[0, 1]), int(self.layout[0, 2]), out)
        else:
            out = np.empty((len(a), len(self.layout)), np.int64)
            count_matches(self.words, a, there.words, b, self.layout, out)
        return out.reshape(*rows[0].shape, -1)

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
            The maximum-likelihood estimate: for mixtures of bits it errs less than the pooled one.

        Returns
        -------
        float or ndarray of float64, or a pair of them

        Raises
        ------
        IncompatibleSketchError
            If ``other`` was made with different parameters.
        """
        counted = self.matches(left, right, other)
        highest: Any = 1.0
        if self.has_empty:
            chance = 2.0 ** -int(self.layout[0, 2])
            union = counted[..., 1] + counted[..., 2]
            with np.errstate(invalid="ignore", divide="ignore"):
                found = (counted[..., 0] - counted[..., 1] * chance) / (1.0 - chance) / union
                error = np.sqrt(np.maximum(found * (1 - found) + (1 - found) * chance / (1 - chance), 0.0) / union)
        elif most_likely:
            found, error = self.packing.most_likely(counted, self.permutations)
        else:
            densities = [np.zeros(1), np.zeros(1)]
            for i, (value, rows) in enumerate(((self, left), (self if other is None else other, right))):
                if value.densities is not None:
                    densities[i] = value.densities[np.asarray(rows)]
            found, error = self.packing.estimate(counted, self.permutations, *densities)
            if self.densities is not None:
                highest = np.minimum(*densities) / np.maximum(*densities)
        shape = counted.shape[:-1]
        found, error = np.reshape(found, shape), np.reshape(error, shape)
        found = (np.clip(found, 0.0, np.reshape(np.broadcast_to(highest, shape), shape)) if clip else found)[()]
        return (found, error[()]) if with_error else found


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """SimHash fingerprints.

    Parameters
    ----------
    words : ndarray of uint64, shape (n_documents, n_words)
        Bit j of a fingerprint is bit j % 64 of word j // 64.
    bits : int
    scheme : object
        What made them.
    features : object
        What made the features.
    margins : ndarray of float32, shape (n_documents, bits), optional
        The signed sums behind the bits: only queries need them, to tell weak bits.
    """

    words: UInt64Array
    bits: int
    scheme: object
    features: object = "arrays"
    margins: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.words)

    def distance(self, left: ArrayLike, right: ArrayLike) -> Any:
        """Hamming distance of rows ``left`` and rows ``right``, in bits."""
        return np.bitwise_count(self.words[np.asarray(left)] ^ self.words[np.asarray(right)]).sum(-1, dtype=np.int64)[()]

    def estimated_cosine(self, left: ArrayLike, right: ArrayLike) -> Any:
        """Cosine of the feature vectors of rows, estimated from the distance: cos(pi d / f)."""
        return np.cos(np.pi * self.distance(left, right) / self.bits)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of rows, each once, in ascending order; ``left < right`` where both are rows of the same documents.

    Parameters
    ----------
    left, right : ndarray of int64, shape (n_pairs,)
    n_rows : int
        Number of documents the rows belong to.
    resemblance : ndarray of float64, shape (n_pairs,), optional
        Exact resemblance, where verified.
    distance : ndarray of int64, shape (n_pairs,), optional
        Hamming distance, where fingerprints were searched.
    """

    left: Int64Array
    right: Int64Array
    n_rows: int
    resemblance: Float64Array | None = field(default=None)
    distance: Int64Array | None = field(default=None)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.left)

    def to_arrow(self) -> pa.Table:
        """Return the pairs as an Arrow table ``left, right[, resemblance][, distance]``."""
        import pyarrow as pa

        columns: dict[str, Any] = {"left": self.left, "right": self.right}
        if self.resemblance is not None:
            columns["resemblance"] = self.resemblance
        if self.distance is not None:
            columns["distance"] = self.distance
        return pa.table(columns)
