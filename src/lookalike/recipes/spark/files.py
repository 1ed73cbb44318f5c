"""Cleaned files of a job on Spark: tasks write them under names of their own attempts, and the driver publishes them.

All decisions about an input go to one task, which writes what ``Result.write`` would. A task may be run more than once, at the
same time too: each attempt writes into folders of its own beside the output, and the rows that Spark takes from the tasks name
the folders that count. Only the driver moves files out of them, into a folder that gets the output's name when all is in it.

On an object store nothing is moved: attempts of a task write the same bytes under the same name, and the driver says in the end
that all is there (see ``files.store``).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ...engines.engine import Batches
from ...engines.spark.tables import SparkTable, StoredTable
from ...errors import OutputError, ParameterError
from ...files.atomic import create_temporary, reporting
from ...files.disk import NewFolder, atomic_directory
from ...files.folder import remove_tree
from ...files.names import shown
from ...files.store import check_output_at, prepare, publish, reporting_at, upload
from ...files.urls import Url, as_url, check_url
from ...formats.writers import (
    Selection,
    check_before,
    check_folder_name,
    check_output,
    describe,
    folder_like,
    is_stdout,
    means_folder,
)
from ...results.tables import annotated, annotating
from ...settings.settings import added_columns
from ...values.arrays import runs
from ...values.arrow import to_numpy
from ...values.tables import SOURCE_BITS

if TYPE_CHECKING:
    from .result import Finished

MOST_TASKS = 1 << 14
"""That write; a task writes one input after the other."""
WRITTEN = pa.schema([("source", pa.int64()), ("folder", pa.large_string()), ("name", pa.large_binary()), ("bytes", pa.int64())])
"""A row for each file of an input, and one without a name that says that there are no more."""
_TOLD = pa.schema([("source", pa.int64()), ("position", pa.int64()), ("wanted", pa.bool_())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What tasks write, and where.

    Parameters
    ----------
    splits : tuple of Split
        References first.
    output : str
        What messages call the output.
    attempts : Path, optional
        The folder beside it, on the same file system, in which attempts have folders.
    store : Url, optional
        The output, where it is on an object store: attempts write on the disk of the worker, and copy what is whole.
    scores : mapping of str to str, optional
        What the columns of scores are called, if rows are annotated.
    against : bool
        Whether there are references.
    free : tuple of str
        Columns that inputs must not have.
    """

    splits: tuple[Any, ...]
    provenance: dict[str, Any]
    encoding_errors: str
    output: str
    attempts: Path | None = None
    store: Url | None = None
    scores: Mapping[str, str] | None = None
    against: bool = False
    free: tuple[str, ...] = ()


def check_folder(output: str | Path) -> None:
    """Check that an output means a folder."""
    check_url(output)
    if not means_folder(output):
        like = folder_like(output) if not is_stdout(output) else "clean"
        raise ParameterError(
            f"{output} means one file, and the tasks of a cluster write one for each input: name a folder, such as {like}/"
        )


def check_where(output: str | Path, force: bool) -> Path | Url:
    """Return the folder to write to, if it may be written to."""
    check_folder(output)
    store = as_url(output)
    if store is None:
        return check_output(output, force)
    with reporting_at(store):
        entry = store.entry()
    if entry is None or not entry.is_folder:
        check_folder_name(output)
    check_output_at(store, force)
    return store


def write_files(job: Finished, output: str | Path, scores: Mapping[str, str], *, annotate: bool, force: bool) -> None:
    """Write the rows of a job's inputs: see ``SparkResult.write``."""
    path = check_where(output, force)
    references, inputs = job.splits[: job.n_references], job.splits[job.n_references :]
    check_before(output, inputs, references)
    writing = Writing(
        splits=tuple(job.splits), provenance=job.provenance, encoding_errors=job.settings.encoding_errors,
        output=shown(output), scores=scores if annotate else None, against=job.n_references > 0,
        free=added_columns(job.settings, job.n_references > 0) if annotate and not job.settings.annotate else (),
    )  # fmt: skip
    if isinstance(path, Url):
        prepare(path, [name for split in inputs for name in split.form.names_in_folder(split)])
        with _written(job, replace(writing, store=path)) as files:
            publish(path, {name: size for _, name, size in _files(files, len(inputs))}, job.provenance)
        return
    with (
        atomic_directory(path, replace=force) as folder,
        attempts_beside(path) as attempts,
        _written(job, replace(writing, output=shown(path), attempts=attempts.absolute())) as files,
    ):
        _publish(files, attempts, folder, len(inputs))
        describe(folder, job.provenance)


@contextmanager
def _written(job: Finished, writing: Writing) -> Iterator[Batches]:
    """Let the tasks write; give what they say of it."""
    told, engine = _told(job, writing.scores), job.engine
    told_of = engine.write(told.mapped(partial(write_inputs, writing=writing), WRITTEN), "written", again=True)
    yield StoredTable(engine, told_of, WRITTEN).batches()
    remove_tree(told_of.folder)


@contextmanager
def attempts_beside(path: Path) -> Iterator[Path]:
    """Give a folder beside the output for what tasks write; a killed driver's is removed by the next run."""
    folder, lock = create_temporary(path, folder=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # with what lost attempts left; one that is late finds it gone
        os.close(lock)


def _told(job: Finished, scores: Mapping[str, str] | None) -> SparkTable:
    """Return what tasks need of the decisions: all about an input together, a row without position first."""
    from pyspark.sql import functions

    decisions, column, first = job.decisions, functions.col, job.n_references
    added = [] if scores is None else annotating(scores, first > 0)
    wanted = column("kept") if scores is None else column("reason") != "skipped"
    source = functions.shiftright("position", SOURCE_BITS)
    own = decisions.for_callers().filter(column("position") >= first << SOURCE_BITS)
    rows = own.select(source.alias("source"), "position", wanted.alias("wanted"), *added)
    heads = job.engine.session.range(first, len(job.splits)).withColumnRenamed("id", "source")  # inputs without rows, too
    together = rows.unionByName(heads, allowMissingColumns=True)
    n = min(len(job.splits) - first, MOST_TASKS)
    schema = pa.schema([*_TOLD, *(decisions.schema.field(name) for name in added)])
    return SparkTable(job.engine, together.repartition(n, "source").sortWithinPartitions("source", "position"), schema)


def write_inputs(batches: Batches, writing: Writing) -> Batches:
    """Write inputs, in a task; yield rows of ``WRITTEN``."""
    token = os.urandom(8).hex()
    for source, some in groupby(_by_source(batches), itemgetter(0)):
        with _folder_of(writing, f"{token}-{source}") as folder:
            files = _write_input(writing, source, (rows for _, rows in some), NewFolder(folder))
            sizes = [*(os.stat(folder / name).st_size for name in files), None]
            if writing.store is not None:
                for name in files:
                    upload(folder / name, writing.store / name)
        columns = [[source] * (len(files) + 1), [folder.name] * (len(files) + 1), [*map(os.fsencode, files), None], sizes]
        yield pa.RecordBatch.from_arrays(
            [pa.array(values, field.type) for values, field in zip(columns, WRITTEN, strict=True)], schema=WRITTEN
        )


@contextmanager
def _folder_of(writing: Writing, name: str) -> Iterator[Path]:
    """Give the folder of an attempt."""
    if writing.attempts is None:
        with tempfile.TemporaryDirectory(prefix="lookalike-") as made:
            yield Path(made)
        return
    with reporting(Path(writing.output)):
        try:
            (writing.attempts / name).mkdir()
        except FileNotFoundError:
            raise OutputError(
                f"{writing.output}: Spark's workers do not see {writing.attempts}: name a folder on an object store, or on "
                "storage that the driver and all workers have mounted"
            ) from None
        yield writing.attempts / name


def _by_source(batches: Batches) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Cut sorted rows where the input changes."""
    for batch in batches:
        sources = to_numpy(batch.column("source"))
        for begin, end in runs(sources):
            yield int(sources[begin]), batch.slice(begin, end - begin)


def _write_input(writing: Writing, source: int, rows: Batches, folder: NewFolder) -> list[str]:
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
                spooled.add(there.select(there.schema.names[len(_TOLD) :]))
        added = None
        if spooled is not None and scores is not None:
            table = spooled.table()

            def added(begin: int, end: int) -> pa.Table:
                return annotated(table.slice(begin, end - begin), scores, writing.against)

        selection = Selection(split, np.concatenate(masks), added, writing.encoding_errors)
        split.form.write_alike(folder, selection, writing.provenance)
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


def _files(written: Batches, n_inputs: int) -> Iterator[tuple[str, str, int]]:
    """Yield folder, name and size of each file of the attempts that count."""
    done = 0
    for batch in written:
        for row in batch.to_pylist():
            if row["name"] is None:
                done += 1
            else:
                yield row["folder"], os.fsdecode(row["name"]), row["bytes"]
    if done != n_inputs:
        raise OutputError(f"of {n_inputs:,} inputs, {done:,} were written: Spark lost rows of tasks; write again")


def _publish(written: Batches, attempts: Path, folder: NewFolder, n_inputs: int) -> None:
    """Move the files of the attempts that count into the folder."""
    for inside, name, n_bytes in _files(written, n_inputs):
        file = attempts / inside / name
        if (size := file.stat().st_size) != n_bytes:
            raise OutputError(f"{shown(file)}: {n_bytes:,} bytes were written, {size:,} are there; write again")
        folder.take(file, name)
