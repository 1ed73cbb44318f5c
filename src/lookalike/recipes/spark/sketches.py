"""Sketches of a job on Spark: tasks save them by attempts, the driver takes those that count: see ``files.folder``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ...engines.engine import Batches
from ...engines.spark.files import WRITTEN, write_file
from ...files.folder import Unfinished
from ...files.urls import AnyPath
from ...inputs.sketch_rows import ROWS
from ...steps.pairs import MEMBERS
from ...steps.sketch import kept, kept_sketches, kept_sketches_schema
from ...values import Int64Array
from ...values.arrays import runs
from ...values.arrow import to_numpy
from ..saved_sketches import Files, Saving

if TYPE_CHECKING:
    from .result import Finished


def save_sketches(job: Finished, folder: str | Path, *, force: bool) -> None:
    """Save the sketches of kept documents: see ``SparkResult.save_sketches``."""
    engine = job.engine
    saving = Saving(
        settings=job.settings, splits=job.splits, n_references=job.n_references, found=job.found, key=job.key,
        provenance=job.provenance,
    )  # fmt: skip
    place = saving.check(folder, force)
    rows = saving.rows(engine, engine.map(job.decisions.select(["order", "reason"]), kept, MEMBERS))
    saving.write(place, force, engine, rows, partial(_write, saving, rows))


def _write(saving: Saving, rows: Any, new: Unfinished) -> Files:
    """Let the tasks write rows, and take the files that count into the folder, in the order of the rows."""
    engine = rows.engine
    if saving.texts:
        rows = engine.join(rows, saving.found.documents, "order", "inner")
    begins, schema = engine.runs_of_input(rows), kept_sketches_schema(rows.schema)

    def written(folder: AnyPath) -> list[Any]:
        writing = partial(write_runs, folder=folder, begins=begins, schema=schema)
        told = engine.by_input(rows).mapped(writing, WRITTEN)
        return sorted(engine.act(told.frame.collect), key=lambda row: str(row.name))

    files: Files = []
    with new.tasks(ROWS) as folder:
        for row in written(folder):
            name = new.take(row.name, new.apart(ROWS, f"{len(files):05}.parquet"), row.bytes)
            files.append({"name": name, "rows": row.rows, "bytes": row.bytes})
    return files


def write_runs(batches: Batches, folder: AnyPath, begins: Int64Array, schema: pa.Schema) -> Batches:
    """Write what is saved of sketches, a file for each run of positions, whose name begins with the number of the run."""
    for number, some in groupby(_in_runs(batches, begins), itemgetter(0)):
        yield from write_file(kept_sketches(batch for _, batch in some), folder, number, schema)


def _in_runs(batches: Batches, begins: Int64Array) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Cut rows where the run changes, and number it."""
    for batch in batches:
        number = np.searchsorted(begins, to_numpy(batch.column("position")), side="right")
        for begin, end in runs(number):
            yield int(number[begin]), batch.slice(begin, end - begin)
