"""Who belongs to a kept document: the largest groups of a result, and the documents of some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..values import Float64Array, Int64Array
from ..values.arrow import string, to_numpy
from .rows import Lowest, Rows, of_reason

RESEMBLING = 3  # ids that are suggested for one that is not there
COMPARED = 2000  # ids that are compared with it, letter by letter
LONGEST = 300  # letters of an id that are


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """A kept document, and those that are removed for it.

    Parameters
    ----------
    row : int
        Of the kept document, in decisions.
    rows : ndarray of int64
        Those of the removed ones: near-duplicates first, the least alike before others, then copies byte for byte.
    scores : ndarray of float64
        Resemblances of the near-duplicates among them, ascending.
    """

    row: int
    rows: Int64Array
    scores: Float64Array

    @property
    def size(self) -> int:
        """Documents, the kept one included."""
        return len(self.rows) + 1

    @property
    def n_exact(self) -> int:
        """Copies byte for byte."""
        return len(self.rows) - len(self.scores)

    @property
    def spread(self) -> tuple[float, float, float] | None:
        """The least, the median and the greatest resemblance of near-duplicates; None if there are none."""
        if not len(self.scores):
            return None
        return float(self.scores[0]), float(np.median(self.scores)), float(self.scores[-1])


def largest_groups(decisions: Rows, n: int, least: int = 2) -> tuple[int, list[Members]]:
    """Find the largest groups.

    Notes
    -----
    Memory: that of a batch, and 24 bytes per document of the groups that are returned.
    """
    largest, total = Lowest(n), 0
    for first, batch in _numbered(decisions, ["kept", "n_duplicates"]):
        size = np.where(to_numpy(batch.column("kept")), to_numpy(batch.column("n_duplicates"), 0), 0).astype(np.int64)
        some = np.flatnonzero(size >= max(1, least - 1))
        total += len(some)
        largest.add(-size[some], first + some)
    by_row = np.sort(largest.rows)
    orders = [np.empty(0, np.int64)]
    for first, batch in _numbered(decisions, ["order"]):
        orders.append(to_numpy(batch.column("order"))[by_row[(by_row >= first) & (by_row < first + len(batch))] - first])
    order_of = dict(zip(by_row.tolist(), np.concatenate(orders).tolist(), strict=True))
    found = members_of(decisions, [order_of[row] for row in largest.rows.tolist()])
    return total, found


def members_of(decisions: Rows, orders: Sequence[int]) -> list[Members]:
    """Find the kept documents of some orders, and those that are removed for them."""
    wanted = np.array(orders, np.int64)
    sorter = np.argsort(wanted)
    ascending = wanted[sorter]
    row_of: dict[int, int] = {}
    parts: list[tuple[Int64Array, Int64Array, Float64Array]] = []
    for first, batch in _numbered(decisions, ["order", "keeper", "reason", "resemblance"]):
        order = to_numpy(batch.column("order"))
        for row in np.flatnonzero(np.isin(order, ascending)).tolist():
            row_of[int(order[row])] = first + row
        keeper = to_numpy(batch.column("keeper"), -1).astype(np.int64)
        own = np.flatnonzero(np.isin(keeper, ascending) & of_reason(batch, "exact", "near"))
        score = to_numpy(batch.column("resemblance"))[own]
        score[of_reason(batch, "exact")[own]] = np.inf  # after all others
        parts.append((keeper[own], first + own, score))
    none = np.empty(0, np.int64)
    keeper, rows, score = (np.concatenate(column) for column in zip((none, none, np.empty(0)), *parts, strict=True))
    place = np.lexsort((rows, score, keeper))
    keeper, rows, score = keeper[place], rows[place], score[place]
    begin, end = np.searchsorted(keeper, wanted), np.searchsorted(keeper, wanted, side="right")
    return [
        Members(row_of[order], rows[a:b], score[a : a + int(np.isfinite(score[a:b]).sum())])
        for order, a, b in zip(orders, begin.tolist(), end.tolist(), strict=True)
    ]


def rows_named(decisions: Rows, name: str) -> list[int]:
    """Return the rows whose id reads like a name: of an input, and of a reference, where both have it."""
    found: list[int] = []
    for first, batch in _numbered(decisions, ["id"]):
        found += (first + np.flatnonzero(to_numpy(pc.equal(_named(batch), string(name)), 0))).tolist()
    return found


def names_like(decisions: Rows, name: str) -> list[str]:
    """Return some ids that resemble a name that no document has, the most similar first.

    They contain the name; if none does, they begin or end with the first or last letters of it, as many as possible.
    """
    some: dict[str, None] = {}
    lengths = [len(name), 3 * len(name) // 4, len(name) // 2, 2]
    for length in [length for length in lengths if length]:
        for _, batch in _numbered(decisions, ["id"]):
            names = _named(batch)
            if length == len(name):
                alike = pc.match_substring(names, name)
            else:
                alike = pc.or_(pc.starts_with(names, name[:length]), pc.ends_with(names, name[-length:]))
            some |= dict.fromkeys(names.filter(alike).slice(0, COMPARED - len(some)).to_pylist())
        if some:
            break
    matcher = SequenceMatcher(b=name, autojunk=False)

    def likeness(other: str) -> float:
        matcher.set_seq1(other[:LONGEST])
        return matcher.ratio()

    return nlargest(RESEMBLING, some, key=likeness)


def _named(batch: pa.RecordBatch) -> pa.Array:
    """Return the ids of a batch as texts; those that are numbers as they are written."""
    return batch.column("id").cast(pa.large_string())


def _numbered(rows: Rows, names: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the batches of some columns, each with the number of its first row."""
    first = 0
    for batch in rows.select(names).batches():
        yield first, batch
        first += len(batch)
