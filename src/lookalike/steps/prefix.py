"""Crowded documents that can match are linked: they share one of their rarest shingles, and a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import filters as kernel
from ..kernels.banding import find_buckets
from ..text.hashes import KeyedHashes
from ..text.shingle import Shingling
from ..text.texts import from_arrow_array
from ..values import Int64Array, UInt64Array, drop_repeats
from ..values.arrow import to_numpy
from ..values.tables import LINKS, PREFIXES
from .batches import DIGEST_BYTES, Batches, as_words, gather, ints
from .totals import Total

CELL_BITS = 22
AT_A_TIME = 1 << 15
ROW_BYTES = 8 * len(PREFIXES)
_BEFORE = [name for name in PREFIXES.names if name.startswith("before")]
_SHIFT = np.uint64(64 - CELL_BITS)
_NO_SHIFT = np.uint64(0)


def _add_shingles(total: NDArray[Any], batch: pa.RecordBatch, shingling: Shingling, key: bytes) -> None:
    """Count the shingles of a batch: columns text and, if the job has groups, within."""
    for _, values, _ in _members(batch, shingling, key):
        kernel.count_members(values, _SHIFT, total)


def shingle_counts(shingling: Shingling, key: bytes) -> Total:
    """How many crowded documents have a shingle, or another one of its cell: int32 of 2^22 cells, 17 MB.

    Shingles are hashed under a secret key of 16 bytes: nobody can make one look as frequent as another.
    """
    return Total(partial(_add_shingles, shingling=shingling, key=key), 1 << CELL_BITS, dtype=np.int32)


def prefix(rows: Batches, counts: NDArray[Any], *, shingling: Shingling, key: bytes, threshold: float) -> Batches:
    """Name the rarest shingles of each document: those by which it can meet another that it matches."""
    for batch in rows:
        for orders, values, offsets in _members(batch, shingling, key):
            entries, *out = (np.empty(len(values), np.int64) for _ in range(5))
            before = np.empty((len(values), len(_BEFORE)), np.int64)
            hashes = values.view(np.int64)
            chosen = kernel.choose_prefixes(hashes, offsets, orders, counts, _SHIFT, threshold, entries, *out, before)
            yield pa.record_batch([column[:chosen].copy() for column in (*out, *before.T)], schema=PREFIXES)


def _members(batch: pa.RecordBatch, shingling: Shingling, key: bytes) -> Iterator[tuple[Int64Array, UInt64Array, Int64Array]]:
    """Yield (orders, hashes, offsets) of some documents at a time: of each the hashes of its shingles, each once."""
    texts, orders = from_arrow_array(batch["text"]), ints(batch, "order")
    hashing = KeyedHashes(shingling, key)
    groups = as_words(batch["within"], DIGEST_BYTES, np.uint64)[:, 0] if "within" in batch.schema.names else None
    for begin, end in texts.cut():
        values, offsets = drop_repeats(*hashing.hashes(texts.slice(begin, end)))
        if groups is not None:  # other groups have other shingles
            values ^= np.repeat(groups[begin:end], np.diff(offsets))
        yield orders[begin:end], values, offsets


def prefix_links(rows: Batches, threshold: float, boundary: int) -> Batches:
    """Link documents that share a rare shingle, and that no bound on what else they share tells apart; references not."""
    for piece in gather(rows, lambda batch: np.full(len(batch), ROW_BYTES), by="key"):
        before = np.stack([ints(piece, name) for name in _BEFORE], 1)
        members = kernel.Prefixes(ints(piece, "order"), ints(piece, "size"), ints(piece, "place"), before)
        keys, at = ints(piece, "key"), np.zeros(3, np.int64)
        bounds = np.empty((len(keys) // 2 + 1, 2), np.int64)
        bounds = bounds[: find_buckets(keys.view(np.uint64), _NO_SHIFT, bounds)]
        while at[0] < len(bounds):
            left, right = (np.empty(AT_A_TIME, np.int64) for _ in range(2))
            count = kernel.prefix_links(members, bounds, boundary, threshold, at, left, right)
            yield pa.record_batch([left[:count], right[:count]], schema=LINKS)


def sharing(rows: Batches) -> Batches:
    """Keep the links of documents that share a bucket."""
    for batch in rows:
        left, right = (to_numpy(batch[f"{side}_keys"].flatten()) for side in ("left", "right"))
        together = (left == right).reshape(len(batch), -1).any(1) if len(batch) else np.empty(0, np.bool_)
        yield batch.select(LINKS.names).filter(pa.array(together))
