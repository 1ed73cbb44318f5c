"""Components that are too large for the memory, slice after slice; and their pairs, sifted by short hashes on the disk.

Rounds decide the same. They stay the second way, for engines that cannot look up the texts of a few documents at once, as they
read texts once for each document that one is compared with: of 10^5 documents (110 MB), chains took 11.0 s of processor time by
rounds and 3.2 s by slices, a family of near-duplicates 2.8 s and 4.9 s, under a cap of 420 MB; a page of boilerplate, with 17 %
of each document its own, 53.0 s and 6.5 s, under 900 MB. Peak memory differed by 13 % at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...core.threads import in_order
from ...text.texts import Texts
from ...values import Int64Array
from ...values.arrays import runs
from ...values.arrow import to_arrow, to_numpy
from ...values.shingles import Halves
from ...values.tables import PAIRS
from ..engine import Table
from .bundles import CLOSED, Partners, all_pairs, make_bundles
from .engine import LocalEngine
from .tables import LazyTable, Piece, arrays_of

HashTexts = Callable[[Texts], Halves]
SiftPairs = Callable[[Int64Array, Int64Array, Halves, Halves], NDArray[np.bool_]]
BLOCKS = "halves"
PIECE = 4 << 20  # bytes of text that are hashed at one go
TOGETHER = 1 << 15  # pairs that are sifted at one go
PAIR = 64  # bytes that a pair takes until it is sifted


def cut_slices(engine: LocalEngine, pairs: Table) -> list[tuple[int, int, int]]:
    """Cut the right documents of some pairs into runs of orders that can be compared at one time, and count each.

    Those that they may match come on top.
    """
    there = np.zeros(len(engine), np.bool_)
    for batch in pairs.select(["right"]).batches():
        there[to_numpy(batch.column(0))] = True
    orders = np.flatnonzero(there)
    bounds = runs((np.cumsum(sizes := engine.sizes(orders)) - sizes) // engine.memory.slice(engine.threads))
    return [(int(orders[begin]), int(orders[end - 1]) + 1, end - begin) for begin, end in bounds]


def as_one_bundle(pairs: Table) -> LazyTable:
    """Return one bundle of all documents of some pairs, without texts."""

    def pieces(mark: int) -> Iterator[Piece]:
        sides = all_pairs(pairs, 0)
        members = np.unique(np.concatenate(sides))
        if len(members) and not mark:
            yield Piece(partial(make_bundles, members, np.zeros_like(members), Partners(members, *sides), 0, len(members)), 1)

    return LazyTable(CLOSED, pieces, 1)


class HashPrefilter:
    """The documents of some pairs as short hashes, in blocks as they were read, and what sifts pairs by them."""

    def __init__(self, engine: LocalEngine, pairs: Table, hashed: HashTexts, sifted: SiftPairs) -> None:
        self._engine, self._pairs, self._hashed, self._sifted = engine, pairs, hashed, sifted
        self._most = engine.memory.table_budget // 3  # two of them are in memory

    def rows(self) -> LazyTable:
        """Return the pairs that may match."""
        self._engine.write_texts()
        return LazyTable(PAIRS, self._pieces, 1)

    def _pieces(self, mark: int) -> Iterator[Piece]:
        """Yield the pairs by the block of their right document."""
        there = np.zeros(len(self._engine), np.bool_)
        for batch in self._pairs.batches():
            for column in arrays_of(batch).values():
                there[column] = True
        orders = self._engine.by_row(np.flatnonzero(there))
        self._place = np.full(len(there), -1, np.int32)
        self._place[orders] = np.arange(len(orders), dtype=np.int32)
        self._write(orders)
        for block in range(mark, len(self._starts) - 1):
            yield Piece(partial(self._of_block, block), block + 1)
        self._engine.workspace.discard(BLOCKS)

    def _write(self, orders: Int64Array) -> None:
        """Hash the texts of some documents and write the blocks anew."""
        engine = self._engine
        engine.workspace.discard(BLOCKS)
        sizes = engine.sizes(orders)
        some = (orders[begin:end] for begin, end in runs((np.cumsum(sizes) - sizes) // PIECE))
        held: list[Halves] = []
        starts, n_bytes, count = [0], 0, 0
        for made in in_order(lambda some: self._hashed(engine.texts_at(some)), some, engine.threads):
            held.append(made)
            n_bytes += sum(array.nbytes for array in made)
            count += len(made.offsets) - 1
            if n_bytes > self._most:
                self._put(held)
                starts.append(count)
                held, n_bytes = [], 0
        if held:
            self._put(held)
            starts.append(count)
        self._starts = np.array(starts)

    def _put(self, held: list[Halves]) -> None:
        ends = np.cumsum([0, *(len(some.values) for some in held)])
        offsets = [some.offsets[1:] + end for some, end in zip(held, ends, strict=False)]
        values, repeats = (np.concatenate([getattr(some, name) for some in held]) for name in ("values", "repeats"))
        block = Halves(values, np.concatenate([[0], *offsets]), repeats)
        self._engine.workspace.append(BLOCKS, block._asdict())

    def _read(self, block: int) -> Halves:
        part = self._engine.workspace.get(self._engine.workspace.numbered_names(BLOCKS)[block])
        return Halves(*(part[name] for name in Halves._fields))

    def _of_block(self, block: int) -> Iterator[pa.RecordBatch]:
        """Yield the pairs that stay of those whose right document is in a block."""
        rights, first, end = self._read(block), self._starts[block], self._starts[block + 1]
        held: list[pa.RecordBatch] = []
        n = 0
        for batch in self._pairs.batches():
            right = self._place[arrays_of(batch)["right"]]
            held.append(batch.filter(to_arrow((right >= first) & (right < end))))
            n += len(held[-1])
            if n * PAIR > self._engine.memory.sort_budget:
                yield from self._staying(held, block, rights)
                held, n = [], 0
        yield from self._staying(held, block, rights)

    def _staying(self, held: list[pa.RecordBatch], block: int, rights: Halves) -> Iterator[pa.RecordBatch]:
        """Yield some pairs of a block that stay; of the blocks of their left documents each is read once."""
        for batch in pa.Table.from_batches(held, PAIRS).combine_chunks().to_batches():
            left, right = (self._place[column] for column in arrays_of(batch).values())
            of_left = np.searchsorted(self._starts, left, side="right") - 1
            by_left = np.argsort(of_left, kind="stable")
            stay = np.zeros(len(batch), np.bool_)
            for begin, end in runs(of_left[by_left]):
                some = by_left[begin:end]
                other = int(of_left[some[0]])
                lefts = rights if other == block else self._read(other)
                stay[some] = self._compared(left[some] - self._starts[other], right[some] - self._starts[block], lefts, rights)
            yield batch.filter(to_arrow(stay))

    def _compared(self, left: Int64Array, right: Int64Array, lefts: Halves, rights: Halves) -> NDArray[np.bool_]:

        def work(begin: int) -> NDArray[np.bool_]:
            some = slice(begin, begin + TOGETHER)
            return self._sifted(left[some], right[some], lefts, rights)

        return np.concatenate(list(in_order(work, range(0, len(left), TOGETHER), self._engine.threads)))
