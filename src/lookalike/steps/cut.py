"""Links become pairs: each once, and only those that can match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..kernels import cut as kernel
from ..values.arrow import to_numpy
from ..values.tables import PAIRS
from ._binary import row_starts
from .nibbles import packed_width

AT_A_TIME = 1 << 21
WITHIN_BYTES = 16
_NOTHING = kernel.Sides(*(np.empty(0, dtype) for _ in range(2) for dtype in (np.uint8, np.int64)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Which links fall.

    Parameters
    ----------
    slots : int >= 0
        Nibbles of a document.
    least : int >= 0
        A pair of whose nibbles fewer agree falls; 0: none does.
    boundary : int >= 0
        A pair of two orders below it, both references, falls.
    """

    slots: int
    least: int
    boundary: int


def cut(rows: Iterator[pa.RecordBatch], settings: Cut) -> Iterator[pa.RecordBatch]:
    """Drop marks, repeats, pairs of references, of different ``within``, and of too few nibbles that agree."""
    previous = np.full(2, -1, np.int64)
    for whole in rows:
        for begin in range(0, whole.num_rows, AT_A_TIME):
            batch = whole[begin : begin + AT_A_TIME]
            slots = settings.slots if settings.least and "left_code" in batch.schema.names else 0
            width = WITHIN_BYTES if "left_within" in batch.schema.names else 0
            left, right = (to_numpy(batch[name]) for name in ("left", "right"))
            out = np.empty((2, len(left)), np.int64)
            kept = kernel.cut_pairs(
                left, right, previous, _sides(batch, "code", packed_width(slots)), _sides(batch, "within", width),
                kernel.CutRule(slots, settings.least, width, settings.boundary), *out,
            )  # fmt: skip
            # Copied: a view would hold the links of the whole batch, of which few stay in a crowd.
            yield pa.record_batch([column[:kept].copy() for column in out], schema=PAIRS)


def _sides(batch: pa.RecordBatch, name: str, width: int) -> kernel.Sides:
    """Return the bytes of a column of both documents, of so many bytes a row; nothing if these are none."""
    if not width:
        return _NOTHING
    return kernel.Sides(*row_starts(batch[f"left_{name}"], width), *row_starts(batch[f"right_{name}"], width))
