"""Documents that may be inside others: which hold the sampled shingles of others, and which share enough of a sample."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import core
from ..methods.containment import ContainmentMethod
from ..text.shingle import Shingling
from ..text.texts import from_arrow_array
from ..theory.containment import looked_for
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import PROBES, SAMPLE_POSTINGS, SHARED_COUNTS
from .batches import DIGEST_BYTES, Batches, as_words, batch_of, flags, gather, ints
from .crowds import VOUCHED
from .pairs import HEADS, NO_CROWDS
from .totals import Total

KEY_BITS, ROW_BYTES = 63, 16
LEAST_BITS, MOST_BITS, BITS_OF_A_KEY = 16, 27, 16
AT_A_TIME = 1 << 18
WIDER = 4  # times as many earlier holders may have a wide shingle
_ONE = np.uint64(1)
CELL_BITS, PLACE_BITS = 22, 32
_ALL, _NOBODY = np.full(1, ~np.uint64(0)), NO_CROWDS


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
        core.mark_keys(keys.ravel().view(np.int64), total)


def map_bits(n_keys: int) -> int:
    """Return the bits that say which bit of their map is that of a shingle: 16 bits for each, up to 2^27, 17 MB, for all."""
    return max(min(max(BITS_OF_A_KEY * n_keys - 1, 1).bit_length(), MOST_BITS), LEAST_BITS)


def sampled_keys(n_keys: int, first: int) -> Total:
    """A map of the sampled shingles of orders from ``first`` on."""
    return Total(partial(_add_keys, first=first), 1 << (map_bits(n_keys) - 6), dtype=np.uint64, combine=np.bitwise_or)


def make_postings(rows: Batches, *, bits: NDArray[Any], method: ContainmentMethod, shingling: Shingling, first: int) -> Batches:
    """Name the documents that hold shingles which ``bits`` may have: columns order, empty, text and, perhaps, within."""
    sampling = method.salt, method.sample, method.wide, first, bits
    for whole in rows:
        batch = whole.filter(to_arrow(~flags(whole, "empty")))
        texts, orders, groups = from_arrow_array(batch["text"]), ints(batch, "order"), _groups(batch)
        for begin, end in texts.cut():
            values, offsets = shingling.hashes(texts.slice(begin, end))
            yield batch_of(
                SAMPLE_POSTINGS, *core.find_holders(values, offsets, groups[begin:end], orders[begin:end], *sampling)
            )


def _add_shingles(total: NDArray[Any], batch: pa.RecordBatch, method: ContainmentMethod, shingling: Shingling) -> None:
    """Count the shingles of a batch: columns order, empty, text and, perhaps, within."""
    for piece in make_postings(iter([batch]), bits=_ALL, method=method, shingling=shingling, first=_NOBODY):
        core.count_members(ints(piece, "key").view(np.uint64), KEY_BITS - CELL_BITS, total)


def shingle_counts(method: ContainmentMethod, shingling: Shingling) -> Total:
    """How many crowded documents have a shingle, or another one of its cell: int32 of 2^22 cells, 17 MB."""
    return Total(partial(_add_shingles, method=method, shingling=shingling), 1 << CELL_BITS, dtype=np.int32)


def rarest(
    rows: Batches, counts: NDArray[Any], *, method: ContainmentMethod, shingling: Shingling, max_bucket: int
) -> Batches:  # fmt: skip
    """Name the shingles by which crowded documents are looked for, of those that few of them have: see ``looked_for``."""
    for piece in make_postings(rows, bits=_ALL, method=method, shingling=shingling, first=_NOBODY):
        keys, holders = ints(piece, "key").copy(), ints(piece, "holder")
        if not len(keys):
            continue
        begins = np.flatnonzero(np.append(True, holders[1:] != holders[:-1]))
        sizes = np.diff(begins, append=len(keys))
        entries = core.rank_members(keys, np.append(begins, len(keys)), counts, KEY_BITS - CELL_BITS)
        few = np.add.reduceat(entries >> PLACE_BITS <= max_bucket, begins, dtype=np.int64)
        of, wanted = (np.repeat(each, sizes) for each in looked_for(method.threshold, method.sample, method.least, sizes, few))
        first = np.repeat(begins, sizes)
        chosen = np.zeros(len(keys), np.int64)
        chosen[(first + (entries & ((1 << PLACE_BITS) - 1)))[np.arange(len(keys)) - first < of]] = 1
        so_far = np.cumsum(chosen)
        some = (chosen == 1) & (so_far - (so_far - chosen)[first] <= wanted)
        yield batch_of(SAMPLE_POSTINGS, keys[some], holders[some] | 1)  # as one that is all of its sample


def _add_chosen(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    """Mark the shingles of a batch of SAMPLE_POSTINGS."""
    core.mark_keys(ints(batch, "key"), total)


def chosen_keys(n_keys: int) -> Total:
    """A map of the shingles that ``rarest`` names."""
    return Total(_add_chosen, 1 << (map_bits(n_keys) - 6), dtype=np.uint64, combine=np.bitwise_or)


def probe_postings(rows: Batches, *, max_bucket: int, boundary: int, both: bool) -> Batches:
    """Link each document with the earlier holders of the shingles of its sample; groups of ``key``, sorted by ``holder``.

    One with more than ``max_bucket`` earlier holders, ``WIDER`` times as many of a wide shingle, is linked with itself, the
    first references and the first others. With ``both``, it is linked with later holders, too, and if more than ``max_bucket``
    others have a shingle with itself alone. Orders below ``boundary`` are references, not linked with each other.
    """
    rule = max_bucket, max_bucket if both else WIDER * max_bucket, 0 if both else HEADS, boundary, both
    for piece in gather(rows, lambda batch: np.full(len(batch), ROW_BYTES), by="key"):
        keys, holders, at = ints(piece, "key"), ints(piece, "holder"), (0, 0, 0)
        while at[0] < len(keys):
            looking, held, at = core.link_holders(keys, holders, rule, at, AT_A_TIME)
            yield batch_of(PROBES, looking, held)


def count_shared(rows: Batches, *, needed: Int64Array) -> Batches:
    """Choose the pairs that share enough of a sample, ``needed`` by its size; groups of ``looking``, sorted by ``held``.

    A document of whose sample so many shingles tell nothing that pairs can be missed has a row with itself.
    """
    for piece in gather(rows, lambda batch: np.full(len(batch), ROW_BYTES), by="looking"):
        yield batch_of(SHARED_COUNTS, *core.count_shared(ints(piece, "looking"), ints(piece, "held"), needed))


def vouch_samples(rows: Iterator[pa.RecordBatch], method: ContainmentMethod) -> Iterator[pa.RecordBatch]:
    """State the probability for documents of whose sample too many shingles tell nothing; see ``theory.containment``."""
    known = method.crowded_recall
    for batch in rows:
        crowded: Int64Array = ints(batch, "crowded")
        there = crowded > 0
        yield batch_of(VOUCHED, ints(batch, "left")[there], known[ints(batch, "sampled")[there], crowded[there]])
