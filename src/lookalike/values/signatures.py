"""Signatures, whole slots, and fingerprints, whole bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import IncompatibleSketchError, ParameterError, from_caller
from ..theory import simhash
from ..wording import Brief, plural
from .arrays import Float64Array, UInt64Array, matrix, pairs_of_rows, whole


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
        return {"documents": plural(n, "document"), "slots": plural(slots, "slot"), "made by": repr(self.scheme)}

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

    def check_compatible(self, other: Signatures) -> None:
        """Raise IncompatibleSketchError unless another value was made with the same parameters.

        Parameters
        ----------
        other : Signatures

        Raises
        ------
        IncompatibleSketchError
            If it was not.
        """
        if other.scheme != self.scheme or other.shingling != self.shingling:
            raise IncompatibleSketchError(
                f"signatures of {self.scheme} on {self.shingling} cannot be compared with those of "
                f"{other.scheme} on {other.shingling}: sign both with the same parameters"
            )

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
        if other is not None:
            self.check_compatible(other)
        there = self if other is None else other
        a, b = pairs_of_rows(left, len(self), right, len(there))
        estimate, error = self.scheme.estimate(self.values[a], there.values[b])
        return (estimate, error) if with_error else estimate

    @from_caller
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fingerprints(Brief):
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
    margins : ndarray of float32 or int8, shape (n_documents, bits), optional
        The signed sums behind the bits: only queries need them, to tell weak bits.

    Raises
    ------
    ParameterError
        If the words or margins do not have the shapes that the bits ask for.
    """

    words: UInt64Array
    bits: int
    scheme: object
    features: object = "arrays"
    margins: NDArray[np.float32] | NDArray[np.int8] | None = None

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        margins = {} if self.margins is None else {"margins": "with margins"}
        documents = {"documents": plural(len(self.words), "document"), "bits": plural(self.bits, "bit")}
        return documents | margins | {"made by": repr(self.scheme)}

    def __post_init__(self) -> None:
        """Check types and shapes."""
        object.__setattr__(self, "words", matrix("words", self.words, {"u8": np.uint64}))
        object.__setattr__(self, "bits", whole("bits", self.bits, 1))
        n, n_words = self.words.shape
        if n_words != (self.bits + 63) // 64:
            raise ParameterError(f"fingerprints of {self.bits} bits have {(self.bits + 63) // 64} words; got {n_words}")
        if self.margins is not None:
            margins = matrix("margins", self.margins, {"f4": np.float32, "i1": np.int8})
            if margins.shape != (n, self.bits):
                raise ParameterError(f"must have shape ({n}, {self.bits})", "margins", margins.shape)
            object.__setattr__(self, "margins", margins)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.words)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Whether each document is without features, bool of shape (n_documents,); False where what made them is unknown.

        Documents without features get a fingerprint of their own, the scheme's ``no_features``.
        """
        unused = getattr(self.scheme, "no_features", None)
        return np.zeros(len(self), np.bool_) if unused is None else np.equal(self.words, unused).all(1)

    def distance(self, left: ArrayLike, right: ArrayLike) -> Any:
        """Hamming distance of rows ``left`` and rows ``right``, in bits.

        Parameters
        ----------
        left, right : array_like of int

        Returns
        -------
        int or ndarray of int64

        Raises
        ------
        ParameterError
            If there is no such row.
        """
        a, b = pairs_of_rows(left, len(self), right, len(self))
        return np.bitwise_count(self.words[a] ^ self.words[b]).sum(-1, dtype=np.int64)[()]

    def estimated_cosine(self, left: ArrayLike, right: ArrayLike) -> Any:
        """Cosine of the feature vectors of rows, estimated from the distance: cos(pi d / f); nan where a document is empty.

        Parameters
        ----------
        left, right : array_like of int

        Returns
        -------
        float or ndarray of float64

        Raises
        ------
        ParameterError
            If there is no such row.
        """
        found, empty = simhash.cosine(self.distance(left, right), self.bits), self.empty
        return np.where(empty[np.asarray(left)] | empty[np.asarray(right)], np.nan, found)[()]
