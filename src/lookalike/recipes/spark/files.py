"""Cleaned files and sketches of a job on Spark: tasks write under names of their own attempts, and the driver publishes.

All decisions about an input go to one task, which writes what ``Result.write`` would. A task may run more than once, at the
same time too: each attempt has its own folder, and the rows that Spark takes name those that count. Only the driver moves files
from them, into a folder that gets the output's name when complete. On an object store nothing is moved: attempts write the same
bytes under the same name, and the driver says in the end that all is there.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...engines.engine import Batches
from ...engines.spark.files import WRITTEN as WRITTEN_RUNS
from ...engines.spark.files import write_file
from ...errors import OutputError, ParameterError
from ...files.atomic import reporting
from ...files.disk import OutputFolder
from ...files.folder import Folder, UnfinishedFolder, folder_of
from ...files.urls import AnyPath, check_url
from ...formats.split import Split
from ...formats.writers import Selection, check_folder, folder_like, is_stdout, means_folder
from ...inputs.sketch_rows import ROWS
from ...results.groups import annotated
from ...steps.sketch import kept_sketches, kept_sketches_schema
from ...values import Int64Array
from ...values.arrays import runs
from ...values.arrow import to_numpy
from ..saved_sketches import Files, Saving

MOST_TASKS = 1 << 14
"""That write; a task writes one input after the other."""
WRITTEN = pa.schema([("source", pa.int64()), ("folder", pa.large_string()), ("name", pa.large_binary()), ("bytes", pa.int64())])
"""A row for each file of an input, and one without a name that says that there are no more."""
TOLD = pa.schema([("source", pa.int64()), ("position", pa.int64()), ("wanted", pa.bool_())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What tasks write, and where."""

    splits: tuple[Split, ...]  # references first
    provenance: dict[str, Any]
    encoding_errors: str
    output: str  # as messages call it
    attempts: AnyPath  # the folder of the tasks: see ``files.folder``
    scores: Mapping[str, str] | None = None  # columns of scores and their names, if something is added to rows
    against: bool = False  # whether there are references
    free: tuple[str, ...] = ()  # columns that inputs must not have


def check_where(output: str | Path, force: bool) -> Folder:
    """Return the folder to write to, if it is one, and may be written to."""
    check_url(output)
    if not means_folder(output):
        like = folder_like(output) if not is_stdout(output) else "clean"
        raise ParameterError(
            f"{output} is one file, but the tasks of a cluster write one for each input: name a folder, such as {like}/"
        )
    return check_folder(output, force)


def write_inputs(batches: Batches, writing: Writing) -> Batches:
    """Write inputs, in a task; yield rows of ``WRITTEN``."""
    token = os.urandom(8).hex()
    for source, some in groupby(_by_source(batches), itemgetter(0)):
        with _attempt(writing, f"{token}-{source}") as folder:
            files = _write_input(writing, source, (rows for _, rows in some), folder)
            sizes = [*(os.stat(folder.path / name).st_size for name in files), None]
        n = len(files) + 1
        columns = [[source] * n, [folder.inside] * n, [*map(os.fsencode, files), None], sizes]
        yield pa.RecordBatch.from_arrays(
            [pa.array(values, field.type) for values, field in zip(columns, WRITTEN, strict=True)], schema=WRITTEN
        )


@contextmanager
def _attempt(writing: Writing, name: str) -> Iterator[OutputFolder]:
    """Give the folder of an attempt."""
    with reporting(writing.output), ExitStack() as stack:
        try:
            folder = stack.enter_context(folder_of(writing.attempts).attempt(name))
        except FileNotFoundError:
            raise OutputError(
                f"Spark's workers do not see {writing.attempts}: name a folder on an object store, or on "
                "storage that the driver and all workers have mounted",
                writing.output,
            ) from None
        yield folder


def _by_source(batches: Batches) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Cut sorted rows where the input changes."""
    for batch in batches:
        sources = to_numpy(batch.column("source"))
        for begin, end in runs(sources):
            yield int(sources[begin]), batch.slice(begin, end - begin)


def _write_input(writing: Writing, source: int, rows: Batches, folder: OutputFolder) -> list[str]:
    """Write one input into a folder, and bring it to the disk; return the names of the files."""
    split, scores = writing.splits[source], writing.scores
    if writing.free:
        split.check_free(writing.free)
    masks = [np.empty(0, np.bool_)]
    with nullcontext() if scores is None else _Spooled() as spooled:
        for batch in rows:
            there = batch.filter(batch.column("position").is_valid())
            masks.append(to_numpy(there.column("wanted")))
            if spooled is not None:
                spooled.add(there.select(there.schema.names[len(TOLD) :]))
        added = None
        if spooled is not None and scores is not None:
            table = spooled.table()

            def added(begin: int, end: int) -> pa.Table:
                return annotated(table.slice(begin, end - begin), scores, writing.against)

        selection = Selection(split, np.concatenate(masks), added, writing.encoding_errors)
        split.form.write_kept_file(folder, selection, writing.provenance)
    folder.sync()
    return folder.files


class _Spooled:
    """Rows in a temporary file, of which parts are mapped as they are asked for: an input may have more than fit the memory."""

    def __enter__(self) -> _Spooled:
        """Make the file."""
        self._file = tempfile.NamedTemporaryFile(prefix="lookalike-")
        self._writer: Any = None
        return self

    def __exit__(self, *error: object) -> None:
        """Remove it."""
        self._file.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Write rows; the first batch, which may be empty, says what columns there are."""
        if self._writer is None:
            self._writer = pa.ipc.new_file(self._file, batch.schema)
        self._writer.write_batch(batch)

    def table(self) -> pa.Table:
        """Return all rows."""
        self._writer.close()
        self._file.flush()
        return pa.ipc.open_file(pa.memory_map(self._file.name)).read_all()


def take_files(written: Batches, new: UnfinishedFolder, n_inputs: int) -> None:
    """Take the files of the attempts that count into a folder."""
    done = 0
    for batch in written:
        for row in batch.to_pylist():
            if row["name"] is None:
                done += 1
            else:
                name = os.fsdecode(row["name"])
                new.take(os.path.join(row["folder"], name), name, row["bytes"])
    if done != n_inputs:
        raise OutputError(f"of {n_inputs:,} inputs, {done:,} were written: Spark lost rows of tasks; write again")


def write_sketches(saving: Saving, rows: Any, new: UnfinishedFolder) -> Files:
    """Let the tasks write rows, and take the files that count into the folder, in the order of the rows."""
    engine = rows.engine
    if saving.texts:
        rows = engine.join(rows, saving.found.documents, "order", "inner")
    begins, schema = engine.runs_of_input(rows), kept_sketches_schema(rows.schema)

    def written(folder: AnyPath) -> list[Any]:
        writing = partial(write_runs, folder=folder, begins=begins, schema=schema)
        told = engine.by_input(rows).mapped(writing, WRITTEN_RUNS)
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
