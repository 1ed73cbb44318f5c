"""Documents that may be inside others: which hold the sampled shingles of others, and which share enough of a sample."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import containment as kernel
from ..kernels.banding import find_buckets
from ..kernels.scratch import scratch
from ..methods.containment import ContainmentMethod
from ..text.shingle import Shingling
from ..text.texts import from_arrow_array
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import HOLDING, LOOKING, SHARED
from .batches import DIGEST_BYTES, Batches, as_words, batch_of, flags, gather, ints
from .crowds import VOUCHED
from .links import HEADS, NO_CROWDS
from .totals import Total

KEY_BITS, ROW_BYTES = 63, 16
LEAST_BITS, MOST_BITS, BITS_OF_A_KEY = 16, 27, 16
AT_A_TIME = 1 << 18
WIDER = 4  # times as many earlier holders may have a wide shingle
_ONE = np.uint64(1)


def _groups(batch: pa.RecordBatch) -> UInt64Array:
    """Return what enters the keys of documents, so that other groups have other keys."""
    if "within" not in batch.schema.names:
        return np.zeros(len(batch), np.uint64)
    return as_words(batch["within"], DIGEST_BYTES, np.uint64)[:, 0] >> _ONE


def _add_keys(total: NDArray[Any], batch: pa.RecordBatch, first: int) -> None:
    """Mark the sampled shingles of a batch: columns order, keys and, if the job has groups, within."""
    batch = batch.filter(pa.compute.and_(batch["keys"].is_valid(), to_arrow(ints(batch, "order") >= first)))
    if len(batch):
        keys = to_numpy(batch["keys"].flatten()).view(np.uint64).reshape(len(batch), -1) ^ _groups(batch)[:, None]
        kernel.mark_keys(keys.ravel(), np.uint64(KEY_BITS - (64 * len(total) - 1).bit_length()), total)


def map_bits(n_keys: int) -> int:
    """Return the bits that say which bit of their map is that of a shingle: 16 bits for each, up to 2^27, 17 MB, for all."""
    return max(min(max(BITS_OF_A_KEY * n_keys - 1, 1).bit_length(), MOST_BITS), LEAST_BITS)


def sampled_keys(n_keys: int, first: int) -> Total:
    """A map of the sampled shingles of orders from ``first`` on."""
    return Total(partial(_add_keys, first=first), 1 << (map_bits(n_keys) - 6), dtype=np.uint64, combine=np.bitwise_or)


def hold(rows: Batches, *, bits: NDArray[Any], method: ContainmentMethod, shingling: Shingling, first: int) -> Batches:
    """Name the documents that hold shingles which ``bits`` may have: columns order, empty, text and, perhaps, within."""
    shift = np.uint64(KEY_BITS - (64 * len(bits) - 1).bit_length())
    how = kernel.Sampling(method.salt, method.sample, method.wide, first, shift, bits)
    for whole in rows:
        batch = whole.filter(to_arrow(~flags(whole, "empty")))
        texts, orders, groups = from_arrow_array(batch["text"]), ints(batch, "order"), _groups(batch)
        for begin, end in texts.cut():
            values, offsets = shingling.hashes(texts.slice(begin, end))
            hits = scratch("hits", int(np.diff(offsets).max(initial=0)), np.int64)
            keys, holders = (np.empty(len(values), np.int64) for _ in range(2))
            some = slice(begin, end)
            count = kernel.find_holders(values, offsets, groups[some], orders[some], how, hits, keys, holders)
            yield batch_of(HOLDING, keys[:count].copy(), holders[:count].copy())


def look(rows: Batches, *, max_bucket: int, boundary: int, both: bool) -> Batches:
    """Link each document with the earlier holders of the shingles of its sample; groups of ``key``, sorted by ``holder``.

    One with more than ``max_bucket`` earlier holders, ``WIDER`` times as many of a wide shingle, is linked with itself, the
    first references and the first others. With ``both``, it is linked with later holders, too, and with all of a wide shingle,
    so that nothing is lost. Orders below ``boundary`` are references, not linked with each other.
    """
    rule = kernel.CrowdRule(max_bucket, NO_CROWDS if both else WIDER * max_bucket, 0 if both else HEADS, boundary, both)
    for piece in gather(rows, lambda batch: np.full(len(batch), ROW_BYTES), by="key"):
        keys, holders, at = ints(piece, "key"), ints(piece, "holder"), np.zeros(3, np.int64)
        bounds = np.empty((len(keys) // 2 + 1, 2), np.int64)
        bounds = bounds[: find_buckets(keys.view(np.uint64), np.uint64(0), bounds)]
        while at[0] < len(bounds):
            looking, held = (np.empty(AT_A_TIME, np.int64) for _ in range(2))
            count = kernel.link_holders(holders, bounds, rule, at, looking, held)
            yield batch_of(LOOKING, looking[:count], held[:count])


def share(rows: Batches, *, method: ContainmentMethod) -> Batches:
    """Choose the pairs that share enough of a sample; groups of ``looking``, sorted by ``held``.

    A document of whose sample so many shingles tell nothing that pairs can be missed has a row with itself.
    """
    for piece in gather(rows, lambda batch: np.full(len(batch), ROW_BYTES), by="looking"):
        out = [np.empty(len(piece), np.int64) for _ in SHARED]
        count = kernel.count_shared(ints(piece, "looking"), ints(piece, "held"), method.needed, *out)
        yield batch_of(SHARED, *(column[:count].copy() for column in out))


def vouch_samples(rows: Iterator[pa.RecordBatch], method: ContainmentMethod) -> Iterator[pa.RecordBatch]:
    """State the probability for documents of whose sample too many shingles tell nothing; see ``theory.containment``."""
    known = method.crowded_recall
    for batch in rows:
        crowded: Int64Array = ints(batch, "crowded")
        there = crowded > 0
        yield batch_of(VOUCHED, ints(batch, "left")[there], known[ints(batch, "sampled")[there], crowded[there]])
