"""Near-duplicates by SimHash: fingerprints within a Hamming radius, measured by the cosine of their feature counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Rows
from ..sketches.simhash import SimHash
from ..theory import simhash
from ..values import Fingerprints, Float64Array, Int64Array, Shingles, UInt32Array, UInt64Array
from ..values.arrow import to_arrow
from .method import COSINE, Pieces, Sketched, fingerprints_of_words, rows_of_pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class SimHashMethod:
    """Cosine of feature counts; candidates have fingerprints within a Hamming radius."""

    radius: int
    seed: int
    verify: str  # "exact", "sketch" or "none": whether cosines are measured, estimated from fingerprints, or not looked at
    bits: int = 64
    name: ClassVar[str] = "simhash"
    score: ClassVar[str] = "cosine"
    meets: ClassVar[str] = "all"
    n_codes: ClassVar[int] = 0

    @property
    def exact(self) -> bool:
        """Whether cosines are measured."""
        return self.verify == "exact"

    @property
    def n_keys(self) -> int:
        """Words of a fingerprint."""
        return (self.bits + 63) // 64

    @property
    def n_estimates(self) -> int:
        """The same words again, as halves, if estimates decide."""
        return 2 * self.n_keys if self.verify == "sketch" else 0

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that state scores."""
        return ("cosine" if self.exact else "estimated_cosine", "distance")

    def sketch(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> Sketched:
        """Fingerprint documents given by the hashes of their features; a feature weighs as often as it occurs."""
        words = self.fingerprints(values, offsets).words
        halves = words.view(np.uint32)[:, : self.n_estimates]
        return Sketched(words, np.empty((len(words), 0), np.uint16), halves)

    def fingerprints(self, values: UInt64Array, offsets: Int64Array, margins: bool = False) -> Fingerprints:
        """Fingerprint documents as ``sketch`` does; with ``margins`` each bit says how sure it is."""
        return SimHash(bits=self.bits, seed=self.seed, margins=margins).sign(Shingles(values, offsets))

    def comparable(self, pieces: Pieces) -> Rows:
        """Make vectors of feature counts ready for exact comparison."""
        return rows_of_pieces(pieces, COSINE)

    def estimable(self, estimates: UInt32Array) -> Rows:
        """Make the halves of fingerprints ready for estimates."""
        return fingerprints_of_words(np.ascontiguousarray(estimates).view(np.uint64), self.bits)

    def columns(self, score: Float64Array, distance: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the columns that state scores, null where ``missing``: the cosine, measured or estimated, and the distance."""
        cosine, bits = self.added
        return {cosine: to_arrow(score, missing), bits: to_arrow(distance, missing)}

    def recall(self, threshold: float) -> float:
        """Return the probability that a pair whose cosine is the threshold is found: its fingerprints are within the radius.

        Where estimates decide, also within the distance at which the estimated cosine reaches the threshold.
        """
        radius = self.radius
        if self.verify == "sketch":
            enough = simhash.cosine(np.arange(radius + 1), self.bits) >= threshold
            if not enough.any():
                return 0.0
            radius = int(np.flatnonzero(enough)[-1])
        return float(simhash.within_radius(threshold, radius, self.bits))

    def plan_dict(self) -> dict[str, Any]:
        """Return no plan: fingerprints need none."""
        return {}

    def describe(self) -> str:
        """Say how candidates are found."""
        return f"within {self.radius} of {self.bits} bits"
