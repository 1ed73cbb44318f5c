"""Documents inside others: another document has enough of a sample of their shingles, measured by the share of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Rows, sample_rows
from ..hashing import derive
from ..theory import containment
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array
from ..values.arrow import to_arrow
from .method import CONTAINMENT, OVERLAP, Pieces, Sketched, rows_of_pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainmentMethod:
    """Share of a document's shingles that another one has; candidates have ``least`` of its ``sample`` sampled ones."""

    threshold: float
    sample: int
    least: int
    seed: int
    floor: float = 0.0  # the least resemblance of a match
    either: bool = False  # whether the score is the larger of both shares
    name: ClassVar[str] = "minhash"
    score: ClassVar[str] = "containment"
    meets: ClassVar[str] = "samples"
    radius: ClassVar[int] = 0
    n_codes: ClassVar[int] = 0
    n_estimates: ClassVar[int] = 0
    exact: ClassVar[bool] = True
    added: ClassVar[tuple[str, ...]] = ("containment",)

    @property
    def n_keys(self) -> int:
        """The sampled shingles."""
        return self.sample

    @property
    def salt(self) -> int:
        """What is mixed into the hashes that samples are drawn by."""
        return int(derive(self.seed, "containment", 1)[0])

    @property
    def wide(self) -> int:
        """The first shingles of a sample, so many that one of them is shared wherever enough are."""
        return self.sample - self.least + 1

    @property
    def needed(self) -> Int64Array:
        """How many sampled shingles must be shared, by their number."""
        return containment.least_shared(self.threshold, self.sample, self.least)

    @property
    def crowded_recall(self) -> Float64Array:
        """See the function of that name in ``theory.containment``."""
        return containment.crowded_recall(self.threshold, self.sample, self.least)

    def sketch(self, values: UInt64Array, offsets: Int64Array, groups: UInt64Array) -> Sketched:
        """Sample documents given by their shingle hashes; ``groups`` enter the keys where documents meet."""
        n, keys = len(offsets) - 1, sample_rows(values, offsets, self.salt, self.sample)
        return Sketched(keys, np.empty((n, 0), np.uint16), np.empty((n, 0), np.uint32))

    def comparable(self, pieces: Pieces) -> Rows:
        """Make shingle sets ready for exact comparison."""
        return rows_of_pieces(pieces, OVERLAP if self.either else CONTAINMENT, self.floor)

    def estimable(self, estimates: UInt32Array) -> Rows:
        """Refuse: nothing is kept for estimates."""
        raise NotImplementedError("containment is measured on the texts")

    def columns(self, score: Float64Array, distance: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the column that states containment, null where ``missing``."""
        return {"containment": to_arrow(score, missing)}

    def recall(self, threshold: float) -> float:
        """Return the probability that a pair of that containment is found."""
        return containment.sample_recall(threshold, self.sample, self.least)

    def plan_dict(self) -> dict[str, Any]:
        """Return the sample, for summaries."""
        return {"sample": self.sample, "least": self.least}

    def describe(self) -> str:
        """Say how candidates are found."""
        return f"{self.least} of {self.sample} sampled shingles"
