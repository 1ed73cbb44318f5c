"""From candidate pairs to what becomes of each document: the second half of every job over a corpus.

Components are walked as a whole where an engine knows them and they fit its memory. All else goes slice after slice of the
keep order, on one machine, or else by ``steps.rounds``. A slice is walked with the kept documents it may match. Where
few of the first slice are removed, nearly all earlier documents would be at hand for every later one: other pairs are sifted.
Decisions and pairs are tables that are made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..engines.engine import Engine, Table
from ..engines.local.engine import LocalEngine
from ..engines.local.slices import HashPrefilter, as_one_bundle, cut_slices
from ..engines.memory import peak_memory
from ..inputs.ids import Labels
from ..results.rows import DeferredRows, Rows, TableRows, decisions_schema, pairs_schema, second_columns
from ..results.summary import Summary
from ..settings.settings import Settings
from ..steps import override
from ..steps.crowds import VOUCHED, estimate_recalls, recall_sums, sum_of_recalls
from ..steps.decide import (
    CONTRIBUTIONS,
    GROUP_COUNTS,
    POSITIONS,
    REMOVED_DOCUMENTS,
    ROW_CONTRIBUTIONS,
    SHARES,
    SOURCE_CONTRIBUTIONS,
    SPARED,
    SourceKey,
    add_contributions,
    add_row_numbers,
    add_source_names,
    apply_rules,
    choose_removed,
    columns_needed,
    count_groups,
    decided_schema,
    decision_rows,
    list_contributions,
    pair_rows,
    spare_first,
)
from ..steps.pairs import MEMBERS, between, distinct, sides
from ..steps.rounds import (
    CLASSIFIED_PAIRS,
    OPEN_DOCUMENTS,
    PAIRS_NOW_AND_LATER,
    advance,
    classify_pairs,
    first_states,
    flag_documents,
    flag_schema,
    not_verified,
    pairs_of_class,
    resolve,
)
from ..steps.totals import BYTES, EMPTY, N_ROWS, WHOLE, of_inputs
from ..steps.verify import BUNDLED, bundle, choose_survivors, halves, sift, verify, walk
from ..theory.banding import candidate_probability
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import MATCHES, PAIRS, STATES, SURVIVORS
from .preparation import JobContext
from .search import Candidates, count_rows, short_texts

Misses = Iterator[tuple[Int64Array, Int64Array, NDArray[np.float64]]]
PARTNERS = 1 << 10
"""Documents that one is compared with in a bundle, where all texts of a bundle meet: the first of a crowd has many partners."""
ROUNDS, ENOUGH = 6, 10
FEW = 250_000
"""Pairs that are all verified at once: rounds would take longer to begin than they save."""


class Decider:
    """Decides about a search's documents, at the threshold of a job or another; ``key`` enters hashes that compare texts."""

    def __init__(
        self, engine: Engine, found: Candidates, settings: Settings, key: bytes, threshold: float | None = None, label: str = ""
    ) -> None:
        self.engine, self.found, self.settings, self.key, self.label = engine, found, settings, key, label
        self.method, self.threshold = settings.finder, settings.threshold if threshold is None else threshold
        self._others: dict[float, Decider] = {}

    @property
    def _documents(self) -> Table:
        """What documents are compared by: their texts, or what was kept for estimates."""
        return self.found.documents if self.method.exact else self.found.sketches.select(["order", "estimate"])

    @cached_property
    def _content(self) -> Table:
        """The same where it is asked for again and again."""
        engine = self.engine
        if engine.joins_keep_order or not self.method.exact:
            return self._documents
        return engine.materialize(
            engine.join(self._members, self._documents, "order", "inner"), "texts"
        )  # of many, few are compared

    def _compared(self, rows: Table) -> Table:
        """Add what documents are compared by."""
        return self.engine.join(rows, self._content, "order", "inner")

    @property
    def _comparing(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "shingling": self.settings.shingling,
            "threshold": self.threshold,
            "key": self.key,
            "boundary": self.found.boundary,
        }

    def _walked(self, closed: Table, all_pairs: bool) -> Table:
        """Return the matches inside bundles: of removed documents with kept ones, or all."""
        walking = partial(walk, all_pairs=all_pairs, **self._comparing)
        stem = "matches-of-all" if all_pairs else "matches"
        rows = self.engine.join(closed, self._documents, "order", "inner")
        if not self.engine.joins_keep_order:
            rows = self.engine.group_by(rows, "bundle", "order")
        return self.engine.materialize(self.engine.map(rows, walking, MATCHES), f"{stem}{self.label}")

    @cached_property
    def matches(self) -> Table:
        """The matches of removed documents with kept ones."""
        return self._decided(False)

    @cached_property
    def all_matches(self) -> Table:
        """The matches of all pairs."""
        return self._decided(True)

    def kept_matches(self, matches: Table) -> Table:
        """Choose from all matches those of removed documents with kept ones."""
        stream = self.engine.group_by(matches, None, ("right", "left"))
        resolving = partial(resolve, boundary=self.found.boundary)
        return self.engine.materialize(self.engine.map(stream, resolving, MATCHES), f"matches-kept{self.label}")

    def _decided(self, all_pairs: bool) -> Table:
        """Walk bundles where the engine has them, else go by rounds; once, as later fewer components may fit the memory."""
        engine, pairs = self.engine, self.found.pairs
        closed = None if engine.components is None else engine.components(pairs)
        if closed is None:
            return self._all_kept(pairs) if all_pairs else self._kept_matches(pairs)
        walked = self._walked(closed, all_pairs)
        rest = engine.join(pairs, closed, "left", "anti")
        if not any(len(batch) for batch in rest.batches()):
            return walked
        others = Decider(engine, replace(self.found, pairs=rest), self.settings, self.key, self.threshold, self.label)
        return engine.union(walked, others._all_kept(rest) if all_pairs else others._kept_matches(rest))

    def verified(self, pairs: Table) -> Table:
        """Return all matches among pairs."""
        engine = self.engine
        bundling = partial(bundle, most=None if engine.joins_keep_order else PARTNERS)
        bundled = engine.map(engine.group_by(pairs, "left", "right"), bundling, BUNDLED)
        rows = self._compared(bundled)
        if not engine.joins_keep_order:
            rows = engine.group_by(rows, "bundle", "order")
        return engine.map(rows, partial(verify, **self._comparing), MATCHES)

    @property
    def _slices(self) -> SliceWalk | None:
        """Who decides about what is in no component, where texts can be looked up."""
        if not isinstance(self.engine, LocalEngine):
            return None
        return SliceWalk(self.engine, self._compared, self._comparing, self.label)

    def _all_kept(self, pairs: Table) -> Table:
        """Return all matches among pairs, so that they can be read more than once."""
        some = pairs if self._slices is None else self._slices.sifted(pairs)
        return self.engine.materialize(self.verified(some), f"verified{self.label}")

    def _kept_matches(self, pairs: Table) -> Table:
        """Return the matches of removed documents with kept ones, decided slice by slice or round by round."""
        if self._slices is not None:
            return self._slices.kept_of(pairs)
        rounds = Rounds(self.engine, self.verified, self.found.boundary, self.label)
        return rounds.kept_of(pairs, self._members)

    @cached_property
    def _members(self) -> Table:
        """The documents that candidate pairs are made of."""
        engine = self.engine
        both = engine.group_by(engine.map(self.found.pairs, sides, MEMBERS), "order", "order", once=True)
        return engine.materialize(engine.map(both, distinct, MEMBERS), "members")

    def survivors(self, matches: Table) -> Table:
        """Name who stands for each removed document; ``matches`` are those with kept documents."""
        best = self.engine.map(self.engine.group_by(matches, "right", "left"), choose_survivors, SURVIVORS)
        return self.engine.materialize(best, f"standing{self.label}")

    def settled(self, sketches: Table, standing: Table, spared: Table | None = None) -> Table:
        """Add to each document what becomes of it; ``sketches`` have order and empty, and what is to be passed on."""
        rows = self.engine.join(sketches, self.found.leaders, "order", "left")
        rows = self.engine.join(self.engine.join(rows, standing, "order", "left"), standing, "leader", "left")
        if spared is not None:
            rows = self.engine.join(rows, spared, "order", "left")
        settling = partial(apply_rules, boundary=self.found.boundary, empty=self.settings.empty)
        return self.engine.map(rows, settling, decided_schema(rows.schema))

    def at(self, threshold: float) -> Decider:
        """Return what decides about the same pairs at another threshold."""
        if threshold not in self._others:
            label = f"-at-{threshold!r}"
            self._others[threshold] = Decider(self.engine, self.found, self.settings, self.key, threshold, label)
        return self._others[threshold]


class SliceWalk:
    """Decides by slices; ``compared`` adds what documents are compared by, ``comparing`` is told to ``walk``."""

    def __init__(self, engine: LocalEngine, compared: Callable[[Table], Table], comparing: dict[str, Any], label: str) -> None:
        self._engine, self._compared, self._comparing, self._label = engine, compared, comparing, label

    def kept_of(self, pairs: Table) -> Table:
        """Return the matches of removed documents with kept ones."""
        engine = self._engine
        found: list[Table] = []
        gone = np.empty(0, np.int64)
        todo, first = cut_slices(engine, pairs), True
        while todo:
            begin, end, n = todo.pop(0)
            rows = self._compared(as_one_bundle(self._left_of(pairs, begin, end, gone)))
            walking = partial(walk, **self._comparing)
            walked = engine.materialize(engine.map(rows, walking, MATCHES), f"matches-slice{self._label}-{begin}-{end}")
            rights = [to_numpy(batch["right"]) for batch in walked.select(["right"]).batches()]
            gone = np.unique(np.concatenate([gone, *rights]))
            found.append(walked)
            if first and todo and 2 * len(gone) < n:
                pairs = self.sifted(self._left_of(pairs, end, todo[-1][1], gone), f"-{end}")
                todo = cut_slices(engine, pairs)
            first = False
        return reduce(engine.union, found)

    def _left_of(self, pairs: Table, begin: int, end: int, gone: Int64Array) -> Table:
        """Choose the pairs whose right document is in a slice, and whose left one is not gone."""
        some = self._engine.map(pairs, partial(between, begin=begin, end=end), PAIRS)
        return self._engine.join(some, self._engine.rows(pa.table({"order": to_arrow(gone)})), "left", "anti")

    def sifted(self, pairs: Table, label: str = "") -> Table:
        """Leave out pairs that cannot match, where the method knows a cheaper way than to compare them."""
        how = self._comparing
        if not how["method"].exact or how["method"].score != "resemblance":
            return pairs
        hashed = partial(halves, shingling=how["shingling"], key=how["key"])
        sifted = partial(sift, threshold=how["threshold"])
        return self._engine.materialize(
            HashPrefilter(self._engine, pairs, hashed, sifted).rows(), f"sifted{self._label}{label}"
        )


class Rounds:
    """Decides about pairs, see ``steps.rounds``; orders below ``boundary`` are references, ``label`` ends stored names."""

    def __init__(self, engine: Engine, verified: Callable[[Table], Table], boundary: int, label: str) -> None:
        self._engine, self._verified, self._boundary, self._label = engine, verified, boundary, label

    def kept_of(self, pairs: Table, members: Table) -> Table:
        """Return the matches of removed documents with kept ones."""
        if int(self._engine.aggregate(pairs, N_ROWS)[0]) <= FEW:
            return self._stored(self._resolved(pairs), "named")
        return self._round_by_round(pairs, members)

    def _resolved(self, pairs: Table) -> Table:
        """Verify all pairs, and choose the matches with documents that are kept."""
        stream = self._engine.group_by(self._verified(pairs), None, ("right", "left"))
        return self._engine.map(stream, partial(resolve, boundary=self._boundary), MATCHES)

    def _round_by_round(self, pairs: Table, members: Table) -> Table:
        engine = self._engine
        first = engine.map(members, partial(first_states, boundary=self._boundary), STATES)
        states = self._stored(first, "states-0")
        waiting, before, turn, open_now = pairs, None, 0, 1
        found: list[Table] = []
        while open_now:
            turn += 1
            faced = self._classified(waiting, states, turn)
            n_now, n_later = engine.aggregate(faced.select(["now"]), PAIRS_NOW_AND_LATER).tolist()
            waiting = engine.map(faced, partial(pairs_of_class, now=False), PAIRS)
            matches = self._stored(self._verified(self._now(faced)), f"verified-{turn}") if n_now else None
            found += [] if matches is None else [matches]
            states = self._advanced(states, matches, waiting if n_later else None, turn)
            open_now = int(engine.aggregate(states.select(["state"]), OPEN_DOCUMENTS)[0]) if n_later else 0
            if turn == ROUNDS or (before is not None and (before - open_now) * ENOUGH < before):
                break
            before = open_now
        last = turn + 1
        if open_now:
            faced = self._classified(waiting, states, last)
            resolved = self._stored(self._resolved(faced.select(PAIRS.names)), "resolved")
            found.append(resolved)
            states = self._advanced(states, resolved, None, last)
        rest = engine.map(self._with_states(pairs, states), partial(not_verified, last=last), PAIRS)
        found.append(self._verified(rest))
        return self._stored(reduce(engine.union, found), "named")

    def _stored(self, rows: Table, name: str) -> Table:
        stem, _, number = name.partition("-")
        return self._engine.materialize(rows, f"{stem}{self._label}-{number}" if number else f"{stem}{self._label}")

    def _with_states(self, pairs: Table, states: Table) -> Table:
        return self._engine.join(self._engine.join(pairs, states, "left", "inner"), states, "right", "inner")

    def _classified(self, pairs: Table, states: Table, turn: int) -> Table:
        classified = self._engine.map(self._with_states(pairs, states), classify_pairs, CLASSIFIED_PAIRS)
        return self._stored(classified, f"faced-{turn}")

    def _now(self, faced: Table) -> Table:
        return self._engine.map(faced, partial(pairs_of_class, now=True), PAIRS)

    def _flagged(self, rows: Table, name: str) -> Table:
        meeting = self._engine.group_by(rows.select(["left", "right"]), "right", "left")
        return self._engine.map(meeting, partial(flag_documents, name=name), flag_schema(name))

    def _advanced(self, states: Table, removed: Table | None, blocked: Table | None, turn: int) -> Table:
        rows = states
        if removed is not None:
            rows = self._engine.join(rows, self._flagged(removed, "removed"), "order", "left")
        if blocked is not None:
            rows = self._engine.join(rows, self._flagged(blocked, "blocked"), "order", "left")
        return self._stored(self._engine.map(rows, partial(advance, turn=turn), STATES), f"states-{turn}")


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
        return self._make_decisions(self.schema, self._decider.found.sketches)

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
            return self._make_decisions(schema, rows)
        placed = schema if "position" in schema.names else schema.append(pa.field("position", pa.int64()))
        return engine.group_by(self._make_decisions(placed, rows), None, "position").select(schema.names)

    def _make_decisions(self, schema: pa.Schema, some: Table) -> Table:
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
        return self.pairs.with_ids(self._matches)

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

    def with_ids(self, matches: Table) -> Table:
        """Return some pairs, in any order, with positions of documents."""
        engine, some, decider = self._decider.engine, self._documents, self._decider
        rows = engine.join(engine.join(matches, some, "left", "inner"), some, "right", "inner")
        schema = pa.schema([*self.schema, *POSITIONS])
        step = partial(
            pair_rows, schema=schema, labels=self._labels, method=decider.method, boundary=decider.found.boundary
        )  # fmt: skip
        return engine.map(rows, step, schema)

    def table(self, matches: Table) -> pa.Table:
        """Return some pairs, in the order of the input."""
        return in_order(self.with_ids(matches)).select(self.schema.names)


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
