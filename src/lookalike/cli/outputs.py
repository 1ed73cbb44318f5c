"""What ``lookalike dedup`` and ``pairs`` write: checked before any work, written after it, and told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..files.outputs import check_apart
from ..formats.writers import check_before
from ..inputs.saved import files_of_saved
from .interrupts import Leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where everything goes that a job is asked to write; None: it is not wanted.

    Parameters
    ----------
    output : str or None
        The documents.
    report : str or None
    save, save_sketches : str or None
        Folders.
    force : bool
        Replace what is there.
    annotate : bool
        Write all documents, with columns added.
    texts : str
        How the report shows texts.
    """

    output: str | None
    report: str | None
    save: str | None = None
    save_sketches: str | None = None
    force: bool
    annotate: bool = False
    texts: str

    @property
    def paths(self) -> list[str]:
        """All that is written."""
        return [path for path in (self.output, self.report, self.save, self.save_sketches) if path is not None]

    def to_dict(self) -> dict[str, str | None]:
        """Return what ``--json`` says of them."""
        return {"output": self.output, "report": self.report, "saved": self.save, "sketches": self.save_sketches}

    def check(self, sources: Sequence[Any], references: Sequence[Any], also: Sequence[str | None], html: bool) -> None:
        """Check that nothing that is written meets an input, a file that is needed, or something else that is written.

        Parameters
        ----------
        sources, references : sequence of Split
        also : sequence of str or None
            Other files and folders of the job: overrides, the work folder.
        html : bool
            Whether the inputs are web pages.

        Raises
        ------
        OutputError, ParameterError, MissingExtraError
            If something does, or cannot be written.
        """
        read = [*sources, *references]
        places = [place for split in read for place in split.places]
        others = [path for path in also if path] + [str(path) for path in files_of_saved(references)]

        def but(path: str) -> list[str]:
            rest = self.paths
            rest.remove(path)  # once: two outputs of one name meet
            return [*others, *rest]

        if self.output is not None:
            check_before(self.output, sources, references, but(self.output))
        if self.save is not None:
            from ..jobs.saved_result import check_folder

            check_folder(self.save, read, self.force, but(self.save))
        if self.report is not None:
            from ..report.writing import check_report

            check_report(self.report, read, self.force)
            check_apart(self.report, places, but(self.report), single=True)
        if self.save_sketches is not None:
            from ..jobs.saved_sketches import check_saving

            check_saving(self.save_sketches, self.force, sources, references, html, but(self.save_sketches))

    def write(self, result: Any, command: Callable[[], str], said: Callable[[str, int], None], leaves: Leaves) -> None:
        """Write everything.

        Parameters
        ----------
        result : Result or SparkResult
        command : callable
            Returns the command that repeats the job.
        said : callable
            Told what is done next.
        leaves : Leaves
            Told what is complete.
        """
        if self.report is not None:
            said("writing the report", 0)
            leaves.writing(self.report)
            result.report(self.report, texts=self.texts, force=self.force, command=command())
            leaves.written(self.report)
        if self.output is not None:
            said("writing", 0)
            leaves.writing(self.output)
            result.write(self.output, annotate=self.annotate, force=self.force)
            leaves.written(self.output)
        if self.save is not None:
            said("saving", 0)
            leaves.writing(self.save)
            result.save(self.save, force=self.force)
            leaves.written(self.save)
        if self.save_sketches is not None:
            said("saving sketches", 0)
            leaves.writing(self.save_sketches)
            result.save_sketches(self.save_sketches, force=self.force)
            leaves.written(self.save_sketches)
