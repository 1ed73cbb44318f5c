"""Sets whose elements carry weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core import compare_vectors, mix_keys
from ..errors import ParameterError
from ..wording import Brief, plural
from .arrays import Float64Array, Int64Array, UInt64Array, keys_of, native, offsets_of, pairs_of_rows, whole


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WeightedSets(Brief):
    """Sets whose elements carry weights.

    Parameters
    ----------
    values : ndarray of uint64, shape (n,)
        Well-mixed hashes of the elements, row after row, ascending in each row, without repeats.
    weights : ndarray of float64, shape (n,)
        Positive.
    offsets : ndarray of int64, shape (n_documents + 1,)

    Raises
    ------
    ParameterError
        If a weight is not positive and finite, values do not ascend, or shapes do not match.
    """

    values: UInt64Array
    weights: Float64Array
    offsets: Int64Array

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        return {"sets": plural(len(self.offsets) - 1, "set"), "elements": plural(len(self.values), "element")}

    def __post_init__(self) -> None:
        """Check that each row is a part of the values, in the form that comparisons rely on."""
        values, weights = keys_of(self.values), _amounts(self.weights, len(self.values), least=np.nextafter(0.0, 1.0))
        offsets = offsets_of(self.offsets, len(values))
        within_row = np.ones(max(0, len(values) - 1), np.bool_)
        starts = offsets[1:-1]
        within_row[starts[(starts > 0) & (starts < len(values))] - 1] = False
        falls = np.flatnonzero(within_row & (values[1:] <= values[:-1]))
        if len(falls):
            row = int(np.searchsorted(offsets, falls[0], "right")) - 1
            raise ParameterError(f"values must ascend within a row; those of row {row} do not: use WeightedSets.from_arrays")
        for name, array in (("values", values), ("weights", weights), ("offsets", offsets)):
            object.__setattr__(self, name, array)

    @classmethod
    def from_arrays(cls, values: ArrayLike, weights: ArrayLike, offsets: ArrayLike) -> WeightedSets:
        """Make weighted sets of any integer keys; repeats in a row are added up, weights of zero left out.

        Parameters
        ----------
        values : array_like of int, shape (n,)
        weights : array_like of float >= 0, shape (n,)
        offsets : array_like of int, shape (rows + 1,)

        Returns
        -------
        WeightedSets

        Raises
        ------
        ParameterError
            If a weight is negative or not finite, or shapes do not fit.
        """
        keys = keys_of(values)
        bounds, amounts = offsets_of(offsets, len(keys)), _amounts(weights, len(keys))
        order, starts, mixed, rows = _equal_in_rows(mix_keys(keys), bounds)
        with np.errstate(over="ignore"):  # a sum beyond all numbers is refused with the other infinite weights
            totals = np.add.reduceat(amounts[order], starts) if len(order) else amounts
        kept = totals > 0
        return cls(mixed[kept], totals[kept], np.searchsorted(rows[kept], np.arange(len(bounds))))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.offsets) - 1

    def cosine(self, left: ArrayLike, right: ArrayLike) -> Any:
        """Cosine of the weight vectors of rows ``left`` and rows ``right``; nan where one is empty.

        Parameters
        ----------
        left, right : int or array_like of int
            Row numbers, broadcast against each other.

        Returns
        -------
        float or ndarray of float64

        Raises
        ------
        ParameterError
            If there is no such row.
        """
        rows = np.broadcast_arrays(*pairs_of_rows(left, len(self), right, len(self)))
        a, b = (side.flatten() for side in rows)
        row = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        largest = np.zeros(len(self))
        np.maximum.at(largest, row, self.weights)
        unit = self.weights / largest[row]  # squares of very large or very small weights are no numbers
        lengths = np.sqrt(np.bincount(row, unit**2, len(self)))
        unit /= lengths[row]
        out = compare_vectors(a, b, self.offsets, self.values, unit)
        out[lengths[a] * lengths[b] == 0] = np.nan  # of others, each is at least 1
        return out.reshape(rows[0].shape)[()]

    def _aligned(self, left: int, right: int) -> tuple[Float64Array, Float64Array]:
        """Weights of both rows over the union of their elements."""
        rows = [whole("row", row, 0, len(self) - 1) for row in (left, right)]
        parts = [slice(self.offsets[row], self.offsets[row + 1]) for row in rows]
        union = np.union1d(self.values[parts[0]], self.values[parts[1]])
        out = np.zeros((2, len(union)))
        for i, part in enumerate(parts):
            out[i, np.searchsorted(union, self.values[part])] = self.weights[part]
        return out[0], out[1]

    def resemblance(self, left: int, right: int) -> float:
        """Weighted resemblance of two rows, sum of minima over sum of maxima; nan where both are empty.

        Parameters
        ----------
        left, right : int

        Returns
        -------
        float

        Raises
        ------
        ParameterError
            If there is no such row.
        """
        a, b = self._aligned(left, right)
        if not len(a):
            return float("nan")
        scale = max(a.max(), b.max())  # so that no sum is beyond all numbers
        return float((np.minimum(a, b) / scale).sum() / (np.maximum(a, b) / scale).sum())


def _amounts(weights: ArrayLike, n: int, least: float = 0.0) -> Float64Array:
    """Return n weights as float64 if all are finite and at least ``least``, which is 0 or the smallest number above it."""
    found = np.asarray(weights)
    if found.shape != (n,) or (n and found.dtype.kind not in "iuf"):
        raise ParameterError(f"weights must be numbers, one for each of {n} values; got {found.dtype} of shape {found.shape}")
    amounts = native(found, np.float64)
    bad = np.flatnonzero(~(np.isfinite(amounts) & (amounts >= least)))
    if len(bad):
        rule = "positive" if least > 0.0 else "not negative"
        raise ParameterError(f"weights must be finite and {rule}; number {bad[0]} is {amounts[bad[0]]}")
    return amounts


def _equal_in_rows(values: UInt64Array, offsets: Int64Array) -> tuple[Int64Array, Int64Array, UInt64Array, Int64Array]:
    """Return the order in which the values of each row ascend, where in it others begin, and the value and row of these."""
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((values, row))
    values, row = values[order], row[order]
    first = np.ones(len(values), np.bool_)
    first[1:] = (values[1:] != values[:-1]) | (row[1:] != row[:-1])
    return order, np.flatnonzero(first), values[first], row[first]


def count_repeats(values: UInt64Array, offsets: Int64Array) -> tuple[UInt64Array, Int64Array, Int64Array]:
    """Count how often each value occurs in its row."""
    _, starts, found, rows = _equal_in_rows(values, offsets)
    return found, np.diff(np.append(starts, len(values))), np.searchsorted(rows, np.arange(len(offsets)))
