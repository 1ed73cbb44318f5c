"""The result of an overlap: which documents contain others, and the matches as rows that are made when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..engines.engine import Engine, Table
from ..files.workspace import Workspace
from ..formats.split import Split
from ..formats.writers import Selection, write_rows, write_table
from ..inputs.ids import Labels
from ..inputs.read import Reading
from ..search.passages import Passages
from ..steps.ids import at_positions
from ..steps.overlap import MATCH, matches_of
from ..text.shingle import Shingling
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import SOURCE_BITS
from ..wording import Brief, counted
from .rows import collect
from .scored_pairs import ScoredPairs, Scores

ADDED = ("overlap_with", "overlap_passage", "resemblance", "containment")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Corpus:
    """One of the two corpora: its inputs, the first row of each and the number of all rows, and what documents are called."""

    sources: Sequence[Split]
    starts: Int64Array
    labels: Labels

    @property
    def n(self) -> int:
        """The number of documents."""
        return int(self.starts[-1])

    def positions(self, rows: Int64Array) -> Int64Array:
        """Return the positions of some rows."""
        source = np.searchsorted(self.starts, rows, side="right") - 1
        return np.asarray((source << SOURCE_BITS) + rows - self.starts[source], np.int64)

    def ids(self, rows: pa.Table | pa.RecordBatch) -> pa.Array:
        """Return the ids of rows of documents."""
        given = rows.column("id") if "id" in rows.schema.names else None
        return self.labels.ids(to_numpy(rows.column("position")), to_numpy(rows.column("number")), given)


class Matches:
    """The matches of an overlap as rows, in the order of the documents, the best first.

    ``rows`` are ranked by position, ``references`` in their order and one chunk, ``whole``: these were matched as a whole.
    """

    def __init__(
        self, engine: Engine, rows: Table, documents: Corpus, theirs: Corpus, references: pa.Table, passages: Passages, n: int,
        whole: bool,
    ) -> None:  # fmt: skip
        self._engine, self._table, self._n, self._whole = engine, rows, n, whole
        self.documents, self.theirs, self._references = documents, theirs, references
        self._document, self._start = passages.document, passages.start
        self.schema = self._rows(rows.schema.empty_table(), np.empty(0, np.int64), np.empty(0, MATCH)).schema

    def __len__(self) -> int:
        """Return the number of matches."""
        return self._n

    def _found(self) -> Iterator[tuple[pa.RecordBatch, Int64Array, NDArray[Any]]]:
        """Yield documents with matches, in their order: rows, how many matches each has, the matches."""
        ordered = self._table if self._engine.joins_in_place else self._engine.meet(self._table, None, "order")
        for batch in ordered.batches():
            yield from _matched(batch)

    def _rows(self, documents: pa.Table | pa.RecordBatch, counts: Int64Array, found: NDArray[Any]) -> pa.Table:
        owner = to_arrow(np.repeat(np.arange(len(counts)), counts))
        return pa.table({
            "id": self.documents.ids(documents).take(owner),
            "reference": self.theirs.ids(self._references.take(to_arrow(self._document[found["passage"]]))),
            "passage": to_arrow(self._start[found["passage"]], np.full(len(found), self._whole)),
            "resemblance": np.ascontiguousarray(found["resemblance"]),
            "containment": np.ascontiguousarray(found["containment"]),
        })  # fmt: skip

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make the rows and yield them."""
        for documents, counts, found in self._found():
            yield from self._rows(documents, counts, found).to_batches()

    def table(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(list(self.batches()), self.schema).combine_chunks()

    def scores(self, measure: str) -> Scores:
        """Yield (reference document, document, score) of all matches."""
        for documents, counts, found in self._found():
            yield self._document[found["passage"]], np.repeat(to_numpy(documents["order"]), counts), found[measure]

    def called(self, references: Int64Array, rows: Int64Array) -> list[Any]:
        """Return the ids of some reference documents, and of some documents."""
        names = [name for name in ("position", "number", "id") if name in self._table.schema.names]
        columns, wanted = self._table.select(names), self.documents.positions(rows)
        step = partial(at_positions, positions=tuple(wanted.tolist()))
        chosen = collect(self._engine.map(columns, step, columns.schema)).combine_chunks()
        known = dict(zip(chosen["position"].to_pylist(), self.documents.ids(chosen).to_pylist(), strict=True))
        theirs = self.theirs.ids(self._references.take(to_arrow(references))).to_pylist()
        return [*theirs, *(known[position] for position in wanted.tolist())]

    def best(self, begin: int, end: int) -> tuple[Int64Array, pa.Table]:
        """Return (documents from ``begin`` to ``end`` that have matches, ascending; the best match of each)."""
        rows, tables = [np.empty(0, np.int64)], [self.schema.empty_table()]
        for documents, counts, found in _matched(collect(self._table.slice(begin, end)).sort_by("order").combine_chunks()):
            rows.append(to_numpy(documents["order"]))
            tables.append(self._rows(documents, np.ones_like(counts), found[np.cumsum(counts) - counts]))
        return np.concatenate(rows), pa.concat_tables(tables)


def _matched(rows: pa.Table | pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, Int64Array, NDArray[Any]]]:
    """Yield those documents that have matches: rows, how many matches each has, the matches."""
    for batch in rows.to_batches() if isinstance(rows, pa.Table) else [rows]:
        counts = to_numpy(batch["n"])
        if counts.any():
            names = [name for name in batch.schema.names if name != "matches"]
            yield batch.select(names).filter(to_arrow(counts > 0)), counts[counts > 0], matches_of(batch)


class OverlapResult(Brief):
    """The result of ``overlap``.

    Attributes
    ----------
    matches : pyarrow.Table
        ``id, reference`` (int64 if all ids of that corpus are integers, otherwise strings), ``passage`` (int64; the first
        shingle of the passage in the reference document, from 0; null without ``passage``), ``resemblance, containment``
        (float64): the best passage of each pair of documents, in input order, best first.
    not_searchable : pyarrow.Table
        ``reference, tokens``: the reference documents that no longer document can contain, since they have fewer tokens than
        the width. One without tokens matches nothing; one with some matches only documents of exactly these tokens.
    overlaps : ndarray of bool, shape (n_documents,)
        Which documents overlap with a reference document.
    n_documents, n_references : int
        Documents of the two corpora.
    """

    def __init__(
        self, listed: Matches, overlaps: NDArray[np.bool_], skipped: NDArray[np.bool_], not_searchable: pa.Table,
        parameters: dict[str, Any], workspace: Workspace,
    ) -> None:  # fmt: skip
        self._listed, self._skipped, self._parameters = listed, skipped, parameters
        self._workspace = workspace  # tables of an engine may be in its folder, which goes with it
        self.overlaps, self.not_searchable = overlaps, not_searchable
        self.n_documents, self.n_references = listed.documents.n, listed.theirs.n

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        s = self.summary
        of = f"{s['overlapping']:,} of {counted(s['documents'], 'document')}"
        references = f"overlap with {counted(s['references'], 'reference')}"
        return {"documents": of, "references": references, "matches": counted(s["matches"], "match", "matches")}

    @cached_property
    def matches(self) -> pa.Table:
        """All matches."""
        return self._listed.table()

    @property
    def summary(self) -> dict[str, int]:
        """Counts: documents, references, empty_references, short_references, overlapping, matches, skipped (too large)."""
        short = int((to_numpy(self.not_searchable["tokens"]) > 0).sum())
        return {
            "documents": self.n_documents,
            "references": self.n_references,
            "empty_references": len(self.not_searchable) - short,
            "short_references": short,
            "overlapping": int(self.overlaps.sum()),
            "matches": len(self._listed),
            "skipped": int(self._skipped.sum()),
        }

    @property
    def provenance(self) -> dict[str, Any]:
        """Version, parameters, inputs and counts, as written with every output."""
        inputs = [source.identity() for source in self._listed.documents.sources]
        return {"lookalike": __version__, "parameters": self._parameters, "inputs": inputs, "summary": self.summary}

    @property
    def _read(self) -> list[Split]:
        """All inputs, which no output may replace."""
        return [*self._listed.documents.sources, *self._listed.theirs.sources]

    def write_matches(self, output: str | Path, *, force: bool = False) -> None:
        """Write all matches as parquet, JSON lines or CSV, by the suffix; no more than some are held at a time."""
        write_table(output, self._listed, self.provenance, sources=self._read, force=force)

    def report(
        self, output: str | Path, *, texts: str = "full", force: bool = False, title: str | None = None,
        command: str | None = None,
    ) -> None:  # fmt: skip
        """Write a page that shows the matches: one HTML file that needs no network."""
        from ..report.page import write_scored  # a layer above: methods of results are where users look for it

        write_scored(self._scored(), output, texts=texts, force=force, title=title, command=command)

    def write(self, output: str | Path, *, annotate: bool = False, force: bool = False) -> None:
        """Write the documents that overlap with none; with ``annotate`` all, with the best match of each.

        Files, formats and errors are those of ``Result.write``. Documents that were skipped are not written.
        """
        selections, documents = [], self._listed.documents
        written = ~self._skipped if annotate else ~(self._skipped | self.overlaps)
        for source, begin, end in zip(documents.sources, documents.starts[:-1], documents.starts[1:], strict=True):

            def added(first: int, last: int, begin: int = int(begin)) -> pa.Table:
                rows, best = self._listed.best(begin + first, begin + last)
                place = np.full(last - first, -1, np.int64)
                place[rows - begin - first] = np.arange(len(rows))
                return best.drop_columns(["id"]).rename_columns(list(ADDED)).take(to_arrow(place, place < 0))

            if annotate:
                source.check_free(list(ADDED))
            errors = self._parameters["encoding_errors"]
            selections.append(Selection(source, written[begin:end], added if annotate else None, errors))
        write_rows(output, selections, self.provenance, sources=self._read, force=force)

    def _scored(self) -> ScoredPairs:
        """Return the matches as a report reads them; their left sides are the reference documents."""
        parameters, s, n = self._parameters, self.summary, self.n_references
        shingling = {name: parameters["shingling"][name] for name in ("unit", "width", "normalization", "fold_case")}
        documents, theirs, listed = self._listed.documents, self._listed.theirs, self._listed

        def pairs() -> Scores:
            for left, right, score in listed.scores(parameters["measure"]):
                yield left, right + n, score

        def reading(name: str) -> Reading:
            return Reading(text=parameters[name], encoding_errors=parameters["encoding_errors"])

        passages = parameters["passage"] is not None
        return ScoredPairs(
            job="overlap", score=parameters["measure"], threshold=parameters["threshold"], total=s["matches"], pairs=pairs,
            ids=lambda rows: listed.called(rows[rows < n], rows[rows >= n] - n),
            found=lambda score: float(score >= parameters["threshold"]), sources=[*theirs.sources, *documents.sources],
            starts=np.concatenate([theirs.starts[:-1], n + documents.starts]), n_references=len(theirs.sources),
            readings=(reading("against_text"), reading("text")), shingling=Shingling(**shingling),
            settings={name: value for name, value in parameters.items() if name != "against"},
            facts=[("documents", f"{s['documents']:,}"), ("reference documents", f"{s['references']:,}")],
            left_out=[
                ("references without any token", s["empty_references"], "they match nothing"),
                ("references shorter than a shingle", s["short_references"], "they match documents of exactly these words"),
                ("documents left out", s["skipped"], "too large or unreadable: neither compared nor written"),
            ],
            chosen=None, seconds={},
            warnings=["References were cut into passages; the texts are shown as a whole."] if passages else [],
        )  # fmt: skip
