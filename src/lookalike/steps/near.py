"""Documents whose fingerprints are within a Hamming radius are linked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from ..kernels import crowds as kernel
from ..search.self_join import equal_rows, near_pairs
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_numpy
from ._binary import words_of
from ._links import at_most, head_places, written
from .bucket import Bucket, bucket_links


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """How documents of similar fingerprints are linked.

    Parameters
    ----------
    radius : int in [0, bits)
        Differing bits up to which two fingerprints are linked.
    max_bucket : int >= 1 or None
        More documents of one fingerprint are a crowd; None: none is, and every pair is linked.
    boundary : int >= 0
        Orders below it are references, which are not linked with each other.
    limit : int >= 0, optional
        Stop after this many links of two documents.
    heads : int >= 0
        References, and other documents, of a crowd that are linked with all after them in the crowd, and with documents of
        other fingerprints, for the whole crowd.
    """

    radius: int
    bits: int
    max_bucket: int | None
    boundary: int
    limit: int | None = None
    heads: int = 8
    threads: int = 1


def near(rows: Iterator[pa.RecordBatch], settings: Near) -> Iterator[pa.RecordBatch]:
    """Link documents within a Hamming radius.

    Notes
    -----
    Held of all documents: order, fingerprint and place, 24 bytes for 64 bits, and 16 for ``within``; of different fingerprints
    8 bytes more and those that ``near_pairs`` takes, and the pairs of fingerprints.
    """
    orders, words = _collected(rows)
    if len(orders):
        yield from at_most(_links(orders, words, settings), settings.limit)


def _collected(rows: Iterator[pa.RecordBatch]) -> tuple[Int64Array, UInt64Array]:
    """Return (orders, words that are compared) of all documents: the fingerprint, and ``within`` if it differs anywhere."""
    parts: list[tuple[Any, ...]] = [(np.empty(0, np.int64), np.empty((0, 1), np.uint64), np.empty((0, 2), np.uint64))]
    for batch in rows:
        if batch["keys"].null_count:
            batch = batch.filter(batch["keys"].is_valid())
        if n := batch.num_rows:
            keys = to_numpy(batch["keys"].flatten()).view(np.uint64).reshape(n, -1)
            grouped = "within" in batch.schema.names
            within = words_of(batch["within"], 16, np.uint64) if grouped else np.empty((n, 0), np.uint64)
            parts.append((to_numpy(batch["order"]), keys, within))
    orders, words, within = (np.concatenate(part) for part in zip(*(parts[1:] or parts), strict=True))
    return orders, np.column_stack([words, within]) if (within[1:] != within[:-1]).any() else words


def _links(orders: Int64Array, words: UInt64Array, settings: Near) -> Iterator[pa.RecordBatch]:
    """Yield the links of each fingerprint, then those of two."""
    places, offsets = equal_rows(words)
    members = orders[places]
    distinct = words[places[offsets[:-1]]]
    rule = Bucket(max_bucket=settings.max_bucket, boundary=settings.boundary, heads=settings.heads).rule
    bounds = np.stack([offsets[:-1], offsets[1:]], 1)
    return chain(
        bucket_links(members, bounds[bounds[:, 1] - bounds[:, 0] > 1], rule), _crossings(members, bounds, distinct, settings)
    )


def _crossings(members: Int64Array, bounds: Int64Array, distinct: UInt64Array, settings: Near) -> Iterator[pa.RecordBatch]:
    """Yield the links of documents of different fingerprints; crowds are represented by their heads."""
    speaks = np.ones(len(members), np.bool_)
    if settings.max_bucket is not None:
        for begin, end in bounds[bounds[:, 1] - bounds[:, 0] > settings.max_bucket].tolist():
            speaks[begin:end] = False
            speaks[begin + head_places(members[begin:end], settings.heads, settings.boundary)] = True
    offsets = np.concatenate([[0], np.cumsum(speaks)[bounds[:, 1] - 1]])
    members = members[speaks]
    limit = None if settings.boundary else settings.limit  # pairs of references do not count
    left, right, _, _ = near_pairs(distinct, settings.bits, settings.radius, limit=limit, threads=settings.threads)
    total = kernel.count_crossings(members, offsets, left, right, settings.boundary)
    yield from written(total, lambda at, a, b: kernel.crossings(members, offsets, left, right, settings.boundary, at, a, b))
