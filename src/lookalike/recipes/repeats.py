"""Text that a corpus repeats: which lines, or windows of words, occur more than once, and which of these are removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..engines.engine import Engine, Table
from ..engines.memory import Memory
from ..errors import InputDataError, ParameterError, RowError
from ..files.workspace import Workspace
from ..formats.memory import as_sources, own_id
from ..inputs.read import Reading, check_documents, leaves_out
from ..results.repeats import Repeats
from ..settings.limits import check_on_error, limit_of
from ..settings.option import check_values, recorded
from ..settings.options import OPENING, InputOptions
from ..settings.repeats import LinesOptions, PassagesOptions
from ..settings.settings import available_threads
from ..steps import repeats as steps
from ..text.units import KEY_BYTES, Units
from ..values.arrow import to_numpy
from ..values.tables import SOURCE_BITS
from .overlap import by_order, read_corpus
from .preparation import expected_of, job_engine
from .progress import Following, no_progress, shown

LEAST_WORDS, CELLS_PER_UNIT, CELLS_PER_WORD = 1 << 10, 16, 32
"""The smallest table of what may come twice; what it has of cells for each unit expected, and in a word."""
MANY = 1 << 20
"""Units that may be repeated, from which on those are looked for that come very often."""
FREQUENT = 1 << 12
"""How many keys are looked for that come very often."""


def check_inputs(settings: InputOptions) -> None:
    """Check the parameters that all such jobs take."""
    check_values(settings)
    check_on_error(settings.on_error)


def find_repeats(
    data: Any, settings: LinesOptions | PassagesOptions, units_of: Callable[[bytes], Units], unit_bytes: int,
    over: int | None = None,
) -> Repeats:  # fmt: skip
    """Find repeated units of a corpus: made by a secret, of about so many bytes; remove later ones, or all of too many."""
    cap, workspace = Memory.wanted(settings.memory), Workspace()
    limit = limit_of(settings.max_document, settings.on_error, cap)
    how: Any = {name: getattr(settings, name) for name in OPENING}
    sources = as_sources(data, **how)
    check_documents(sources)
    sources = [replace(source, limit=limit, threads=settings.threads or available_threads()) for source in sources]
    id, strict = settings.id or own_id(sources), settings.encoding_errors == "strict"
    reading = Reading(
        text=settings.text, id=id, encoding_errors=settings.encoding_errors, skip=leaves_out(sources), once=True
    )  # fmt: skip
    units = units_of(os.urandom(KEY_BYTES))
    with shown(settings.progress) as said:
        report = Following(said or no_progress, "counting", "proposed")
        report.begun = True
        engine, (sources,) = job_engine(data, settings, [sources], cap, workspace, report)
        keys = engine.map(engine.source(sources, reading), partial(steps.hash_units, units=units, strict=strict), steps.KEYS)
        size = expected_of(sources, settings.text)[1]
        wanted = min(size // unit_bytes * CELLS_PER_UNIT // CELLS_PER_WORD, cap.free // 64)
        n_words = 1 << max(LEAST_WORDS, wanted).bit_length()
        try:
            table = engine.fold(keys, steps.key_counts(n_words))
        except RowError as error:
            raise InputDataError(f"{sources[error.position >> SOURCE_BITS].name}, {error}") from None
        report.name = "finding repeats"
        propose = partial(steps.propose, units=units, table=table)
        proposed, corpus = read_corpus(engine, sources, reading, propose, steps.proposed_schema, "proposed")
        del table
    rows = engine.rank(proposed, ("position",), 0)
    counts = by_order(rows, "n", corpus.n)
    starts = np.concatenate([[0], np.cumsum(counts)])
    _check_room(int(starts[-1]), cap)
    rule = steps.Rule(over, starts[:-1])
    repeated = _judged(engine, rows.select(["order", "n", "units"]), rule, int(starts[-1]))
    bits = engine.fold(repeated.select(["removed"]), steps.marks(int(starts[-1])))
    marks = steps.Marks(bits, starts[:-1], units.length)
    skipped = by_order(rows, "skipped", corpus.n) if reading.skip else np.zeros(corpus.n, np.int64)
    named = replace(settings, id=id, engine=None, progress=None)
    return Repeats(engine, rows, repeated, corpus, reading, marks, skipped.astype(np.bool_), recorded(named), workspace)


def _check_room(n: int, cap: Memory) -> None:
    """Refuse more units than there is room to mark."""
    if n // 8 > cap.free // 4:
        raise ParameterError(
            f"the {n:,} units that may be repeated need {n / 8e6:,.0f} MB of memory, of which a quarter of what is free can be "
            "used: raise --memory (memory=), or divide the inputs"
        )


def _judged(engine: Engine, documents: Table, rule: steps.Rule, n: int) -> Table:
    """Return a row for each set of equal units, and which of them go."""
    rows = engine.map(documents, partial(steps.list_units, starts=rule.starts), steps.ROWS)
    told: list[Table] = []
    if n > MANY:
        heavy = engine.fold(rows, steps.frequent(FREQUENT))
        heavy = np.sort(heavy[heavy["n"] > 0])
        frequent = steps.Frequent(heavy, rule)
        totals = engine.fold(documents, frequent.totals)
        rows = engine.map(rows, frequent.others, steps.ROWS)
        told = [
            engine.map(documents, partial(frequent.judge, totals=totals), steps.REPEATED), engine.rows(frequent.told(totals))
        ]  # fmt: skip
    judged = engine.map(engine.meet(rows, "key", "unit"), partial(steps.judge, rule=rule), steps.REPEATED)
    for more in told:
        judged = engine.union(judged, more)
    return engine.store(judged, "repeated")
