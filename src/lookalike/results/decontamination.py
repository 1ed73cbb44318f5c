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
from ..errors import all_from_caller
from ..files.workspace import Workspace
from ..formats.cuts import TextEdits, check_one_column
from ..formats.split import Split
from ..formats.writers import Selection, write_rows, write_table
from ..inputs.ids import Labels
from ..inputs.read import ReadOptions
from ..search.items import Items
from ..search.passages import Passages
from ..steps.batches import batch_of
from ..steps.ids import at_positions
from ..steps.overlap import MATCH, also_in, expanded, matches_of, pieces_of
from ..text.shingle import Shingling
from ..values import Int64Array
from ..values.arrow import strings, to_arrow, to_numpy
from ..values.tables import positions_of
from ..wording import plural
from .rows import Tabular, collect
from .scored import Scored
from .scored_pairs import ScoredPairs, Scores

ADDED = {"overlap_with": "reference", "overlap_passage": "passage", "resemblance": "resemblance", "containment": "containment"}
"""What annotation adds, by the columns of matches."""


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

    def parts(self) -> Iterator[tuple[Split, int, int]]:
        """Yield each input with its first row and the one behind its last."""
        return zip(self.sources, self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)

    def ids(self, rows: pa.Table | pa.RecordBatch) -> pa.Array:
        """Return the ids of rows of documents."""
        given = rows.column("id") if "id" in rows.schema.names else None
        return self.labels.ids(to_numpy(rows.column("position")), to_numpy(rows.column("number")), given)


class Matches:
    """The matches of an overlap as rows, in the order of the documents, the best first.

    ``rows`` are ranked by position, ``references`` in their order and one chunk, ``fields`` those looked for beside the first;
    ``whole``: references were matched as a whole.
    """

    def __init__(
        self, engine: Engine, rows: Table, documents: Corpus, theirs: Corpus, references: pa.Table, passages: Passages,
        items: Items, fields: Sequence[str], n: int, whole: bool,
    ) -> None:  # fmt: skip
        self._engine, self._table, self._items, self._n, self._whole = engine, rows, items, n, whole
        self.documents, self.theirs, self._references, self._fields = documents, theirs, references, fields
        self._document, self._start = passages.document, passages.start
        none, nobody = np.empty(0, np.int64), batch_of(rows.schema, *(pa.nulls(0, field.type) for field in rows.schema))
        self.schema = self._rows(nobody, none, none, none).schema

    def __len__(self) -> int:
        """Return the number of matches."""
        return self._n

    def _expanded(self, batch: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, Int64Array, Int64Array, Int64Array]]:
        """Yield (documents, match, document, item) of those documents that have matches."""
        there = to_numpy(batch["n"]) > 0
        return expanded(batch if there.all() else batch.filter(to_arrow(there)), self._document, self._items)

    def _matches(self) -> Iterator[tuple[pa.RecordBatch, Int64Array, Int64Array, Int64Array]]:
        for batch in self._table.batches():
            yield from self._expanded(batch)

    def _rows(self, documents: pa.RecordBatch, which: Int64Array, rows: Int64Array, item: Int64Array) -> pa.Table:
        found = matches_of(documents)[1][which]
        columns = {
            "id": self.documents.ids(documents).take(to_arrow(rows)),
            "reference": self.theirs.ids(self._references.take(to_arrow(item))),
            "passage": to_arrow(self._start[found["passage"]], np.full(len(found), self._whole)),
        }
        columns |= {name: np.ascontiguousarray(found[name]) for name in (MATCH.names or ())[1:]}
        if self._fields:
            shares = self._items.shares(rows, item, also_in(documents))
            columns |= {f"{name}_found": to_arrow(one, np.isnan(one)) for name, one in zip(self._fields, shares, strict=True)}
        return pa.table(columns)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make the rows and yield them."""
        for found in self._matches():
            yield from self._rows(*found).to_batches()

    def scores(self, measure: str) -> Scores:
        """Yield (reference document, document, score) of all matches."""
        for documents, which, rows, item in self._matches():
            yield item, to_numpy(documents["order"])[rows], matches_of(documents)[1][measure][which]

    def called(self, references: Int64Array, rows: Int64Array) -> list[Any]:
        """Return the ids of some reference documents, and of some documents."""
        names = [name for name in ("position", "number", "id") if name in self._table.schema.names]
        columns, wanted = self._table.select(names), positions_of(rows, self.documents.starts)
        step = partial(at_positions, positions=tuple(wanted.tolist()))
        chosen = collect(self._engine.map(columns, step, columns.schema)).combine_chunks()
        known = dict(zip(chosen["position"].to_pylist(), self.documents.ids(chosen).to_pylist(), strict=True))
        theirs = self.theirs.ids(self._references.take(to_arrow(references))).to_pylist()
        return [*theirs, *(known[position] for position in wanted.tolist())]

    def added(self, start: int, begin: int, end: int) -> pa.Table:
        """Return what annotation adds to some documents, counted from ``start``: the best match of each, or nulls."""
        place, tables, n = np.full(end - begin, -1, np.int64), [self.schema.empty_table()], 0
        for batch in self._table.slice(start + begin, start + end).batches():
            for documents, which, rows, item in self._expanded(batch):
                first = np.unique(rows, return_index=True)[1]
                tables.append(self._rows(documents, which[first], rows[first], item[first]))
                place[to_numpy(documents["order"]) - start - begin] = np.arange(n, n + len(documents))
                n += len(documents)
        best = pa.concat_tables(tables).select(list(ADDED.values())).rename_columns(list(ADDED))
        return best.take(to_arrow(place, place < 0))

    def pieces(self, start: int, begin: int, end: int) -> Iterator[pa.ListArray]:
        """Yield the pieces of some documents, counted from ``start``, that references have: begin, end, ... in bytes."""
        return map(pieces_of, self._table.slice(start + begin, start + end).batches())


def by_benchmark(names: Sequence[str], items: Items, found: Int64Array, missed: pa.Table, fields: Sequence[str]) -> pa.Table:
    """Return what was found of each benchmark, from what ``of_benchmarks`` counts and the rows that were not searched for."""
    n, m = len(items.benchmark), items.n_benchmarks

    def of_items(chosen: NDArray[np.bool_]) -> Int64Array:
        return np.bincount(items.benchmark[chosen], minlength=m)

    rows, reasons, contaminated = to_numpy(missed["row"]), np.array(missed["reason"].to_pylist(), object), found[:n] > 0
    columns: dict[str, Any] = {"benchmark": strings(names), "items": of_items(np.ones(n, np.bool_))}
    for reason in ("empty", "short", "common"):
        left = np.zeros(n, np.bool_)
        left[rows[reasons == reason]] = True
        columns[reason] = of_items(left)
    columns |= {"contaminated": of_items(contaminated), "documents": found[n : n + m]}
    columns["share"] = columns["contaminated"] / np.maximum(columns["items"], 1)
    for number, name in enumerate(fields):
        begin = n + m + number * n
        columns[f"with_{name}"] = of_items(found[begin : begin + n] > 0)
    return pa.table({name: to_arrow(column) if isinstance(column, np.ndarray) else column for name, column in columns.items()})


@all_from_caller
class DecontaminationResult(Scored, Tabular):
    """The result of ``decontaminate``.

    Attributes
    ----------
    matches : pyarrow.Table
        ``id, reference`` (int64 if all ids of that corpus are integers, otherwise strings), ``passage`` (int64; the first
        shingle of the passage in the reference document, from 0; null without ``passage``), ``resemblance, containment``
        (float64): the best passage of each pair of documents, in input order, best first; ``begin, end`` (int64): the longest
        piece of the document that is in that passage, in bytes of the text. Of several fields also ``choices_found``
        (float64), named after each but the first: the share of its texts that the document has.
    by_benchmark : pyarrow.Table
        ``benchmark, items``; ``empty, short, common``: items that were not judged; ``contaminated``: items that a document
        contains; ``documents``: documents that contain one; ``share``: contaminated items per item. Of several fields also
        ``with_answer``, named after each but the first: contaminated items of which a document has all of that field too.
    not_searchable : pyarrow.Table
        ``reference, tokens, reason``: the reference documents that nothing can match: "empty" ones have no token, "short" ones
        fewer than ``min_tokens``, and of "common" ones all shingles are common.
    overlaps : ndarray of bool, shape (n_documents,)
        Which documents overlap with a reference document.
    n_documents, n_references : int
        Documents of the two corpora.
    """

    _main = "matches"

    def __init__(
        self, listed: Matches, overlaps: NDArray[np.bool_], skipped: NDArray[np.bool_], not_searchable: pa.Table,
        benchmarks: pa.Table, settings: dict[str, Any], workspace: Workspace,
    ) -> None:  # fmt: skip
        self._listed, self._skipped = listed, skipped
        self._settings, self._parameters = settings, settings["parameters"]
        self._workspace = workspace  # tables of an engine may be in its folder, which goes with it
        self.overlaps, self.not_searchable, self.by_benchmark = overlaps, not_searchable, benchmarks
        self.n_documents, self.n_references = listed.documents.n, listed.theirs.n

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        s = self.summary
        of = f"{s['overlapping']:,} of {plural(s['documents'], 'document')}"
        references = f"overlap with {plural(s['references'], 'reference')}"
        return {"documents": of, "references": references, "matches": plural(s["matches"], "match", "matches")}

    @cached_property
    def matches(self) -> pa.Table:
        """All matches."""
        return collect(self._listed).combine_chunks()

    @property
    def summary(self) -> dict[str, int]:
        """Counts: documents, references, empty_references, short_references, common_references, contaminated_references,
        overlapping, matches, skipped (too large or unreadable)."""
        names = {"empty_references": "empty", "short_references": "short", "common_references": "common",
                 "contaminated_references": "contaminated"}  # fmt: skip
        return {
            "documents": self.n_documents,
            "references": self.n_references,
            **{name: int(to_numpy(self.by_benchmark[column]).sum()) for name, column in names.items()},
            "overlapping": int(self.overlaps.sum()),
            "matches": len(self._listed),
            "skipped": int(self._skipped.sum()),
        }

    @property
    def provenance(self) -> dict[str, Any]:
        """Version, parameters, inputs and counts, as written with every output."""
        inputs = [source.identity() for source in self._listed.documents.sources]
        return {"lookalike": __version__, **self._settings, "inputs": inputs, "summary": self.summary}

    @property
    def _read(self) -> list[Split]:
        """All inputs, which no output may replace."""
        return [*self._listed.documents.sources, *self._listed.theirs.sources]

    def write_matches(self, output: str | Path, *, force: bool = False) -> None:
        """Write all matches as parquet, JSON lines or CSV, by the suffix; no more than some are held at a time."""
        write_table(output, self._listed, self.provenance, sources=self._read, force=force)

    def write(
        self, output: str | Path, *, annotate: bool = False, mask: str | None = None, force: bool = False
    ) -> None:  # fmt: skip
        """Write the documents that overlap with none; with ``annotate`` all, with the best match of each; with ``mask`` all,
        with this text in place of each piece that a reference document has.

        Files, formats and errors are those of ``Result.write``. Documents that were skipped are not written. A piece is made of
        shingles that begin less than twice the width apart, at least one of them not common.
        """
        if mask is not None:
            check_one_column(self._parameters["text"], "mask (--mask)")
        selections, documents = [], self._listed.documents
        written = ~self._skipped if annotate or mask is not None else ~(self._skipped | self.overlaps)
        errors = self._parameters["encoding_errors"]
        for source, begin, end in documents.parts():
            if annotate:
                source.check_free(list(ADDED))
            pieces = partial(self._listed.pieces, begin)
            cuts = None if mask is None else TextEdits(column=self._parameters["text"], ranges=pieces, replacement=mask)
            added = partial(self._listed.added, begin) if annotate else None
            selections.append(Selection(source, written[begin:end], added, errors, cuts, self._skipped[begin:end]))
        write_rows(output, selections, self.provenance, sources=self._read, force=force)

    def _scored(self) -> ScoredPairs:
        """Return the matches as a report reads them; their left sides are the reference documents."""
        parameters, s, n = self._parameters, self.summary, self.n_references
        threshold = parameters["threshold"] or 0.0
        score = parameters["measure"] if threshold else "containment"
        shingling = {name: parameters["shingling"][name] for name in ("unit", "width", "normalization", "fold_case")}
        documents, theirs, listed = self._listed.documents, self._listed.theirs, self._listed

        def pairs() -> Scores:
            for left, right, found in listed.scores(score):
                yield left, right + n, found

        text, theirs_text = parameters["text"], parameters["against_text"] or parameters["text"]
        if parameters["against_text"] and not isinstance(theirs_text, str):
            theirs_text = theirs_text[0]
        errors = parameters["encoding_errors"]
        readings = ReadOptions(text=theirs_text, encoding_errors=errors), ReadOptions(text=text, encoding_errors=errors)
        passages = parameters["passage"] is not None
        return ScoredPairs(
            job="decontaminate", score=score, threshold=threshold, total=s["matches"], pairs=pairs,
            ids=lambda rows: listed.called(rows[rows < n], rows[rows >= n] - n),
            found=lambda score: float(score >= threshold), sources=[*theirs.sources, *documents.sources],
            starts=np.concatenate([theirs.starts[:-1], n + documents.starts]), n_references=len(theirs.sources),
            readings=readings, shingling=Shingling(**shingling),
            settings={name: value for name, value in parameters.items() if name != "against"},
            facts=[("documents", f"{s['documents']:,}"), ("reference documents", f"{s['references']:,}")],
            left_out=[
                ("references without any token", s["empty_references"], "they match nothing"),
                ("references too short to judge", s["short_references"], f"of fewer than {parameters['min_tokens']} tokens"),
                ("references of common phrases", s["common_references"], "all their shingles are in many other documents"),
                ("documents left out", s["skipped"], "too large or unreadable: neither compared nor written"),
            ],
            config=self._settings["config"], seconds={}, benchmarks=self.by_benchmark.to_pylist(),
            warnings=["References were cut into passages; the texts are shown as a whole."] if passages else [],
        )  # fmt: skip
