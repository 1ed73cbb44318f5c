"""Signatures: whole slots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..errors import IncompatibleSketchError
from .arrays import Float64Array


class SketchScheme(Protocol):
    """What a parameter object offers to the signatures it made."""

    @property
    def mergeable(self) -> bool:
        """Whether the signature of a union is the slot-wise minimum."""
        ...

    def estimate(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Return (estimated resemblance, standard error) of rows of slots."""
        ...


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
