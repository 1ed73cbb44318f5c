"""Decisions and pairs as tables that are made when they are asked for, and the summary of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..engines.engine import Table
from ..engines.memory import peak_memory
from ..inputs.ids import Labels
from ..results.rows import DeferredRows, Rows, TableRows, decisions_schema, pairs_schema, second_columns
from ..results.summary import Summary
from ..settings.settings import Settings
from ..steps import override
from ..steps.crowds import VOUCHED, estimate_recalls, recall_sums, sum_of_recalls
from ..steps.decide import POSITIONS, columns_needed, decision_rows, pair_rows
from ..steps.groups import (
    CONTRIBUTIONS,
    GROUP_COUNTS,
    REMOVED_DOCUMENTS,
    ROW_CONTRIBUTIONS,
    SHARES,
    SOURCE_CONTRIBUTIONS,
    SPARED,
    SourceKey,
    add_contributions,
    add_row_numbers,
    add_source_names,
    choose_removed,
    count_groups,
    list_contributions,
    spare_first,
)
from ..steps.totals import BYTES, EMPTY, WHOLE, of_inputs
from ..theory.banding import candidate_probability
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy
from .decide import Decider
from .preparation import JobContext
from .search import count_rows, short_texts

Misses = Iterator[tuple[Int64Array, Int64Array, NDArray[np.float64]]]


class DecisionTables:
    """What was decided at one threshold, as rows; ``leaders``: also which document is the first of equal text."""

    def __init__(
        self, decider: Decider, matches: Table, standing: Table, labels: Labels, leaders: bool, settings: Settings
    ) -> None:  # fmt: skip
        self._decider, self._matches, self.standing, self._labels = decider, matches, standing, labels
        self._leaders, self._at_most, self._settings = leaders, settings.at_most or 1, settings
        documents = tuple(split.form.rows_are_files for split in labels.splits)
        self._origins = SourceKey(column=settings.source, documents=documents)
        self._second = second_columns(decider.method)

    @property
    def decisions(self) -> Decisions:
        """A row for each document, in the order of the input, references first: DECISIONS and what a job adds to them."""
        return Decisions(self._table, self.schema, 0, int(self._decider.found.totals[0]))

    @property
    def in_any_order(self) -> Table:
        """The decisions in any order."""
        return self._made(self.schema, self._decider.found.sketches)

    @property
    def schema(self) -> pa.Schema:
        """The columns of decisions."""
        return decisions_schema(self._labels.kind, self._second, self._leaders, self._settings)

    def _own(self, some: Table, wanted: Collection[str] = ()) -> Table:
        """Return the columns of the sketches of some documents that decisions are settled by, and those wanted."""
        settling = ("order", "empty", "skipped", "override")
        return some.select([name for name in some.schema.names if name in settling or name in wanted])

    def _settled(self, some: Table, wanted: Collection[str] = ()) -> Table:
        """Settle some documents, of which there are the sketches, with some columns of theirs."""
        return self._decider.settled(self._own(some, wanted), self.standing, self._spared)

    @cached_property
    def _spared(self) -> Table | None:
        """The documents that stay beside the kept one of their group."""
        if self._at_most == 1:
            return None
        engine, settled = self._decider.engine, self._decider.settled(self._own(self._decider.found.sketches), self.standing)
        removed = engine.map(settled, choose_removed, REMOVED_DOCUMENTS)
        chosen = engine.map(engine.group_by(removed, "keeper", "order"), partial(spare_first, at_most=self._at_most), SPARED)
        return engine.materialize(chosen, f"spared{self._decider.label}")

    @cached_property
    def _counts(self) -> Table:
        """How many documents each kept one stands for, and from how many sources, if that is wanted."""
        engine, origins = self._decider.engine, self._origins if "n_sources" in self.schema.names else None
        rows = self._settled(self._decider.found.sketches, () if origins is None else [origins.needed])
        came = engine.map(rows, partial(list_contributions, origins=origins), CONTRIBUTIONS)
        counted = engine.map(engine.group_by(came, "keeper", "order"), count_groups, GROUP_COUNTS)
        return engine.materialize(counted, f"group-counts{self._decider.label}")

    def shares(self) -> Table:
        """Count the documents of this job that each kept one, or reference, stands for: a row for each of their sources.

        Rows are sorted by ``place``, the number of the kept document, or reference, among all documents in the order of the
        input; then by the first document of the source.
        """
        engine, origins, found = self._decider.engine, self._origins, self._decider.found
        rows = self._settled(found.sketches, [origins.needed])
        came = engine.map(rows, partial(list_contributions, origins=origins, boundary=found.boundary), CONTRIBUTIONS)
        counted = engine.map(engine.group_by(came, "keeper", "order"), add_contributions, SHARES)
        sizes = engine.aggregate(found.sketches.select(["position"]), of_inputs(len(self._labels.splits)))[0]
        rows = engine.join(counted, found.sketches.select(["order", "position"]), "keeper", "inner")
        rows = engine.map(rows, partial(add_row_numbers, starts=np.cumsum(sizes) - sizes), ROW_CONTRIBUTIONS)
        named = found.sketches.select(["order", origins.needed])
        if engine.joins_keep_order:
            rows = engine.join(engine.group_by(rows, None, ("place", "order")), named, "order", "inner")
        else:
            rows = engine.group_by(engine.join(rows, named, "order", "inner"), None, ("place", "order"))
        return engine.map(rows, partial(add_source_names, origins=origins, labels=self._labels), SOURCE_CONTRIBUTIONS)

    def _table(self, schema: pa.Schema, begin: int, end: int) -> Table:
        """Make some columns of some rows, in the order of the input."""
        engine = self._decider.engine
        rows = self._decider.found.sketches.slice(begin, end)
        if engine.joins_keep_order:
            return self._made(schema, rows)
        placed = schema if "position" in schema.names else schema.append(pa.field("position", pa.int64()))
        return engine.group_by(self._made(placed, rows), None, "position").select(schema.names)

    def _made(self, schema: pa.Schema, some: Table) -> Table:
        """Make some columns of the decisions about some documents, of which there are the sketches."""
        decider, engine, sketches = self._decider, self._decider.engine, self._decider.found.sketches
        needed = columns_needed(schema)
        rows = self._settled(some, needed)
        theirs = [name for name in sketches.schema.names if f"keeper_{name}" in needed]
        if theirs:
            rows = engine.join(rows, sketches.select(["order", *theirs]), "keeper", "left")
        if set(GROUP_COUNTS.names[1:]) & set(schema.names):
            rows = engine.join(rows, self._counts, "order", "left")
        if "leader" in schema.names:
            rows = engine.join(rows, decider.found.leaders, "order", "left")
        step = partial(
            decision_rows, schema=schema, labels=self._labels, method=decider.method, boundary=decider.found.boundary,
        )  # fmt: skip
        return engine.map(rows, step, schema)

    @cached_property
    def pairs(self) -> Pairs:
        """The verified pairs, in the order of the input; of equal texts one stands for all."""
        return Pairs(self._decider, self._matches, self._labels, self._second)

    @property
    def pairs_in_any_order(self) -> Table:
        """The verified pairs in any order, with the positions of their documents."""
        return self.pairs.told(self._matches)

    def near_misses(self, lowest: float) -> Misses:
        """Yield (left, right, score) of candidates among kept documents below the threshold, for reports; lefts are orders.

        Pairs with a removed document say nothing of what is missing. The job compared all of these, but kept no scores.
        """
        decider = self._decider
        engine, threshold = decider.engine, decider.threshold
        pairs = engine.join(decider.found.pairs, self.standing, "left", "anti")
        pairs = engine.materialize(engine.join(pairs, self.standing, "right", "anti"), f"pairs-of-kept{decider.label}")
        near = Decider(engine, decider.found, decider.settings, decider.key, lowest)
        for batch in near.verified(pairs).batches():  # not as components: those of all pairs are what texts are divided by
            score = to_numpy(batch["score"])
            below = score < threshold
            yield to_numpy(batch["left"])[below], to_numpy(batch["right"])[below], score[below]


class Decisions:
    """Rows of decisions; columns and rows that are not asked for are not made."""

    def __init__(self, make: Callable[[pa.Schema, int, int], Table], schema: pa.Schema, begin: int, end: int) -> None:
        self.schema, self._make, self._begin, self._end = schema, make, begin, end

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make the rows and yield them."""
        if self._begin < self._end:
            yield from self._make(self.schema, self._begin, self._end).batches()

    def select(self, names: Sequence[str]) -> Decisions:
        """Return some columns."""
        return Decisions(self._make, pa.schema([self.schema.field(name) for name in names]), self._begin, self._end)

    def slice(self, begin: int, end: int) -> Decisions:
        """Return some rows."""
        return Decisions(self._make, self.schema, min(self._begin + begin, self._end), min(self._begin + end, self._end))


class Pairs(DeferredRows):
    """Verified pairs with the ids of their documents; they are collected when they are first asked for."""

    def __init__(self, decider: Decider, matches: Table, labels: Labels, second: list[pa.Field]) -> None:
        super().__init__(pairs_schema(labels.kind, second))
        self._decider, self._matches, self._labels = decider, matches, labels

    def collected(self) -> Rows:
        """Bring the pairs."""
        return TableRows(self.table(self._matches))

    @cached_property
    def _documents(self) -> Table:
        """What pairs are told by."""
        sketches = self._decider.found.sketches
        names = [name for name in ("position", "number", "id") if name in sketches.schema.names]
        return sketches.select(["order", *names, *(["keys"] if "distance" in self.schema.names else [])])

    def told(self, matches: Table) -> Table:
        """Return some pairs, in any order, with the positions of their documents."""
        engine, some, decider = self._decider.engine, self._documents, self._decider
        rows = engine.join(engine.join(matches, some, "left", "inner"), some, "right", "inner")
        schema = pa.schema([*self.schema, *POSITIONS])
        step = partial(
            pair_rows, schema=schema, labels=self._labels, method=decider.method, boundary=decider.found.boundary
        )  # fmt: skip
        return engine.map(rows, step, schema)

    def table(self, matches: Table) -> pa.Table:
        """Return some pairs, in the order of the input."""
        return in_order(self.told(matches)).select(self.schema.names)


def in_order(told: Table) -> pa.Table:
    """Return pairs that are told with the positions of their documents, in the order of the input."""
    found = pa.Table.from_batches(told.batches(), told.schema).combine_chunks()
    left, right = (to_numpy(found[name]) for name in POSITIONS.names)
    return found.take(to_arrow(np.lexsort((right, left))))


def decide_and_summarize(
    opened: JobContext, decider: Decider, settings: Settings, count_told: Callable[[DecisionTables], dict[str, Any]]
) -> tuple[DecisionTables, Summary]:
    """Decide about all documents; return the decisions, and their summary, of which ``count_told`` makes the counts."""
    engine, found, clock = opened.engine, decider.found, opened.clock
    every = opened.settings.evidence == "all"
    all_matches = decider.all_matches if every else decider.matches
    matches = decider.kept_matches(all_matches) if every else all_matches
    clock.lap("verification")
    standing = decider.survivors(matches)
    told = DecisionTables(decider, all_matches, standing, opened.labels(found.totals), every, settings)
    counted = count_told(told)
    clock.lap("keeping")
    summary = Summary(
        **counted,
        empty=int(found.totals[EMPTY]),
        text_bytes=int(found.totals[BYTES]),
        candidate_pairs=count_rows(engine, found.pairs),
        verified_pairs=count_rows(engine, all_matches),
        crowded=count_rows(engine, found.crowded.select(["order"])),
        recall_planned=settings.finder.recall(settings.threshold),
        recall_vouched=vouched(decider, standing, settings, counted["kept"]),
        verified_by=settings.verify,
        threshold=settings.threshold,
        score=settings.finder.score,
        found_by=settings.finder.describe(),
        seconds=dict(clock.seconds),
        peak_memory=peak_memory(),
        plan=settings.finder.plan_dict(),
        skipped=opened.skipped,
        whole_pages=int(found.totals[WHOLE]),
        warnings=short_texts(found.totals, settings.shingling),
        kept_by_override=0 if settings.overrides is None else settings.overrides.keep,
    )
    return told, summary


def vouched(decider: Decider, standing: Table, settings: Settings, kept: int) -> float:
    """Return the mean probability, over kept documents but references, that a near-duplicate at the threshold is found.

    It is the recall of the plan or, in crowds, ``theory.crowded_recall``.
    """
    method, found, engine = settings.finder, decider.found, decider.engine
    planned = method.recall(settings.threshold)
    sampled = "recall" in found.crowded.schema.names
    if not kept or not (sampled or found.counts.size):
        return planned
    candidates = planned
    if not sampled:
        bands, rows = method.n_keys, method.n_codes // method.n_keys
        candidates = float(candidate_probability(settings.threshold, bands, rows))
    if "override" in found.sketches.schema.names:  # these stay, too
        kept_by_hand = engine.map(found.sketches.select(["order", "override"]), override.spared, override.SPARED)
        standing = engine.join(standing, kept_by_hand, "order", "anti")
    stays = engine.join(found.crowded, standing, "order", "anti")
    if sampled:
        each = stays
    else:
        vouching = partial(
            estimate_recalls, counts=found.counts, bands=bands, threshold=settings.threshold, max_bucket=settings.max_bucket
        )  # fmt: skip
        each = engine.map(stays, vouching, VOUCHED)
    sums = engine.aggregate(each, recall_sums(candidates, found.boundary))
    n, total = int(sums[0]), sum_of_recalls(sums)
    return planned * (total / candidates + max(0, kept - n)) / max(kept, n) if candidates else planned
