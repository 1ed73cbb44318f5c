"""A deduplication on a cluster: its inputs, its work folder and its session; its steps are those of one machine."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

from ...engines.memory import Memory, limit_of
from ...engines.progress import Clock
from ...engines.spark.engine import SparkEngine
from ...engines.spark.frames import FrameInput, Frames
from ...engines.spark.session import check_versions, is_local, memory_lacking, session_of, spark_sql
from ...engines.spark.tasks import NUMBERS, run_step
from ...errors import InputDataError, ParameterError
from ...files.descriptions import places_named
from ...files.folder import put
from ...files.urls import is_inside, path_of
from ...files.workspace import AnyWorkspace, Workspace, open_workspace
from ...formats.memory import refuse_for_files
from ...formats.split import Limit, Split, names_of, skipped_in, unread_files
from ...inputs.sketch_rows import is_saved
from ...inputs.sketches import as_references, saved_in
from ...results.summary import CALLED, Slices, Summary, summary_counts
from ...settings.options import OPENING
from ...settings.settings import Settings
from ...steps.decide import VALUES, count_by_value
from ...steps.ids import at_positions
from ...steps.totals import OUTCOMES
from ..decide import Decider, DecisionTables, decide_and_summarize
from ..preparation import JobContext, check_no_order, identity_of, is_frame, open_inputs, reading_of, report_stage
from ..progress import Progress
from ..saved_sketches import reconcile_with_saved
from ..search import CandidateOptions, search
from .finished import SparkJob, SparkSummary
from .result import SparkResult

TASK_MEMORY = "1500MB"
"""What a task may use, unless told otherwise: documents may have a tenth of it."""
_KINDS = "against must be a data frame or saved sketches where the data is a data frame, and files where it is files"
THREADS = (
    "--threads (threads=) is for one machine. On Spark, each core runs one task: set their number with the master local[N], "
    "or with spark.executor.instances and spark.executor.cores"
)
TRIED = 8
"""Tasks in which workers are tried."""
_NO_WORK = "--work (work=) must name a folder on an object store, or on storage that the driver and all workers have mounted"
_IDS = ("string", "bigint", "int", "smallint", "tinyint")


def dedup_on_spark(data: Any, settings: Settings, tell: Progress) -> SparkResult:
    """Find near-duplicates on a cluster, and decide which documents to keep.

    The decisions are those of one machine, whatever the number of workers and partitions, and whichever of them fail and are
    tried again. No texts gather on the driver, and of numbers no more than ``engines.spark.tables`` says, until asked for.
    """
    opened, id_type = open_on_spark(data, settings, tell)
    with opened.workspace.left_on_error():
        return SparkResult(_run(opened, id_type))


def open_on_spark(data: Any, settings: Settings, tell: Progress) -> tuple[JobContext, str | None]:
    """Open inputs, work folder and session, and try workers; also return the type of Spark that ids of data frames have."""
    if settings.threads is not None:
        raise ParameterError(THREADS)
    against, given, clock = settings.against, settings.engine, Clock()
    settings = replace(settings.without_runtime(), threads=1, memory=settings.memory or TASK_MEMORY)
    frames = [frame for frame in (against, data) if is_frame(frame)]
    spark_sql()
    clock.lap("starting Spark")
    splits, corpora, id_type = _inputs(data, against, settings)
    n_references = len(corpora[0])
    settings, secret = reconcile_with_saved(settings, splits)
    clock.lap("opening")
    session = session_of(None if given == "spark" else given, frames, tell)
    check_versions(session)
    if lacking := memory_lacking(session, Memory.wanted(settings.memory).cap):
        logging.getLogger("lookalike").warning(lacking)
    clock.lap("starting Spark")
    workspace = _workspace(splits, n_references, settings, session)
    with workspace.left_on_error():
        engine = SparkEngine(session, workspace.tables, partial(report_stage, tell))
        tell("starting workers", 0)
        clock.lap("opening")
        check_workers(engine)
        clock.lap("starting workers")
        reading = reading_of(settings, splits, n_references)
    unread = unread_files(corpora[0]), unread_files(corpora[1])
    return JobContext(
        settings, splits, reading, engine, workspace, clock, skipped_in(*corpora), unread, secret or workspace.secret
    ), id_type


def check_workers(engine: SparkEngine) -> None:
    """Try some workers before any work for this version and the work folder; others are checked with their first tasks."""
    engine.marker = engine.folder / "seen"
    engine.folder.mkdir(parents=True, exist_ok=True)
    put(engine.marker, b"")
    trying = partial(run_step, step=iter, before=NUMBERS, after=NUMBERS)
    numbers = engine.numbers(min(engine.n_tasks, TRIED))
    engine.act(engine.run_on(numbers, trying, NUMBERS).collect)


_Inputs = tuple[list[Any], tuple[Sequence[Any], Sequence[Any]], str | None]


def _inputs(data: Any, against: Any, settings: Settings) -> _Inputs:
    """Return (inputs, references first, these and the others as they were opened, Spark's type of ids, None: as they are)."""
    limit = limit_of(settings.max_document, settings.on_error, Memory.wanted(settings.memory))
    if not is_frame(data):
        if is_frame(against):
            raise ParameterError(_KINDS)
        check_no_order(settings)
        inputs, references = open_inputs(data, replace(settings, against=against))
        splits = _files([*references, *inputs], limit)
        return splits, (references, inputs), None
    refuse_for_files({name: getattr(settings, name) for name in OPENING if name != "on_error"}, "a data frame")
    if settings.id is None:
        raise ParameterError(
            "a data frame needs id, a column of unique strings or integers: its rows have no names of their own"
        )
    before: list[Any] = []
    if is_frame(against):
        before = [FrameInput("the references", against, limit)]
    elif against is not None:
        if not all(map(saved_in, against if isinstance(against, list | tuple) else [against])):
            raise ParameterError(_KINDS)
        before = _files(as_references(against, trust=settings.trust), limit)
    frames = Frames([*before, FrameInput("the data frame", data, limit)])
    for frame in frames:
        if isinstance(frame, FrameInput):
            _check_columns(frame, settings)
    return frames, (before, frames[len(before) :]), _id_type(frames, settings.id)


def _files(splits: Sequence[Split], limit: Limit) -> list[Any]:
    """Return inputs under names by which workers find them; refuse those that they cannot read."""
    _check_files(splits)
    return [_anywhere(replace(split, limit=limit)) for split in splits]


def _id_type(inputs: Sequence[Split | FrameInput], name: str) -> str:
    """Return the type of Spark that the ids of all frames have, or can be given without loss; of saved ones too."""
    kinds = {dict(one.frame.dtypes)[name] for one in inputs if isinstance(one, FrameInput)}
    if any(isinstance(one, Split) and is_saved(one) and one.data.saved.text_ids for one in inputs):
        kinds.add("string")
    if len(kinds) == 1:
        return str(*kinds)
    return "string" if "string" in kinds else "bigint"


def _anywhere(split: Split) -> Split:
    """Name the files of an input so that workers find them, whatever folder they run in; what it is called stays."""
    return replace(split, places=tuple(place._replace(path=place.path.absolute()) for place in split.places))


def _check_files(splits: Sequence[Split]) -> None:
    """Check that workers can read all inputs."""
    for split in splits:
        if (not is_saved(split) and not split.places) or any(place.is_temporary for place in split.places):
            raise InputDataError(
                "Spark's workers cannot read it: pass files on storage that they have mounted, or a data frame", split.name
            )


def _check_columns(frame: FrameInput, settings: Settings) -> None:
    """Check that a data frame has the columns that are wanted, and ids of a type that can be kept."""
    kinds, order_by = dict(frame.frame.dtypes), settings.order_by
    texts = names_of(settings.text)
    wanted = [*(("text", name) for name in texts), ("id", settings.id), ("order_by", order_by), ("within", settings.within)]
    wanted += [("across", settings.across)]
    wanted += [("keep", priority.column) for priority in settings.keep_order.priorities]
    wanted += [*(("key", name) for name in settings.key_columns), ("source", settings.source)]
    for option, name in [*wanted, *(("slices", name) for name in settings.slices or ())]:
        if name is not None and name not in kinds:
            raise InputDataError(f"column {name!r} is missing ({option}=); columns found: {', '.join(kinds)}", frame.name)
    for name in texts:
        if kinds[name] not in ("string", "binary"):
            raise InputDataError(f"column {name!r} holds {kinds[name]}, not strings", frame.name)
    if order_by is not None and kinds[order_by].startswith(("array", "map", "struct")):
        raise InputDataError(
            f"order_by: column {order_by!r} holds {kinds[order_by]}, which has no order; name a column of "
            "numbers, times or text",
            frame.name,
        )
    if kinds[str(settings.id)] not in _IDS:
        raise InputDataError(
            f"ids must be strings or integers; column {settings.id!r} holds {kinds[str(settings.id)]}: cast it", frame.name
        )


def _workspace(splits: Sequence[Split], n_references: int, settings: Settings, session: Any) -> AnyWorkspace:
    """Open the work folder, or a temporary one."""
    if settings.work is None:
        if not is_local(session):
            raise ParameterError(_NO_WORK)
        workspace = Workspace()
        workspace.move_to_disk()
        return workspace
    job = identity_of(splits, n_references, settings) | {"engine": "spark"}
    folder = path_of(settings.work)
    for root in dict.fromkeys(
        place.root for split in splits for place in getattr(split, "places", ()) if place.root is not None
    ):
        if is_inside(folder, root):
            raise ParameterError(
                f"the work folder {folder} is inside the input folder {root}: what is in it is an input of the job that is "
                "resumed; name a folder outside it"
            )
    return open_workspace(folder, job, places_named(settings.trust))


def _run(opened: JobContext, id_type: str | None) -> SparkJob:
    """Search, decide, and store the decisions."""
    engine, settings = opened.engine, opened.settings
    assert isinstance(engine, SparkEngine)
    opened.clock.lap("opening")
    key = opened.key
    found = search(engine, opened.splits, opened.reading, CandidateOptions(settings), key, opened.clock.lap, opened.unread)
    decider = Decider(engine, found, settings, key)
    stored: dict[str, Any] = {}

    def count(told: DecisionTables) -> dict[str, Any]:
        decisions = stored["decisions"] = engine.materialize(engine.by_input(told.in_any_order), "decisions")

        def calls(positions: list[int]) -> list[dict[str, Any]]:
            rows = decisions.select(["position", *CALLED])
            chosen = engine.map(rows, partial(at_positions, positions=tuple(positions)), rows.schema)
            by_position = {row["position"]: row for batch in chosen.batches() for row in batch.to_pylist()}
            return [by_position[position] for position in positions]

        total, slices = (
            engine.aggregate(decisions.select(["position", "reason", "resemblance"]), OUTCOMES),
            Slices(settings.slices or ()),
        )
        if slices.needed:
            values = decisions.select(["reason", "kept", *slices.needed])
            slices.add(engine.map(values, partial(count_by_value, columns=slices.needed), VALUES).batches())
        return summary_counts(total, found.boundary, calls) | {"slices": slices.worst_values()}

    told, summary = decide_and_summarize(opened, decider, settings, count)
    pairs = engine.materialize(told.pairs_in_any_order, "pairs-told")
    opened.clock.lap("summary")

    def close() -> None:
        engine.close()
        opened.workspace.close()

    return SparkJob(
        engine=engine, decisions=stored["decisions"], pairs=pairs, settings=settings,
        summary=_of_driver(summary, opened.clock.seconds), provenance=opened.provenance(settings),
        splits=list(opened.splits), n_references=opened.reading.n_references,
        id_type=id_type, finish=close, appearing=opened.workspace.appearing, found=found, key=key,
        shares=told.shares() if settings.counts else None,
    )  # fmt: skip


def _of_driver(summary: Summary, seconds: dict[str, float]) -> SparkSummary:
    """Return a summary that says that the memory is that of the driver."""
    known = {field.name: getattr(summary, field.name) for field in fields(summary)}
    return SparkSummary(**known | {"seconds": dict(seconds)})
