"""Decide by rounds: for engines that know no components, and cannot walk slices of the keep order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

from ..engines.engine import Engine, Table
from ..steps.rounds import (
    FACED,
    FACED_NOW_AND_LATER,
    OPEN_DOCUMENTS,
    advance,
    face,
    first_states,
    flag,
    flag_schema,
    not_verified,
    resolve,
    which,
)
from ..steps.totals import N_ROWS
from ..values.tables import MATCHES, PAIRS, STATES

ROUNDS, ENOUGH = 6, 10
FEW = 250_000
"""Pairs that are all verified at once: rounds would take longer to begin than they save."""


class Rounds:
    """Decides about pairs, see ``steps.rounds``; orders below ``boundary`` are references, ``label`` ends stored names."""

    def __init__(self, engine: Engine, verified: Callable[[Table], Table], boundary: int, label: str) -> None:
        self._engine, self._verified, self._boundary, self._label = engine, verified, boundary, label

    def kept_of(self, pairs: Table, members: Table) -> Table:
        """Return the matches of removed documents with kept ones."""
        if int(self._engine.fold(pairs, N_ROWS)[0]) <= FEW:
            return self._stored(self._resolved(pairs), "named")
        return self._round_by_round(pairs, members)

    def _resolved(self, pairs: Table) -> Table:
        """Verify all pairs, and choose the matches with documents that are kept."""
        stream = self._engine.meet(self._verified(pairs), None, ("right", "left"))
        return self._engine.map(stream, partial(resolve, boundary=self._boundary), MATCHES)

    def _round_by_round(self, pairs: Table, members: Table) -> Table:
        engine = self._engine
        first = engine.map(members, partial(first_states, boundary=self._boundary), STATES)
        states = self._stored(first, "states-0")
        waiting, before, turn, open_now = pairs, None, 0, 1
        found: list[Table] = []
        while open_now:
            turn += 1
            faced = self._stored(engine.map(self._with_states(waiting, states), face, FACED), f"faced-{turn}")
            n_now, n_later = engine.fold(faced.select(["now"]), FACED_NOW_AND_LATER).tolist()
            waiting = engine.map(faced, partial(which, now=False), PAIRS)
            matches = self._stored(self._verified(self._now(faced)), f"verified-{turn}") if n_now else None
            found += [] if matches is None else [matches]
            states = self._advanced(states, matches, waiting if n_later else None, turn)
            open_now = int(engine.fold(states.select(["state"]), OPEN_DOCUMENTS)[0]) if n_later else 0
            if turn == ROUNDS or (before is not None and (before - open_now) * ENOUGH < before):
                break
            before = open_now
        last = turn + 1
        if open_now:
            faced = self._stored(engine.map(self._with_states(waiting, states), face, FACED), f"faced-{last}")
            resolved = self._stored(self._resolved(faced.select(PAIRS.names)), "resolved")
            found.append(resolved)
            states = self._advanced(states, resolved, None, last)
        rest = engine.map(self._with_states(pairs, states), partial(not_verified, last=last), PAIRS)
        found.append(self._verified(rest))
        return self._stored(reduce(engine.union, found), "named")

    def _stored(self, rows: Table, name: str) -> Table:
        stem, _, number = name.partition("-")
        return self._engine.store(rows, f"{stem}{self._label}-{number}" if number else f"{stem}{self._label}")

    def _with_states(self, pairs: Table, states: Table) -> Table:
        return self._engine.join(self._engine.join(pairs, states, "left", "inner"), states, "right", "inner")

    def _now(self, faced: Table) -> Table:
        return self._engine.map(faced, partial(which, now=True), PAIRS)

    def _flagged(self, rows: Table, name: str) -> Table:
        meeting = self._engine.meet(rows.select(["left", "right"]), "right", "left")
        return self._engine.map(meeting, partial(flag, name=name), flag_schema(name))

    def _advanced(self, states: Table, removed: Table | None, blocked: Table | None, turn: int) -> Table:
        rows = states
        if removed is not None:
            rows = self._engine.join(rows, self._flagged(removed, "removed"), "order", "left")
        if blocked is not None:
            rows = self._engine.join(rows, self._flagged(blocked, "blocked"), "order", "left")
        return self._stored(self._engine.map(rows, partial(advance, turn=turn), STATES), f"states-{turn}")
