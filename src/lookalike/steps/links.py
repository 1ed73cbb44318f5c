"""Links: documents that share a band key, or whose fingerprints are within a Hamming radius."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..kernels import crowds as kernel
from ..kernels.banding import find_buckets
from ..search.self_join import equal_rows, near_pairs
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_numpy
from ..values.tables import LINKS
from .batches import DIGEST_BYTES, as_words, batch_of
from .pairs import differ

AT_A_TIME = 1 << 18
HEADS = 8
NO_CROWDS = (1 << 63) - 1
_NO_SHIFT = np.uint64(0)
_Search = Callable[[UInt64Array], tuple[Int64Array, Int64Array, Int64Array, int]]
Write = Callable[[Int64Array, Int64Array, Int64Array], int]


def written(total: int, write: Write, done: int = 0) -> Iterator[pa.RecordBatch]:
    """Yield ``total`` links, of which ``write(at, left, right)`` writes the next ones; the first group begins at ``done``."""
    at = np.array([0, done, 0], np.int64)
    while total:
        left, right = (np.empty(min(total, AT_A_TIME), np.int64) for _ in range(2))
        total -= write(at, left, right)
        yield batch_of(LINKS, left, right)


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


def rule_of(max_bucket: int | None, boundary: int, heads: int) -> kernel.BucketRule:
    """Return the rule as kernels take it: a bucket of more members is a crowd, and None has none; see ``bucket``."""
    return kernel.BucketRule(NO_CROWDS if max_bucket is None else max_bucket, heads, boundary)


class _Open:
    """The last bucket of a batch, to which the next batch may add; a crowd keeps its heads only."""

    def __init__(self, key: int, orders: Int64Array, rule: kernel.BucketRule) -> None:
        self.key, self.rule, self.orders, self.done = key, rule, orders.copy(), 0

    def extended(self, orders: Int64Array) -> Iterator[pa.RecordBatch]:
        """Add members; yield the links that no later member can change."""
        self.orders = np.concatenate([self.orders, orders])
        if len(self.orders) <= self.rule.most < NO_CROWDS:
            return
        yield from self.links()
        if self.rule.most < NO_CROWDS:
            self.rule = self.rule._replace(most=0)
            places = head_places(self.orders, self.rule.heads, self.rule.boundary)
            self.orders = self.orders[places]
        self.done = len(self.orders)

    def links(self) -> Iterator[pa.RecordBatch]:
        """Yield the links of the members that have not had theirs."""
        return bucket_links(self.orders, np.array([[0, len(self.orders)]]), self.rule, self.done)


def bucket_links(orders: Int64Array, bounds: Int64Array, rule: kernel.BucketRule, done: int = 0) -> Iterator[pa.RecordBatch]:
    """Yield the links of buckets, without those of the first ``done`` members of the first one."""
    total = kernel.count_bucket_links(orders, bounds, rule, done)
    return written(total, lambda at, left, right: kernel.bucket_links(orders, bounds, rule, at, left, right), done)


def bucket(
    rows: Iterator[pa.RecordBatch], max_bucket: int | None, boundary: int, limit: int | None = None, heads: int = HEADS
) -> Iterator[pa.RecordBatch]:
    """Link the members of each bucket; stop after ``limit`` links of two documents.

    A bucket with more than ``max_bucket`` members is a crowd, whose first ``heads`` references and first others are linked with
    all after them. Orders below ``boundary`` are references, which are not linked with each other.

    Notes
    -----
    A bucket of n small members yields n (n - 1) / 2 links; a crowd at most 2 ``heads`` + 1 a member. A batch has at most 2^18
    links. Held: the last bucket of a batch, of a crowd its heads.
    """
    return at_most(_all_links(rows, rule_of(max_bucket, boundary, heads)), limit)


def _all_links(rows: Iterator[pa.RecordBatch], rule: kernel.BucketRule) -> Iterator[pa.RecordBatch]:
    """Yield the links of all buckets."""
    last: _Open | None = None
    for batch in rows:
        if not batch.num_rows:
            continue
        keys, orders = (to_numpy(batch[name]) for name in ("key", "order"))
        if last is not None:
            more = kernel.equal_to(keys, last.key)
            if more:
                yield from last.extended(orders[:more])
                keys, orders = keys[more:], orders[more:]
            if not len(keys):
                continue
            yield from last.links()
        end = kernel.last_run(keys)
        bounds = np.empty((end // 2 + 1, 2), np.int64)
        bounds = bounds[: find_buckets(keys[:end].view(np.uint64), _NO_SHIFT, bounds)]
        yield from bucket_links(orders, bounds, rule)
        last = _Open(int(keys[end]), orders[end:], rule)
    if last is not None:
        yield from last.links()


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
    orders, words = _collected(rows)
    if not len(orders):
        return
    places, offsets = equal_rows(words)
    members, distinct = orders[places], words[places[offsets[:-1]]]
    bounds, rule = np.stack([offsets[:-1], offsets[1:]], 1), rule_of(max_bucket, boundary, heads)
    most = None if boundary else limit  # pairs of references do not count
    search = partial(near_pairs, bits=bits, radius=radius, limit=most, threads=threads)
    links = bucket_links(members, bounds[bounds[:, 1] - bounds[:, 0] > 1], rule)
    yield from at_most(chain(links, _crossings(members, bounds, distinct, rule, search)), limit)


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
    members: Int64Array, bounds: Int64Array, distinct: UInt64Array, rule: kernel.BucketRule, search: _Search
) -> Iterator[pa.RecordBatch]:
    """Yield the links of documents of different fingerprints; crowds are represented by their heads."""
    speaks = np.ones(len(members), np.bool_)
    for begin, end in bounds[bounds[:, 1] - bounds[:, 0] > rule.most].tolist():
        speaks[begin:end] = False
        speaks[begin + head_places(members[begin:end], rule.heads, rule.boundary)] = True
    offsets = np.concatenate([[0], np.cumsum(speaks)[bounds[:, 1] - 1]])
    members = members[speaks]
    left, right, _, _ = search(distinct)
    total = kernel.count_crossings(members, offsets, left, right, rule.boundary)
    yield from written(total, lambda at, a, b: kernel.crossings(members, offsets, left, right, rule.boundary, at, a, b))
