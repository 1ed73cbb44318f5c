"""Pairs of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError
from ..wording import Brief, plural
from .arrays import Float64Array, Int64Array, native, whole

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs(Brief):
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

    Raises
    ------
    ParameterError
        If the columns are not integers and numbers of one length.
    """

    left: Int64Array
    right: Int64Array
    n_rows: int
    resemblance: Float64Array | None = field(default=None)
    distance: Int64Array | None = field(default=None)

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        known = {} if self.resemblance is None or not len(self.left) else {
            "resemblance": f"resemblance {self.resemblance.min():.4f} to {self.resemblance.max():.4f}"
        }  # fmt: skip
        return {"pairs": plural(len(self.left), "pair"), "documents": f"of {plural(self.n_rows, 'document')}"} | known

    def __post_init__(self) -> None:
        """Check types and lengths."""
        object.__setattr__(self, "n_rows", whole("n_rows", self.n_rows, 0))
        for name, kinds in (("left", "iu"), ("right", "iu"), ("resemblance", "iuf"), ("distance", "iu")):
            column = getattr(self, name)
            if column is None:
                continue
            column = np.asarray(column)
            if column.ndim != 1 or len(column) != np.size(self.left) or (column.size and column.dtype.kind not in kinds):
                raise ParameterError(
                    f"{name} must be {'numbers' if 'f' in kinds else 'integers'}, one for each of {np.size(self.left)} pairs; "
                    f"got {column.dtype} of shape {column.shape}"
                )
            object.__setattr__(self, name, native(column, np.float64 if "f" in kinds else np.int64))

    def check_rows(self, ordered: bool = False) -> None:
        """Raise ParameterError unless both sides are rows of the ``n_rows`` documents.

        Parameters
        ----------
        ordered : bool
            Also raise unless left < right.

        Raises
        ------
        ParameterError
            With the first pair that breaks the rule.
        """
        bad = (self.left < 0) | (self.right < 0) | (self.left >= self.n_rows) | (self.right >= self.n_rows)
        if ordered:
            bad |= self.left >= self.right
        if bad.any():
            at = int(np.argmax(bad))
            raise ParameterError(
                f"pairs must be of rows in 0..{self.n_rows - 1}{', left < right' if ordered else ''}; "
                f"pair {at} is ({self.left[at]}, {self.right[at]})"
            )

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
