"""All near-duplicates, for certain: pairs are found by the rare shingles that they share (``native/filters.cpp``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Rows
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array
from ..values.arrow import to_arrow
from .method import Pieces, Sketched, rows_of_pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class AllPairsMethod:
    """Resemblance of shingle sets; all pairs that reach ``threshold`` are candidates."""

    threshold: float
    name: ClassVar[str] = "minhash"
    score: ClassVar[str] = "resemblance"
    meets: ClassVar[str] = "prefixes"
    radius: ClassVar[int] = 0
    n_keys: ClassVar[int] = 1
    n_codes: ClassVar[int] = 0
    n_estimates: ClassVar[int] = 0
    exact: ClassVar[bool] = True
    added: ClassVar[tuple[str, ...]] = ("resemblance",)

    def sketch(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> Sketched:
        """Count the shingles of documents, with repeats: nothing else is known of them before all are counted."""
        n = len(offsets) - 1
        keys = np.diff(offsets).astype(np.uint64)[:, None]
        return Sketched(keys, np.empty((n, 0), np.uint16), np.empty((n, 0), np.uint32))

    def comparable(self, pieces: Pieces) -> Rows:
        """Make shingle sets ready for exact comparison."""
        return rows_of_pieces(pieces)

    def estimable(self, estimates: UInt32Array) -> Rows:
        """Refuse: nothing is kept for estimates."""
        raise NotImplementedError("recall 1 is of measured resemblances")

    def columns(self, score: Float64Array, distance: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the column that states resemblance, null where ``missing``."""
        return {"resemblance": to_arrow(score, missing)}

    def recall(self, threshold: float) -> float:
        """Return 1 for pairs that are all looked for, 0 for those below the threshold."""
        return 1.0 if threshold >= self.threshold else 0.0

    def plan_dict(self) -> dict[str, Any]:
        """Return no plan: nothing is left to chance."""
        return {}

    def describe(self) -> str:
        """Say how candidates are found."""
        return "all pairs, by shared rare shingles"
