"""Shingles that many documents have are counted, and do not count in the job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..engines.engine import Engine
from ..engines.progress import Clock
from ..errors import RowError
from ..formats.split import Split
from ..inputs.read import Reading
from ..settings.settings import Settings
from ..steps.common import CELLS, COUNTED, SEEN, Tally, counted, flagged_in, seen
from ..text.ignored import Ignored
from ..text.texts import concatenate
from .checks import named_row

FLOOR = 100
"""What is in no more documents than this is not common, however few documents there are."""


def ignoring_common(
    engine: Engine, splits: Sequence[Split], reading: Reading, settings: Settings, clock: Clock
) -> Settings:  # fmt: skip
    """Return settings by which shingles do not count that more than the share ``ignore_common`` of all documents have.

    The inputs are read twice: shingles are counted by cells of their hashes, then each one of the cells that reach the share.
    """
    if settings.ignore_common is None:
        return settings
    reading = Reading(
        text=reading.text, encoding_errors=reading.encoding_errors, pages=reading.pages, n_references=reading.n_references,
        skip=reading.skip, once=True,
    )  # fmt: skip
    shingling = settings.shingling
    try:
        counts = engine.fold(engine.map(engine.source(splits, reading), partial(seen, shingling=shingling), SEEN), CELLS)
        least = max(settings.ignore_common * int(counts[0, -1]), FLOOR)
        cells = flagged_in(counts, least)
        tally = Tally(shingling, cells)
        if len(cells[0]):
            counting = partial(counted, shingling=shingling, cells=cells)
            for batch in engine.map(engine.source(splits, reading), counting, COUNTED).batches():
                tally.take(batch)
    except RowError as error:
        raise named_row(splits, error) from error.__cause__
    clock.lap("counting shingles")
    values, texts = tally.common(least)
    if not len(values):
        return settings
    names = None
    if settings.ignore is not None:
        names, texts = settings.ignore.names, concatenate([settings.ignore.texts, texts])
        values = np.concatenate([settings.ignore.hashes, values])
    return replace(settings, ignore=Ignored.of(texts, values, names, replace(shingling, ignored=None)))
