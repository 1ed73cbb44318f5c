"""Decisions and pairs of a judged corpus as tables, and the result made of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..files.atomic import shown
from ..values import Float64Array, Int64Array
from ..values.tables import DECISIONS, SOURCE_BITS
from .active import keep_order
from .job import Job
from .judge import Decisions, Judge
from .memory import peak_memory
from .result import Result
from .rows import MadeRows
from .summary import Summary, count

_REASONS = pa.array(["kept", "reference", "exact", "near", "empty"])


class Judged:
    """What was decided about the documents of a corpus at one threshold, column by column.

    Parameters
    ----------
    judge : Judge
    decided : Decisions
    """

    def __init__(self, judge: Judge, decided: Decisions) -> None:
        self._judge = judge
        self._corpus = corpus = judge.corpus
        self._documents = documents = corpus.documents
        self._decided = decided
        self._keeper = decided.keeper
        self._evidence = corpus.settings.evidence
        place = keep_order(documents, corpus.settings.keep)
        self._order = np.arange(len(documents)) if place is None else place
        firsts = documents.source_starts[:-1][np.diff(documents.source_starts) > 0]
        self._id_type = documents.ids.take(firsts).type
        second = corpus.settings.finder.added[1:]
        self._scores = [("resemblance", pa.float64()), *((n, pa.int64() if n == "distance" else pa.float64()) for n in second)]

    @property
    def decisions(self) -> MadeRows:
        """A row for each document, references first: DECISIONS, ``id``, and ``standard_error`` or ``distance`` beside a score.

        With all pairs as evidence also ``leader``: the order of the first document of equal text.
        """
        fields = []
        for field in DECISIONS:
            if field.name == "resemblance":
                fields += [pa.field(*score) for score in self._scores]
                continue
            fields.append(field.with_type(self._id_type) if field.name in ("duplicate_of", "cluster") else field)
            if field.name == "bytes":
                fields.append(pa.field("id", self._id_type))
        if self._evidence == "all":
            fields.append(pa.field("leader", pa.int64()))
        return MadeRows(pa.schema(fields), self._column, lambda: len(self._documents))

    def _column(self, name: str, rows: Int64Array) -> pa.Array:
        """Make a column of the decisions about some rows."""
        documents, keeper = self._documents, self._keeper[rows]
        removed = (keeper != rows) & (keeper >= 0)
        match name:
            case "order":
                return pa.array(self._order[rows])
            case "position":
                source = self._source(rows)
                return pa.array((source << SOURCE_BITS) + rows - documents.source_starts[source])
            case "row":
                return pa.array(rows - documents.source_starts[self._source(rows)])
            case "number":
                return pa.array(documents.take("numbers", rows))
            case "bytes":
                return pa.array(documents.take("sizes", rows).astype(np.int64))
            case "source":
                return self._files(rows, np.ones(len(rows), np.bool_))
            case "duplicate_source":
                return self._files(keeper, removed)
            case "id":
                return documents.ids.take(rows).cast(self._id_type)
            case "duplicate_of":
                return self._ids(keeper, removed)
            case "cluster":
                return self._ids(keeper, keeper >= 0)
            case "kept":
                return pa.array(keeper == rows)
            case "keeper":
                return pa.array(self._order[np.maximum(keeper, 0)], mask=keeper < 0)
            case "leader":
                return pa.array(self._order[self._corpus.active.representative[rows]])
            case "duplicate_is_reference":
                return pa.array(keeper < documents.n_reference, mask=~removed)
            case "reason":
                exact = keeper == self._corpus.active.representative[rows]
                reason = np.select([rows < documents.n_reference, keeper < 0, keeper == rows, exact], [1, 4, 0, 2], 3)
                return _REASONS.take(pa.array(reason))
            case "resemblance":
                return pa.array(self._decided.keeper_resemblance[rows], mask=~removed)
            case "n_exact" | "n_duplicates":
                return pa.array(self._counts[name][rows])
        return self._second(name, rows, np.maximum(keeper, 0), self._decided.keeper_resemblance[rows], ~removed)

    def _second(
        self, name: str, left: Int64Array, right: Int64Array, score: Float64Array, missing: NDArray[np.bool_]
    ) -> pa.Array:
        """Make the column that stands beside a score."""
        return self._corpus.settings.finder.columns(score, self._corpus.distances(left, right), missing)[name]

    def _source(self, rows: Int64Array) -> Int64Array:
        return np.searchsorted(self._documents.source_starts, rows, side="right") - 1

    def _ids(self, rows: Int64Array, there: NDArray[np.bool_]) -> pa.Array:
        """Return the ids of some rows, null for those that are not there."""
        place = np.cumsum(there) - 1
        return self._documents.ids.take(rows[there]).cast(self._id_type).take(pa.array(np.maximum(place, 0), mask=~there))

    def _files(self, rows: Int64Array, there: NDArray[np.bool_]) -> pa.Array:
        """Return the file that each row comes from, null for those that are not there and those that came from memory."""
        formats = [source.format for source in self._documents.sources]
        if "txt" in formats:
            return self._documents.ids.files(np.where(there, rows, 0), ~there)
        names = [None if s.format in ("memory", "table") else shown(s.name) for s in self._documents.sources]
        return pa.array(names, pa.string()).take(pa.array(self._source(np.where(there, rows, 0)), mask=~there))

    @cached_property
    def _counts(self) -> dict[str, Int64Array]:
        """How many documents each one stands for: those removed as its copies, and all."""
        n = len(self._keeper)
        removed = (self._keeper != np.arange(n)) & (self._keeper >= 0)
        exact = removed & (self._keeper == self._corpus.active.representative)
        return {
            name: np.bincount(self._keeper[some], minlength=n) for name, some in (("n_exact", exact), ("n_duplicates", removed))
        }

    @property
    def matches(self) -> MadeRows:
        """The verified pairs, in the order of the input; of equal texts one stands for all.

        ``left, right`` (orders), ``left_id, right_id, left_is_reference, resemblance`` and what stands beside it.
        """
        ids = [("left_id", self._id_type), ("right_id", self._id_type), ("left_is_reference", pa.bool_())]
        fields = [("left", pa.int64()), ("right", pa.int64()), *ids, *self._scores]
        return MadeRows(pa.schema(fields), self._pair_column, lambda: len(self._found[0]))

    def _pair_column(self, name: str, places: Int64Array) -> pa.Array:
        """Make a column of some pairs."""
        left, right, score = self._found[0][places], self._found[1][places], self._found[2][places]
        match name:
            case "left" | "right":
                return pa.array(self._order[left if name == "left" else right])
            case "left_id" | "right_id":
                return self._documents.ids.take(left if name == "left_id" else right).cast(self._id_type)
            case "left_is_reference":
                return pa.array(left < self._documents.n_reference)
            case "resemblance":
                return pa.array(score)
        return self._second(name, left, right, score, np.zeros(len(left), np.bool_))

    @cached_property
    def _found(self) -> tuple[Int64Array, Int64Array, Float64Array]:
        """Rows and scores of the pairs."""
        none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        columns = zip(*[none, *self._judge.verified_pairs(self._decided.stem)], strict=True)
        left, right, score = (np.concatenate(column) for column in columns)
        left, right = np.minimum(left, right), np.maximum(left, right)
        if self._evidence == "keepers":
            kept = self._keeper == np.arange(len(self._keeper))
            ahead = self._order[left] < self._order[right]
            first, second = np.where(ahead, left, right), np.where(ahead, right, left)
            told = kept[first] & ~kept[second]
            left, right, score = left[told], right[told], score[told]
        order = np.lexsort((right, left))
        return left[order], right[order], score[order]


def make_result(judge: Judge) -> Result:
    """Judge a corpus whose candidates have been found."""
    corpus = judge.corpus

    def again(threshold: float) -> Result:
        corpus.clock.forget()
        return _make(judge, threshold, job)

    documents, lowest = corpus.documents, corpus.settings.threshold
    job = Job(documents.sources, documents.n_reference_sources, again, lowest, corpus.workspace.close)
    return _make(judge, lowest, job)


def _make(judge: Judge, threshold: float, job: Job) -> Result:
    """Return the result at a threshold."""
    corpus, documents = judge.corpus, judge.corpus.documents
    settings = corpus.settings.at(threshold)
    decided = judge.judge(threshold)
    judged = Judged(judge, decided)
    summary = Summary(
        **count(judged.decisions, documents.n_reference),
        empty=corpus.active.n_empty,
        text_bytes=documents.n_bytes,
        candidate_pairs=decided.n_compared,
        verified_pairs=decided.n_verified,
        uncompared_pairs=decided.n_uncompared,
        recall_planned=settings.finder.recall(threshold),
        recall_vouched=decided.recall_vouched,
        verified_by=settings.verify,
        threshold=threshold,
        score=settings.finder.score,
        found_by=settings.finder.describe(),
        seconds=dict(corpus.clock.seconds),
        peak_memory=peak_memory(),
        plan=settings.finder.plan_dict(),
        skipped=corpus.skipped,
    )
    provenance = {
        "semblance": __version__,
        "parameters": settings.to_dict(),
        "inputs": [source.identity() for source in documents.sources],
    }
    return Result(
        decisions=judged.decisions, matches=judged.matches, settings=settings, summary=summary, provenance=provenance,
        against=documents.n_reference_sources > 0, job=job,
    )  # fmt: skip
