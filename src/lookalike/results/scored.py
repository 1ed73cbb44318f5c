"""Results that list pairs of documents with their scores."""

from __future__ import annotations

from pathlib import Path

from ..choices import ReportTexts
from ..errors import all_from_caller
from ..wording import Brief
from .scored_pairs import ScoredPairs


@all_from_caller
class Scored(Brief):
    """A result that lists pairs of documents with their scores."""

    def _scored(self) -> ScoredPairs:
        raise NotImplementedError

    def report(
        self, output: str | Path, *, texts: ReportTexts = "full", force: bool = False, title: str | None = None,
        command: str | None = None,
    ) -> None:  # fmt: skip
        """Write a page that shows the pairs: one HTML file that needs no network. See ``Result.report``."""
        from ..report.page import write_scored  # a layer above: methods of results are where users look for it

        write_scored(self._scored(), output, texts=texts, force=force, title=title, command=command)
