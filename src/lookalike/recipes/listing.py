"""All pairs of documents, from pairs of firsts of equal texts, some at a time; and the same as reports read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..engines.engine import Batches, Table
from ..results.rows import collect
from ..results.scored import Scored, Scores
from ..steps.exact import Sets, ends
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import MATCHES, SOURCE_BITS
from .decide import Decider
from .decisions import Pairs
from .opening import Opened

if TYPE_CHECKING:
    from .pairs import PairsResult

LISTED = 1 << 17  # pairs that are made at a time
Ends = tuple[Int64Array, Int64Array, NDArray[Any]]


class Listing:
    """The pairs of a job, made when asked for from matches of firsts; ``names``: wanted columns, and what they are called."""

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


def scored_pairs(
    opened: Opened, decider: Decider, cut: Callable[[], list[pa.RecordBatch]] | None, result: PairsResult
) -> Scored:
    """Return the pairs of a job."""
    s, job = result.summary, opened.settings
    # Keep order is the order of the input, so that the order of a document is its row among all.
    sizes = np.zeros(len(opened.splits), np.int64)
    for batch in decider.found.sketches.select(["position"]).batches():
        sizes += np.bincount(to_numpy(batch["position"]) >> SOURCE_BITS, minlength=len(sizes))
    reading = replace(opened.reading, id=None, priority=None, within=None, free=())
    facts = [
        ("documents", f"{s['documents']:,}"), ("reference documents", f"{s['reference']:,}"),
        ("pairs compared", f"{s['candidate_pairs']:,}"),
        ("recall planned", f"{s['recall_planned']:.4f}"),
    ]  # fmt: skip
    left_out = [("without any token", s["empty"], "they match nothing")]
    warnings = ["The list was cut by max_pairs: there are more pairs."] if s["cut_by_max_pairs"] else []
    if job.verify != "exact":
        warnings.append("Scores are estimates: some pairs below the threshold are listed, and some above it are not.")
    return Scored(
        job="pairs", score=s["score"], threshold=job.threshold, total=s["pairs"],
        pairs=result.listing.pairs if cut is None else lambda: _cut(cut()), ids=lambda rows: _ids(opened, decider, rows),
        found=lambda score: float(job.finder.recall(min(max(score, 0.0), 1.0))), sources=opened.splits,
        starts=np.concatenate([[0], np.cumsum(sizes)]), n_references=opened.reading.n_references, readings=(reading, reading),
        shingling=job.shingling, settings=result.provenance["parameters"], facts=facts, left_out=left_out,
        chosen=job, seconds=s["seconds"], warnings=warnings,
    )  # fmt: skip


def _cut(batches: list[pa.RecordBatch]) -> Scores:
    """Yield the pairs of a list that was limited."""
    for batch in batches:
        yield to_numpy(batch["left"]), to_numpy(batch["right"]), to_numpy(batch["score"])


def _ids(opened: Opened, decider: Decider, rows: Int64Array) -> list[Any]:
    """Return the ids of some rows, which ascend."""
    found, labels = decider.found, opened.labels(decider.found.totals)
    names = [name for name in ("order", "position", "number", "id") if name in found.sketches.schema.names]
    ids: dict[int, Any] = {}
    for batch in _chosen(found.sketches.select(names).batches(), rows):
        given = batch["id"] if "id" in names else None
        made = labels.ids(to_numpy(batch["position"]), to_numpy(batch["number"]), given)
        ids.update(zip(to_numpy(batch["order"]).tolist(), made.to_pylist(), strict=True))
    return [ids[row] for row in rows.tolist()]


def _chosen(batches: Iterator[pa.RecordBatch], orders: Int64Array) -> Iterator[pa.RecordBatch]:
    """Yield the rows of some orders."""
    for batch in batches:
        at = np.flatnonzero(np.isin(to_numpy(batch["order"]), orders))
        if len(at):
            yield batch.take(to_arrow(at))
