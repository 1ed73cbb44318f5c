"""Shingle sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core import distinct_rows, mix_keys
from ..errors import ParameterError
from ..wording import Brief, plural
from .arrays import Int64Array, UInt32Array, UInt64Array, keys_of, offsets_of, whole


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shingles(Brief):
    """The shingle sets of documents: 64-bit hashes without repeats, in order of first appearance.

    Parameters
    ----------
    values : ndarray of uint64, shape (n_shingles,)
        Well-mixed hashes, row after row.
    offsets : ndarray of int64, shape (n_documents + 1,)
        Row i is ``values[offsets[i]:offsets[i + 1]]``.
    parameters : object
        What made them, a ``Shingling`` or a text; rows made differently are not comparable.

    Raises
    ------
    ParameterError
        If the values are no integers, or the offsets do not rise from 0 to their number.

    Notes
    -----
    Two different shingles share a hash with probability 2^-64, unless somebody wrote them to: see the ``key`` of ``shingle``.
    """

    values: UInt64Array
    offsets: Int64Array
    parameters: object = "arrays"

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        n = plural(len(self.offsets) - 1, "document")
        return {"documents": n, "shingles": plural(len(self.values), "shingle"), "made by": str(self.parameters)}

    def __post_init__(self) -> None:
        """Check that each row is a part of the values."""
        object.__setattr__(self, "values", keys_of(self.values))
        object.__setattr__(self, "offsets", offsets_of(self.offsets, len(self.values)))

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
        >>> import lookalike as la
        >>> la.sketches.Shingles.from_arrays([1, 2, 2, 3, 1, 2], [0, 4, 6]).sizes.tolist()
        [3, 2]
        """
        keys = keys_of(values)
        return cls(*drop_repeats(mix_keys(keys), offsets_of(offsets, keys.size)))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Int64Array:
        """Number of shingles of each document, int64 of shape (n_documents,)."""
        return np.diff(self.offsets)

    def row(self, row: int) -> UInt64Array:
        """Return the shingle hashes of one document, uint64 of shape (size,).

        Parameters
        ----------
        row : int

        Raises
        ------
        ParameterError
            If there is no such row.
        """
        if not -len(self) <= whole("row", row, -(1 << 63)) < len(self):
            raise ParameterError(f"there is no row {row} among {len(self)} documents")
        row %= len(self)
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def resemblance(self, left: int, right: int) -> float:
        """Exact resemblance of two rows: common shingles / all shingles; nan where both are empty.

        Parameters
        ----------
        left, right : int

        Returns
        -------
        float
        """
        row, other = self.row(left), self.row(right)
        common = np.intersect1d(row, other, assume_unique=True).size
        union = row.size + other.size - common
        return common / union if union else float("nan")

    def containment(self, left: int, right: int) -> float:
        """Exact share of the shingles of row ``left`` that row ``right`` has too; nan where ``left`` is empty.

        Parameters
        ----------
        left, right : int

        Returns
        -------
        float
        """
        row = self.row(left)
        common = np.intersect1d(row, self.row(right), assume_unique=True).size
        return common / row.size if row.size else float("nan")


class Halves(NamedTuple):
    """Ascending upper halves of hashes: row i is ``values[offsets[i]:offsets[i + 1]]``, made without ``repeats[i]`` more."""

    values: UInt32Array
    offsets: Int64Array
    repeats: Int64Array


def drop_repeats(values: UInt64Array, offsets: Int64Array) -> tuple[UInt64Array, Int64Array]:
    """Return (values, offsets) of the same rows without repeated values, in order of first appearance."""
    values = keys_of(values)
    return distinct_rows(values, offsets_of(offsets, len(values)))
