"""What jobs write: checked before any work, written after it unless too much would be removed.

And what an interrupt leaves of it, in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from ..engines.memory import Memory, limit_of
from ..errors import ParameterError, TooManyRemovedError
from ..files.disk import check_apart
from ..files.publication import Publication
from ..files.urls import as_url
from ..formats.split import Split
from ..formats.writers import (
    check_attributes,
    check_before,
    check_editing,
    check_output,
    check_room,
    check_table,
    is_stdout,
)
from ..inputs.sketches import files_of_saved
from ..results.result import Result
from ..results.saved import check_folder
from ..settings.options import InputOptions
from ..wording import plural, printable
from .saved_sketches import check_saving

NAMED = 10  # sources that a message names


class InterruptHint:
    """Adds to a KeyboardInterrupt what the user is told of a job that is interrupted now."""

    def __init__(self, resumable: bool = False) -> None:
        self.said = "nothing was written" + ("; run the command again to continue the job" if resumable else "")
        self._complete: list[str] = []

    def __enter__(self) -> None:
        """Begin a job."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Say what is left of it."""
        if isinstance(error, KeyboardInterrupt):
            error.add_note(self.said)

    def writing(self, output: str) -> None:
        """Note that an output is about to appear, or standard output ("-") about to be written to."""
        before = f"{self._name_complete()}; " if self._complete else ""
        left = f"each file found at {output} is complete, from this job or an earlier one"
        self.said = f"{before}{left if not is_stdout(output) else 'what was printed is not complete'}"

    def written(self, output: str) -> None:
        """Note that an output is complete."""
        if not is_stdout(output):
            self._complete.append(output)
        self.said = self._name_complete() if self._complete else "everything was printed"

    def _name_complete(self) -> str:
        verbs = ("were", "are") if len(self._complete) > 1 else ("was", "is")
        return f"{', '.join(self._complete)} {verbs[0]} written, and {verbs[1]} complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """What a job is asked to write, and where; None: it is not wanted."""

    output: str | None = None
    removed: str | None = None
    table: str | None = None
    report: str | None = None
    save: str | None = None
    save_sketches: str | None = None
    force: bool = False
    done: Collection[str] = ()  # what this job has written already, before it was resumed, and which it can write again
    annotate: bool = False
    attributes: bool = False  # of rows, in place of them
    mask: str | None = None  # in place of what is removed of texts
    texts: str = "full"  # how the report shows them
    command: Callable[[Mapping[str, Any]], str] | None = None
    """What repeats the job, for the report."""
    leaves: InterruptHint = field(default_factory=InterruptHint)
    audit: int | None = None
    """How many kept documents are compared with all others before anything is written."""

    @property
    def rows(self) -> list[str]:
        """Where rows are written."""
        return [path for path in (self.output, self.removed) if path is not None]

    @property
    def paths(self) -> list[str]:
        """All files and folders that are written."""
        files = (self.output, self.table, self.report, self.save, self.removed, self.save_sketches)
        return [path for path in files if path is not None and not is_stdout(path)]

    @property
    def prints(self) -> bool:
        """Whether rows go to standard output."""
        return any(map(is_stdout, (*self.rows, self.table)))

    @property
    def judged(self) -> list[str]:
        """What people judge the job by, which is written first."""
        return [path for path in (self.report, self.save, self.removed) if path is not None and not is_stdout(path)]

    @property
    def feeding(self) -> list[str]:
        """What programs and later jobs go on with; the rest is for people, who judge the job by it."""
        documents = "standard output" if is_stdout(self.output) else self.output
        return [path for path in (documents, self.save_sketches) if path is not None]

    def may_replace(self, path: str | None) -> bool:
        """Tell whether what is at a path may be replaced."""
        return self.force or path in self.done

    def to_dict(self) -> dict[str, str | None]:
        """Return what ``--json`` says of them."""
        return {
            "output": self.output, "report": self.report, "saved": self.save, "sketches": self.save_sketches,
            "removed": self.removed,
        }  # fmt: skip

    def begin(self, on_spark: bool = False, history: bool = False) -> None:
        """Check that rows and tables may be written where they are wanted, before any input is opened."""
        if is_stdout(self.report):
            raise ParameterError(
                "--report writes one HTML file, not to standard output; got -: name a file, such as report.html"
            )
        if self.mask is not None and self.output is None:
            raise ParameterError("--mask changes what is written: name an output with -o")
        if self.attributes and (self.output is None or self.annotate):
            raise ParameterError("attributes writes a folder, without --annotate: name it with -o")
        away = history and any(as_url(path, ask=False) is not None for path in self.rows)
        if history and (on_spark or away or self.prints or self.save_sketches is not None):
            raise ParameterError(
                "--history (history=) writes files and folders on one machine, and saves sketches itself: on a cluster, on an "
                "object store, and for -o - (output='-'), use --against (against=) and --save-sketches DIR (save_sketches)"
            )
        check: Callable[[str, bool], object] = check_output
        if on_spark:
            from .spark.files import check_where as check

            if self.attributes:
                raise ParameterError("attributes are written on one machine; on Spark, --annotate writes them with the rows")
        for path in () if history else self.rows:
            check(path, self.may_replace(path))
        if self.table is not None:
            check_table(self.table, self.force)

    def check(
        self, sources: Sequence[Split], references: Sequence[Split], settings: InputOptions, also: Sequence[str | None] = (),
        html: bool = False, on_spark: bool = False,
    ) -> None:  # fmt: skip
        """Check that nothing that is written meets an input, a file that is needed, or something else that is written."""
        read = [*sources, *references]
        places = [place for split in read for place in split.places]
        others = [path for path in also if path] + [str(path) for path in files_of_saved(references)]

        def but(path: str) -> list[str]:
            rest = self.paths
            rest.remove(path)  # once: two outputs of one name meet
            return [*others, *rest]

        if is_stdout(self.output) and is_stdout(self.removed):
            raise ParameterError("-o - and --removed - both print rows: give one of them a name")
        for path in (*self.rows, self.table):
            if path is not None and not is_stdout(path):
                check_before(path, sources, references, but(path))
        counts = getattr(settings, "counts", False) and not self.attributes
        for path, added in ((self.output, self.annotate or counts), (self.removed, True)):
            if path and (added or self.mask is not None):
                check_editing(path, sources, added)
        if self.attributes and self.output is not None:
            check_attributes(self.output, sources)
        if self.save is not None:
            check_folder(self.save, read, self.may_replace(self.save), but(self.save))
        if self.report is not None:
            from ..report.page import check_report  # a layer above: what can be written, the page knows

            check_report(self.report, read, self.may_replace(self.report))
            check_apart(self.report, places, but(self.report), single=True)
        if self.save_sketches is not None:
            force = self.may_replace(self.save_sketches)
            check_saving(self.save_sketches, force, sources, references, html, but(self.save_sketches))
        for path in () if on_spark else self.rows:
            limit = limit_of(settings.max_document, settings.on_error, Memory.wanted(settings.memory))
            check_room(path, sources, limit)

    def write_page(self, write: Callable[..., None], config: Mapping[str, Any]) -> None:
        """Write the report of a job with some settings."""
        if self.report is not None:
            command = self.command and self.command(config)
            write(self.report, texts=self.texts, force=self.may_replace(self.report), command=command)

    def write(
        self,
        result: Result,
        said: Callable[[str, int], None],
        guard: Callable[[], None],
        together: Publication | None = None,
    ) -> str | None:
        """Write everything: first what people judge the job by, last what programs go on with; return where the documents are.

        What is to appear ``together`` has other names until then.
        """

        def put(path: str | None, what: str, write: Callable[..., None], **more: Any) -> str | None:
            if path is None:
                return None
            said(what, 0)
            if together is not None:
                write(hidden := together.place(path, self.may_replace(path)), **more)
                return hidden
            self.leaves.writing(path)
            with result.appearing(path, self.may_replace(path)) as (place, force):
                write(place, force=force, **more)
            self.leaves.written(path)
            return path

        if self.report is not None:
            command = self.command and self.command(result.settings.config())
            put(self.report, "writing the report", result.report, texts=self.texts, command=command)
        put(self.save, "saving", result.save)
        if not is_stdout(self.removed):
            put(self.removed, "writing what was removed", result.write, removed=True)
        guard()
        first = None if is_stdout(self.output) else self.output
        documents = put(first, "writing", result.write, annotate=self.annotate, attributes=self.attributes)
        put(self.save_sketches, "saving sketches", result.save_sketches)
        if first is None:  # the pipe may break
            put(self.output, "writing", result.write, annotate=self.annotate)
        if is_stdout(self.removed):
            put(self.removed, "writing what was removed", result.write, removed=True)
        return documents


def check_removed(result: Result, limits: Mapping[str, float], outputs: Outputs, resumable: bool) -> None:
    """Stop if more of the documents is removed than a share, or all those of an input that has several."""
    if not limits:
        return
    import numpy as np  # here, for what is not needed to start

    (total, kept), names = result.by_input()
    removed = total - kept
    vanished = np.flatnonzero((total > 1) & (kept == 0))  # a text file among data files is an input of one document
    said = []

    def judge(part: int, whole: int, limit: str, with_value: str = "") -> None:
        share = f"{_share(part, whole)}{with_value} would be removed"
        said.append(f"{share}, more than --fail-if-removed (fail_if_removed) {printable(limit)}")

    if removed.sum() / (total.sum() or 1) > limits.get("", 1.0):
        judge(int(removed.sum()), int(total.sum()), f"{limits['']:g}")
    for column, most in limits.items():
        rows = [row for row in result.summary.slices.get(column, ()) if row["share"] > most]
        for row in sorted(rows, key=lambda row: -row["share"])[:NAMED]:
            value = f" with {printable(column)} {printable(str(row['value']))}"
            judge(row["removed"], row["documents"], f"{column}:{most:g}", value)
    if len(vanished):
        said.append(f"nothing would be left of {plural(len(vanished), 'input')}")
    if not said:
        return
    losing = np.flatnonzero(removed)
    order = losing[np.lexsort((losing, -removed[losing], -removed[losing] / total[losing]))]
    figures = [f"{names[i]}: {_share(int(removed[i]), int(total[i]))}" for i in order[:NAMED].tolist()]
    more = f", and {len(order) - NAMED:,} more" if len(order) > NAMED else ""
    withheld, written = _were(outputs.feeding), _were(outputs.judged)
    if resumable:
        way = ", to write what the job has found"
    elif written:
        way = " and with --force (force=True), to write all"
    else:
        way = ", with -o (output=) to write all, or without -o (output=) to see what would be removed"
    without = (f"{withheld} not written" if withheld else "stopped") if written else "nothing was written"
    there = f"; {written} written" if written else ""
    raise TooManyRemovedError(
        f"{without}: {'; '.join(said)} ({', '.join(figures)}{more}){there}; run again without --fail-if-removed "
        f"(fail_if_removed){way}"
    )


def _were(paths: Sequence[str]) -> str:
    """Return "a and b were", "a was", or nothing."""
    return f"{' and '.join(paths)} {'were' if len(paths) > 1 else 'was'}" if paths else ""


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {plural(whole, 'document')} ({100 * part / whole:.1f}%)"
