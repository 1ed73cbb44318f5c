"""From candidate pairs to what becomes of each document: the second half of every job over a corpus.

Components are walked as a whole where an engine knows them and they fit its memory; all else goes by ``steps.rounds``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from ..engines.engine import Engine, Table
from ..methods.method import Method
from ..settings.settings import Settings
from ..steps.decide import settle, settled_schema
from ..steps.pairs import MEMBERS, distinct, sides
from ..steps.rounds import resolve
from ..steps.verify import BUNDLED, bundle, verify
from ..steps.walk import name, walk
from ..text.shingle import Shingling
from ..values.tables import MATCHES, STANDING
from .rounds import Rounds
from .search import Searched
from .slices import SliceWalk

PARTNERS = 1 << 10
"""Documents that one is compared with in a bundle, where all texts of a bundle meet: the first of a crowd has many partners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """How candidates are compared, and who stays."""

    method: Method
    shingling: Shingling
    threshold: float
    empty: str = "keep"

    @classmethod
    def of(cls, settings: Settings) -> Deciding:
        """Return how a job compares."""
        method, shingling = settings.finder, settings.shingling
        return cls(method=method, shingling=shingling, threshold=settings.threshold, empty=settings.empty)


class Decider:
    """Decides about a search's documents, at one threshold after the other; ``key`` enters the hashes that compare texts."""

    def __init__(self, engine: Engine, found: Searched, settings: Deciding, key: bytes, label: str = "") -> None:
        self.engine, self.found, self.settings, self.key, self.label = engine, found, settings, key, label
        self._others: dict[float, Decider] = {}

    @cached_property
    def _content(self) -> Table:
        """What documents are compared by: their texts, or what was kept for estimates."""
        found, engine = self.found, self.engine
        if not self.settings.method.exact:
            return found.sketches.select(["order", "estimate"])
        if engine.joins_in_place:
            return found.documents
        return engine.store(engine.join(self._members, found.documents, "order", "inner"), "texts")  # of many, few are compared

    def _compared(self, rows: Table) -> Table:
        """Add what documents are compared by."""
        return self.engine.join(rows, self._content, "order", "inner")

    @property
    def _comparing(self) -> dict[str, Any]:
        s = self.settings
        return {
            "method": s.method,
            "shingling": s.shingling,
            "threshold": s.threshold,
            "key": self.key,
            "boundary": self.found.boundary,
        }

    def _walked(self, closed: Table, all_pairs: bool) -> Table:
        """Return the matches inside bundles: of removed documents with kept ones, or all."""
        walking = partial(walk, all_pairs=all_pairs, **self._comparing)
        stem = "matches-of-all" if all_pairs else "matches"
        return self.engine.store(self.engine.map(self._compared(closed), walking, MATCHES), f"{stem}{self.label}")

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
        stream = self.engine.meet(matches, None, ("right", "left"))
        resolving = partial(resolve, boundary=self.found.boundary)
        return self.engine.store(self.engine.map(stream, resolving, MATCHES), f"matches-kept{self.label}")

    def _decided(self, all_pairs: bool) -> Table:
        """Walk bundles where the engine has them, else go by rounds; once, as later fewer components may fit the memory."""
        engine, pairs = self.engine, self.found.pairs
        rest_of = self._all_kept if all_pairs else self._kept
        if engine.components is None:
            return rest_of(pairs)
        closed = engine.components(pairs)
        walked = self._walked(closed, all_pairs)
        rest = engine.join(pairs, closed, "left", "anti")
        if not any(len(batch) for batch in rest.batches()):
            return walked
        return engine.union(walked, rest_of(rest))

    def verified(self, pairs: Table) -> Table:
        """Return all matches among pairs."""
        engine = self.engine
        bundling = partial(bundle, most=None if engine.joins_in_place else PARTNERS)
        bundled = engine.map(engine.meet(pairs, "left", "right"), bundling, BUNDLED)
        rows = self._compared(bundled)
        if not engine.joins_in_place:
            rows = engine.meet(rows, "bundle", "order")
        return engine.map(rows, partial(verify, **self._comparing), MATCHES)

    @property
    def _slices(self) -> SliceWalk | None:
        """Who decides about what is in no component, where the engine has slices."""
        if self.engine.slices is None:
            return None
        return SliceWalk(self.engine, self.engine.slices, self._compared, self._comparing, self.label)

    def _all_kept(self, pairs: Table) -> Table:
        """Return all matches among pairs, so that they can be read more than once."""
        some = pairs if self._slices is None else self._slices.sifted(pairs)
        return self.engine.store(self.verified(some), f"verified{self.label}")

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
        both = engine.meet(engine.map(self.found.pairs, sides, MEMBERS), "order", "order", once=True)
        return engine.store(engine.map(both, distinct, MEMBERS), "members")

    def standing(self, matches: Table) -> Table:
        """Name who stands for each removed document; ``matches`` are those with kept documents."""
        best = self.engine.map(self.engine.meet(matches, "right", "left"), name, STANDING)
        return self.engine.store(best, f"standing{self.label}")

    def settled(self, sketches: Table, standing: Table) -> Table:
        """Add to each document what becomes of it; ``sketches`` have order and empty, and what is to be passed on."""
        rows = self.engine.join(sketches, self.found.leaders, "order", "left")
        rows = self.engine.join(self.engine.join(rows, standing, "order", "left"), standing, "leader", "left")
        settling = partial(settle, boundary=self.found.boundary, empty=self.settings.empty)
        return self.engine.map(rows, settling, settled_schema(rows.schema))

    def at(self, threshold: float) -> Decider:
        """Return what decides about the same pairs at another threshold."""
        if threshold not in self._others:
            settings = replace(self.settings, threshold=threshold)
            self._others[threshold] = Decider(self.engine, self.found, settings, self.key, f"-at-{threshold!r}")
        return self._others[threshold]
