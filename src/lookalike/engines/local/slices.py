"""Components that are too large for the memory, slice after slice; and their pairs, sifted by short hashes on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...core.threads import in_order
from ...files.workspace import Workspace
from ...text.texts import Texts
from ...values import Int64Array
from ...values.arrays import runs
from ...values.arrow import to_arrow, to_numpy
from ...values.shingles import Halves
from ...values.tables import PAIRS
from ..engine import HashTexts, SiftPairs, Table
from ..memory import Memory
from .bundles import CLOSED, Partners, all_pairs, make_bundles
from .columns import arrays_of
from .tables import LazyTable, Piece

BLOCKS = "halves"
PIECE = 4 << 20  # bytes of text that are hashed at one go
TOGETHER = 1 << 15  # pairs that are sifted at one go
PAIR = 64  # bytes that a pair takes until it is sifted


class Corpus(Protocol):
    """What slices need of the engine: the documents by order, and its means."""

    memory: Memory
    threads: int
    workspace: Workspace

    def __len__(self) -> int:
        """Return the number of documents."""
        ...

    def sizes(self, orders: NDArray[np.integer]) -> Int64Array:
        """Bytes of the texts of some documents."""
        ...

    def by_row(self, orders: Int64Array) -> Int64Array:
        """Return the same orders, sorted as the documents were read."""
        ...

    def write_texts(self) -> None:
        """Have texts at hand."""
        ...

    def texts_at(self, orders: Int64Array) -> Texts:
        """Return the texts of some documents, in the order given."""
        ...


class LocalSlices:
    """The slices of an engine."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def cut(self, pairs: Table) -> list[tuple[int, int, int]]:
        """Cut the right documents of some pairs into runs of orders, and count each; those they may match come on top."""
        corpus = self._corpus
        there = np.zeros(len(corpus), np.bool_)
        for batch in pairs.select(["right"]).batches():
            there[to_numpy(batch.column(0))] = True
        orders = np.flatnonzero(there)
        bounds = runs((np.cumsum(sizes := corpus.sizes(orders)) - sizes) // corpus.memory.slice(corpus.threads))
        return [(int(orders[begin]), int(orders[end - 1]) + 1, end - begin) for begin, end in bounds]

    def as_one_group(self, pairs: Table) -> LazyTable:

        def pieces(mark: int) -> Iterator[Piece]:
            sides = all_pairs(pairs, 0)
            members = np.unique(np.concatenate(sides))
            if len(members) and not mark:
                yield Piece(
                    partial(make_bundles, members, np.zeros_like(members), Partners(members, *sides), 0, len(members)), 1
                )

        return LazyTable(CLOSED, pieces, 1)

    def sift(self, pairs: Table, hashed: HashTexts, sifted: SiftPairs) -> LazyTable:
        self._corpus.write_texts()
        return HashPrefilter(self._corpus, pairs, hashed, sifted).rows()


class HashPrefilter:
    """The documents of some pairs as short hashes, in blocks as they were read, and what sifts pairs by them."""

    def __init__(self, corpus: Corpus, pairs: Table, hashed: HashTexts, sifted: SiftPairs) -> None:
        self._corpus, self._pairs, self._hashed, self._sifted = corpus, pairs, hashed, sifted
        self._most = corpus.memory.table_budget // 3  # two of them are in memory

    def rows(self) -> LazyTable:
        return LazyTable(PAIRS, self._pieces, 1)

    def _pieces(self, mark: int) -> Iterator[Piece]:
        """Yield the pairs by the block of their right document."""
        there = np.zeros(len(self._corpus), np.bool_)
        for batch in self._pairs.batches():
            for column in arrays_of(batch).values():
                there[column] = True
        orders = self._corpus.by_row(np.flatnonzero(there))
        self._place = np.full(len(there), -1, np.int32)
        self._place[orders] = np.arange(len(orders), dtype=np.int32)
        self._write(orders)
        for block in range(mark, len(self._starts) - 1):
            yield Piece(partial(self._of_block, block), block + 1)
        self._corpus.workspace.discard(BLOCKS)

    def _write(self, orders: Int64Array) -> None:
        """Hash the texts of some documents and write the blocks anew."""
        corpus = self._corpus
        corpus.workspace.discard(BLOCKS)
        sizes = corpus.sizes(orders)
        some = (orders[begin:end] for begin, end in runs((np.cumsum(sizes) - sizes) // PIECE))
        held: list[Halves] = []
        starts, n_bytes, count = [0], 0, 0
        for made in in_order(lambda some: self._hashed(corpus.texts_at(some)), some, corpus.threads):
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
        self._corpus.workspace.append(BLOCKS, block._asdict())

    def _read(self, block: int) -> Halves:
        part = self._corpus.workspace.get(self._corpus.workspace.numbered(BLOCKS)[block])
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
            if n * PAIR > self._corpus.memory.sort_budget:
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

        return np.concatenate(list(in_order(work, range(0, len(left), TOGETHER), self._corpus.threads)))
