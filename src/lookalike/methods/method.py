"""What a method is: how documents become keys and codes, which of them meet, and how two of them are scored.

A method is a frozen value that pickles: the parameters are the algorithm. Jobs and indexes use the same methods, and know
nothing else of sketches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Rows
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array
from .comparable import Pieces


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
