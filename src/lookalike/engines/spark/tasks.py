"""What Spark's tasks run beside the steps: reading inputs, numbering, adding up; checks of workers, errors for the caller."""

from __future__ import annotations

import errno
import gc
import json
import os
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from ... import __version__
from ...errors import EncodingError, InputDataError, LookalikeError, OutputError, ParameterError, RowError
from ...files.urls import AnyPath
from ...inputs.read import read_split
from ...values.arrow import to_numpy
from ..engine import Aggregate, Batches, Step
from .columns import decoded, encoded, wire_schema
from .session import release
from .texts import InputTexts

NUMBERS = pa.schema([("id", pa.int64())])
FOLDED = pa.schema([("total", pa.large_binary())])
MANY_OBJECTS = 20_000
"""Objects that a worker collects among after a task; more of them are told to stay."""
_NO_SPACE = os.strerror(errno.ENOSPC)
_LOST = re.compile(r"Python worker (?:exited|failed)|ExecutorLostFailure|worker lost|EOFException|Worker unexpectedly")
_HOST = re.compile(r"\(TID \d+\) \((\S+) executor")
_LACKED = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_KINDS: dict[str, type[LookalikeError]] = {
    kind.__name__: kind for kind in (RowError, EncodingError, InputDataError, ParameterError)
}
_SAID = re.compile(r"<<lookalike ([0-9A-Za-z+/=]+)>>")


class TaskError(RuntimeError):
    """An error of ours in a task, said so that the driver can raise it again.

    In base64, so that nothing that is said looks like its end; nor do lines of this file, which tracebacks quote.
    """

    def __init__(self, error: Exception, **said: Any) -> None:
        super().__init__(f"{error}\n<<lookalike {b64encode(json.dumps(said, default=str).encode()).decode()}>>")


@contextmanager
def explained() -> Iterator[None]:
    """Let errors of ours in a task be said in full: Spark carries nothing of them to the driver but their message."""
    try:
        yield
    except LookalikeError as error:
        kind = next((name for name, kind in _KINDS.items() if isinstance(error, kind)), "")
        raise TaskError(error, kind=kind, args=error.args, fields=vars(error)) from error


@contextmanager
def raised_again() -> Iterator[None]:
    """Raise errors of ours that a task met."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        message = str(error)
        if not (found := _SAID.findall(message)):
            if lacked := _LACKED.search(message):
                name = lacked[1].partition(".")[0]
                wanted = f"lookalike {__version__}" if name == "lookalike" else name
                raise LookalikeError(
                    f"Spark's workers lack the Python package {name}: install {wanted} in the Python that they use "
                    "(PYSPARK_PYTHON)"
                ) from None
            if _LOST.search(message):
                raise LookalikeError(
                    "Spark lost workers, and retrying their tasks failed: they were killed, or had too little memory "
                    "outside the Java heap (spark.executor.memoryOverhead); resume the job: complete tables are kept"
                ) from error
            if _NO_SPACE not in message:
                raise
            host = _HOST.search(message)
            writer = f"Spark's worker {host[1]}" if host else "one of Spark's workers"
            raise OutputError(
                f"no space left on a disk that {writer} writes to (its own, or the work folder's): make space, and "
                f"resume the job; complete tables are kept"
            ) from error
        said = json.loads(b64decode(found[-1]))  # rows may hold what looks alike; ours comes after them
        again = _KINDS.get(said["kind"], LookalikeError)(*said["args"])
        vars(again).update(said["fields"])
        raise again from None


def keep_modules() -> None:
    """Freeze what is loaded: Spark has workers collect garbage after each task, which is else most of a short one's time."""
    if "pyspark.worker" in sys.modules and len(gc.get_objects()) > MANY_OBJECTS:
        gc.collect()
        gc.freeze()


Task = Callable[[Iterator[Any]], Iterator[Any]]
"""What Spark's ``mapInArrow`` takes."""


def on_checked(batches: Iterator[Any], task: Task, versions: tuple[str, str], marker: AnyPath | None) -> Iterator[Any]:
    """Run a task if its worker is as it must be."""
    with explained():
        check_worker(*versions, marker)
    yield from task(batches)


@cache
def check_worker(version: str, spark: str, marker: AnyPath | None) -> None:
    """Check, once in each process, that this worker has these versions of lookalike and Spark, and sees the work folder."""
    if version != __version__:
        raise LookalikeError(f"one of Spark's workers has lookalike {__version__}, the driver {version}: install the same")
    package = getattr(sys.modules.get("pyspark"), "__version__", spark)
    if release(package) != spark:
        raise LookalikeError(
            f"one of Spark's workers has pyspark {package}, and the cluster runs Spark {spark}: install {spark}"
        )
    if marker is not None and not marker.exists():
        raise ParameterError(
            f"one of Spark's workers does not see {os.fspath(marker.parent)}: work must name a folder on an object store that "
            "all of them reach, or on storage that the driver and all workers have mounted"
        )


def run_step(batches: Iterator[Any], step: Step, before: pa.Schema, after: pa.Schema) -> Iterator[Any]:
    """Run a step from rows of one schema to rows of another, as Spark's ``mapInArrow`` wants it."""
    keep_modules()
    with explained():
        yield from encoded(step(decoded(batches, before)), wire_schema(after))


def read_units(batches: Batches, texts: InputTexts) -> Batches:
    """Yield the documents of the units whose numbers come."""
    for batch in batches:
        for number in to_numpy(batch.column(0)).tolist():
            unit = texts.units[number]
            for _, documents in read_split(unit.split, unit.number, texts.reading, 0, unit.first):
                yield documents


def one_after_the_other(batches: Batches, steps: Sequence[Step]) -> Batches:
    for step in steps:
        batches = step(batches)
    return batches


def some_columns(batches: Batches, names: tuple[str, ...]) -> Batches:
    for batch in batches:
        yield batch.select(list(names))


def yield_table(batches: Batches, table: pa.Table) -> Batches:
    for _ in batches:
        yield from table.to_batches()


def add_up(batches: Batches, fold: Aggregate, again: bool = False) -> Iterator[pa.RecordBatch]:
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
