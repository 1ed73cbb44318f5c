"""The probability with which a crowded document is paired with a similar one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import rare as kernel
from ..theory.agreement import crowded_recall
from ..values.arrow import to_numpy
from ._binary import words_of
from .hold import Hold

ROWS_AT_A_TIME = 1 << 12
_SCALE, _HALF = float(1 << 60), 30
VOUCHED = pa.schema({"order": pa.int64(), "recall": pa.float64()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouch:
    """What the probability depends on.

    Parameters
    ----------
    threshold : float in (0, 1]
        Resemblance of the pair.
    hold : Hold
        With ``bands * rows`` slots.
    """

    bands: int
    rows: int
    threshold: float
    max_bucket: int
    hold: Hold


def vouch(rows: Iterator[pa.RecordBatch], settings: Vouch, counts: NDArray[Any]) -> Iterator[pa.RecordBatch]:
    """State the probability for each document; see ``crowded_recall``. A document that is not crowded has its plan's recall.

    Notes
    -----
    A bucket is taken for a crowd if each code of its band is in more than ``max_bucket`` crowded documents. All crowds are such
    buckets, and some small ones, so that the result is never above that of the true crowds.
    """
    best = np.empty(settings.hold.chosen, np.int64)
    for batch in rows:
        codes = words_of(batch["code"], 2 * settings.hold.slots, np.uint16)
        for begin in range(0, len(codes), ROWS_AT_A_TIME):
            some = codes[begin : begin + ROWS_AT_A_TIME]
            own = np.empty((len(some), settings.bands, settings.rows), np.bool_)
            crowded = np.empty((len(some), settings.bands), np.bool_)
            kernel.mark_own(some, counts, settings.hold.budget, settings.max_bucket, best, own, crowded)
            found = crowded_recall(own, crowded, settings.threshold, settings.hold.chosen)
            yield pa.record_batch([batch["order"][begin : begin + len(some)], found], schema=VOUCHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouched:
    """How many documents are vouched for, and the sum of their recalls in units of 2^-30 and 2^-60, the same in any order.

    Parameters
    ----------
    most : float
        No recall counts for more.
    boundary : int
        Orders below it are references, which are left out.
    """

    most: float
    boundary: int
    combine = cast(np.ufunc, np.add)

    def start(self) -> NDArray[Any]:
        """Return the sums of no documents."""
        return np.zeros(3, np.int64)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Add a batch of VOUCHED."""
        own = to_numpy(batch["order"]) >= self.boundary
        scaled = (np.minimum(to_numpy(batch["recall"]), self.most)[own] * _SCALE).astype(np.int64)
        total += len(scaled), int((scaled >> _HALF).sum()), int((scaled & ((1 << _HALF) - 1)).sum())

    @staticmethod
    def sum_of(total: NDArray[Any]) -> float:
        """Return the sum of the recalls."""
        return ((int(total[1]) << _HALF) + int(total[2])) / (1 << 60)
