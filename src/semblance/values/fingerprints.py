"""SimHash fingerprints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ParameterError
from .arrays import UInt64Array


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
    margins : ndarray of float32 or int8, shape (n_documents, bits), optional
        The signed sums behind the bits: only queries need them, to tell weak bits.
    """

    words: UInt64Array
    bits: int
    scheme: object
    features: object = "arrays"
    margins: NDArray[np.float32] | NDArray[np.int8] | None = None

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.words)

    def distance(self, left: ArrayLike, right: ArrayLike) -> Any:
        """Hamming distance of rows ``left`` and rows ``right``, in bits.

        Parameters
        ----------
        left, right : array_like of int

        Returns
        -------
        int or ndarray of int64
        """
        return np.bitwise_count(self.words[np.asarray(left)] ^ self.words[np.asarray(right)]).sum(-1, dtype=np.int64)[()]

    def estimated_cosine(self, left: ArrayLike, right: ArrayLike) -> Any:
        """Cosine of the feature vectors of rows, estimated from the distance: cos(pi d / f).

        Parameters
        ----------
        left, right : array_like of int

        Returns
        -------
        float or ndarray of float64
        """
        return np.cos(np.pi * self.distance(left, right) / self.bits)

    def quantise_margins(self) -> Fingerprints:
        """Return the same fingerprints with margins of one byte: a quarter of the memory, nearly the same order of bits.

        Returns
        -------
        Fingerprints
            With margins of int8, the largest of each document 127.

        Raises
        ------
        ParameterError
            If they carry no margins.
        """
        if self.margins is None:
            raise ParameterError("these fingerprints carry no margins: make them with SimHash(margins=True)")
        largest = np.abs(self.margins).max(1, keepdims=True).astype(np.float64)
        scaled = np.rint(self.margins * (127.0 / np.where(largest > 0, largest, 1.0)))
        return replace(self, margins=scaled.astype(np.int8))
