"""What deduplication found: who is kept, who is removed on whose account, and the evidence for it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..errors import ParameterError
from ..formats.writers import Selection, write_rows
from ..values import Float64Array, Int64Array
from ..values.arrays import number
from ..wording import counted
from .judge import Decisions, Judge
from .memory import peak_memory
from .settings import added_columns
from .summary import Summary

LEAST_ALIKE = 3


class DedupResult:
    """What ``semblance.dedup`` found. Rows are those of the input, reference documents left out.

    Attributes
    ----------
    threshold : float
    settings : Settings
    summary : Summary
        Counts, times and sizes.
    """

    def __init__(self, judge: Judge, threshold: float, decisions: Decisions) -> None:
        self._judge = judge
        self._corpus = corpus = judge.corpus
        self._decisions = decisions
        self.threshold = threshold
        self.settings = corpus.settings.at(threshold)
        self.summary = self._summarize()  # now: what it counts may lie in a work folder that will be gone

    def __repr__(self) -> str:
        """Name the counts that matter."""
        s = self.summary
        return f"<DedupResult: {counted(s.documents, 'document')}, {s.kept:,} kept, threshold {self.threshold:g}>"

    def __len__(self) -> int:
        """Return the number of documents judged."""
        return len(self._corpus.documents) - self._first

    def close(self) -> None:
        """Remove the work folder's files, where there are any; rows, pairs and ids cannot be asked for after that."""
        self._corpus.closed = True
        self._corpus.workspace.close()

    def _check_open(self) -> None:
        if self._corpus.closed:  # by this result, or by another that shares its documents
            raise ParameterError("this result is closed: ask for rows, pairs and ids, and write, before close()")

    @property
    def _first(self) -> int:
        return self._corpus.documents.n_reference

    @property
    def _against(self) -> bool:
        """Whether the job had references, if only empty ones."""
        return self._corpus.documents.n_reference_sources > 0

    @cached_property
    def keep(self) -> NDArray[np.bool_]:
        """Whether each row is kept, bool of shape (n_rows,)."""
        keeper = self._decisions.keeper
        return np.equal(keeper[self._first :], np.arange(self._first, len(keeper)))

    def _columns(
        self, left: Int64Array, right: Int64Array, score: Float64Array, missing: NDArray[np.bool_]
    ) -> dict[str, pa.Array]:
        """Return the columns that state the scores of pairs of rows, null where ``missing``."""
        return self.settings.finder.columns(score, self._corpus.distances(left, right), missing)

    def _named(self, keeper: Int64Array, missing: NDArray[np.bool_]) -> dict[str, pa.Array]:
        """Return the columns that name the kept documents of some rows, null where ``missing``."""
        ids = self._corpus.documents.ids
        kept = np.maximum(keeper, 0)
        columns = {"duplicate_of": ids.take(kept, missing)}
        if self._against:
            columns["duplicate_source"] = ids.files(kept, missing)
            columns["duplicate_is_reference"] = pa.array(kept < self._first, mask=missing)
        return columns

    @cached_property
    def removed(self) -> pa.Table:
        """Arrow table ``id, duplicate_of, resemblance`` of the removed documents, in input order.

        With ``verify="sketch"`` the last column is replaced by ``estimated_resemblance, standard_error``. With reference
        documents ``duplicate_source`` (the kept document's file, null in memory) and ``duplicate_is_reference`` (bool) follow
        ``duplicate_of``. Documents dropped as empty have nulls.
        """
        self._check_open()
        rows = self._first + np.flatnonzero(~self.keep)
        keeper = self._decisions.keeper[rows]
        missing = keeper < 0
        columns = {"id": self._corpus.documents.ids.take(rows)} | self._named(keeper, missing)
        scores = self._decisions.keeper_resemblance[rows]
        return pa.table(columns | self._columns(rows, np.maximum(keeper, 0), scores, missing))

    @cached_property
    def pairs(self) -> pa.Table:
        """Arrow table ``left_id, right_id, resemblance`` of all verified pairs; of equal texts one stands for all.

        With reference documents ``left_is_reference`` (bool) follows ``right_id``, which is never the id of one.
        """
        self._check_open()
        none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        found = zip(*[none, *self._judge.verified_pairs(self._decisions.stem)], strict=True)
        left, right, score = (np.concatenate(column) for column in found)
        left, right = np.minimum(left, right), np.maximum(left, right)
        order = np.lexsort((right, left))
        left, right, score = left[order], right[order], score[order]
        ids = self._corpus.documents.ids
        columns = {"left_id": ids.take(left), "right_id": ids.take(right)}
        if self._against:
            columns["left_is_reference"] = pa.array(left < self._first)
        return pa.table(columns | self._columns(left, right, score, np.zeros(len(left), np.bool_)))

    @cached_property
    def clusters(self) -> Int64Array:
        """For each row, the row of the kept document that stands for it; its own if it is kept, or dropped as empty.

        Rows of reference documents are negative: -1 for the first of them.
        """
        self._check_open()
        own = np.arange(self._first, self._first + len(self))
        keeper = self._decisions.keeper[self._first :]
        keeper = np.where(keeper < 0, own, keeper)
        return np.asarray(np.where(keeper >= self._first, keeper - self._first, -1 - keeper), np.int64)

    def _annotated(self, first: int, begin: int, end: int) -> pa.Table:
        """Return some rows of ``annotations``, counted from ``first``."""
        self._check_open()
        begin, end = first + begin, first + end
        rows = np.arange(self._first + begin, self._first + end)
        kept = self.keep[begin:end]
        keeper = self._decisions.keeper[rows]
        missing = kept | (keeper < 0)
        dropped = keeper < 0
        columns = {"keep": pa.array(kept)} | self._named(keeper, missing)
        columns |= self._columns(rows, np.maximum(keeper, 0), self._decisions.keeper_resemblance[rows], missing)
        columns["cluster"] = self._corpus.documents.ids.take(np.maximum(keeper, 0), dropped)
        if self._against:
            columns["cluster_is_reference"] = pa.array(keeper < self._first, mask=dropped)
        return pa.table(columns)

    @cached_property
    def annotations(self) -> pa.Table:
        """Arrow table ``keep, duplicate_of, resemblance, cluster``, one row for each input row.

        With reference documents ``duplicate_source`` and ``duplicate_is_reference`` follow ``duplicate_of`` as in ``removed``,
        and ``cluster_is_reference`` (bool) follows ``cluster``. The cluster is the id of the kept document that stands for the row,
        its own if it is kept; null for a document dropped as empty.
        """
        return self._annotated(0, 0, len(self))

    def rethreshold(self, threshold: float) -> DedupResult:
        """Decide anew at a higher threshold, without reading the documents again.

        Parameters
        ----------
        threshold : float
            Not below the threshold of this evidence, at most 1.

        Returns
        -------
        DedupResult
            As ``dedup`` would return it, but for the bands, which were chosen for the lower threshold and find more.

        Raises
        ------
        ParameterError
            If the threshold is lower: pairs below the old one were never kept.
        """
        lowest = self._corpus.settings.threshold
        threshold = number("threshold", threshold)
        if not lowest <= threshold <= 1.0:
            raise ParameterError(f"rethreshold can go from {lowest} to 1; got {threshold}: for a lower one run dedup again")
        self._check_open()
        self._corpus.clock.forget()
        return DedupResult(self._judge, threshold, self._judge.judge(threshold))

    def _closest_calls(self) -> list[tuple[Any, Any, float, bool]]:
        """Return the removals of lowest score that are no exact duplicates: see ``Summary``."""
        keeper = self._decisions.keeper[self._first :]
        near = np.flatnonzero(~self.keep & (keeper >= 0) & (keeper != self._corpus.active.representative[self._first :]))
        score = self._decisions.keeper_resemblance[self._first :]
        if len(near) > LEAST_ALIKE:
            values = score[near]
            last = np.partition(values, LEAST_ALIKE - 1)[LEAST_ALIKE - 1]
            near = np.concatenate([near[values < last], near[values == last][:LEAST_ALIKE]])
        closest = near[np.argsort(score[near], kind="stable")[:LEAST_ALIKE]]
        ids = self._corpus.documents.ids
        gone, kept = ids.take(closest + self._first).to_pylist(), ids.take(keeper[closest]).to_pylist()
        return list(zip(gone, kept, score[closest].tolist(), (keeper[closest] < self._first).tolist(), strict=True))

    def _summarize(self) -> Summary:
        """Count, and take times and sizes."""
        documents, settings = self._corpus.documents, self.settings
        removed = ~self.keep
        keeper = self._decisions.keeper[self._first :]
        same = keeper == self._corpus.active.representative[self._first :]
        dropped = keeper < 0
        return Summary(
            documents=len(self),
            reference=self._first,
            empty=self._corpus.active.n_empty,
            exact_duplicates=int((removed & same & ~dropped).sum()),
            near_duplicates=int((removed & ~same & ~dropped).sum()),
            empty_dropped=int(dropped.sum()),
            kept=int(self.keep.sum()),
            text_bytes=documents.n_bytes,
            candidate_pairs=self._decisions.n_compared,
            verified_pairs=self._decisions.n_verified,
            uncompared_pairs=self._decisions.n_uncompared,
            recall_planned=settings.finder.recall(self.threshold),
            recall_vouched=self._decisions.recall_vouched,
            verified_by=settings.verify,
            threshold=self.threshold,
            least_alike=self._closest_calls(),
            score=settings.finder.score,
            found_by=settings.finder.describe(),
            seconds=dict(self._corpus.clock.seconds),
            peak_memory=peak_memory(),
            plan=settings.finder.plan_dict(),
            skipped=self._corpus.skipped,
        )

    @property
    def provenance(self) -> dict[str, Any]:
        """Version, parameters, seed and inputs, as written with every output."""
        sources = self._corpus.documents.sources
        return {
            "semblance": __version__,
            "parameters": self.settings.to_dict(),
            "inputs": [source.identity() for source in sources],
        }

    def write(self, output: str | Path, *, annotate: bool = False, force: bool = False) -> None:
        """Write the kept rows, or with ``annotate`` all rows with what was decided about them.

        Parameters
        ----------
        output : str or path
            A name ending in .jsonl, .jsonl.gz, .jsonl.zst, .parquet or .csv is one file for all inputs; any other is a
            directory that receives one file per input, of the same relative name and format.
        annotate : bool
            Write every row, with the columns of ``annotations`` added.
        force : bool
            Replace an existing output.

        Raises
        ------
        OutputError
            If the output exists, or cannot be written; nothing half written is left.
        InputDataError
            If an input changed in the meantime.
        ParameterError
            If the result is closed.
        """
        self._check_open()
        documents, selections = self._corpus.documents, []
        starts = documents.source_starts - self._first
        for place, source in enumerate(documents.sources):
            if place < documents.n_reference_sources:
                continue
            begin, end = int(starts[place]), int(starts[place + 1])
            mask = np.ones(end - begin, np.bool_) if annotate else self.keep[begin:end]
            if annotate and not self.settings.annotate:  # else reading has checked it, before any work
                source.check_free(added_columns(self.settings, self._against))
            added = partial(self._annotated, begin) if annotate else None
            selections.append(Selection(source, mask, added, self.settings.encoding_errors))
        write_rows(output, selections, self.provenance, sources=documents.sources, force=force)
        self.summary = replace(self.summary, peak_memory=peak_memory())
