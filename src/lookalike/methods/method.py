"""What a method is: how documents become keys and codes, which of them meet, and how two of them are scored.

A method is a frozen value that pickles: the parameters are the algorithm. Jobs and indexes use the same methods, and know
nothing else of sketches. Rows in the form in which they are compared (``native/comparisons.cpp``) are sets, vectors of feature
counts, or fingerprints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Rows
from ..theory import simhash
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array

Piece = tuple[Any, ...]
"""Rows of values or of numbers, with repeats, and where those of each begin; or see ``KnownText.piece``."""

Pieces = Iterable[Piece]
JACCARD, COSINE, FINGERPRINTS, CONTAINMENT, OVERLAP = 0, -1, -2, -3, -4
"""What rows are scored by; see ``Rows`` in ``native/comparisons.cpp``. Above 0: the share of equal slots, of so many."""


def rows_of_pieces(pieces: Pieces, kind: int = JACCARD, floor: float = 0.0) -> Rows:
    """Pack rows that come in pieces, each done with before the next comes: as vectors of counts for a COSINE, else as sets.

    Sets have a CONTAINMENT or an OVERLAP only if their resemblance is at least ``floor``. Dot products and sums of squares are
    exact integers: up to 3 * 10^9 features a document.
    """
    rows = Rows(kind, floor)
    for piece in pieces:
        rows.add(*piece)
        del piece  # large ones are not held while the next are made
    rows.close()
    return rows


def sets_of_values(values: UInt64Array, offsets: Int64Array) -> Rows:
    """Pack rows of values; repeats within a row count once."""
    return rows_of_pieces([(values, offsets)])


def rows_of_signatures(signatures: UInt32Array) -> Rows:
    """Take the slots of signatures, of which the share of equal ones counts."""
    n, slots = signatures.shape
    if slots % 2:
        signatures = np.pad(signatures, ((0, 0), (0, 1)))
    words = signatures.ravel().view(np.uint64)
    offsets = np.arange(n + 1) * ((slots + 1) // 2)
    return Rows(slots, np.full(n, slots), offsets, np.empty(0, np.int32), words, np.empty(0))


def fingerprints_of_words(words: UInt64Array, bits: int) -> Rows:
    """Take fingerprints of so many ``bits``, in words of 64, for cosines estimated from their distance."""
    n, width = words.shape
    flat = np.ascontiguousarray(words, np.uint64).ravel()
    scores = np.asarray(simhash.cosine(np.arange(64 * width + 1).clip(max=bits), bits), np.float64)
    offsets = np.arange(0, n * width + 1, width, dtype=np.int64)
    return Rows(FINGERPRINTS, np.ones(n, np.int64), offsets, np.empty(0, np.int32), flat, scores)


@dataclass(frozen=True, slots=True, eq=False)
class Sketched:
    """What is kept of some documents, a row each."""

    keys: UInt64Array  # (n, n_keys): words by which documents meet
    codes: NDArray[np.uint16]  # (n, n_codes): near-duplicates share many; they tell candidates of large buckets apart
    estimates: UInt32Array  # (n, n_estimates): words from which scores are estimated, independent of the keys if possible


class Method(Protocol):
    """A way to find near-duplicates and to score them."""

    @property
    def name(self) -> str:
        """Its name, as in ``method="minhash"``."""
        ...

    @property
    def score(self) -> str:
        """What its scores are: "resemblance", "containment" or "cosine"."""
        ...

    @property
    def meets(self) -> str:
        """Which documents meet: "keys", those with an equal key; "samples", those that hold enough of the keys of another one;
        "prefixes", those that share a rare shingle; "all", those whose fingerprints are within a radius."""
        ...

    @property
    def radius(self) -> int:
        """Bits in which the fingerprints of candidates can differ; 0 where documents meet by keys."""
        ...

    @property
    def n_keys(self) -> int:
        """64-bit words by which a document meets others."""
        ...

    @property
    def n_codes(self) -> int:
        """16-bit codes of a document; 0: of documents in a large bucket only the first ones meet the others."""
        ...

    @property
    def n_estimates(self) -> int:
        """32-bit words of a document from which scores are estimated; 0 unless estimates decide."""
        ...

    @property
    def exact(self) -> bool:
        """Whether scores are measured on the texts."""
        ...

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that state scores."""
        ...

    def sketch(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> Sketched:
        """Sketch documents given by their shingle hashes, with repeats; equal ``groups`` alone are compared."""
        ...

    def comparable(self, pieces: Pieces) -> Rows:
        """Make rows of numbered shingles ready for exact comparison; each piece is done with before the next comes."""
        ...

    def estimable(self, estimates: UInt32Array) -> Rows:
        """Make the words kept for estimates ready for comparison."""
        ...

    def columns(self, score: Float64Array, distance: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the columns ``added``, null where ``missing``."""
        ...

    def recall(self, threshold: float) -> float:
        """Return the probability that a pair of that score is found."""
        ...

    def plan_dict(self) -> dict[str, Any]:
        """Return what was planned, as plain values for summaries; nothing if there is no plan."""
        ...

    def describe(self) -> str:
        """Say how candidates are found."""
        ...
