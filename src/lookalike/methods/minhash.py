"""Near-duplicates by MinHash: documents whose signatures share a band, measured by the resemblance of their shingle sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Rows, band_keys, keys_and_codes
from ..planner import Plan
from ..sketches.minhash import FastSimilarity
from ..theory import shares
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array
from ..values.arrow import to_arrow
from ..wording import band_counts
from .method import Pieces, Sketched, rows_of_pieces, rows_of_signatures

_scheme = lru_cache(64)(FastSimilarity)  # an index signs one text at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class MinHashMethod:
    """Resemblance of shingle sets; candidates share a band."""

    plan: Plan
    seed: int
    exact: bool  # whether resemblances are measured, or estimated from the slots that the plan sets aside
    coded: bool = True  # whether the slots of the bands leave 16-bit codes: two bytes a slot
    name: ClassVar[str] = "minhash"
    score: ClassVar[str] = "resemblance"
    meets: ClassVar[str] = "keys"
    radius: ClassVar[int] = 0

    @property
    def n_keys(self) -> int:
        """A key for each band."""
        return self.plan.bands

    @property
    def n_codes(self) -> int:
        """A code for each slot of the bands."""
        return self.plan.bands * self.plan.rows if self.coded else 0

    @property
    def n_estimates(self) -> int:
        """Slots of each signature that are set aside for estimates."""
        return self.plan.estimation_slots

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that state scores."""
        return ("resemblance",) if self.exact else ("estimated_resemblance", "standard_error")

    def sketch(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> Sketched:
        """Sign documents given by their shingle hashes."""
        bands, rows = self.plan.bands, self.plan.rows
        slots = _scheme(permutations=self.plan.permutations, seed=self.seed).sign_values(values, offsets)
        if self.coded:
            keys, codes = keys_and_codes(slots, groups, bands, rows)
        else:
            keys, codes = band_keys(slots, groups, bands, rows), np.empty((len(slots), 0), np.uint16)
        return Sketched(keys, codes, slots[:, slots.shape[1] - self.n_estimates :].copy())

    def comparable(self, pieces: Pieces) -> Rows:
        """Make shingle sets ready for exact comparison."""
        return rows_of_pieces(pieces)

    def estimable(self, estimates: UInt32Array) -> Rows:
        """Make slots ready for estimates."""
        return rows_of_signatures(estimates)

    def columns(self, score: Float64Array, distance: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the columns that state scores, null where ``missing``: measured, or estimated with the standard error."""
        if self.exact:
            return {"resemblance": to_arrow(score, missing)}
        slots = self.plan.estimation_slots
        error = shares.share_error(np.clip(score, 0, 1) * slots, slots)
        return {"estimated_resemblance": to_arrow(score, missing), "standard_error": to_arrow(error, missing)}

    def recall(self, threshold: float) -> float:
        """Return the probability that a pair at the threshold is found.

        That is, that it is compared and, where estimates decide, that its estimate reaches the threshold.
        """
        return self.plan.recall_at(threshold)

    def plan_dict(self) -> dict[str, Any]:
        """Return the plan, for summaries."""
        return self.plan.to_dict()

    def describe(self) -> str:
        """Say how candidates are found."""
        estimated = ", then an estimate" if self.plan.estimation_slots else ""
        return f"{band_counts(self.plan.bands, self.plan.rows)}{estimated}"
