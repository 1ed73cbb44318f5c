"""SimHash fingerprints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
