"""A job: from documents to kept documents, and to all that is written of it; the steps in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..engines.local.documents import Documents
from ..errors import ParameterError, TooManyRemovedError
from ..files.descriptions import places_named
from ..files.publication import Publication
from ..files.urls import path_of
from ..files.workspace import Appearing, begin_anew, written_before
from ..formats.split import Split
from ..results.result import Result
from ..results.rows import matching_rows, of_reason
from ..results.summary import count
from ..settings.settings import RunSettings, Settings, settings_of, shares_of
from ..steps.sketch import WRITTEN
from ..values.arrow import to_arrow
from .decide import Decider, DecisionTables, decide_and_summarize
from .outputs import Outputs, check_removed
from .preparation import JobContext, is_frame, on_spark, open_inputs, open_job
from .progress import Progress, no_progress, show_progress
from .saved_sketches import Saving, write_rows
from .search import CandidateOptions, search

if TYPE_CHECKING:
    from ..inputs.generations import Generation
    from .turns import HistoryRun


class LocalJob:
    """A job whose inputs can be read again: see ``results.result.Job``."""

    def __init__(self, opened: JobContext, decider: Decider) -> None:
        self._opened, self._decider, self.closed = opened, decider, False
        self._told: dict[float, DecisionTables] = {}
        self.sources: Sequence[Split] = opened.splits
        self.n_references = opened.reading.n_references
        self.threshold = opened.settings.threshold
        self.appearing: Appearing = opened.workspace.appearing
        self.engine = opened.engine

    def result(self, decider: Decider, settings: Settings) -> Result:
        """Decide, and tell it."""
        slices = settings.slices or ()
        counting = partial(count, n_reference=decider.found.boundary, slices=slices)
        told, summary = decide_and_summarize(self._opened, decider, settings, lambda told: counting(told.decisions))
        self._told[settings.threshold] = told
        return Result(
            decisions=told.decisions, matches=told.pairs, settings=settings, summary=summary,
            provenance=self._opened.provenance(settings), against=self.n_references > 0, job=self,
            near_misses=told.near_misses,
        )  # fmt: skip

    def again(self, threshold: float) -> Result:
        """Decide at another threshold about the candidates that were found."""
        self._opened.clock.restart()
        return self.result(self._decider.at(threshold), self._opened.settings.at(threshold))

    def audit(self, result: Result, n: int, seed: int) -> dict[str, Any]:
        """Compare some kept documents with all others."""
        from .audit import Audit  # here, for what is not needed to start

        return Audit(result.rows(), self.sources, result.settings).run(n, seed)

    def texts_of(self, number: int) -> Callable[[], Iterator[bytes]] | None:
        """Return what yields the texts that were parsed of an input, which the engine has kept."""
        documents, form = self._decider.found.documents, self.sources[number].form
        if not form.parsed or not isinstance(documents, Documents):
            return None
        if form.has_columns and self._opened.settings.text != "text":  # what was compared is not what was parsed
            return None
        return partial(documents.texts_of, number)

    def save_sketches(self, result: Result, folder: str | Path, force: bool, texts: bool) -> None:
        """Save the sketches of the kept documents."""
        engine = self.engine
        orders = matching_rows(result.rows(["order", "reason"]), lambda batch: to_arrow(of_reason(batch, *WRITTEN)))
        saving = Saving(
            settings=result.settings, splits=self.sources, n_references=self.n_references, found=self._decider.found,
            key=self._decider.key, provenance=result.provenance, with_texts=texts,
            shares=self._told[result.settings.threshold].shares() if result.settings.counts else None,
        )  # fmt: skip
        path = saving.check(folder, force)
        rows = saving.rows(engine, engine.rows(orders.select(["order"])))
        if not engine.joins_keep_order:
            rows = engine.group_by(rows, None, "position")
        saving.write(path, force, engine, rows, partial(write_rows, saving, rows))

    def close(self) -> None:
        """Remove what the job keeps on the disk."""
        self.closed = True
        self.engine.close()


def decide(opened: JobContext) -> Result:
    """Find candidates, decide who stays, and return the result."""
    settings = opened.settings
    found = search(
        opened.engine, opened.splits, opened.reading, CandidateOptions(settings), opened.key, opened.clock.lap, opened.unread
    )
    decider = Decider(opened.engine, found, settings, opened.key)
    return LocalJob(opened, decider).result(decider, settings)


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What a job has done."""

    result: Result | None  # still open; None: it had run before, and what it wrote is there
    outputs: Outputs  # what was written
    turn: HistoryRun | None = None
    added: bool = False  # to the history

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` says of the history."""
        if self.turn is None:
            return {}
        known = self.added or self.turn.job is not None
        return {"generation": self.turn.name if known else None, "added": self.added}

    def __str__(self) -> str:
        """Say what was added to the history; nothing: there is none."""
        if self.turn is None:
            return ""
        if self.turn.job is not None:
            return f"{self.turn.folder} has the generation {self.turn.name} of this job; nothing was added"
        if not self.added:
            return f"nothing was added to {self.turn.folder}"
        return f"added: generation {self.turn.name} of {self.turn.folder}"


def run(
    data: Any, settings: RunSettings, outputs: Outputs, generations: Sequence[Generation] | None = None, known: bool = True
) -> JobOutcome:  # fmt: skip
    """Do a job: check where everything goes, decide, and write; with a history, against its generations, and add one.

    With ``known``, a job that the history has is not done again where all that it wrote is there.
    """
    if settings.verify == "none":
        raise ParameterError("dedup removes only verified duplicates: verify must be exact or sketch ('none' is for pairs)")
    spark, turn, added = on_spark(data, settings), None, False
    done = () if settings.work is None else written_before(settings.work, outputs.paths, places_named(settings.trust))
    outputs, against = replace(outputs, annotate=settings.annotate, done=done), settings.against
    annotate = settings.annotate or outputs.removed is not None
    with show_progress(settings.progress) as told:
        outputs.begin(spark, generations is not None)
        if generations is not None or outputs.paths or outputs.prints:
            if is_frame(data):
                raise ParameterError("output writes files, and not a data frame: dedup(frame).clean(frame) returns what stays")
            replaced = outputs.save_sketches if outputs.may_replace(outputs.save_sketches) else None
            data, against = open_inputs(data, settings, replaced)
            if generations is not None:
                from .turns import history_run_of  # here, for what other jobs do not need

                turn = history_run_of(generations, data, settings, against)
                missing = turn.missing(outputs)
                if missing is None and known:
                    return JobOutcome(None, outputs, turn)
                outputs = missing or Outputs()
                against = turn.references(outputs.paths)
            against = against or None
            named = [getattr(settings.overrides, "name", None), *getattr(settings.ignore, "names", ())]
            also = [settings.work, settings.history, *named]
            outputs.check(data, against or (), settings, also, settings.html, spark)
        if settings.work is not None and outputs.force:
            begin_anew(path_of(settings.work))
        job, said = settings_of(Settings, settings, annotate=annotate, against=against), told or no_progress
        if spark:
            from .spark.job import dedup_on_spark  # here, for what jobs on one machine do not need

            result = cast(Result, dedup_on_spark(data, job, said))
        else:
            result = decide(open_job(data, job, told))
        if outputs.audit is not None:
            said("auditing", 0)
            result.audit(outputs.audit, seed=int(result.settings.seed))
        guard = partial(check_removed, result, shares_of(settings.fail_if_removed), outputs, settings.work is not None)
        if turn is None:
            outputs.write(result, said, guard)
        else:
            added = _published(turn, outputs, result, said, guard)
        return JobOutcome(result, outputs, turn, added)


def _published(
    turn: HistoryRun, outputs: Outputs, result: Result, said: Progress, guard: Callable[[], None]
) -> bool:  # fmt: skip
    """Write everything, and let it appear together with what the job adds to a history; return whether it adds anything."""
    with Publication(turn.folder) as together:
        try:
            output = outputs.write(result, said, guard, together)
        except TooManyRemovedError:
            together.publish()  # what people judge the job by
            raise
        outputs.leaves.said = f"to finish writing the outputs, run: lookalike history list {turn.folder}"
        added = turn.job is None and output is not None
        if turn.job is None and output is not None:
            turn.remember(together, result, output)
        together.publish()
    for path in outputs.paths:
        outputs.leaves.written(path)
    return added
