"""The first step: read all documents once and keep what the later steps need of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputDataError
from ..io.sources import Batch, Columns
from ..kernels._threads import in_order
from ..kernels.hashing import digest_rows
from ..kernels.shingling import gather_rows
from ..text.html import extract_texts
from ..text.texts import Texts
from ..values import Int64Array, UInt32Array, UInt64Array
from .columns import Ids, collect_ids, collect_order, group_codes
from .settings import Settings

PIECE_BYTES = 1 << 20
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """What is known of each document, row after row; reference documents come first.

    Parameters
    ----------
    sources : list of Source
    source_starts : ndarray of int64, shape (n_sources + 1,)
        Row at which each source starts.
    n_reference : int
        Number of reference documents.
    ids : Ids
    chunks : list of Texts
        The texts, in pieces of several rows.
    chunk_starts : ndarray of int64, shape (n_chunks + 1,)
    sizes : ndarray of int64, shape (n,)
        Bytes of each text.
    empty : ndarray of bool, shape (n,)
    digests : ndarray of uint64, shape (n, 2)
        128 bits of each text's bytes.
    groups : ndarray of uint64, shape (n,)
        Only documents of equal groups are compared.
    keys : ndarray of uint64, shape (n, n_keys)
        Band keys, or fingerprints.
    slots : ndarray of uint32, shape (n, estimation_slots)
    order_values : ndarray or None
        What the keep policy orders by, where it names a column.
    """

    sources: list[Any]
    source_starts: Int64Array
    n_reference: int
    ids: Ids
    chunks: list[Texts]
    chunk_starts: Int64Array
    sizes: Int64Array
    empty: NDArray[np.bool_]
    digests: UInt64Array
    groups: UInt64Array
    keys: UInt64Array
    slots: UInt32Array
    order_values: NDArray[Any] | None

    def __len__(self) -> int:
        """Return the number of documents, reference documents included."""
        return len(self.sizes)

    @property
    def n_bytes(self) -> int:
        """Bytes of text in all documents."""
        return int(self.sizes.sum())

    def texts(self, rows: Int64Array) -> Texts:
        """Copy the texts of some rows together, in the order given."""
        offsets = np.concatenate([[0], np.cumsum(self.sizes[rows])])
        data = np.empty(offsets[-1], np.uint8)
        chunk = np.searchsorted(self.chunk_starts, rows, side="right") - 1
        by_chunk = np.argsort(chunk, kind="stable")
        bounds = np.flatnonzero(np.diff(chunk[by_chunk], prepend=-1))
        for begin, end in zip(bounds, np.append(bounds[1:], len(rows)), strict=True):
            places = by_chunk[begin:end]
            number = chunk[places[0]]
            texts = self.chunks[number]
            gather_rows(texts.data, texts.offsets, rows[places] - self.chunk_starts[number], offsets[places], data)
        return Texts(data, offsets)


@dataclass(frozen=True, slots=True, eq=False)
class _Sketched:
    digests: UInt64Array
    empty: NDArray[np.bool_]
    keys: UInt64Array
    slots: UInt32Array


def _check_encoding(source: Any, numbers: Int64Array, texts: Texts) -> None:
    """Refuse texts that are not UTF-8."""
    invalid = texts.find_invalid()
    if invalid is not None:
        raise InputDataError(
            f"{source.name}, row {numbers[invalid[0]]}: invalid UTF-8 at byte {invalid[1]} of the text; "
            "convert it, or pass --encoding-errors replace to go on"
        )


def _sketch(settings: Settings, piece: tuple[Any, Int64Array, Texts, UInt64Array]) -> _Sketched:
    """Digest, shingle and sketch some texts in a row."""
    source, numbers, texts, groups = piece
    if settings.encoding_errors == "strict":
        _check_encoding(source, numbers, texts)
    digests = np.empty((len(texts), 2), np.uint64)
    digest_rows(texts.data, texts.offsets, 0, len(texts), digests)
    values, offsets = settings.shingling.hashes(texts)
    keys, spare = settings.finder.keys(values, offsets, groups)
    return _Sketched(digests, np.diff(offsets) == 0, keys, spare)


def _pieces(
    batches: Iterator[tuple[Any, Batch]], settings: Settings, seen: _Seen
) -> Iterator[tuple[Any, Int64Array, Texts, UInt64Array]]:
    """Cut batches into pieces of about a megabyte, remembering what is not text."""
    for source, batch in batches:
        if settings.html:
            if settings.encoding_errors == "strict":
                _check_encoding(source, batch.numbers, batch.texts)
            batch = replace(batch, texts=extract_texts(batch.texts))
        groups = seen.take(batch)
        offsets = batch.texts.offsets
        begin = 0
        while begin < len(batch.texts):
            end = int(np.searchsorted(offsets, offsets[begin] + PIECE_BYTES, side="right")) - 1
            end = min(max(end, begin + 1), len(batch.texts))
            texts = Texts(batch.texts.data, offsets[begin : end + 1])
            yield source, batch.numbers[begin:end], texts, groups[begin:end]
            begin = end


class _Seen:
    """What is kept of the batches while they pass."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.chunks: list[Texts] = []
        self.numbers: list[Int64Array] = []
        self.ids: list[Any] = []
        self.order: list[Any] = []
        self.groups: list[UInt64Array] = []

    def take(self, batch: Batch) -> UInt64Array:
        """Remember a batch; return the group of each of its rows."""
        self.chunks.append(batch.texts)
        self.numbers.append(batch.numbers)
        self.ids.append(batch.ids)
        if self.settings.keep_column is not None:
            self.order.append(batch.others[self.settings.keep_column])
        if self.settings.within is not None:
            self.groups.append(group_codes(batch.others[self.settings.within]))
        else:
            self.groups.append(np.zeros(len(batch.texts), np.uint64))
        return self.groups[-1]


def read_documents(sources: list[Any], against: Sequence[Any], settings: Settings, progress: Progress) -> Documents:
    """Read and sketch all documents, reference documents first.

    Raises
    ------
    InputDataError
        If a row is not as expected; the message names file and row.
    """
    others = dict.fromkeys(c for c in (settings.keep_column, settings.within) if c is not None)
    reserved = ("keep", "duplicate_of", *settings.finder.added, "cluster") if settings.annotate else ()
    everything = [*against, *sources]
    seen = _Seen(settings)
    starts = [0]

    def batches() -> Iterator[tuple[Any, Batch]]:
        for number, source in enumerate(everything):
            columns = Columns(
                settings.text,
                settings.id,
                tuple(others),
                reserved if number >= len(against) else (),
                settings.encoding_errors,
            )
            rows = starts[-1]
            for batch in source.batches(columns):
                rows += len(batch.texts)
                yield source, batch
            starts.append(rows)

    parts: list[_Sketched] = []
    pieces = _pieces(batches(), settings, seen)
    for part in in_order(partial(_sketch, settings), pieces, settings.n_threads):
        parts.append(part)
        progress("sketching", len(part.empty))
    sizes = [np.diff(texts.offsets) for texts in seen.chunks]
    source_starts = np.array(starts, np.int64)
    return Documents(
        sources=everything,
        source_starts=source_starts,
        n_reference=int(source_starts[len(against)]),
        ids=collect_ids(seen.ids, _joined(seen.numbers, np.int64), everything, source_starts),
        chunks=seen.chunks,
        chunk_starts=np.cumsum([0, *map(len, sizes)]).astype(np.int64),
        sizes=_joined(sizes, np.int64),
        empty=_joined([p.empty for p in parts], np.bool_),
        digests=_joined([p.digests for p in parts], np.uint64, 2),
        groups=_joined(seen.groups, np.uint64),
        keys=_joined([p.keys for p in parts], np.uint64, settings.finder.n_keys),
        slots=_joined([p.slots for p in parts], np.uint32, 0),
        order_values=collect_order(seen.order, settings.keep_column) if settings.keep_column else None,
    )


def _joined(parts: list[Any], dtype: Any, *width: int) -> Any:
    """Join arrays, freeing each; none make an empty array of the right shape."""
    joined = np.concatenate(parts) if parts else np.empty((0, *width), dtype)
    parts.clear()
    return joined
