"""Crowded documents: linked by rare codes, couples of them, or rare shingles; and with which probability they are paired."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import core
from ..text.hashes import KeyedHashes
from ..text.shingle import Shingling
from ..text.texts import from_arrow_array
from ..theory.banding import crowded_recall
from ..values import Int64Array, UInt64Array, drop_repeats
from ..values.arrow import alone, to_arrow, to_numpy
from ..values.tables import CODE_PAIRS, PREFIXES, PREFIXES_AND_BITS, RARE_CODE_POSTINGS
from .batches import DIGEST_BYTES, Batches, as_words, batch_of, flags, gather, ints, longest
from .pairs import Nibbles, batches_of
from .totals import Total

MARKS = pa.schema([("order", pa.int64())])
VOUCHED = pa.schema({"order": pa.int64(), "recall": pa.float64()})
CODES = 1 << 16
ROWS_AT_A_TIME = 1 << 16
VOUCHED_AT_A_TIME = 1 << 12
SHARE = 4
CHOSEN, BUDGET, CODE_HEADS = 16, 384, 4
CELL_BITS = 22
AT_A_TIME = 1 << 15
TEXT_BYTES = 1 << 18  # of texts whose prefixes are chosen at a time: a shingle begins at every byte, and its row has 88
ROW_BYTES = 8 * len(PREFIXES_AND_BITS)
_SHIFT = 64 - CELL_BITS
_BITS = 256  # by which small sets are told apart
UInt16Array = NDArray[np.uint16]
_SCALE, _HALF = float(1 << 60), 30


def marks(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the orders of documents that are linked with themselves."""
    for batch in rows:
        left, right = (to_numpy(batch[name]) for name in ("left", "right"))
        yield pa.RecordBatch.from_arrays([to_arrow(left[left == right])], schema=MARKS)


def add_codes(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Count the codes of a batch: column code, 16 bits a slot."""
    core.count_codes(as_words(batch["code"], 2 * len(total), np.uint16), total)


def code_counts(slots: int) -> Total:
    """How many crowded documents have a code: int32 of shape (slots, 65536), 25 MB for 96 slots."""
    return Total(add_codes, (slots, CODES), dtype=np.int32)


def _some_codes(rows: Iterator[pa.RecordBatch], slots: int, most: int) -> Iterator[tuple[UInt16Array, pa.Array]]:
    """Yield the codes and the orders of at most so many documents at a time."""
    for batch in rows:
        codes = as_words(batch["code"], 2 * slots, np.uint16)
        for begin in range(0, len(codes), most):
            yield codes[begin : begin + most], batch["order"][begin : begin + most]


def choose_rare_codes(
    rows: Iterator[pa.RecordBatch], counts: NDArray[Any], chosen: int = CHOSEN, budget: int = BUDGET
) -> Iterator[pa.RecordBatch]:
    """Name the codes that each document holds: the ``chosen`` with the smallest counts of at least 2, ties by slot.

    Of these, in that order, those whose counts add up to at most ``budget`` are within its budget.
    """
    for codes, orders in _some_codes(rows, len(counts), ROWS_AT_A_TIME):
        *held, within = core.choose_codes(codes, to_numpy(orders), counts, chosen, budget)
        yield batch_of(RARE_CODE_POSTINGS, *held, within.view(np.bool_))


def pair_codes(
    rows: Iterator[pa.RecordBatch], counts: NDArray[Any], chosen: int = CHOSEN, budget: int = BUDGET, taken: int = 4
) -> Iterator[pa.RecordBatch]:
    """Name the couples of codes of each document: each two of the ``taken`` rarest that ``hold`` has not within the budget.

    They are taken as ``hold`` takes its own, of the codes that at most a quarter of the crowded documents have.
    """
    most = int(counts[:1].sum()) // SHARE  # each document has one code in the first slot
    for codes, orders in _some_codes(rows, len(counts), ROWS_AT_A_TIME):
        yield batch_of(CODE_PAIRS, *core.choose_couples(codes, to_numpy(orders), counts, chosen, budget, taken, most))


def link_rare_codes(
    rows: Iterator[pa.RecordBatch], boundary: int, heads: int = CODE_HEADS, budget: int = BUDGET, nibbles: Nibbles | None = None
) -> Iterator[pa.RecordBatch]:
    """Link each holder of a code with earlier ones: with all if the code is within its budget, else with the first ``heads``.

    Orders below ``boundary`` are references, which are not linked with each other.

    Notes
    -----
    Held: the first ``budget`` holders of the last code of a batch; no code within a budget has more.
    """
    links = core.HolderLinks(heads, boundary, max(budget, heads))
    if nibbles:
        links.compare(*nibbles)
    for batch in rows:
        links.add(ints(batch, "code"), ints(batch, "order"), to_numpy(batch["within_budget"]))
        yield from batches_of(links)


def estimate_recalls(
    rows: Iterator[pa.RecordBatch], counts: NDArray[Any], *, bands: int, threshold: float, max_bucket: int,
    chosen: int = CHOSEN, budget: int = BUDGET,
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    """State the probability for each document; see ``crowded_recall``. A document that is not crowded has its plan's recall.

    Notes
    -----
    A bucket is taken for a crowd if each code of its band is in more than ``max_bucket`` crowded documents. All crowds are such
    buckets, and some small ones, so that the result is never above that of the true crowds.
    """
    for codes, orders in _some_codes(rows, len(counts), VOUCHED_AT_A_TIME):
        own, crowded = (marked.view(np.bool_) for marked in core.mark_own(codes, counts, bands, chosen, budget, max_bucket))
        own = own.reshape(len(codes), bands, -1)
        yield batch_of(VOUCHED, orders, crowded_recall(own, crowded, threshold, chosen))


def add_recalls(total: NDArray[Any], batch: pa.RecordBatch, most: float, boundary: int) -> None:
    """Add a batch of VOUCHED."""
    own = to_numpy(batch["order"]) >= boundary
    scaled = (np.minimum(to_numpy(batch["recall"]), most)[own] * _SCALE).astype(np.int64)
    total += len(scaled), int((scaled >> _HALF).sum()), int((scaled & ((1 << _HALF) - 1)).sum())


def recall_sums(most: float, boundary: int) -> Total:
    """How many documents are vouched for, and the sum of their recalls in units of 2^-30 and 2^-60, the same in any order.

    No recall counts for more than ``most``; orders below ``boundary`` are references, which are left out.
    """
    return Total(partial(add_recalls, most=most, boundary=boundary), 3)


def sum_of_recalls(total: NDArray[Any]) -> float:
    """Return the sum of the recalls."""
    return ((int(total[1]) << _HALF) + int(total[2])) / (1 << 60)


def _add_shingles(total: NDArray[Any], batch: pa.RecordBatch, shingling: Shingling, key: bytes) -> None:
    """Count the shingles of a batch: columns text and, if the job has groups, within."""
    with alone(longest(batch)):
        for _, values, _ in _members(batch, shingling, key):
            count_members(values, total)
            del values  # not held while the next are made


def shingle_counts(shingling: Shingling, key: bytes) -> Total:
    """How many crowded documents have a shingle, or another one of its cell: int32 of 2^22 cells, 17 MB.

    Shingles are hashed under a secret key of 16 bytes: nobody can make one look as frequent as another.
    """
    return Total(partial(_add_shingles, shingling=shingling, key=key), 1 << CELL_BITS, dtype=np.int32)


def prefixes_schema(mean: float, threshold: float) -> pa.Schema:
    """Return the columns of prefixes: with bits if two unrelated documents of ``mean`` shingles would differ in too many."""
    differing = _BITS / 2 * -math.expm1(-4 * mean / _BITS)  # each of 2 mean shingles turns a bit
    return PREFIXES_AND_BITS if differing > (1 - threshold) / (1 + threshold) * 2 * mean else PREFIXES


def prefix(
    rows: Batches, counts: NDArray[Any], *, shingling: Shingling, key: bytes, threshold: float, schema: pa.Schema
) -> Batches:  # fmt: skip
    """Name the rarest shingles of each document: those by which it meets another that it matches."""
    for batch in rows:
        with alone(longest(batch)):
            for members in _members(batch, shingling, key):
                yield from prefixes_of(*members, counts, threshold, schema)
                del members  # not held while the next are made


def prefixes_of(
    orders: Int64Array, values: UInt64Array, offsets: Int64Array, counts: NDArray[Any], threshold: float, schema: pa.Schema
) -> Batches:  # fmt: skip
    """Yield the rarest members of some sets, rows of ``values`` without repeats, each of which is sorted."""
    chosen = core.Prefixes(values.view(np.int64), offsets, orders, counts, _SHIFT, threshold, schema == PREFIXES_AND_BITS)
    while len((columns := chosen.next(AT_A_TIME))[0]):
        yield batch_of(schema, *columns)


def count_members(values: UInt64Array, counts: NDArray[Any]) -> None:
    """Add members of sets to a table of ``shingle_counts``."""
    core.count_members(values, _SHIFT, counts)


def _members(batch: pa.RecordBatch, shingling: Shingling, key: bytes) -> Iterator[tuple[Int64Array, UInt64Array, Int64Array]]:
    """Yield (orders, hashes, offsets) of some documents at a time: of each the hashes of its shingles, each once."""
    if "empty" in batch.schema.names:
        batch = batch.filter(to_arrow(~flags(batch, "empty")))
    texts, orders = from_arrow_array(batch["text"]), ints(batch, "order")
    hashing = KeyedHashes(shingling, key)
    groups = as_words(batch["within"], DIGEST_BYTES, np.uint64)[:, 0] if "within" in batch.schema.names else None
    for begin, end in texts.cut(TEXT_BYTES):
        values, offsets = drop_repeats(*hashing.hashes(texts.slice(begin, end)))
        if groups is not None:  # other groups have other shingles
            values ^= np.repeat(groups[begin:end], np.diff(offsets))
        yield orders[begin:end], values, offsets


def prefix_links(rows: Batches, threshold: float, boundary: int, firsts: bool = False) -> Batches:
    """Link documents that share a rare shingle, and that no bound on what else they share tells apart; references not.

    ``firsts``: of documents with equal shingles, whose orders ascend, only the first is linked with later ones.
    """
    for piece in gather(rows, lambda batch: np.full(len(batch), ROW_BYTES), by="key"):
        keys, orders, *facts = (ints(piece, name) for name in piece.schema.names)
        links = core.PrefixLinks(keys, orders, facts, boundary, threshold, firsts)
        yield from batches_of(links)
