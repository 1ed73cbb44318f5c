"""Reference documents in memory, whole or cut into passages, and the rows of a corpus with their ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..files.workspace import Workspace
from ..formats.split import Batch, Columns
from ..inputs.ids import Ids, id_columns
from ..inputs.read import check_encoding, with_ids
from ..kernels import overlap as kernel
from ..kernels.hits import room_for
from ..kernels.scratch import spread
from ..text.shingle import Shingling
from ..text.texts import Texts, concatenate
from ..values import Float64Array, Int64Array, UInt64Array, drop_repeats

STEM = "rows"
LONG = 64  # passages that share a shingle and are gone through whatever else they have
MAX_ENTRIES = (1 << 31) - 1  # places in the inverted list have 32 bits


class Rows:
    """The rows of one corpus, in the order of reading: what their ids are made from.

    Parameters
    ----------
    most : int, optional
        Bytes of ids that are held in memory; then all go to the disk.
    """

    def __init__(self, sources: list[Any], columns: Columns, most: int = 1 << 60) -> None:
        self.sources = sources
        self._columns = columns
        self._parts = Workspace()
        self._most, self._n_bytes = most, 0
        self._skipped: list[Int64Array] = [np.empty(0, np.int64)]
        self.starts = [0]
        """The first row of each source, and the number of rows read so far."""

    def pieces(self) -> Iterator[tuple[int, Texts]]:
        """Read all rows; yield (first row, texts) of about ``PIECE_BYTES`` of text at a time."""
        row = 0
        for source in self.sources:
            for batch in source.batches(self._columns):
                if self._columns.encoding_errors == "strict":
                    check_encoding(source, batch.numbers, batch.texts)
                self._remember(source, batch, row)
                for begin, end in batch.texts.cut():
                    yield row + begin, batch.texts.slice(begin, end)
                row += len(batch.texts)
            source.check_unchanged()
            self.starts.append(row)

    @property
    def skipped(self) -> Int64Array:
        """The rows that are too large, whose texts are empty here."""
        return np.concatenate(self._skipped)

    def _remember(self, source: Any, batch: Batch, first: int) -> None:
        if batch.skipped is not None:
            self._skipped.append(first + np.flatnonzero(batch.skipped))
            batch = with_ids(source, batch)
        arrays: dict[str, NDArray[Any]] = {"numbers": batch.numbers}
        arrays |= id_columns(source.name, batch) if self._columns.id is not None else {}
        self._parts.append(STEM, arrays)
        self._n_bytes += sum(array.nbytes for array in arrays.values())
        if self._n_bytes > self._most and not self._parts.on_disk:
            self._parts.move_to_disk()

    def ids(self) -> Ids:
        """Return the ids of the rows read."""
        if not self._parts.numbered(STEM):
            bare = {"numbers": np.int64, "id_bytes": np.uint8, "id_sizes": np.int32, "id_texts": np.int64}
            self._parts.append(STEM, {name: np.empty(0, kind) for name, kind in bare.items()})
        names = self._parts.numbered(STEM)
        part_starts = np.cumsum([0, *(len(self._parts.get(name)["numbers"]) for name in names)])
        ids = Ids(self._parts, names, part_starts, self.sources, np.array(self.starts), self._columns.id is not None)
        ids.check(n_reference=0)
        return ids


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Passages of reference documents, as an inverted list of their shingles.

    Shingles that many passages have, of a template perhaps, are not gone through for passages that cannot match by these alone:
    a passage of s shingles matches where s times the threshold are common, or more, whatever the measure is.
    """

    sizes: Int64Array
    document: Int64Array
    start: Int64Array
    table: UInt64Array
    numbers: NDArray[np.int32]
    list_offsets: Int64Array
    lists: NDArray[np.int32]
    scanned: Int64Array
    hidden: Int64Array

    @classmethod
    def of(cls, values: UInt64Array, offsets: Int64Array, width: int | None, threshold: float = 0.0) -> Passages:
        """Cut rows of shingle hashes, in their order, into passages of ``width`` shingles, each half in the next.

        ``threshold``: the lowest that ``match`` is asked for.
        """
        length = np.diff(offsets)
        width = None if width is None else min(width, max(1, int(length.max(initial=1))))
        last = np.maximum(0, length - (length if width is None else width))
        step = max(1, (width or 0) // 2)
        counts = np.where(length > 0, -(-last // step) + 1, 0)
        document = np.repeat(np.arange(len(length)), counts)
        start = np.minimum(_within(counts) * step, last[document])
        size = length[document] if width is None else np.minimum(width, length[document])
        total = int(size.sum())
        if total > MAX_ENTRIES:
            raise ParameterError(
                f"the reference documents have {total:,} shingles (with passages, half of each passage counts twice); at most "
                f"{MAX_ENTRIES:,} fit: divide the reference documents, or use longer passages"
            )
        number = np.repeat(np.arange(len(size), dtype=np.int32), size)
        flat = values if width is None else values[np.repeat(offsets[document] + start, size) + _within(size)]
        table = np.zeros(1 << max(4, (2 * total).bit_length()), np.uint64)
        numbers, shingle = np.zeros(len(table), np.int32), np.empty(total, np.int32)
        distinct = kernel.fill_table(flat, spread(), table, numbers, shingle)
        del flat
        last, bounds, sizes = np.full(distinct, -1, np.int32), np.zeros(distinct + 1, np.int64), np.zeros(len(size), np.int64)
        kernel.count_lists(shingle, number, last, sizes, bounds[1:])
        np.cumsum(bounds, out=bounds)
        lists = np.empty(bounds[-1], np.int32)
        last.fill(-1)
        kernel.fill_lists(shingle, number, last, bounds[:-1].copy(), lists)
        return cls(sizes, document, start, table, numbers, bounds, lists, *_hide(bounds, lists, sizes, threshold))

    def match(self, values: UInt64Array, offsets: Int64Array, contained: bool, threshold: float) -> list[Any]:
        """Return (row, passage, common, distinct shingles of the row) of all matches."""
        values, offsets = drop_repeats(values, offsets)
        common, touched = np.zeros(len(self.sizes), np.int64), np.empty(len(self.sizes), np.int64)
        later = np.empty(int(np.diff(offsets).max(initial=1)), np.int64)
        lists = kernel.Passages(
            self.table, self.numbers, self.list_offsets, self.lists, self.scanned, self.hidden, self.sizes, spread()
        )
        found = room_for(len(self.sizes) + 4096)
        parts, row = [[np.empty(0, np.int64)] * 3], 0
        while row < len(offsets) - 1:
            row, count = kernel.match_rows(values, offsets, lists, contained, threshold, common, touched, later, row, found)
            parts.append([array[:count].copy() for array in found])
        rows, passages, both = (np.concatenate(column) for column in zip(*parts, strict=True))
        return [rows, passages, both, np.diff(offsets)[rows]]

    def best(
        self, rows: Int64Array, passages: Int64Array, both: Int64Array, n: Int64Array, measure: str
    ) -> tuple[Int64Array, Float64Array, Float64Array]:
        """Return (the places of the best passage of each pair of documents, best first; resemblances; containments)."""
        sizes = self.sizes[passages]
        resemblance, containment = both / (n + sizes - both), both / sizes
        score, other = (resemblance, containment) if measure == "resemblance" else (containment, resemblance)
        document = self.document[passages]
        order = np.lexsort((passages, -other, -score, document, rows))
        first = np.ones(len(order), np.bool_)
        first[1:] = (np.diff(rows[order]) != 0) | (np.diff(document[order]) != 0)
        order = order[first]
        return order[np.lexsort((document[order], -other[order], -score[order], rows[order]))], resemblance, containment


def _hide(bounds: Int64Array, lists: NDArray[np.int32], sizes: Int64Array, threshold: float) -> tuple[Int64Array, Int64Array]:
    """Put passages that cannot match by long lists alone to their ends; return (where these begin, shingles hidden there)."""
    length = np.diff(bounds)
    long = np.flatnonzero(length > LONG)
    scanned, owner = bounds[1:].copy(), np.repeat(long, length[long])
    places = np.repeat(bounds[long], length[long]) + _within(length[long])
    hidden = np.bincount(lists[places], minlength=len(sizes))
    hidden[hidden >= threshold * sizes * (1 - 1e-12)] = 0
    gone = hidden[lists[places]] > 0
    lists[places] = lists[places][np.lexsort((gone, owner))]
    scanned[long] -= np.bincount(owner[gone], minlength=len(length))[long]
    return scanned, hidden


def _within(counts: Int64Array) -> Int64Array:
    """Return 0, 1, ... up to each count, one run after the other."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


def count_tokens(shingling: Shingling, texts: Texts, n_shingles: Int64Array) -> Int64Array:
    """Return the number of tokens of each text; of texts with several shingles only that it exceeds the width."""
    assert shingling.width is not None
    tokens = np.where(n_shingles > 1, shingling.width + 1, n_shingles)
    single = np.flatnonzero(n_shingles == 1)
    if len(single) and shingling.width > 1:
        some = concatenate([texts.slice(row, row + 1) for row in single.tolist()])
        tokens[single] = np.diff(replace(shingling, width=1).hashes(some)[1])
    return tokens
