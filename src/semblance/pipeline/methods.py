"""How near-duplicates are found and measured: by MinHash of shingle sets here, by SimHash of feature vectors in its own file.

A method turns the shingle hashes of documents into keys, keys into candidates, and pairs of documents into scores; all
other steps are the same for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import banding as banding_kernel
from ..planner import Plan
from ..search.candidates import Candidates, find_candidates
from ..sketches import FastSimilarity
from ..theory import shares
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array
from .sets import RowSets

Pieces = Iterable[tuple[UInt64Array, Int64Array]]


class Comparable(Protocol):
    """Rows whose pairs can be scored."""

    def compare(self, left: Int64Array, right: Int64Array, threshold: float) -> Float64Array:
        """Return the score of each pair, or -1 where it cannot reach the threshold."""
        ...

    def for_walk(self) -> tuple[Any, ...]:
        """Return the arrays by which the walk scores pairs of large buckets."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MinHashMethod:
    """Resemblance of shingle sets; candidates share a band."""

    plan: Plan
    seed: int
    exact: bool
    max_bucket: int
    name: str = "minhash"
    score: str = "resemblance"

    @property
    def n_keys(self) -> int:
        """64-bit words kept of each document for the search."""
        return self.plan.bands

    @property
    def estimation_slots(self) -> int:
        """Slots of each signature that are set aside for estimates."""
        return self.plan.estimation_slots

    def plan_dict(self) -> dict[str, Any]:
        """Return the plan, for summaries."""
        return self.plan.to_dict()

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that state scores."""
        return ("resemblance",) if self.exact else ("estimated_resemblance", "standard_error")

    def keys(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> tuple[UInt64Array, UInt32Array]:
        """Return (band keys, slots set aside for estimates) of documents."""
        slots = FastSimilarity(permutations=self.plan.permutations, seed=self.seed).sign_values(values, offsets)
        keys = np.empty((len(slots), self.plan.bands), np.uint64)
        banding_kernel.band_keys(slots, groups, self.plan.bands, self.plan.rows, keys)
        return keys, slots[:, slots.shape[1] - self.plan.estimation_slots :].copy()

    def candidates(
        self, keys: UInt64Array, groups: UInt64Array, n_reference: int, every_pair: bool, max_pairs: int | None, threads: int
    ) -> Candidates:
        """Return the pairs that share a bucket; buckets are large beyond ``max_bucket`` unless every pair is wanted."""
        max_bucket = None if every_pair else self.max_bucket
        return find_candidates(keys, max_bucket=max_bucket, n_reference=n_reference, max_pairs=max_pairs, threads=threads)

    def comparable(self, pieces: Pieces) -> RowSets:
        """Make shingle sets ready for exact comparison."""
        return RowSets.from_pieces(pieces)

    def estimable(self, sketches: UInt32Array) -> RowSets:
        """Make slots ready for estimates."""
        return RowSets.from_signatures(sketches)

    def columns(self, score: Float64Array, distance: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the columns that state scores, null where ``missing``: measured, or estimated with the standard error."""
        if self.exact:
            return {"resemblance": pa.array(score, mask=missing)}
        slots = self.plan.estimation_slots
        error = shares.share_error(np.clip(score, 0, 1) * slots, slots)
        return {"estimated_resemblance": pa.array(score, mask=missing), "standard_error": pa.array(error, mask=missing)}

    def recall(self, threshold: float, bands_left_out: int = 0) -> float:
        """Probability that a pair at the threshold is found: compared, and where estimates decide, estimated to reach it."""
        return self.plan.recall_at(threshold, bands_left_out)

    def describe(self) -> str:
        """Say how pairs are found."""
        estimated = ", then an estimate" if self.plan.estimation_slots else ""
        return f"{self.plan.bands} bands of {self.plan.rows} rows{estimated}"
