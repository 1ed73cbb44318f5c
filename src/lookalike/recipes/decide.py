"""From candidate pairs to what becomes of each document: the second half of every job over a corpus.

Components are walked as a whole where an engine knows them and they fit its memory. All else goes slice after slice of the
keep order, on one machine, or else by ``steps.rounds``. A slice is walked with the kept documents it may match. Where
few of the first slice are removed, nearly all earlier documents would be at hand for every later one: other pairs are sifted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from ..engines.engine import Engine, Table
from ..engines.local.engine import LocalEngine
from ..engines.local.slices import HashPrefilter, as_one_bundle, cut_slices
from ..settings.settings import Settings
from ..steps.decide import apply_rules, decided_schema
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
from ..steps.totals import N_ROWS
from ..steps.verify import BUNDLED, bundle, halves, sift, verify
from ..steps.walk import choose_survivors, walk
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import MATCHES, PAIRS, STATES, SURVIVORS
from .search import Candidates

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
            return self._all_kept(pairs) if all_pairs else self._kept(pairs)
        walked = self._walked(closed, all_pairs)
        rest = engine.join(pairs, closed, "left", "anti")
        if not any(len(batch) for batch in rest.batches()):
            return walked
        others = Decider(engine, replace(self.found, pairs=rest), self.settings, self.key, self.threshold, self.label)
        return engine.union(walked, others._all_kept(rest) if all_pairs else others._kept(rest))

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

    def _kept(self, pairs: Table) -> Table:
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
