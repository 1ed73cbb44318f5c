"""Sets whose elements carry weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from ..kernels.cosine import compare_vectors
from ..kernels.hashing import mix_keys
from .arrays import Float64Array, Int64Array, UInt64Array


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSets:
    """Sets whose elements carry weights.

    Parameters
    ----------
    values : ndarray of uint64, shape (n,)
        Well-mixed hashes of the elements, row after row, ascending in each row, without repeats.
    weights : ndarray of float64, shape (n,)
        Positive.
    offsets : ndarray of int64, shape (n_documents + 1,)
    """

    values: UInt64Array
    weights: Float64Array
    offsets: Int64Array

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
        keys, bounds = np.ascontiguousarray(values), np.ascontiguousarray(offsets).astype(np.int64)
        amounts = np.ascontiguousarray(weights, np.float64)
        if keys.shape != amounts.shape or keys.ndim != 1 or bounds[0] != 0 or bounds[-1] != len(keys):
            raise ParameterError(f"{keys.shape} values, {amounts.shape} weights and offsets to {bounds[-1]} do not fit")
        if not np.isfinite(amounts).all() or (amounts < 0).any():
            bad = int(np.flatnonzero(~np.isfinite(amounts) | (amounts < 0))[0])
            raise ParameterError(f"weights must be finite and not negative; number {bad} is {amounts[bad]}")
        mixed = np.empty(len(keys), np.uint64)
        mix_keys(keys.astype(np.uint64), mixed)
        row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = np.lexsort((mixed, row))
        first = np.ones(len(order), np.bool_)
        first[1:] = (mixed[order][1:] != mixed[order][:-1]) | (row[order][1:] != row[order][:-1])
        totals = np.add.reduceat(amounts[order], np.flatnonzero(first)) if len(order) else amounts
        kept = totals > 0
        rows = row[order][first][kept]
        counts = np.bincount(rows, minlength=len(bounds) - 1)
        return cls(mixed[order][first][kept], totals[kept], np.concatenate([[0], np.cumsum(counts)]))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.offsets) - 1

    def cosine(self, left: ArrayLike, right: ArrayLike) -> Any:
        """Cosine of the weight vectors of rows ``left`` and rows ``right``; nan where one is empty.

        Parameters
        ----------
        left, right : int, or array_like of int, shape (n_pairs,)

        Returns
        -------
        float, or ndarray of float64, shape (n_pairs,)
        """
        a, b = (np.atleast_1d(np.asarray(side, np.int64)) for side in (left, right))
        lengths = np.sqrt(np.bincount(np.repeat(np.arange(len(self)), np.diff(self.offsets)), self.weights**2, len(self)))
        unit = self.weights / np.repeat(lengths, np.diff(self.offsets))
        out = np.empty(len(a))
        compare_vectors(a, b, self.offsets, self.values, unit, out)
        out[(lengths[a] == 0) | (lengths[b] == 0)] = np.nan
        return out if np.ndim(left) or np.ndim(right) else float(out[0])

    def _aligned(self, left: int, right: int) -> tuple[Float64Array, Float64Array]:
        """Weights of both rows over the union of their elements."""
        parts = [slice(self.offsets[r], self.offsets[r + 1]) for r in (left, right)]
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
        """
        a, b = self._aligned(left, right)
        return float(np.minimum(a, b).sum() / np.maximum(a, b).sum()) if len(a) else float("nan")

    def probability_resemblance(self, left: int, right: int) -> float:
        """Probability resemblance: sum over i of 1 / sum over j of max(p_j / p_i, q_j / q_i), for normalised weights p and q.

        Parameters
        ----------
        left, right : int

        Returns
        -------
        float

        References
        ----------
        Moulton & Jiang, "Maximally consistent sampling and the Jaccard index of probability distributions", ICDM 2018.
        """
        a, b = self._aligned(left, right)
        if not a.sum() or not b.sum():
            return float("nan")
        p, q = a / a.sum(), b / b.sum()
        both = (p > 0) & (q > 0)
        return float(sum(1.0 / np.maximum(p / p[i], q / q[i]).sum() for i in np.flatnonzero(both)))


def count_repeats(values: UInt64Array, offsets: Int64Array) -> tuple[UInt64Array, Int64Array, Int64Array]:
    """Count how often each value occurs in its row.

    Returns
    -------
    (values, counts, offsets)
        The distinct values of each row, ascending, and how often they occur.
    """
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((values, row))
    values, row = values[order], row[order]
    first = np.ones(len(values), np.bool_)
    first[1:] = (values[1:] != values[:-1]) | (row[1:] != row[:-1])
    starts = np.flatnonzero(first)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(row[starts], minlength=len(offsets) - 1))])
    return values[starts], np.diff(np.append(starts, len(values))), bounds.astype(np.int64)
