"""The values that steps hand to each other: arrays, plus the parameters that made them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import IncompatibleSketchError, ParameterError
from .kernels.hashing import mix_keys
from .kernels.shingling import distinct_rows

if TYPE_CHECKING:
    import pyarrow as pa

UInt64Array = NDArray[np.uint64]
UInt32Array = NDArray[np.uint32]
Int64Array = NDArray[np.int64]
Float64Array = NDArray[np.float64]


class SketchScheme(Protocol):
    """What a parameter object offers to the signatures it made."""

    def estimate(self, left: UInt32Array, right: UInt32Array) -> tuple[Any, Any]:
        """Return (estimated resemblance, standard error) of rows of slots."""
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
    """

    values: UInt32Array
    scheme: SketchScheme
    shingling: object = "arrays"

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
            The unbiased estimate in [0, 1] (nan where a document is empty); with ``with_error`` also its standard error.

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
        return Signatures(np.minimum(self.values, other.values), self.scheme, self.shingling)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of rows, each once, ``left < right``, in ascending order.

    Parameters
    ----------
    left, right : ndarray of int64, shape (n_pairs,)
    n_rows : int
        Number of documents the rows belong to.
    resemblance : ndarray of float64, shape (n_pairs,), optional
        Exact resemblance, where verified.
    """

    left: Int64Array
    right: Int64Array
    n_rows: int
    resemblance: Float64Array | None = field(default=None)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.left)

    def to_arrow(self) -> pa.Table:
        """Return the pairs as an Arrow table ``left, right[, resemblance]``."""
        import pyarrow as pa

        columns: dict[str, Any] = {"left": self.left, "right": self.right}
        if self.resemblance is not None:
            columns["resemblance"] = self.resemblance
        return pa.table(columns)
