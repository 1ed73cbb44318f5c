"""The rare codes of a crowded document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import rare as kernel
from ..values.arrow import to_numpy
from ..values.tables import HOLDERS
from ._binary import words_of

ROWS_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Which codes a document holds.

    Parameters
    ----------
    slots : int in [1, 2^20)
        Codes of a document.
    chosen : int >= 1
        Codes that it holds at most: those with the smallest counts of at least 2, ties by slot.
    budget : int >= 0
        Of these, in that order, those whose counts add up to at most this are within its budget.
    """

    slots: int
    chosen: int = 16
    budget: int = 384


def hold(rows: Iterator[pa.RecordBatch], settings: Hold, counts: NDArray[Any]) -> Iterator[pa.RecordBatch]:
    """Name the codes that each document holds."""
    best = np.empty(settings.chosen, np.int64)
    for batch in rows:
        codes = words_of(batch["code"], 2 * settings.slots, np.uint16)
        orders = to_numpy(batch["order"])
        for begin in range(0, len(codes), ROWS_AT_A_TIME):
            some = codes[begin : begin + ROWS_AT_A_TIME]
            out = [np.empty(len(some) * settings.chosen, dtype) for dtype in (np.int64, np.int64, np.int64, np.bool_)]
            held = kernel.choose_codes(some, orders[begin:], counts, settings.budget, best, *out)
            yield pa.record_batch([column[:held] for column in out], schema=HOLDERS)
