"""From documents to kept documents: the steps in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from ..errors import ParameterError
from ..formats.split import Split
from ..results.result import Result
from ..results.rows import filtered, of_reason
from ..results.summary import count
from ..settings.option import front_door
from ..settings.settings import Settings
from ..steps.sketch import WRITTEN
from ..values.arrow import to_arrow
from .decide import Decider, Deciding
from .decisions import Told, judge
from .preparation import Opened, on_spark, open_job
from .progress import no_progress, shown
from .saved_sketches import Saving, write_rows
from .search import Searching, search


class OpenJob:
    """A job whose inputs can be read again: see ``results.result.Job``."""

    def __init__(self, opened: Opened, decider: Decider) -> None:
        self._opened, self._decider, self.closed = opened, decider, False
        self._told: dict[float, Told] = {}
        self.sources: Sequence[Split] = opened.splits
        self.n_references = opened.reading.n_references
        self.threshold = opened.settings.threshold
        self.note: Callable[[str], None] | None = getattr(opened.workspace, "note", None)
        self.engine = opened.engine

    def result(self, decider: Decider, settings: Settings) -> Result:
        """Decide, and tell it."""
        slices = settings.slices or ()
        counting = partial(count, n_reference=decider.found.boundary, slices=slices)
        told, summary = judge(self._opened, decider, settings, lambda told: counting(told.decisions))
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

    def save_sketches(self, result: Result, folder: str | Path, force: bool, texts: bool) -> None:
        """Save the sketches of the kept documents."""
        engine = self.engine
        orders = filtered(result.rows(["order", "reason"]), lambda batch: to_arrow(of_reason(batch, *WRITTEN)))
        saving = Saving(
            settings=result.settings, splits=self.sources, n_references=self.n_references, found=self._decider.found,
            key=self._decider.key, provenance=result.provenance, with_texts=texts,
            shares=self._told[result.settings.threshold].shares() if result.settings.counts else None,
        )  # fmt: skip
        path = saving.check(folder, force)
        rows = saving.rows(engine, engine.rows(orders.select(["order"])))
        if not engine.joins_in_place:
            rows = engine.meet(rows, None, "position")
        saving.write(path, force, engine, rows, partial(write_rows, saving, rows))

    def close(self) -> None:
        """Remove what the job keeps on the disk."""
        self.closed = True
        self.engine.close()


def decide(opened: Opened) -> Result:
    """Find candidates, decide who stays, and return the result."""
    settings = opened.settings
    found = search(
        opened.engine, opened.splits, opened.reading, Searching.of(settings), opened.key, opened.clock.lap, opened.unread
    )
    decider = Decider(opened.engine, found, Deciding.of(settings), opened.key)
    return OpenJob(opened, decider).result(decider, settings)


@front_door(Settings)
def dedup(data: Any, settings: Settings) -> Result:
    """Find near-duplicates and decide which documents to keep.

    A greedy walk in keep order removes a document if and only if a document kept before it resembles it by at least the
    threshold; if several do, the most similar of those that it was compared with is named, and of equally similar ones the
    first in keep order; in crowds it is not compared with all. With
    ``measure="containment"`` it has a share of at least the threshold of the document's shingles.
    Documents of identical bytes are represented by the one that the policy prefers. Empty documents never match.

    Parameters
    ----------
    data : path, list of paths, list of str or dict, dict, column, table, frame or data set
        A str is a path: a file, a folder or a glob, or a URL of one (``s3://``, ``gs://``, ``abfss://``, ``hdfs://``,
        ``hf://datasets/``; ``https://`` of a file). A list of str is a list of texts, unless each of them ends in a known
        suffix; a list that could be either is refused. A list of dicts is one of rows. An iterator is read once. Columns,
        tables and frames are those of Arrow, pandas and polars, lazy ones too; data sets those of pyarrow and Hugging Face. A
        dict of id to text has its keys as ids; in a dict of name to table, frame or data set each is an input. On Spark: files
        on storage that the driver and all workers have mounted, or on an object store (``s3://bucket/pages/``), or a data frame
        of Spark with a column of texts and one of unique ids (``id``).

    Returns
    -------
    Result
        On Spark ``SparkResult``, whose tables are data frames.

    Raises
    ------
    ParameterError
        If a setting is out of its range, or workers of Spark do not see the work folder.
    InputDataError
        If a file or row is not as expected, or an override names no document, or one of a file that has changed.
    MissingExtraError
        If Spark is asked for, and pyspark is not installed, or the pandas that it needs.

    Notes
    -----
    Memory: below ``memory``; texts and what is known of them go to a work folder where they need more. Exact: with
    ``verify="exact"`` every removal rests on an exact resemblance. A pair at the threshold is found with
    probability ``recall``; with ``verify="sketch"`` with about half of that, since its estimate is as often below the threshold
    as above. The summary states it. The result is the same for any number of threads and any memory.

    Examples
    --------
    >>> import lookalike as la
    >>> result = la.dedup(["the quick brown fox jumps over the dog", "The quick brown fox: jumps over the dog!", "else"])
    >>> result.keep.tolist()
    [True, False, True]
    >>> result.removed.to_pylist()
    [{'id': 1, 'duplicate_of': 0, 'resemblance': 1.0}]
    """
    if settings.verify == "none":
        raise ParameterError(
            "dedup removes only verified duplicates: verify must be exact or sketch ('none' is for pairs)", "verify", "none"
        )
    with shown(settings.progress) as said:
        if on_spark(data, settings):
            from .spark.job import dedup_on_spark  # here, for what jobs on one machine do not need

            return cast(Result, dedup_on_spark(data, settings, said or no_progress))
        return decide(open_job(data, settings, said))
