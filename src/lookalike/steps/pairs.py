"""Candidate pairs: documents that share a band key, or have near fingerprints; each once, and only those that can match."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..core import BucketLinks, CrossLinks, cut_pairs, pack_nibbles
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import LINKS, PAIRS
from .batches import DIGEST_BYTES, Batches, as_words, batch_of, extend_batch, ints, row_starts, starts_of
from .totals import Total

CUT_AT_A_TIME = 1 << 21
AT_A_TIME = 1 << 18
HEADS = 8
NO_CROWDS = (1 << 63) - 1
Nibbles = tuple[UInt64Array, int, int]
"""What tells while links are made which ones will not be compared: rows of nibbles by order, slots, how many must agree."""
_Search = Callable[[UInt64Array], tuple[Int64Array, Int64Array, Int64Array, int]]
MEMBERS = pa.schema([("order", pa.int64())])
WORD_BYTES, NIBBLES_OF_WORD = 8, 16
_Sides = tuple[NDArray[np.uint8], Int64Array, NDArray[np.uint8], Int64Array]
_NOTHING: _Sides = (np.empty(0, np.uint8), np.empty(0, np.int64)) * 2


def batches_of(links: Any) -> Iterator[pa.RecordBatch]:
    """Yield the links that are to be had of ``BucketLinks``, ``HolderLinks``, ``CrossLinks`` or ``PrefixLinks``."""
    while len((found := links.next(AT_A_TIME))[0]):
        yield batch_of(LINKS, *found)


def at_most(links: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """Stop after so many links of two documents."""
    if limit is None:
        yield from links
        return
    while limit and (batch := next(links, None)) is not None:
        pairs = np.cumsum(to_numpy(batch["left"]) != to_numpy(batch["right"]))
        batch = batch[: int(np.searchsorted(pairs, limit)) + 1]
        limit -= int(pairs[batch.num_rows - 1])
        yield batch


def head_places(orders: Int64Array, heads: int, boundary: int) -> Int64Array:
    """Return where in a group its first references and its first others are."""
    references = int(np.searchsorted(orders, boundary))
    return np.concatenate([np.arange(min(heads, references)), np.arange(references, min(references + heads, len(orders)))])


def bucket(
    rows: Iterator[pa.RecordBatch], max_bucket: int | None, boundary: int, limit: int | None = None, heads: int = HEADS,
    nibbles: Nibbles | None = None,
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    """Link the members of each bucket; stop after ``limit`` links of two documents.

    A bucket with more than ``max_bucket`` members is a crowd, whose first ``heads`` references and first others are linked with
    all after them. Orders below ``boundary`` are references, which are not linked with each other.

    Notes
    -----
    A bucket of n small members yields n (n - 1) / 2 links; a crowd at most 2 ``heads`` + 1 a member. A batch has at most 2^18
    links. Held: the last bucket of a batch, of a crowd its heads.
    """
    return at_most(_all_links(rows, max_bucket, heads, boundary, nibbles), limit)


def _all_links(
    rows: Iterator[pa.RecordBatch], max_bucket: int | None, heads: int, boundary: int, nibbles: Nibbles | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the links of all buckets; None: none is a crowd."""
    links = BucketLinks(NO_CROWDS if max_bucket is None else max_bucket, heads, boundary)
    if nibbles:
        links.compare(*nibbles)
    for batch in rows:
        links.add(ints(batch, "key"), ints(batch, "order"))
        yield from batches_of(links)
    links.end()
    yield from batches_of(links)


def near(
    rows: Iterator[pa.RecordBatch], *, radius: int, bits: int, max_bucket: int | None, boundary: int,
    limit: int | None = None, heads: int = HEADS, threads: int = 1,
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    """Link documents whose fingerprints differ in at most ``radius`` bits; stop after ``limit`` links of two documents.

    More than ``max_bucket`` documents of one fingerprint are a crowd, of which the first ``heads`` references and the first
    others are linked with all after them in it and, for the whole crowd, with documents of other fingerprints.

    Notes
    -----
    Held of all documents: order, fingerprint and place, 24 bytes for 64 bits, and 16 for ``within``; of different fingerprints
    8 bytes more and those that ``near_pairs`` takes, and the pairs of fingerprints.
    """
    from ..search.self_join import equal_rows, near_pairs  # here, for jobs by fingerprints alone

    orders, words = _collected(rows)
    if not len(orders):
        return
    places, offsets = equal_rows(words)
    members, distinct = orders[places], words[places[offsets[:-1]]]
    most = None if boundary else limit  # pairs of references do not count
    search = partial(near_pairs, bits=bits, radius=radius, limit=most, threads=threads)
    numbers = np.repeat(np.arange(len(distinct)), np.diff(offsets))
    links = _all_links(
        iter([pa.record_batch({"key": to_arrow(numbers), "order": to_arrow(members)})]), max_bucket, heads, boundary
    )
    del numbers
    crowd = NO_CROWDS if max_bucket is None else max_bucket
    yield from at_most(chain(links, _crossings(members, offsets, distinct, crowd, heads, boundary, search)), limit)


def _collected(rows: Iterator[pa.RecordBatch]) -> tuple[Int64Array, UInt64Array]:
    """Return (orders, words that are compared) of all documents: the fingerprint, and ``within`` if it differs anywhere."""
    parts: list[tuple[Any, ...]] = [(np.empty(0, np.int64), np.empty((0, 1), np.uint64), np.empty((0, 2), np.uint64))]
    for batch in rows:
        if batch["keys"].null_count:
            batch = batch.filter(batch["keys"].is_valid())
        if n := batch.num_rows:
            keys = to_numpy(batch["keys"].flatten()).view(np.uint64).reshape(n, -1)
            grouped = "within" in batch.schema.names
            within = as_words(batch["within"], DIGEST_BYTES, np.uint64) if grouped else np.empty((n, 0), np.uint64)
            parts.append((to_numpy(batch["order"]), keys, within))
    orders, words, within = (np.concatenate(part) for part in zip(*(parts[1:] or parts), strict=True))
    return orders, np.column_stack([words, within]) if (within[1:] != within[:-1]).any() else words


def same_texts(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Link the first document of each text, and the first whose ``across`` differs from its, with all later ones of that text.

    Documents of equal digest come in the order of ``order``. Every document is so linked with one that is no later and has
    another value, if there is one.

    Notes
    -----
    Held: these two documents of the last text of a batch.
    """
    held = np.empty((0, 2), np.uint64), np.empty(0, np.int64), np.empty((0, 2), np.uint64)
    for batch in rows:
        new = batch.filter(pc.invert(batch["empty"]))
        texts, values = (as_words(new[name], DIGEST_BYTES, np.uint64) for name in ("digest", "across"))
        done = len(held[1])
        texts, orders, values = (
            np.concatenate(both) for both in zip(held, (texts, to_numpy(new["order"]), values), strict=True)
        )
        if not len(orders):
            continue
        begins, places = np.ones(len(orders), np.bool_), np.arange(len(orders))
        begins[1:] = (texts[1:] != texts[:-1]).any(1)
        group, firsts = np.cumsum(begins) - 1, np.flatnonzero(begins)
        first = firsts[group]
        others = np.flatnonzero(differ(values, values[first]) & (places > first))
        seconds = np.full(len(firsts), len(orders))
        seconds[group[others[::-1]]] = others[::-1]
        for head in (first, seconds[group]):
            later = np.flatnonzero((places > head) & (places >= done))
            yield batch_of(LINKS, orders[head[later]], orders[later])
        last = np.array([place for place in (firsts[-1], seconds[-1]) if place < len(orders)])
        held = texts[last], orders[last], values[last]


def _crossings(
    members: Int64Array, offsets: Int64Array, distinct: UInt64Array, crowd: int, heads: int, boundary: int, search: _Search
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    """Yield the links of documents of different fingerprints; those of more than ``crowd`` are represented by their heads."""
    speaks = np.ones(len(members), np.bool_)
    for group in np.flatnonzero(np.diff(offsets) > crowd).tolist():
        begin, end = offsets[group : group + 2].tolist()
        speaks[begin:end] = False
        speaks[begin + head_places(members[begin:end], heads, boundary)] = True
    offsets = np.concatenate([[0], np.cumsum(speaks)[offsets[1:] - 1]])
    left, right, _, _ = search(distinct)
    yield from batches_of(CrossLinks(members[speaks], offsets, left, right, boundary))


def packed_width(slots: int) -> int:
    """Return the bytes of so many nibbles: whole words."""
    return WORD_BYTES * -(-slots // NIBBLES_OF_WORD)


def nibbles_schema(codes: pa.Schema, slots: int) -> pa.Schema:
    """Return the columns that come of those of some documents, which have so many codes."""
    kind = pa.binary(packed_width(slots))
    return pa.schema([field.with_type(kind) if field.name == "code" else field for field in codes])


def pack_codes(rows: Batches, slots: int) -> Batches:
    """Pack the lowest four bits of each code of documents, two codes a byte: what the cut compares."""
    width = packed_width(slots)
    for batch in rows:
        out = pack_nibbles(as_words(batch["code"], 2 * slots, np.uint16))
        packed = pa.Array.from_buffers(pa.binary(width), len(out), [None, pa.py_buffer(out)])
        yield extend_batch(batch, {"code": packed}, nibbles_schema(batch.schema, slots))


def _add_nibbles(total: NDArray[Any], batch: pa.RecordBatch, slots: int) -> None:
    total[to_numpy(batch["order"])] += pack_nibbles(as_words(batch["code"], 2 * slots, np.uint16))


def nibbles_by_order(slots: int, n: int) -> Total:
    """Return what puts the nibbles of n documents in rows by order: uint64 of shape (n, words)."""
    return Total(partial(_add_nibbles, slots=slots), (n, packed_width(slots) // WORD_BYTES), dtype=np.uint64)


def cut(rows: Batches, slots: int, least: int, boundary: int) -> Batches:
    """Drop marks, repeats, pairs of two orders below ``boundary``, both references, pairs of different ``within``, and those
    of whose nibbles, ``slots`` of each document, fewer than ``least`` agree; 0: none of these.
    """
    before = -1, -1
    for whole in rows:
        for begin in range(0, whole.num_rows, CUT_AT_A_TIME):
            batch = whole[begin : begin + CUT_AT_A_TIME]
            compared = slots if least and "left_code" in batch.schema.names else 0
            width = DIGEST_BYTES if "left_within" in batch.schema.names else 0
            left, right = (to_numpy(batch[name]) for name in ("left", "right"))
            withins, codes = _sides(batch, "within", width), _sides(batch, "code", packed_width(compared))
            yield batch_of(PAIRS, *cut_pairs(left, right, before, boundary, withins, width, codes, compared, least))
            before = int(left[-1]), int(right[-1])


def _sides(batch: pa.RecordBatch, name: str, width: int) -> _Sides:
    """Return the bytes of a column of both documents, so many a row, and where each begins; nothing if these are none."""
    if not width:
        return _NOTHING
    return (*row_starts(batch[f"left_{name}"], width), *row_starts(batch[f"right_{name}"], width))


def differ(one: UInt64Array, other: UInt64Array) -> NDArray[np.bool_]:
    """Tell of each two digests of ``across``, rows of two words, whether the values differ; no value is equal to none."""
    return np.asarray((one != other).any(1) | ~one.any(1))


def across(rows: Batches) -> Batches:
    """Drop the pairs of documents with an equal value of ``across``."""
    for batch in rows:
        left, right = (as_words(batch[f"{side}_across"], DIGEST_BYTES, np.uint64) for side in ("left", "right"))
        yield batch.filter(to_arrow(differ(left, right)))


def sides(rows: Batches) -> Batches:
    """Give both documents of each pair a row."""
    for batch in rows:
        for side in ("left", "right"):
            yield batch_of(MEMBERS, ints(batch, side))


def distinct(rows: Batches) -> Batches:
    """Leave one row of each document."""
    before = None
    for batch in rows:
        if len(batch):
            orders = ints(batch, "order")
            yield batch_of(MEMBERS, orders[starts_of(orders, before)])
            before = int(orders[-1])


def each_once(rows: Batches) -> Batches:
    """Leave one of equal links."""
    before = (-1, -1)
    for batch in rows:
        if len(batch):
            left, right = ints(batch, "left"), ints(batch, "right")
            fresh = np.ones(len(left), np.bool_)
            fresh[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
            fresh[0] = (left[0], right[0]) != before
            before = (int(left[-1]), int(right[-1]))
            yield batch_of(LINKS, left[fresh], right[fresh])


def between(rows: Batches, begin: int, end: int) -> Batches:
    """Choose the pairs whose right document has an order from ``begin`` on, and below ``end``."""
    for batch in rows:
        right = to_numpy(batch["right"])
        yield batch.filter(to_arrow((right >= begin) & (right < end)))
