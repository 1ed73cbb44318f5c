"""The couples of codes of a crowded document: of those that are beyond its budget and still tell it from most others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import rare as kernel
from ..values.arrow import to_numpy
from ..values.tables import COUPLES
from ._binary import words_of
from .hold import Hold

ROWS_AT_A_TIME = 1 << 16
SHARE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Couple:
    """Which couples of codes a document has.

    Parameters
    ----------
    hold : Hold
        Codes within the budget that it states enter no couple.
    taken : int >= 0
        Codes after these that make couples, each with each: those with the smallest counts of at least 2, ties by slot, which
        at most a quarter of the crowded documents have.
    """

    hold: Hold
    taken: int = 4


def couple(rows: Iterator[pa.RecordBatch], settings: Couple, counts: NDArray[Any]) -> Iterator[pa.RecordBatch]:
    """Name the couples of codes of each document."""
    holding, taken = settings.hold, settings.taken
    best = np.empty(holding.chosen + taken, np.int64)
    most = int(counts[:1].sum()) // SHARE  # each document has one code in the first slot
    for batch in rows:
        codes = words_of(batch["code"], 2 * holding.slots, np.uint16)
        orders = to_numpy(batch["order"])
        for begin in range(0, len(codes), ROWS_AT_A_TIME):
            some = codes[begin : begin + ROWS_AT_A_TIME]
            out = [np.empty(len(some) * (taken * (taken - 1) // 2), np.int64) for _ in range(2)]
            found = kernel.choose_couples(some, orders[begin:], counts, holding.chosen, holding.budget, most, best, *out)
            yield pa.record_batch([column[:found] for column in out], schema=COUPLES)
