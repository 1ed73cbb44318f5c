"""A corpus whose documents are read on one machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..engines.engine import Engine, Step, Table
from ..engines.local.engine import LocalEngine
from ..engines.memory import Memory, limit_of
from ..errors import RowError
from ..files.workspace import Workspace
from ..formats.memory import as_sources
from ..formats.split import Split, note_skipped, skipped_in
from ..inputs.ids import Labels
from ..inputs.read import ReadOptions, check_documents, check_left
from ..results.decontamination import Corpus
from ..settings.options import InputOptions
from ..settings.settings import available_threads
from ..steps.totals import of_inputs
from ..values import Int64Array
from ..values.arrow import to_numpy
from .checks import check_ids, named_row
from .outputs import Outputs
from .progress import Progress


def open_corpora(
    data: Any, against: Any, settings: InputOptions, outputs: Outputs
) -> tuple[list[Split], list[Split], Memory]:  # fmt: skip
    """Return the documents of a job and its references, and its memory, if outputs meet none of them."""
    outputs.begin()
    cap, how = Memory.wanted(settings.memory), settings.opening
    limit = limit_of(settings.max_document, settings.on_error, cap)
    others = as_sources(against, **how, others=None, name="against")
    sources = as_sources(data, **how, others=others)
    check_documents([*sources, *others])
    outputs.check(sources, others, settings)
    note_skipped(skipped_in(sources, others))
    threads, left = settings.threads or available_threads(), replace(limit, skip=False, leave=limit.faults)
    for splits, most in ((sources, limit), (others, left)):
        splits[:] = (replace(split, limit=most, threads=threads) for split in splits)
    return sources, others, cap.reading(any(split.remote_bytes for split in (*sources, *others)))


def job_engine(threads: int | None, memory: Memory, progress: Progress) -> tuple[Engine, Workspace]:
    """Return the engine of a job, and the place of its tables, which goes with the result."""
    workspace = Workspace()
    engine = LocalEngine(threads=threads or available_threads(), memory=memory, workspace=workspace, progress=progress)
    return engine, workspace


def read_corpus(
    engine: Engine,
    splits: Sequence[Split],
    reading: ReadOptions,
    step: Step,
    schema_of: Callable[[pa.Schema], pa.Schema],
    name: str,
    unread: Sequence[str],
) -> tuple[Table, Corpus]:
    """Run a step on the documents of a corpus; return what it makes, stored, and what they are called.

    ``unread``: the errors of files that could not be opened.
    """
    documents = engine.source(splits, reading)
    try:
        made = engine.materialize(engine.map(documents, step, schema_of(documents.schema)), name)
    except RowError as error:
        raise named_row(splits, error) from None
    for split in splits:
        split.check_unchanged()
    corpus = corpus_of(engine, made, splits, reading)
    left = [to_numpy(batch["skipped"]).sum() for batch in made.select(["skipped"]).batches()] if reading.skip else []
    check_left(splits, reading.columns(0), corpus.n, int(sum(left)), unread)
    return made, corpus


def corpus_of(engine: Engine, rows: Table, splits: Sequence[Split], reading: ReadOptions) -> Corpus:
    """Return what documents are called, if ids are unique."""
    texts = False
    if reading.id is not None:
        check_ids(engine, rows, splits, reading)
        texts = any(to_numpy(batch.column(0)).any() for batch in rows.select(["id_is_text"]).batches())
    sizes = engine.aggregate(rows.select(["position"]), of_inputs(len(splits)))[0]
    labels = Labels.of(splits, reading.id is not None, not texts)
    return Corpus(sources=splits, starts=np.concatenate([[0], np.cumsum(sizes)]), labels=labels)


def by_order(rows: Table, name: str, n: int) -> Int64Array:
    """Return a column of numbers by order."""
    found = np.zeros(n, np.int64)
    for batch in rows.select(["order", name]).batches():
        found[to_numpy(batch["order"])] = to_numpy(batch[name])
    return found
