"""How rows of equal keys meet in the local engine, and get their place in keep order: by sorting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...core import KeyGroups, digest_documents
from ...files.secrets import new_secret
from ...hashing import digest_secret
from ...values import Int64Array, UInt64Array
from ...values.arrays import number_type, places_of
from ...values.arrow import to_arrow, to_numpy
from ..engine import Batches
from ..progress import Share, WorkProgress
from .columns import BAND, column_of
from .tables import LazyTable, Piece, Stored, one_piece

MEMBERS = 1 << 20  # rows of a batch, about
_LOW32 = np.uint64((1 << 32) - 1)
LAST = np.iinfo(np.int64).max
FEW = 1 << 12  # rows that are sorted sooner than a thread is started


def portions(sizes: Int64Array) -> Iterator[tuple[int, int]]:
    """Cut groups of such sizes into runs of about so many rows."""
    if not len(sizes):
        return
    before = np.cumsum(sizes) - sizes
    starts = np.flatnonzero(np.diff(before // MEMBERS, prepend=-1)).tolist()
    yield from zip(starts, [*starts[1:], len(sizes)], strict=True)


def by_list(rows: Stored, by: str, threads: int, share: Share | None = None) -> LazyTable:
    """Bring documents of an equal element of a list together; those that are alone with it are left out."""
    schema = pa.schema([pa.field("key", pa.int64()), pa.field("order", pa.int64())])
    width = rows.schema.field(by).type.list_size

    def pieces(mark: int) -> Iterator[Piece]:
        chosen = _Chosen(rows, ~rows.column(f"{by}.missing"))
        counted = WorkProgress(share, "links", width - mark, "bands", threads)
        for band in range(mark, width if len(chosen.orders) > 1 else 0):
            counted.add(1)
            yield Piece(partial(_equal_keys, schema, rows, by, chosen, band), band + 1)
        counted.end()

    return LazyTable(schema, pieces, threads if len(rows) > FEW else 1)


class _Chosen:
    """Rows that have a value (``there``) and are not left out: their orders, ascending, and each row's place among these."""

    def __init__(self, rows: Stored, there: NDArray[np.bool_]) -> None:
        if rows.mask is not None:
            there &= rows.mask
        self._there = there
        self._place: NDArray[Any] | None = None
        if rows.place is None:
            self.orders = places_of(there)
            return
        ordered = np.empty(len(there), np.bool_)
        ordered[rows.place] = there
        self.orders = places_of(ordered)
        places = np.cumsum(ordered, dtype=self.orders.dtype)
        places -= 1  # of the first one, if it is not chosen, this is no place; it is not asked for
        self._place = places[rows.place]

    def put(self, first: int, values: NDArray[Any], out: NDArray[Any], done: int) -> int:
        """Put the values of rows from ``first`` on in their places, after those of ``done`` rows; return how many are done."""
        there = self._there[first : first + len(values)]
        some = values[there]
        ended = done + len(some)
        out[slice(done, ended) if self._place is None else self._place[first : first + len(values)][there]] = some
        return ended


def _equal_keys(schema: pa.Schema, rows: Stored, by: str, chosen: _Chosen, band: int) -> Batches:
    """Sort one key of the chosen documents; make batches of those that share theirs."""
    keys, done = np.empty(len(chosen.orders), np.uint64), 0
    for first, (part,) in rows.columns(BAND.format(by, band)):
        done = chosen.put(first, part.view(np.uint64), keys, done)
    groups = KeyGroups(keys)
    while len(places := groups.next(MEMBERS)):
        orders = chosen.orders[places].astype(np.int64)
        yield pa.RecordBatch.from_arrays([to_arrow(keys[places].view(np.int64)), to_arrow(orders)], schema=schema)


def by_bytes(rows: Stored, by: str, sort: str, memory: int, threads: int) -> LazyTable:
    """Bring rows of equal bytes together, in as many passes as fit so many bytes; those that are alone are left out.

    Bytes of more than 128 bits are told apart by a keyed digest, with a secret of this meeting alone.
    """
    secret = digest_secret(new_secret(), by)

    def pieces(mark: int) -> Iterator[Piece]:
        passes = max(1, -(-64 * len(rows) // memory))
        for number in range(passes):  # no marks: how many passes there are depends on the memory
            yield Piece(partial(_equal_bytes, rows, by, sort, (number, passes), secret))

    return LazyTable(rows.schema, pieces, 1 if rows.workspace.on_disk else threads)


def _words(rows: Stored, by: str, secret: UInt64Array) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Yield (first row, 128 bits of each value) of part after part."""
    if pa.types.is_fixed_size_binary(rows.schema.field(by).type):
        for first, (values,) in rows.columns(by):
            yield first, values.view(np.uint64)
        return
    for first, (data, sizes) in rows.columns(by, f"{by}.sizes"):
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        yield first, digest_documents(data, offsets, secret)


def _equal_bytes(rows: Stored, by: str, sort: str, place: tuple[int, int], secret: UInt64Array) -> Batches:
    """Make batches of the rows that share their bytes, of one of some passes: which of them, and how many."""
    number, passes = place
    parts = []
    for first, words in _words(rows, by, secret):
        # By low bits: digests are below 2^61.
        chosen = ((words[:, 0] & _LOW32) * np.uint64(passes) >> np.uint64(32)) == number
        if rows.mask is not None:
            chosen &= rows.mask[first : first + len(words)]
        parts.append((first + np.flatnonzero(chosen), words[chosen]))
    at, words = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(words[:, 0], kind="stable")
    same = words[order[1:], 0] == words[order[:-1], 0]
    several = np.zeros(len(order), np.bool_)
    several[1:] |= same
    several[:-1] |= same
    at, words = at[order[several]], words[order[several]]
    by_place = at if sort != "order" else rows.orders_at(at)
    order = np.lexsort((by_place, words[:, 1], words[:, 0]))
    at, words = at[order], words[order]
    fresh = np.ones(len(at), np.bool_)
    fresh[1:] = (words[1:] != words[:-1]).any(1)
    sizes = np.diff(np.append(np.flatnonzero(fresh), len(at)))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    for first, last in portions(sizes):
        yield rows.batch_of(at[bounds[first] : bounds[last]])


def all_together(rows: Stored) -> LazyTable:
    """Bring all rows together, in the order of ``order``."""
    return one_piece(rows.schema, lambda: iter([rows.batch_of(rows.rows_in_order())]))


def _values(rows: Stored, name: str) -> Int64Array:
    """Return numbers that are ordered like a column; bytes are ranked, and no bytes are a null, which comes last."""
    descending, name = name.startswith("-"), name.removeprefix("-")
    field = rows.schema.field(name)
    if pa.types.is_integer(field.type):
        values = rows.column(name)
        return -values if descending else values
    parts = [(rows.workspace.get(part), int(n)) for part, n in zip(rows.parts, np.diff(rows.starts), strict=True)]
    column = pa.chunked_array([column_of(field, arrays, 0, n) for arrays, n in parts], field.type)
    ranks = to_numpy(pc.rank(column, "ascending", tiebreaker="dense")).astype(np.int64)
    empty = np.concatenate([arrays[f"{name}.sizes"] == 0 for arrays, _ in parts])
    return np.where(empty, LAST, -ranks if descending else ranks)


def places(rows: Stored, by: Sequence[str], n_references: int) -> NDArray[Any] | None:
    """Return the order of each row: references first, as they came; then by the columns. None: the row's own number."""
    if list(by) == ["position"]:
        return None
    given = [name for name in by if name != "position" or name != by[-1]]  # rows are in the order of position as they are
    columns = [_values(rows, name)[n_references:] for name in given]
    sorted_rows = np.argsort(columns[0], kind="stable") if len(columns) == 1 else np.lexsort(columns[::-1])
    del columns
    order = np.arange(len(rows), dtype=number_type(len(rows)))
    order[n_references:][sorted_rows] = order[n_references:].copy()
    return order
