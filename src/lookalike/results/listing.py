"""All pairs of documents, from pairs of firsts of equal texts: in the order of the input, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..engines.engine import Batches, Table
from ..recipes.decide import Decider
from ..steps.exact import Sets, ends
from ..values import Int64Array
from ..values.arrow import to_numpy
from ..values.tables import MATCHES
from .rows import collect
from .telling import Pairs

LISTED = 1 << 17  # pairs that are made at a time
Ends = tuple[Int64Array, Int64Array, NDArray[Any]]


class Listing:
    """The pairs of a job, made when they are asked for.

    Parameters
    ----------
    matches : Table
        Pairs of firsts: left, right and, unless none is wanted, score.
    told : Pairs
        What makes the columns of a table of pairs.
    names : dict of str to str
        The columns that are wanted, and what they are called.
    """

    def __init__(self, decider: Decider, matches: Table, told: Pairs, names: dict[str, str]) -> None:
        self._decider, self._matches, self._told, self._names = decider, matches, told, names
        fields = [told.schema.field(name).with_name(called) for name, called in names.items()]
        self.schema = pa.schema(fields)
        copies = list(decider.found.leaders.batches())
        orders, leaders = (
            [np.empty(0, np.int64), *(to_numpy(batch[name]) for batch in copies)] for name in ("order", "leader")
        )
        self._sets = Sets.of(np.concatenate(orders), np.concatenate(leaders))

    def __len__(self) -> int:
        """Return the number of pairs."""
        sets, boundary = self._sets, self._decider.found.boundary
        sizes = sets.sizes[sets.heads >= boundary]
        n = int((sizes * (sizes - 1) // 2).sum())
        for batch in self._matches.select(["left", "right"]).batches():
            left, right = (sets.size_of(to_numpy(column)) for column in batch.columns)
            n += int(left @ right)
        return n

    def batches(self) -> Batches:
        """Make the pairs and yield them."""
        for left, right, score in self.pairs():
            some = self._decider.engine.rows(pa.table([left, right, score], schema=MATCHES))
            yield from self._told.table(some).select(list(self._names)).rename_columns(self.schema.names).to_batches()

    def table(self) -> pa.Table:
        """Return all pairs."""
        return collect(self)  # type: ignore[arg-type]

    def pairs(self) -> Iterator[Ends]:
        """Yield (left, right, score) of all pairs, in the order of the input, some at a time."""
        engine, sets = self._decider.engine, self._sets
        rows = engine.map(self._matches, partial(ends, sets=sets), MATCHES)
        own = engine.rows(sets.own(self._decider.found.boundary))
        held: list[NDArray[Any]] | None = None
        for batch in engine.meet(engine.union(rows, own), None, ("left", "right")).batches():
            found = [to_numpy(batch[name]) for name in MATCHES.names]
            columns = found if held is None else [np.concatenate(pair) for pair in zip(held, found, strict=True)]
            whole = int(np.searchsorted(columns[0], columns[0][-1]))  # of the last document more may come
            yield from self._spread([column[:whole] for column in columns])
            held = [column[whole:] for column in columns]
        if held is not None:
            yield from self._spread(held)

    def _spread(self, columns: list[NDArray[Any]]) -> Iterator[Ends]:
        """Turn pairs of a document and a set into pairs of documents, about ``LISTED`` at a time."""
        left, head, score = columns
        first, counts = self._sets.later(left, head)
        total = np.cumsum(counts)
        begin = 0
        while begin < len(left):
            end = int(np.searchsorted(total, (total[begin - 1] if begin else 0) + LISTED, side="right"))
            end = int(np.searchsorted(left, left[max(begin, end - 1)], side="right"))  # all pairs of a document together
            some = slice(begin, end)
            right = self._sets.members_from(head[some], first[some], counts[some])
            lefts, scores = np.repeat(left[some], counts[some]), np.repeat(score[some], counts[some])
            order = np.lexsort((right, lefts))
            yield lefts[order], right[order], scores[order]
            begin = end
