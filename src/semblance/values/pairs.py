"""Pairs of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .arrays import Float64Array, Int64Array

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of rows, each once, in ascending order; ``left < right`` where both are rows of the same documents.

    Parameters
    ----------
    left, right : ndarray of int64, shape (n_pairs,)
    n_rows : int
        Number of documents the rows belong to.
    resemblance : ndarray of float64, shape (n_pairs,), optional
        Exact resemblance, where verified.
    distance : ndarray of int64, shape (n_pairs,), optional
        Hamming distance, where fingerprints were searched.
    """

    left: Int64Array
    right: Int64Array
    n_rows: int
    resemblance: Float64Array | None = field(default=None)
    distance: Int64Array | None = field(default=None)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.left)

    def to_arrow(self) -> pa.Table:
        """Return the pairs as an Arrow table ``left, right[, resemblance][, distance]``."""
        import pyarrow as pa

        columns: dict[str, Any] = {"left": self.left, "right": self.right}
        if self.resemblance is not None:
            columns["resemblance"] = self.resemblance
        if self.distance is not None:
            columns["distance"] = self.distance
        return pa.table(columns)
