"""The engine for one machine: arrays in memory while they fit, otherwise in a folder, and threads over pieces of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...files.workspace import Workspace
from ...formats.split import Split
from ...inputs.read import ReadOptions
from ...text.texts import Texts
from ...values import Int64Array
from ...values.arrow import to_numpy
from ...values.tables import SOURCE_BITS
from ..engine import Aggregate, Step, Table
from ..memory import Memory
from ..progress import Progress, WorkProgress, share_of
from .bundles import CLOSED, PAIRED, ComponentPartitions, WholeComponents, all_pairs, connected_documents, find_roots
from .documents import PIECE_BYTES, Documents, PartitionedTexts, Spilling
from .joins import FileArray, MappedTotals, RankLookup, filter_rows, join_rows, with_streamed_texts, with_text
from .sort import all_together, by_bytes, by_list, by_number, places
from .tables import LazyTable, Piece, Stored, TableWriter, numbered_type, one_piece, union

SPILL_BYTES = 32 << 20
MATCH_BYTES = 24
WORD = 8
SETS = 5  # times the bytes of their text, that the sets of a component take while it is walked
LIMITS, TEXTS_DONE = "limits", "texts-done"
DECIDED = ("matches", "verified", "rest", "sifted", "states", "faced", "resolved", "named")
"""Tables that depend on which components fit the memory."""


class LocalEngine:
    """Runs steps on one machine; ``progress`` is told the name of a stage and the amount done since the last call."""

    joins_keep_order = True

    def __init__(self, *, threads: int, memory: Memory, workspace: Workspace, progress: Progress) -> None:
        self.threads, self.memory, self.workspace, self.progress = threads, memory, workspace, progress
        self._documents: Documents | None = None
        self._sketches: Stored | None = None
        self._division: ComponentPartitions | None = None
        self._spilled: PartitionedTexts | None = None
        self._bytes: NDArray[Any] | None = None  # by order
        self._by_order: WeakKeyDictionary[LazyTable, RankLookup] = WeakKeyDictionary()
        self._stored_bytes = 0
        self._valve = memory.valve
        self._totals = MappedTotals(workspace)

    def __len__(self) -> int:
        assert self._sketches is not None
        return len(self._sketches)

    def source(self, splits: Sequence[Split], reading: ReadOptions) -> Documents:
        self._documents = Documents(splits, reading, threads=self.threads, workspace=self.workspace, progress=self.progress)
        return self._documents

    def rows(self, table: pa.Table) -> LazyTable:
        return one_piece(table.schema, partial(iter, table.to_batches()))

    def map(self, rows: Table, step: Step, schema: pa.Schema) -> LazyTable:
        return own(rows).mapped(partial(self._valve.before, step), schema)

    def group_by(self, rows: Table, by: str | None, sort: str | tuple[str, ...], once: bool = False) -> LazyTable:
        """Bring rows of equal ``by`` together, sorted by ``sort``; of lists and bytes those that are alone are left out."""
        threads = 1 if self.workspace.on_disk else self.threads
        memory, room = self.memory.sort_budget, self._make_room
        if by is None and isinstance(rows, Stored) and rows.ranked:
            return all_together(rows)
        if by is None:
            first, second = (sort, sort) if isinstance(sort, str) else sort
            met = by_number(rows, first, second, self.workspace, memory, 1, room, bound=len(self))
            return one_piece(met.schema, met.batches)
        assert isinstance(sort, str)
        kind = rows.schema.field(by).type
        if isinstance(rows, Stored) and pa.types.is_fixed_size_list(kind):
            return by_list(rows, by, threads, share_of(self.progress))
        if isinstance(rows, Stored) and not pa.types.is_integer(kind):
            return by_bytes(rows, by, sort, self.memory.table_budget, threads)
        return by_number(rows, by, sort, self.workspace, memory, self.threads, room, once=once)

    def union(self, first: Table, second: Table) -> LazyTable:
        return union([own(first), own(second)], 1 if self.workspace.on_disk else self.threads)

    def aggregate(self, rows: Table, fold: Aggregate) -> NDArray[Any]:
        total = self._totals.place_total(fold.start(), self.memory.free // 8)
        for batch in rows.batches():
            fold.add(total, batch)
            self._valve.check()
        return total

    def rank(self, rows: Table, by: Sequence[str], boundary: int) -> Stored:
        """Add the order; references are the documents whose positions are below the boundary."""
        assert isinstance(rows, Stored)
        schema = rows.schema.append(pa.field("order", pa.int64()))
        n_references = sum(int((position < boundary).sum()) for _, (position,) in rows.columns("position"))
        self._sketches = rows.having(schema=schema, place=places(rows, by, n_references), ranked=True)
        return self._sketches

    def join(self, left: Table, right: Table, on: str, how: str) -> LazyTable:
        if how in ("semi", "anti"):
            present = self._present(right)
            if isinstance(left, Stored) and left.ranked and on == "order":
                mask = (present if left.place is None else present[left.place]) == (how == "semi")
                return left.having(mask=mask if left.mask is None else mask & left.mask)
            return self.map(left, partial(filter_rows, on, present, how == "semi"), left.schema)
        prefix = "" if on == "order" else f"{on}_"
        if isinstance(right, Documents):
            return self._with_texts(left, on, prefix)
        wide = any(pa.types.is_fixed_size_binary(field.type) for field in right.schema)
        near = on == "order" and not self.workspace.on_disk  # each row is asked for about once
        known = isinstance(right, Stored) and right.ranked and (right.in_one or not wide or near)
        side = right if isinstance(right, Stored) and known else self._dense(own(right))
        fields = [field for field in right.schema if field.name != "order"]
        whole = on != "order" and how == "inner" and side.in_one  # pairs name a document many times
        kinds = [numbered_type(field.type) if whole else field.type for field in fields]
        added = [pa.field(prefix + field.name, kind) for field, kind in zip(fields, kinds, strict=True)]
        schema = pa.schema([*left.schema, *added])
        names = [field.name for field in fields]
        look_up = partial(join_rows, schema, on, names, partial(side.at, whole=whole), side.missing, how)
        return self.map(left, look_up, schema)

    def _with_texts(self, left: Table, on: str, prefix: str) -> LazyTable:
        schema = left.schema.append(pa.field(f"{prefix}text", pa.large_binary()))
        if isinstance(left, Stored) and left.ranked and on == "order" and self._spilled is None:
            return LazyTable(schema, partial(self._in_passing, left, schema), self.threads)
        rows = self.map(left, partial(with_text, schema, on, self.texts_at, self.sizes), schema)

        def pieces(mark: int) -> Iterator[Piece]:
            self.write_texts()
            yield from rows.pieces(mark)

        return LazyTable(schema, pieces, self.threads)

    def _in_passing(self, left: Stored, schema: pa.Schema, mark: int) -> Iterator[Piece]:
        """Add the texts of most documents, which come as they were read, so that nothing must be at hand."""
        assert self._documents is not None
        there = np.ones(len(left), np.bool_) if left.mask is None else left.mask
        for first, texts in self._documents.in_order(mark, there):
            for begin, end in texts.cut(PIECE_BYTES):
                yield Piece(
                    partial(with_streamed_texts, schema, left, there, first + begin, texts.slice(begin, end)), first + end
                )

    def _dense(self, rows: LazyTable) -> RankLookup:
        """Return rows by order; they are put so once."""
        if rows not in self._by_order:
            self._by_order[rows] = RankLookup(rows, len(self), self._room)
        return self._by_order[rows]

    def _room(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any] | FileArray:
        """Return zeros; those of wide rows lie in a file where the memory does not suffice for the job."""
        n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
        if not self.workspace.on_disk or n_bytes <= max(WORD * len(self), self.memory.free // 8):
            return np.zeros(shape, dtype)
        import tempfile  # here, for what is not needed to start

        return FileArray(tempfile.TemporaryFile(dir=self.workspace.folder), shape, dtype)

    def _present(self, rows: Table) -> NDArray[np.bool_]:
        """Tell for each order whether some rows have it."""
        if isinstance(rows, WholeComponents):
            return rows.present
        present = np.zeros(len(self), np.bool_)
        for batch in rows.select(["order"]).batches():
            present[to_numpy(batch.column(0))] = True
        return present

    def materialize(self, rows: Table, name: str) -> Stored:
        """Make the rows and keep them; those of a job that is gone on with are found."""
        if isinstance(rows, Stored):
            return rows
        writer = TableWriter(self.workspace, rows.schema, name, self.memory.free // 8, self.threads, self.count)
        first = self._documents is not None and self._sketches is None
        if first:
            self._documents.rows_of = self._rows_of(writer)  # type: ignore[union-attr]
        for made in own(rows).batches_and_marks(writer.mark) if not writer.done else ():
            if isinstance(made, int):
                writer.end(made)
            elif len(made):
                writer.take(made)
                self.progress(name, len(made))
        stored = writer.finish()
        if first:
            self.memory = self.memory.holding(len(stored))
        if self.workspace.on_disk:
            self._valve.open()
            self._totals.let_go()
        return stored

    def _rows_of(self, writer: TableWriter) -> Int64Array:
        """Return how many rows of each input an earlier run has kept."""
        assert self._documents is not None
        rows_of = np.zeros(len(self._documents.splits), np.int64)
        for part in self.workspace.numbered_names(writer.name):
            rows_of += np.bincount(self.workspace.get(part)["position"] >> SOURCE_BITS, minlength=len(rows_of))
        return rows_of

    def spill(self) -> None:
        """Move everything to the disk; texts are read again when they are needed."""
        assert self._documents is not None
        self.workspace.move_to_disk()
        self._documents.release_texts()
        self._stored_bytes = 0

    def count(self, n_bytes: int) -> None:
        """Count bytes that are kept in memory; when they become too many, all goes to the disk."""
        self._stored_bytes += n_bytes
        self._make_room(0)

    def _make_room(self, n_bytes: int) -> None:
        """Move all to the disk if so many bytes more are too many."""
        self._valve.check()
        if not (self.workspace.on_disk or self.has_room(n_bytes)):
            self.spill()

    def has_room(self, n_bytes: int) -> bool:
        held = self._documents.held if self._documents is not None else None
        text_bytes = 0 if held is None else held.n_bytes
        return not self.workspace.on_disk and text_bytes + self._stored_bytes + n_bytes <= self.memory.table_budget

    def components(self, pairs: Table) -> WholeComponents:
        """Return bundles of connected documents; components that do not fit the memory are left out."""
        assert isinstance(pairs, Stored)
        self._make_room(MATCH_BYTES * len(pairs))  # while bundles are compared texts cannot move: as many matches may come
        orders, roots = connected_documents(find_roots(pairs, len(self)))
        if self._documents is not None and self._documents.saved_rows:  # nor can their texts, which are read then
            saved = self.sizes(orders[orders < self._documents.saved_rows])
            self._make_room(MATCH_BYTES * len(pairs) + int(saved.sum()))
        division = ComponentPartitions(orders, roots, len(self), self.sizes, *self._limits())
        if not self.workspace.on_disk and SETS * division.largest > self.memory.free // 2:
            self.spill()
            division = ComponentPartitions(orders, roots, len(self), self.sizes, *self._limits())
        self._division = division
        if self.workspace.on_disk:
            division.sort_pairs(pairs, self.workspace)
            read: Callable[[int], list[Int64Array]] = partial(division.pairs, self.workspace)
        else:
            read = partial(all_pairs, pairs)
        counting = partial(WorkProgress, share_of(self.progress), "matches", division.n_bytes, "bytes", self.threads)
        closed = WholeComponents(CLOSED, partial(division.pieces, read, self.sizes, counting), self.threads)
        closed.present = division.present
        return closed

    def sizes(self, orders: NDArray[Any]) -> Int64Array:
        rows = self._sketches
        assert rows is not None
        if self._bytes is None:
            sizes: NDArray[Any] = np.empty(len(rows), np.uint32)
            for first, (some,) in rows.columns("bytes"):
                if sizes.dtype == np.uint32 and len(some) and int(some.max()) >= 1 << 32:
                    sizes = sizes.astype(np.int64)
                sizes[first : first + len(some)] = some
            if rows.place is not None:
                by_order = np.empty_like(sizes)
                by_order[rows.place] = sizes
                sizes = by_order
            self._bytes = sizes
        found: Int64Array = self._bytes[orders].astype(np.int64)
        return found

    def _limits(self) -> tuple[int, int]:
        """Return the bytes of a partition, and of a component: those of an earlier run, unless they are too many by now."""
        if not self.workspace.on_disk:
            return 1 << 60, 1 << 60
        limits = self.memory.partition(self.threads), self.memory.component_budget(self.threads)
        if LIMITS in self.workspace:
            earlier = self.workspace.get(LIMITS)["bytes"].tolist()
            if earlier[0] <= 2 * limits[0] and earlier[1] <= 2 * limits[1]:
                return earlier[0], earlier[1]
            for stem in (PAIRED, Spilling.STEM, *DECIDED, LIMITS):  # what was made by limits that are gone, these last
                self.workspace.discard(stem)
        self.workspace.put(LIMITS, {"bytes": np.array(limits)})
        return limits

    def by_row(self, orders: Int64Array) -> Int64Array:
        assert self._sketches is not None
        return orders if self._sketches.place is None else orders[np.argsort(self._sketches.rows_at(orders))]

    def texts_at(self, orders: Int64Array) -> Texts:
        assert self._documents is not None and self._sketches is not None
        rows = self._sketches.rows_at(orders)
        if self._documents.held is not None:
            return self._documents.held.take(rows)
        assert self._spilled is not None
        return self._spilled.take(rows)

    def write_texts(self) -> None:
        """Write the texts of connected documents to the disk, partition by partition, where they are not held."""
        assert self._documents is not None and self._sketches is not None
        rows, n_saved = self._sketches, self._documents.saved_rows
        if self._spilled is not None or (self._documents.held is not None and not n_saved):
            return
        partition = np.zeros(len(rows), np.int32) if self._division is None else self._division.of_rows(rows.place)
        wanted = partition >= 0
        if self._documents.held is not None:
            self._documents.fetch(wanted[:n_saved])
            return
        if TEXTS_DONE not in self.workspace:
            spilling = Spilling(self.workspace, partition, min(SPILL_BYTES, self.memory.sort_budget))
            spilling.take_all(self._documents.read_again(spilling.until, wanted), self._valve.check)
            self.workspace.put(TEXTS_DONE, {})
            self._valve.open()
        self._spilled = PartitionedTexts(self.workspace, partition, 1 if self._division is None else self._division.n_closed)

    def close(self) -> None:
        self.workspace.close()


def own(table: Table) -> LazyTable:
    """Return a table of this engine."""
    assert isinstance(table, LazyTable), "a table of another engine"
    return table
