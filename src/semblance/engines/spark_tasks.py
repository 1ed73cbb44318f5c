"""What Spark's tasks run beside the steps: reading inputs, numbering rows, adding up; and how their errors reach the caller."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputDataError, OutputError, RowError, SemblanceError
from ..inputs.reading import read_split
from ..values.arrow import to_arrow, to_numpy
from .engine import Batches, Fold, Step
from .spark_rows import decoded, encoded, wire_schema
from .spark_texts import InputTexts

FOLDED = pa.schema([("total", pa.large_binary())])
PLACED = pa.schema([("part", pa.int64()), ("index", pa.int64())])
_NO_SPACE = os.strerror(errno.ENOSPC)
_HOST = re.compile(r"\(TID \d+\) \((\S+) executor")
_SAID = re.compile(r"<<semblance (\{.*?\})>>", re.DOTALL)


class TaskError(RuntimeError):
    """An error of ours in a task, said so that the driver can raise it again."""


@contextmanager
def explained() -> Iterator[None]:
    """Let errors of ours in a task be said in full: Spark carries nothing of them to the driver but their message."""
    try:
        yield
    except RowError as error:
        said = {"position": error.position, "number": error.number, "what": error.what}
        raise TaskError(f"{error}\n<<semblance {json.dumps(said)}>>") from error
    except SemblanceError as error:
        said = {"message": str(error), "input": isinstance(error, InputDataError)}
        raise TaskError(f"{error}\n<<semblance {json.dumps(said)}>>") from error


@contextmanager
def raised_again() -> Iterator[None]:
    """Raise errors of ours that a task met."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        message = str(error)
        if (found := _SAID.search(message)) is None:
            if _NO_SPACE not in message:
                raise
            host = _HOST.search(message)
            raise OutputError(
                f"no space left on a disk that Spark's worker {host[1] if host else '(unknown)'} writes to, its own or that of "
                "the work folder: make space, and resume the job; tables that are whole are kept"
            ) from error
        said = json.loads(found[1])
        if "what" in said:
            raise RowError(**said) from None
        raise (InputDataError if said["input"] else SemblanceError)(said["message"]) from None


def _run(batches: Iterator[Any], step: Step, before: pa.Schema, after: pa.Schema) -> Iterator[Any]:
    """Run a step in a task."""
    with explained():
        yield from encoded(step(decoded(batches, before)), wire_schema(after))


def in_tasks(step: Step, before: pa.Schema, after: pa.Schema) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return what Spark's ``mapInArrow`` is to run for a step from rows of one schema to rows of another."""
    return partial(_run, step=step, before=before, after=after)


def read_units(batches: Batches, texts: InputTexts) -> Batches:
    """Yield the documents of the units whose numbers come."""
    for batch in batches:
        for number in to_numpy(batch.column(0)).tolist():
            unit = texts.units[number]
            for _, documents in read_split(unit.split, unit.number, texts.reading, 0, unit.first):
                yield documents


def one_after_the_other(batches: Batches, steps: Sequence[Step]) -> Batches:
    """Run several steps, each on what the one before gives."""
    for step in steps:
        batches = step(batches)
    return batches


def number_rows(batches: Batches, schema: pa.Schema) -> Batches:
    """Add to each row the number of its partition, and its index there."""
    from pyspark import TaskContext

    context = TaskContext.get()
    part, index = context.partitionId() if context is not None else 0, 0
    for batch in batches:
        n = len(batch)
        columns = [*batch.columns, to_arrow(np.full(n, part, np.int64)), to_arrow(np.arange(index, index + n))]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
        index += n


def add_up(batches: Batches, fold: Fold, again: bool = False) -> Iterator[pa.RecordBatch]:
    """Yield one row, the array of all rows that come; with ``again`` these are such arrays."""
    total, some = fold.start(), False
    for batch in batches:
        some = True
        if again:
            for value in batch.column(0):
                total = fold.combine(total, np.frombuffer(value.as_buffer(), total.dtype).reshape(total.shape))
        else:
            fold.add(total, batch)
    if some:
        yield pa.RecordBatch.from_arrays([pa.array([total.tobytes()], pa.large_binary())], schema=FOLDED)
