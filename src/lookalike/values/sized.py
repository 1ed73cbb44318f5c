"""Sketches of sets whose sizes are known: how many members two sets have in common, and what share of one lies in the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from ..theory.known_sizes import size_steps, sizes_of
from ..wording import Brief
from .arrays import Float64Array, Int64Array, pairs_of_rows

PAIRS = 1 << 12  # of rows that are estimated at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sized(Brief):
    """Base of values with an attribute ``sizes``: float64 of shape (n_documents,), or None where they are unknown."""

    def __len__(self) -> int:
        """Return the number of documents."""
        raise NotImplementedError

    def _known_sizes(self) -> Float64Array:
        """Return the sizes of all sets; refuse where they are unknown."""
        sizes = getattr(self, "sizes", None)
        if sizes is None:
            raise ParameterError("sizes of these sets are not known: .with_sizes(shingles.sizes) adds them")
        return np.asarray(sizes)

    def _check_sizes(self) -> None:
        """Refuse sizes that are not one for each row, or out of their range; round others, as ``with_sizes`` does."""
        sizes = getattr(self, "sizes", None)
        if sizes is not None and np.shape(sizes) != (len(self),):
            raise ParameterError(f"sizes must be one for each of {len(self)} rows; got shape {np.shape(sizes)}")
        if sizes is not None:
            object.__setattr__(self, "sizes", sizes_of(size_steps(sizes)))

    def _intersections(
        self, left: Int64Array, right: Int64Array, there: Any, sizes: tuple[Float64Array, Float64Array]
    ) -> tuple[Any, Any]:
        """Return estimates for rows that are not empty, and their errors."""
        raise NotImplementedError

    def check_compatible(self, other: Self) -> None:
        """Raise IncompatibleSketchError unless another value was made with the same parameters.

        Parameters
        ----------
        other : of the same class

        Raises
        ------
        IncompatibleSketchError
            If it was not.
        """
        raise NotImplementedError

    def with_sizes(self, sizes: ArrayLike) -> Self:
        """Return the same with the sizes of the sets, which containments need: ``Shingles.sizes``, for example.

        Parameters
        ----------
        sizes : array_like of int in [0, 2^32), shape (n_documents,)
            They are rounded by 0.017 percent at most; ``la.save`` writes 16 bits for each.

        Raises
        ------
        ParameterError
            If they are not one for each document, or a size is out of its range.
        """
        known: dict[str, Any] = {"sizes": sizes_of(size_steps(sizes))}
        return replace(self, **known)

    def estimated_intersection(
        self, left: ArrayLike, right: ArrayLike, *, other: Self | None = None, with_error: bool = False
    ) -> Any:
        """Estimate how many members rows ``left`` and rows ``right`` (of ``other``, where given) have in common.

        The most likely number from 0 to the smaller size. Whole slots and ``QuantileBits`` tell by their order, too, which set
        a minimum comes from: estimates are the better the more the sizes differ and the more of one set the other contains.

        Parameters
        ----------
        left, right : int or array_like of int
            Row numbers, broadcast against each other.
        other : of the same class, optional
        with_error : bool
            Also return the standard error.

        Returns
        -------
        float or ndarray of float64, or a pair of them
            Nan where both sets are empty.

        Raises
        ------
        IncompatibleSketchError
            If ``other`` was made with different parameters.
        ParameterError
            If there is no such row, or sizes are not known: see ``with_sizes``.

        References
        ----------
        Li & König, "Accurate estimators for improving minwise hashing and b-bit minwise hashing", 2011.
        """
        there = self if other is None else other
        if other is not None:
            self.check_compatible(other)
        rows = np.broadcast_arrays(*pairs_of_rows(left, len(self), right, len(there)))
        a, b = (r.flatten() for r in rows)
        sizes = self._known_sizes()[a], there._known_sizes()[b]
        both_empty = (sizes[0] == 0) & (sizes[1] == 0)
        found, error = (np.where(both_empty, np.nan, 0.0) for _ in range(2))
        filled = np.flatnonzero((sizes[0] > 0) & (sizes[1] > 0))
        for begin in range(0, len(filled), PAIRS):
            some = filled[begin : begin + PAIRS]
            found[some], error[some] = self._intersections(a[some], b[some], there, (sizes[0][some], sizes[1][some]))
        found, error = found.reshape(rows[0].shape)[()], error.reshape(rows[0].shape)[()]
        return (found, error) if with_error else found

    def estimated_containment(
        self, left: ArrayLike, right: ArrayLike, *, other: Self | None = None, with_error: bool = False
    ) -> Any:
        """Estimate what share of rows ``left`` lies in rows ``right`` (of ``other``, where given).

        It is ``estimated_intersection`` over the sizes of the left sets.

        Parameters
        ----------
        left, right : int or array_like of int
            Row numbers, broadcast against each other.
        other : of the same class, optional
        with_error : bool
            Also return the standard error.

        Returns
        -------
        float or ndarray of float64, or a pair of them
            In [0, 1]; nan where the left set is empty.

        Raises
        ------
        IncompatibleSketchError
            If ``other`` was made with different parameters.
        ParameterError
            If there is no such row, or sizes are not known: see ``with_sizes``.

        References
        ----------
        Li & König 2011.
        """
        found, error = self.estimated_intersection(left, right, other=other, with_error=True)
        with np.errstate(invalid="ignore"):
            size = self._known_sizes()[np.asarray(left)]
            found, error = found / size, error / size
        return (found, error) if with_error else found
