"""Signatures: whole slots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import IncompatibleSketchError, ParameterError
from ..wording import Brief, counted
from .arrays import Float64Array, matrix, pairs_of_rows


class SketchScheme(Protocol):
    """What a parameter object offers to the signatures it made."""

    @property
    def permutations(self) -> int:
        """Slots of a signature."""
        ...

    @property
    def mergeable(self) -> bool:
        """Whether the signature of a union is the slot-wise minimum."""
        ...

    def estimate(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Return (estimated resemblance, standard error) of rows of slots."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Signatures(Brief):
    """Signatures of documents: one row of slots each.

    Parameters
    ----------
    values : ndarray of uint32 or uint64, shape (n_documents, permutations)
        The slots; if a document has no shingle, all of its slots are the highest of their type.
    scheme : SketchScheme
        The parameter object that made them.
    shingling : object
        What made the shingles.
    densities : ndarray of float64, shape (n_documents,), optional
        Sizes over the universe, where the slots come from true permutations of one.

    Raises
    ------
    ParameterError
        If the arrays are of other types or shapes.
    """

    values: Any
    scheme: SketchScheme
    shingling: object = "arrays"
    densities: Float64Array | None = None

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        n, slots = self.values.shape
        return {"documents": counted(n, "document"), "slots": counted(slots, "slot"), "made by": repr(self.scheme)}

    def __post_init__(self) -> None:
        """Check types and shapes."""
        object.__setattr__(self, "values", matrix("values", self.values, {"u4": np.uint32, "u8": np.uint64}))
        if self.densities is not None and np.shape(self.densities) != (len(self.values),):
            raise ParameterError(f"densities must be one for each of {len(self)} rows; got shape {np.shape(self.densities)}")

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.values)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Whether each document is without shingles, bool of shape (n_documents,)."""
        unused = np.iinfo(self.values.dtype).max
        found = self.values[:, :1].max(1, initial=0) == unused
        found[found] = (self.values[found] == unused).all(1)
        return np.asarray(found)

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
        ParameterError
            If there is no such row.
        """
        if other is not None and (other.scheme != self.scheme or other.shingling != self.shingling):
            raise IncompatibleSketchError(
                f"signatures of {self.scheme} on {self.shingling} cannot be compared with those of "
                f"{other.scheme} on {other.shingling}: sign both with the same parameters"
            )
        there = self if other is None else other
        a, b = pairs_of_rows(left, len(self), right, len(there))
        estimate, error = self.scheme.estimate(self.values[a], there.values[b])
        return (estimate, error) if with_error else estimate

    def merge(self, other: Signatures) -> Signatures:
        """Return the signatures of the unions of rows with equal numbers: the smaller of each pair of slots.

        Parameters
        ----------
        other : Signatures

        Raises
        ------
        IncompatibleSketchError
            If the parameters differ, or the scheme has no unions.
        """
        if other.scheme != self.scheme or other.shingling != self.shingling or len(other) != len(self):
            raise IncompatibleSketchError(
                f"{len(self)} signatures of {self.scheme} cannot be merged with {len(other)} of {other.scheme}: "
                "merge the same number of rows made with the same parameters"
            )
        if not self.scheme.mergeable:
            raise IncompatibleSketchError(f"signatures of {self.scheme} cannot be merged: only minima of whole sets can")
        return Signatures(np.minimum(self.values, other.values), self.scheme, self.shingling)
