"""Crowded documents: linked by rare codes and couples of them, and with which probability they are paired."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import rare as kernel
from ..kernels.banding import find_buckets
from ..kernels.crowds import equal_to, last_run
from ..theory.agreement import crowded_recall
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import COUPLES, HOLDERS
from .batches import words_of
from .links import written

MARKS = pa.schema([("order", pa.int64())])
VOUCHED = pa.schema({"order": pa.int64(), "recall": pa.float64()})
CODES = 1 << 16
ROWS_AT_A_TIME = 1 << 16
VOUCHED_AT_A_TIME = 1 << 12
SHARE = 4
_NO_SHIFT = np.uint64(0)
_SCALE, _HALF = float(1 << 60), 30


def marks(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the orders of documents that are linked with themselves."""
    for batch in rows:
        left, right = (to_numpy(batch[name]) for name in ("left", "right"))
        yield pa.RecordBatch.from_arrays([to_arrow(left[left == right])], schema=MARKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A table of counts, int32 of shape (slots, 65536), added up over documents: 25 MB for 96 slots.

    Parameters
    ----------
    slots : int >= 1
        Codes of a document.
    """

    slots: int
    combine = cast(np.ufunc, np.add)  # the name alone, so that it is no parameter

    def start(self) -> NDArray[Any]:
        """Return the table of no documents."""
        return np.zeros((self.slots, CODES), np.int32)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count the codes of a batch: column code, 16 bits a slot."""
        kernel.count_codes(words_of(batch["code"], 2 * self.slots, np.uint16), total)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rare:
    """How the holders of a code are linked.

    Parameters
    ----------
    boundary : int >= 0
        Orders below it are references, which are not linked with each other.
    heads : int >= 0
        First holders, with which those are linked that the code is beyond the budget of.
    budget : int >= 0
        No code within a budget has more holders.
    """

    boundary: int
    heads: int = 4
    budget: int = 384


def rare(rows: Iterator[pa.RecordBatch], settings: Rare) -> Iterator[pa.RecordBatch]:
    """Link each holder of a code with earlier ones: with all if the code is within its budget, else with the first.

    Notes
    -----
    Held: the first ``budget`` holders of the last code of a batch.
    """
    code, first = -1, np.empty(0, np.int64)
    for batch in rows:
        if not batch.num_rows:
            continue
        codes, orders = (to_numpy(batch[name]) for name in ("code", "order"))
        within = to_numpy(batch["within_budget"])
        more = equal_to(codes, code)
        if more:
            known = len(first)
            first = np.concatenate([first, orders[:more]])
            flags = np.concatenate([np.zeros(known, np.bool_), within[:more]])
            yield from _holder_links(first, flags, np.array([[0, len(first)]]), settings, known)
        if more < len(codes):
            codes, orders, within = codes[more:], orders[more:], within[more:]
            bounds = np.empty((len(codes) // 2 + 1, 2), np.int64)
            bounds = bounds[: find_buckets(codes.view(np.uint64), _NO_SHIFT, bounds)]
            yield from _holder_links(orders, within, bounds, settings)
            code, first = int(codes[-1]), orders[last_run(codes) :]
        first = first[: max(settings.budget, settings.heads)].copy()


def _holder_links(
    orders: Int64Array, within: NDArray[np.bool_], bounds: Int64Array, settings: Rare, done: int = 0
) -> Iterator[pa.RecordBatch]:
    """Yield the links of the holders of some codes, without those of the first ``done`` holders of the first code."""
    heads, boundary = settings.heads, settings.boundary
    total = kernel.count_holder_links(orders, within, bounds, heads, boundary, done)
    return written(
        total, lambda at, left, right: kernel.holder_links(orders, within, bounds, heads, boundary, at, left, right), done
    )


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
        for begin in range(0, len(codes), VOUCHED_AT_A_TIME):
            some = codes[begin : begin + VOUCHED_AT_A_TIME]
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
