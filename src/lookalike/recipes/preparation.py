"""A job before its first row is read: its inputs, its room on the disk, its engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from .. import __version__
from ..choices import check_choice
from ..engines.engine import Engine
from ..engines.local.engine import LocalEngine
from ..engines.memory import BANDED_TOKEN_BYTES, TOKEN_BYTES, Memory, limit_of
from ..engines.progress import Clock, share_of
from ..errors import OutputError, ParameterError
from ..files.ahead import AT_ONCE, map_ahead
from ..files.descriptions import places_named
from ..files.urls import check_on_disk
from ..files.workspace import AnyWorkspace, Workspace
from ..formats.memory import as_sources, own_id
from ..formats.split import Names, Split, skipped_in, unread_files
from ..inputs.ids import Labels
from ..inputs.read import ReadOptions, check_apart, leaves_out
from ..inputs.sketch_rows import is_saved
from ..inputs.sketches import as_references
from ..settings.settings import Settings, added_columns
from ..steps.totals import TEXT_IDS
from ..wording import printable, spoken
from .progress import Progress, no_progress
from .saved_sketches import reconcile_with_saved

SAMPLED = 64
AGAIN = "reading candidates again"

_STAGES = {
    "sketches": "sketching", "leaders": "finding candidates", "links": "finding candidates", "pairs": "finding candidates",
    "matches": "verifying", "written": "writing",
}  # fmt: skip


class Reporting:
    """Reports amounts done by the names people are shown; a ``progress`` with ``of`` is also told (stage, done, end, unit)."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._share = progress, share_of(progress)

    def __call__(self, stage: str, amount: int) -> None:
        """Report an amount."""
        report_stage(self._progress, stage, amount)

    def of(self, stage: str, done: int, total: int, unit: str) -> None:
        """Report how far a stage is."""
        if self._share is not None:
            self._share(_stage_name(stage), done, total, unit)


def _stage_name(stage: str) -> str:
    return stage if stage == AGAIN else _STAGES.get(stage.partition("-")[0], "deciding")


def report_stage(progress: Progress, stage: str, amount: int) -> None:
    """Report by the names that people are shown."""
    progress(_stage_name(stage), amount)


@dataclass(frozen=True, slots=True, eq=False)
class JobContext:
    """A job whose inputs are known and which has what it needs to run."""

    settings: Settings
    splits: list[Split]  # references first
    reading: ReadOptions
    engine: Engine
    workspace: AnyWorkspace
    clock: Clock
    skipped: dict[str, Any]  # files that were not read: see ``Summary``
    unread: tuple[Sequence[str], Sequence[str]]  # errors of files that could not be opened: of references, and of others
    key: bytes = field(repr=False)  # the secret of its workspace, or of the saved sketches it is run against

    def labels(self, totals: NDArray[Any]) -> Labels:
        """Return what documents are called."""
        return Labels.of(self.splits, self.reading.id is not None, not totals[TEXT_IDS])

    def provenance(self, settings: Settings) -> dict[str, Any]:
        """Return what is written beside every output: how it was made, and from what."""
        inputs = [split.identity() for split in self.splits]
        return {"lookalike": __version__, **settings.described(), "inputs": inputs}


def open_inputs(data: Any, settings: Settings, replaced: str | None = None) -> tuple[list[Split], list[Split]]:
    """Return the inputs of a job, and its references, without those in a folder that is to be replaced."""
    how, against = settings.opening, settings.against
    references = [] if against is None else as_references(against, but=replaced, trust=settings.trust, **how)
    inputs = as_sources(data, **how, others=references)
    check_apart(inputs, references)
    return inputs, references


def open_job(data: Any, settings: Settings, progress: Progress | None) -> JobContext:
    """Open inputs, work folder and engine."""
    clock = Clock()
    engine: Any = settings.engine
    check_no_order(settings)
    memory = Memory.wanted(settings.memory)
    inputs, references = open_inputs(data, settings)
    settings = settings.without_runtime()
    settings, key = reconcile_with_saved(settings, references)
    id, unnamed = settings.id, (False, False)
    if id is None:
        own, theirs = own_id(inputs), own_id(references)
        id, settings = own or theirs, replace(settings, id=own)
        saved = any(map(is_saved, references)) and all(is_saved(one) and one.data.saved.id is not None for one in references)
        unnamed = (theirs is None and not saved, own is None)
    token_bytes = BANDED_TOKEN_BYTES if settings.method == "minhash" and settings.recall < 1 else TOKEN_BYTES
    limit = limit_of(settings.max_document, settings.on_error, memory, token_bytes)
    memory = memory.reading(any(split.remote_bytes for split in (*references, *inputs)))
    splits = [replace(split, limit=limit, threads=settings.n_threads) for split in (*references, *inputs)]
    if settings.boilerplate:
        splits = [replace(split, form=split.form.with_boilerplate()) for split in splits]
    _check_room(splits, settings, memory)
    reading = replace(reading_of(settings, splits, len(references)), id=id, unnamed=unnamed)
    workspace = _open_workspace(splits, len(references), settings)
    reporting = Reporting(progress or no_progress)
    runs = engine_of(engine, threads=settings.n_threads, memory=memory, workspace=workspace, progress=reporting)
    clock.lap("opening")
    unread = unread_files(references), unread_files(inputs)
    return JobContext(
        settings, splits, reading, runs, workspace, clock, skipped_in(inputs, references), unread, key or workspace.secret
    )


def reading_of(settings: Settings, splits: Sequence[Split], n_references: int) -> ReadOptions:
    """Return what is read of each document."""
    return ReadOptions(
        text=settings.text, id=settings.id, priorities=settings.keep_order.priorities, order_by=settings.order_by,
        key=settings.key_columns, within=settings.within, across=settings.across, carried=settings.carried,
        encoding_errors=settings.encoding_errors, pages=settings.pages, n_references=n_references,
        skip=leaves_out(splits, settings.pages), free=added_columns(settings, n_references > 0),
    )  # fmt: skip


def identity_of(splits: Sequence[Split], n_references: int, settings: Settings) -> dict[str, Any]:
    """Return what must be the same in a job that is resumed."""
    inputs = [split.identity() for split in splits]
    return {"lookalike": __version__, "parameters": settings.to_dict(), "reference": n_references, "inputs": inputs}


def is_frame(data: Any) -> bool:
    """Tell whether data is a data frame of Spark."""
    return hasattr(data, "mapInArrow")


def on_spark(data: Any, settings: Settings) -> bool:
    """Tell whether a job runs on a cluster: as it says, by a session, or by a function that returns one; or as its data do."""
    engine = settings.engine
    if engine is None:
        return is_frame(data) or is_frame(settings.against)
    return (isinstance(engine, str) and engine == "spark") or callable(engine) or hasattr(engine, "conf")


def check_no_order(settings: Settings) -> None:
    """Refuse a column that orders rows where they have an order."""
    if settings.order_by is not None:
        raise ParameterError(
            "order_by is for data frames: files are in the order of their names, rows in that of the file",
            "order_by", settings.order_by,
        )  # fmt: skip


def engine_of(
    engine: Engine | str | None, *, threads: int, memory: Memory, workspace: Workspace, progress: Progress
) -> Engine:  # fmt: skip
    """Return the engine that a job names, or is given; refuse the name of one that does not run here."""
    if isinstance(engine, Engine):
        return engine
    if engine is not None:
        check_choice("engine", engine, ("local", "spark"))
    return LocalEngine(threads=threads, memory=memory, workspace=workspace, progress=progress)


def _open_workspace(splits: list[Split], n_references: int, settings: Settings) -> Workspace:
    """Open the folder of a job that is to survive a crash, or a place in memory."""
    identity = identity_of(splits, n_references, settings)
    if settings.work is not None:
        check_repeatable(splits, identity["inputs"], "a work folder")
    return Workspace(settings.work, identity, places_named(settings.trust))


def check_repeatable(splits: Sequence[Split], identities: Sequence[dict[str, Any]], what: str) -> None:
    """Refuse inputs that a job which is run again could not read again."""
    for split, identity in zip(splits, identities, strict=True):
        if identity["name"] == "in memory" or identity.keys() & {"in_memory", "read_once"}:
            raise ParameterError(
                f"{what} is for inputs that can be read again after a crash: files, not values in memory, pipes or standard "
                f"input; got {split.name}: save it to a file, or do without {what}"
            )


def expected_of(
    splits: Sequence[Split], text: Names, passing: Callable[[], AbstractContextManager[object]] = nullcontext
) -> tuple[int, int]:
    """Return about how many documents inputs have, and how many bytes in their columns of texts; ``passing`` takes errors."""

    def expect(split: Split) -> tuple[int, int]:
        with passing():
            return split.expected(text)
        return 0, 0

    remote = any(split.remote_bytes for split in splits)
    judged = remote and not any(split.form.counts_rows for split in splits)
    some = splits[:: 1 + len(splits) // (AT_ONCE if judged else SAMPLED)]  # for very many files, a sample is enough
    expected = map_ahead(expect, ((remote, split) for split in some))
    n, size = (sum(column) * len(splits) // max(1, len(some)) for column in zip((0, 0), *expected, strict=True))
    return n, size


def _check_room(splits: list[Split], settings: Settings, memory: Memory) -> None:
    """Log the disk space that a job too large for the memory needs; refuse it if the disk or the memory is surely too small."""
    if settings.work is not None:
        check_on_disk(
            settings.work, "where only --engine spark (engine='spark') keeps a work folder: name a folder on this machine"
        )
    n, size = expected_of(splits, settings.text)
    method = settings.finder
    record = 8 * method.n_keys + 2 * method.n_codes + 4 * method.n_estimates + 64
    small = size + n * record <= memory.table_budget
    if settings.work is None and small:
        return
    import logging  # here, for what is not needed to start
    import shutil
    import tempfile

    known = len(splits) <= SAMPLED and all(split.form.counts_rows for split in splits)  # otherwise a job finds out as it goes
    if known:
        memory.check_documents(n)
    try:
        folder = Path(settings.work or tempfile.gettempdir())
        place = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
        room = shutil.disk_usage(place).free
        if settings.work is not None:
            room += sum(part.stat().st_size for part in folder.glob("*.part"))
    except OSError as error:
        where = settings.work or "the folder for temporary files (TMPDIR)"
        raise OutputError(f"cannot be used as work folder: {error.strerror or error}", where) from None
    surely, most = n * record, 2 * n * record + size
    said = (
        f"about {n:,} documents, {size / 1e9:,.1f} GB of text, with {memory.cap / 1e9:,.1f} GB of memory: "
        f"{surely / 1e9:,.1f} to {most / 1e9:,.1f} GB go to {folder}, which has {room / 1e9:,.1f} GB free"
    )
    if room < surely and known:
        raise OutputError(f"the disk is too small: {said}; pass --work (work=) with a folder on a larger one")
    doubt = "" if room >= surely else "; if this estimate is right, the disk is too small: --work (work=) names another one"
    if doubt or not small:
        logging.getLogger("lookalike").info(printable(spoken(said + doubt)))
