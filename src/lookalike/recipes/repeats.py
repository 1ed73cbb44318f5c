"""Text that a corpus repeats: which lines, or windows of words, occur more than once, and which of these are removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.engine import Engine, Table
from ..engines.memory import Memory
from ..errors import InputDataError, ParameterError, RowError
from ..formats.cuts import check_one_column
from ..formats.memory import as_sources, own_id
from ..formats.split import Split
from ..inputs.read import Reading, check_documents, leaves_out
from ..results.overlap import Corpus
from ..results.repeats import Repeats
from ..settings.limits import limit_of
from ..settings.option import check_values, recorded, repeating
from ..settings.options import OPENING, InputOptions
from ..settings.repeats import LinesOptions, PassagesOptions
from ..settings.settings import available_threads
from ..steps import repeats as steps
from ..text.units import KEY_BYTES, Units
from ..values import Int64Array, UInt64Array
from ..values.tables import SOURCE_BITS
from .corpus import by_order, job_engine, read_corpus
from .preparation import expected_of
from .progress import Following, no_progress, shown

LEAST_WORDS, CELLS_PER_UNIT, CELLS_PER_WORD = 1 << 10, 16, 32
"""The smallest table of what may come twice; what it has of cells for each unit expected, and in a word."""
UNKNOWN = 1 << 22
"""Units for which there is room where nobody knows how many there are; the system gives only what is used."""
MANY = 1 << 20
"""Units that may be repeated, from which on those are looked for that come very often."""
FREQUENT = 1 << 12
"""How many keys are looked for that come very often."""


def check_inputs(settings: InputOptions) -> None:
    """Check the parameters that all such jobs take."""
    check_values(settings)
    check_one_column(settings.text, "removing what is repeated")


@dataclass(frozen=True, eq=False)
class Searching:
    """A corpus in which repeated units are looked for, and what does so."""

    engine: Engine
    sources: list[Split]
    reading: Reading
    memory: Memory
    report: Following
    key: bytes
    """The secret that units are known by."""

    def expected(self, unit_bytes: int) -> int:
        """Return about how many units there are, of about so many bytes; of values in memory nobody knows."""
        return expected_of(self.sources, self.reading.text)[1] // unit_bytes or UNKNOWN

    def count(self, units: Units, n: int) -> UInt64Array:
        """Read the corpus; return which keys of units, about ``n``, may come twice."""
        self.report.name = "counting"
        step = partial(steps.hash_units, units=units, strict=self._strict)
        keys = self.engine.map(self.engine.source(self.sources, self.reading), step, steps.KEYS)
        wanted, room = n * CELLS_PER_UNIT // CELLS_PER_WORD, self.memory.free // 64  # an eighth of it
        n_words = max(LEAST_WORDS, min(1 << wanted.bit_length(), 1 << room.bit_length() >> 1))
        try:
            return self.engine.fold(keys, steps.key_counts(n_words))
        except RowError as error:
            raise InputDataError(f"{self.sources[error.position >> SOURCE_BITS].name}, {error}") from None

    def propose(self, units: Units, table: UInt64Array, name: str, named: bool = True) -> Proposed:
        """Read the corpus; return its documents with the units that may come twice, and with ids if they are ``named``."""
        self.report.name = "finding repeats"
        step = partial(steps.propose, units=units, table=table, strict=self._strict)
        reading = self.reading if named else replace(self.reading, id=None)
        stored, corpus = read_corpus(self.engine, self.sources, reading, step, steps.proposed_schema, name)
        rows = self.engine.rank(stored, ("position",), 0)
        bounds = np.concatenate([[0], np.cumsum(by_order(rows, "n", corpus.n))])
        n = int(bounds[-1])
        if n // 8 > self.memory.free // 4:
            raise ParameterError(
                f"{n:,} lines or words may be repeated, and a bit for each takes {n / 8e6:,.0f} MB: more than a quarter of the "
                "memory that is free; raise --memory (memory=), or divide the inputs"
            )
        return Proposed(rows, corpus, bounds[:-1], n)

    def judge(self, found: Proposed, over: int | None, name: str) -> tuple[Table, NDArray[np.uint8]]:
        """Return a row for each set of equal units, and a bit for each unit: is it removed?"""
        rule, engine = steps.Rule(over, found.starts), self.engine
        documents = found.rows.select(["order", "n", "units"])
        rows = engine.map(documents, partial(steps.list_units, starts=rule.starts), steps.ROWS)
        told: list[Table] = []
        keys = engine.fold(rows, steps.frequent(FREQUENT)) if found.n > MANY else np.empty(0, steps.HEAVY)
        if (keys["n"] > 0).any():
            frequent = steps.Frequent(np.sort(keys[keys["n"] > 0]), rule)
            totals = engine.fold(documents, frequent.totals)
            rows = engine.map(rows, frequent.others, steps.ROWS)
            told.append(engine.map(documents, partial(frequent.judge, totals=totals), steps.REPEATED))
            told.append(engine.rows(frequent.told(totals)))
        judged: Table = engine.map(engine.meet(rows, "key", "unit"), partial(steps.judge, rule=rule), steps.REPEATED)
        for more in told:
            judged = engine.union(judged, more)
        repeated = engine.store(judged, name)
        return repeated, engine.fold(repeated.select(["removed"]), steps.marks(found.n))

    @property
    def _strict(self) -> bool:
        return self.reading.encoding_errors == "strict"


@dataclass(frozen=True, slots=True)
class Proposed:
    """Documents with units that may be repeated (ranked), the number of the first of each document, and of all."""

    rows: Table
    corpus: Corpus
    starts: Int64Array
    n: int


def find_repeats(
    data: Any, settings: LinesOptions | PassagesOptions, find: Callable[[Searching], tuple[Proposed, Table, NDArray[np.uint8]]]
) -> Repeats:  # fmt: skip
    """Find repeated units of a corpus: ``find`` returns documents, sets of equal units, and a bit for each unit."""
    cap = Memory.wanted(settings.memory)
    limit = limit_of(settings.max_document, settings.on_error, cap)
    how: Any = {name: getattr(settings, name) for name in OPENING}
    sources = as_sources(data, **how)
    check_documents(sources)
    sources = [replace(source, limit=limit, threads=settings.threads or available_threads()) for source in sources]
    id = settings.id or own_id(sources)
    reading = Reading(
        text=settings.text, id=id, encoding_errors=settings.encoding_errors, skip=leaves_out(sources), once=True
    )  # fmt: skip
    with shown(settings.progress) as said:
        report = Following(said or no_progress, "counting", "proposed")
        report.begun = True
        engine, workspace = job_engine(settings.threads, cap, report)
        found, repeated, bits = find(Searching(engine, sources, reading, cap, report, os.urandom(KEY_BYTES)))
    n = found.corpus.n
    skipped = by_order(found.rows, "skipped", n).astype(np.bool_) if reading.skip else np.zeros(n, np.bool_)
    said_of = {"parameters": recorded(replace(settings, id=id, progress=None)), "config": repeating(settings)}
    marks = steps.Marks(bits, found.starts)
    return Repeats(engine, found.rows, repeated, found.corpus, reading, marks, skipped, said_of, workspace)
