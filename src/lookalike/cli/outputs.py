"""What ``lookalike dedup`` and ``pairs`` write: checked before any work, written after it unless too much would be removed.

And what an interrupt leaves of it, in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import LookalikeError, ParameterError
from ..files.disk import check_apart
from ..formats.writers import check_before, folder_like, is_stdout, means_folder
from ..inputs.sketches import files_of_saved
from ..wording import counted, printable

if TYPE_CHECKING:
    from ..files.publication import Publication
    from ..formats.split import Split
    from ..results.result import Result
    from ..values import Int64Array


NAMED = 10  # sources that a message names


class Leaves:
    """What the user is told if the job is interrupted now."""

    def __init__(self, resumable: bool) -> None:
        self.noted: Callable[[str], None] | None = None
        """Called with each output that is complete."""
        self.said = "nothing was written" + ("; run the command again to continue the job" if resumable else "")
        self._complete: list[str] = []

    def writing(self, output: str) -> None:
        """Note that an output is about to appear, or standard output ("-") about to be written to."""
        before = f"{self._told()}; " if self._complete else ""
        left = f"each file found at {output} is complete, from this job or an earlier one"
        self.said = f"{before}{left if output != '-' else 'what was printed is not complete'}"

    def written(self, output: str) -> None:
        """Note that an output is complete."""
        if output != "-":
            self._complete.append(output)
            if self.noted is not None:
                self.noted(output)
        self.said = self._told() if self._complete else "everything was printed"

    def _told(self) -> str:
        """Name what is complete."""
        verbs = ("were", "are") if len(self._complete) > 1 else ("was", "is")
        return f"{', '.join(self._complete)} {verbs[0]} written, and {verbs[1]} complete"


@contextmanager
def explained(resumable: bool = False) -> Iterator[Leaves]:
    """Add to a KeyboardInterrupt a note that says what it leaves behind."""
    leaves = Leaves(resumable)
    try:
        yield leaves
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(leaves.said)
        raise


def check_page(report: str | None) -> None:
    """Refuse standard output as the place of a report."""
    if is_stdout(report):
        raise ParameterError("--report writes one HTML file, not to standard output; got -: name a file, such as report.html")


def repeated(
    job: str, config: Mapping[str, Any], against: Sequence[str], inputs: Sequence[str], more: Sequence[str] = ()
) -> str:
    """Return the command that repeats a job, with inputs as they were named (folders, globs, "-") and more options."""
    import shlex

    from ..files.names import shown
    from ..report.inputs import command_of

    command = command_of(job, config, [{"name": shown(name)} for name in (*against, *inputs)], len(against))
    before, comment, rest = command.partition("  # and ")
    return " ".join([before, *map(shlex.quote, more)]) + comment + rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where everything goes that a job is asked to write; None: it is not wanted."""

    output: str | None
    report: str | None
    save: str | None = None
    save_sketches: str | None = None
    removed: str | None = None
    force: bool
    done: Collection[str] = ()  # what this job has written already, before it was resumed, and which it can write again
    annotate: bool = False
    attributes: bool = False  # of rows, in place of them
    texts: str  # how the report shows them

    @property
    def paths(self) -> list[str]:
        """All files and folders that are written."""
        files = (self.output, self.report, self.save, self.removed, self.save_sketches)
        return [path for path in files if path is not None and not is_stdout(path)]

    @property
    def prints(self) -> bool:
        """Whether rows go to standard output."""
        return is_stdout(self.output) or is_stdout(self.removed)

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
        names = {"output": self.output, "report": self.report, "saved": self.save, "sketches": self.save_sketches}
        return names | {"removed": self.removed}

    def check(self, sources: Sequence[Split], references: Sequence[Split], also: Sequence[str | None], html: bool) -> None:
        """Check that nothing that is written meets an input, a file that is needed, or something else that is written."""
        check_page(self.report)
        read = [*sources, *references]
        places = [place for split in read for place in split.places]
        others = [path for path in also if path] + [str(path) for path in files_of_saved(references)]

        def but(path: str) -> list[str]:
            rest = self.paths
            rest.remove(path)  # once: two outputs of one name meet
            return [*others, *rest]

        if is_stdout(self.output) and is_stdout(self.removed):
            raise ParameterError("-o - and --removed - both print rows: give one of them a name")
        for path in (self.output, self.removed):
            if path is not None and not is_stdout(path):
                check_before(path, sources, references, but(path))
        for path, annotated in ((self.output, self.annotate), (self.removed, True)):
            files = next((split for split in sources if split.form.rows_are_files), None)
            if path is not None and annotated and files is not None and means_folder(path):
                raise ParameterError(
                    f"{path}: nothing can be added to {files.name}, which is a document itself: name an output file, "
                    f"such as {folder_like(path.rstrip('/'))}.jsonl"
                )
        if self.attributes:
            self._check_attributes(sources)
        if self.save is not None:
            from ..results.saved import check_folder

            check_folder(self.save, read, self.may_replace(self.save), but(self.save))
        if self.report is not None:
            from ..report.page import check_report

            check_report(self.report, read, self.may_replace(self.report))
            check_apart(self.report, places, but(self.report), single=True)
        if self.save_sketches is not None:
            from ..recipes.saved_sketches import check_saving

            force = self.may_replace(self.save_sketches)
            check_saving(self.save_sketches, force, sources, references, html, but(self.save_sketches))

    def _check_attributes(self, sources: Sequence[Split]) -> None:
        from ..formats.writers import check_attributes

        if self.output is None or self.annotate:
            raise ParameterError("attributes writes a folder, without --annotate: name it with -o")
        check_attributes(self.output, sources)

    def write(
        self,
        result: Result,
        command: Callable[[], str],
        said: Callable[[str, int], None],
        leaves: Leaves,
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
            leaves.writing(path)
            write(path, force=self.may_replace(path), **more)
            leaves.written(path)
            return path

        if self.report is not None:
            put(self.report, "writing the report", result.report, texts=self.texts, command=command())
        if self.save is not None:
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


def check_removed(
    found: tuple[Int64Array, Sequence[str]],
    most: float,
    resumable: bool,
    withheld: Sequence[str] = (),
    written: Sequence[str] = (),
    over: Sequence[str] = (),
) -> None:
    """Stop if more than a share of the documents is removed, or all those of a source that has several; or for ``over``."""
    import numpy as np  # here, for what is not needed to start

    (total, kept), names = found
    removed = total - kept
    vanished = np.flatnonzero((total > 1) & (kept == 0))  # a text file among data files is an input of one document
    said = []
    if removed.sum() > most * total.sum():
        share = f"{_share(int(removed.sum()), int(total.sum()))} would be removed, more than --fail-if-removed {most:g}"
        said.append(share)
    said += over
    if len(vanished):
        said.append(f"nothing would be left of {counted(len(vanished), 'input')}")
    if not said:
        return
    losing = np.flatnonzero(removed)
    order = losing[np.lexsort((losing, -removed[losing], -removed[losing] / total[losing]))]
    figures = [f"{names[i]}: {_share(int(removed[i]), int(total[i]))}" for i in order[:NAMED].tolist()]
    more = f", and {len(order) - NAMED:,} inputs more" if len(order) > NAMED else ""
    if resumable:
        way = "without --fail-if-removed, to write what the job has found"
    elif written:
        way = "without --fail-if-removed and with --force, to write all"
    else:
        way = "without --fail-if-removed, with --report instead of -o to see what would be removed, or as before to write it"
    verb = "were" if len(withheld) > 1 else "was"
    stopped = f"{' and '.join(withheld)} {verb} not written" if withheld else "stopped"
    without = stopped if written else "nothing was written"
    there = f"; {' and '.join(written)} {'were' if len(written) > 1 else 'was'} written" if written else ""
    raise LookalikeError(f"{without}: {'; '.join(said)} ({', '.join(figures)}{more}){there}; run again {way}")


def over_limits(slices: Mapping[str, Sequence[Mapping[str, Any]]], limits: Mapping[str, float]) -> list[str]:
    """Say of which values of a column more would be removed than a share."""
    said = []
    for column, most in limits.items():
        rows = [row for row in slices.get(column, ()) if row["share"] > most]
        for row in sorted(rows, key=lambda row: -row["share"])[:NAMED]:
            what = f"{printable(column)} {printable(str(row['value']))}"
            said.append(
                f"{_share(row['removed'], row['documents'])} with {what} would be removed, more than --fail-if-removed "
                f"{printable(column)}:{most:g}"
            )
    return said


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {counted(whole, 'document')} ({100 * part / whole:.1f}%)"
