"""The result of looking for repeated text: what is removed of each document, and what is repeated how often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..engines.engine import Engine, Table
from ..errors import ParameterError, all_from_caller
from ..files.workspace import Workspace
from ..formats.cuts import TextEdits
from ..formats.split import names_of
from ..formats.writers import Selection, write_rows, write_table
from ..inputs.read import ReadOptions, read_documents
from ..inputs.texts import read_again
from ..settings.repeats import check_unit
from ..steps.repeats import OUTCOMES, Marks, units_of
from ..text.texts import Texts
from ..values import Int64Array
from ..values.arrays import whole
from ..values.arrow import strings, to_arrow, to_numpy
from ..values.tables import positions_of
from ..wording import Brief, plural
from .decontamination import Corpus
from .rows import Tabular, collect

_ROWS = 1 << 12  # documents that are looked at together
_BLANKS = b" \t\n\v\f\r"
_TOP = ("text", "count", "documents", "id", "begin")
_SORTED = pa.schema([(name, pa.int64()) for name in ("order", "first", "count", "documents")])


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """What a job found: documents with their units that may be repeated (ranked), sets of equal units, and what is removed."""

    engine: Engine
    documents: Table
    repeated: Table
    corpus: Corpus
    reading: ReadOptions
    marks: Marks
    skipped: NDArray[np.bool_]
    settings: dict[str, Any]
    workspace: Workspace  # tables of an engine may be in its folder, which goes with it

    def slice(self, begin: int, end: int) -> pa.RecordBatch:
        """Return some documents, in their order."""
        rows = collect(self.documents.slice(begin, end)).sort_by("order").combine_chunks()
        return pa.RecordBatch.from_arrays([pa.concat_arrays(column.chunks) for column in rows.columns], schema=rows.schema)

    def ranges(self, start: int, begin: int, end: int) -> Iterator[pa.ListArray]:
        """Yield what is removed of some documents, counted from ``start``, as ``TextEdits`` wants it."""
        return map(self.marks.ranges, self.documents.slice(start + begin, start + end).batches())

    def texts(self) -> Iterator[tuple[int, pa.RecordBatch, Texts]]:
        """Read the inputs once more; yield some documents, the order of the first, and their texts."""
        order = 0
        for split in self.corpus.sources:
            split.check_unchanged()
        for _, texts, _ in read_documents(self.corpus.sources, self.reading):
            for begin, end in texts.cut():
                yield order + begin, self.slice(order + begin, order + end), texts.slice(begin, end)
            order += len(texts)


class _DeferredRows:
    """Rows that are made when they are asked for."""

    def __init__(self, found: Repeats, n: int, schema: pa.Schema) -> None:
        self._found, self._n, self.schema = found, n, schema

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._n


class Removed(_DeferredRows):
    """What is removed, in input order: ``id, begin, end`` and how many words or lines; with ``text`` the text, too."""

    def __init__(self, found: Repeats, n: int, what: str, text: bool) -> None:
        fields = [("id", found.corpus.labels.kind), *((name, pa.int64()) for name in ("begin", "end", what))]
        super().__init__(found, n, pa.schema(fields + ([("text", pa.string())] if text else [])))

    def _pieces(self) -> Iterator[tuple[pa.RecordBatch, Texts | None]]:
        if "text" in self.schema.names:
            yield from ((documents, texts) for _, documents, texts in self._found.texts())
            return
        for begin in range(0, self._found.corpus.n, _ROWS):
            yield self._found.slice(begin, min(begin + _ROWS, self._found.corpus.n)), None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make the rows and yield them."""
        for documents, texts in self._pieces():
            runs = self._found.marks.runs(documents)
            ids = self._found.corpus.ids(documents).take(to_arrow(runs.row))
            columns = [ids, *map(to_arrow, (runs.begin, runs.end, runs.size))]
            if texts is not None:
                columns.append(_cut(texts, runs.row, runs.begin, runs.end))
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)


class Repeated(_DeferredRows):
    """Lines that come several times, by where they come first: their text, how often, in how many documents, and where."""

    def __init__(self, found: Repeats, n: int) -> None:
        kinds = (pa.string(), pa.int64(), pa.int64(), found.corpus.labels.kind, pa.int64())
        super().__init__(found, n, pa.schema(list(zip(_TOP, kinds, strict=True))))

    def _sorted(self) -> Iterator[pa.RecordBatch]:
        """Yield (order of the document, first, count, documents), by first."""
        engine, repeated = self._found.engine, self._found.repeated.select(_SORTED.names[1:])
        rows = engine.map(repeated, partial(_with_places, starts=self._found.marks.starts), _SORTED)
        yield from engine.group_by(rows, None, ("order", "first")).batches()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Make the rows and yield them."""
        sorted_rows, waiting = self._sorted(), [np.empty((4, 0), np.int64)]
        for first, documents, texts in self._found.texts():
            end = first + len(documents)
            while not waiting[-1].size or waiting[-1][0, -1] < end:
                if (batch := next(sorted_rows, None)) is None:
                    break
                waiting.append(np.stack([to_numpy(column) for column in batch.columns]))
            rows = np.concatenate(waiting, 1)
            cut = int(np.searchsorted(rows[0], end))
            waiting = [rows[:, cut:]]
            if cut:
                yield self._describe(documents, texts, rows[0, :cut] - first, rows[1:, :cut])

    def _describe(self, documents: pa.RecordBatch, texts: Texts, row: Int64Array, told: Int64Array) -> pa.RecordBatch:
        before = np.cumsum(to_numpy(documents["n"])) - to_numpy(documents["n"])
        starts = self._found.marks.starts[to_numpy(documents["order"])]
        unit = units_of(documents)[told[0] - starts[row] + before[row]]
        text = _cut(texts, row, unit["begin"], unit["end"], _BLANKS)
        ids = self._found.corpus.ids(documents).take(to_arrow(row))
        columns = [text, *map(to_arrow, told[1:]), ids, to_arrow(unit["begin"])]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def top(self, n: int) -> pa.Table:
        """Return the most frequent lines, the earlier ones first of those that are equally frequent."""
        found, best = self._found, np.empty((3, 0), np.int64)
        for batch in found.repeated.select(["first", "count", "documents"]).batches():
            some = np.concatenate([best, np.stack([to_numpy(column) for column in batch.columns])], 1)
            some = some[:, some[1] > 0]
            best = some[:, np.lexsort((some[0], -some[1]))[:n]]
        order = np.searchsorted(found.marks.starts, best[0], "right") - 1
        positions = positions_of(order, found.corpus.starts)
        texts, _ = read_again(found.corpus.sources, found.reading, positions)
        rows = []
        for position, document, told in zip(positions.tolist(), order.tolist(), best.T.tolist(), strict=True):
            documents = found.slice(document, document + 1)
            unit = units_of(documents)[told[0] - int(found.marks.starts[document])]
            text = texts[position][unit["begin"] : unit["end"]].strip(_BLANKS).decode("utf-8", "replace")
            rows.append((text, *told[1:], found.corpus.ids(documents)[0].as_py(), int(unit["begin"])))
        return pa.Table.from_pylist([dict(zip(_TOP, row, strict=True)) for row in rows], self.schema)


def _with_places(rows: Iterator[pa.RecordBatch], starts: Int64Array) -> Iterator[pa.RecordBatch]:
    """Add the order of the document that the first of equal units is in; leave out rows that name removed units alone."""
    for batch in rows:
        some = batch.filter(to_arrow(to_numpy(batch["count"]) > 0))
        order = np.searchsorted(starts, to_numpy(some["first"]), "right") - 1
        yield pa.RecordBatch.from_arrays([to_arrow(order), *some.columns], schema=_SORTED)


def _cut(texts: Texts, row: Int64Array, begin: Int64Array, end: Int64Array, without: bytes = b"") -> pa.Array:
    """Return some bytes of rows as strings, ``without`` some bytes at both ends."""
    starts = texts.offsets[row]
    places = zip((starts + begin).tolist(), (starts + end).tolist(), strict=True)
    found = [texts.data[first:last].tobytes() for first, last in places]
    return strings([(some.strip(without) if without else some).decode("utf-8", "replace") for some in found])


@all_from_caller
class RepeatsResult(Brief, Tabular):
    """The result of ``repeats``: what is removed of a corpus.

    Attributes
    ----------
    n_documents : int
        Documents of the corpus.
    """

    _main = "removed"

    def __init__(self, found: Repeats) -> None:
        self._found, self.n_documents, self._unit = found, found.corpus.n, found.settings["parameters"]["unit"]
        self._what = "words" if self._unit == "passage" else "lines"
        self._dropped = np.zeros(self.n_documents, np.bool_)
        totals = np.zeros(4, np.int64)  # documents that lose something; runs, words or lines, bytes that are removed
        columns = found.documents.select(["order", "n", "whole", "units"])
        for batch in found.engine.map(columns, found.marks.count, OUTCOMES).batches():
            order, runs, size, n_bytes, emptied = (to_numpy(column) for column in batch.columns)
            totals += [int((runs > 0).sum()), int(runs.sum()), int(size.sum()), int(n_bytes.sum())]
            self._dropped[order[emptied]] = True
        self._changed, self._runs, self._size, self._bytes = totals.tolist()

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        changed = f"{self._changed:,} of {plural(self.n_documents, 'document')} changed"
        removed, dropped = f"{self._size:,} {self._what} removed", f"{int(self._dropped.sum()):,} dropped"
        return {"documents": changed, "removed": removed, "dropped": dropped}

    @property
    def summary(self) -> dict[str, int]:
        """Counts: documents, those that lose text (changed), those dropped (no word is left) or skipped (too large);
        removed_bytes; removed_words and removed_passages, or removed_lines and repeated_lines: how many different ones occur
        more than once."""
        passages = self._unit == "passage"
        return {
            "documents": self.n_documents,
            "changed": self._changed,
            "dropped": int(self._dropped.sum()),
            "skipped": int(self._found.skipped.sum()),
            f"removed_{self._what}": self._size,
            "removed_bytes": self._bytes,
            **({"removed_passages": self._runs} if passages else {"repeated_lines": len(self._repeated)}),
        }

    @property
    def provenance(self) -> dict[str, Any]:
        """Version, parameters, inputs and counts, as written with every output."""
        inputs = [source.identity() for source in self._found.corpus.sources]
        return {"lookalike": __version__, **self._found.settings, "inputs": inputs, "summary": self.summary}

    @cached_property
    def removed(self) -> pa.Table:
        """What is removed, in input order: ``id``, ``begin`` and ``end`` in bytes of the text, and how many lines or words."""
        return collect(Removed(self._found, self._runs, self._what, False)).combine_chunks()

    @cached_property
    def _repeated(self) -> Repeated:
        if self._unit == "passage":
            raise ParameterError("only repeated lines and paragraphs are counted; removed has the passages that are removed")
        counts = self._found.repeated.select(["count"]).batches()
        return Repeated(self._found, sum(int((to_numpy(batch.column(0)) > 0).sum()) for batch in counts))

    @cached_property
    def repeated(self) -> pa.Table:
        """Lines, or paragraphs, that occur more than once: ``text, count, documents``, and ``id, begin`` of the first, in input
        order."""
        return collect(self._repeated).combine_chunks()

    def top(self, n: int = 10) -> pa.Table:
        """Return the lines, or paragraphs, that occur most often, most frequent first; ties go to the earlier one.

        Parameters
        ----------
        n : int, default 10
            How many at most.

        Returns
        -------
        pyarrow.Table
            With the columns of ``repeated``.
        """
        return self._repeated.top(whole("n", n, 1, None))

    def write(self, output: str | Path, *, mask: str | None = None, force: bool = False) -> None:
        """Write the documents without what is removed; documents that keep no word are left out.

        Files, formats and errors are those of ``Result.write``. Documents that lose nothing are written byte for byte, and
        documents that were skipped are not written.

        Parameters
        ----------
        output : path
        mask : str, optional
            What takes the place of each passage. Then no document is left out, nor counted as dropped in what is written.
        force : bool, default False
            Replace an existing output.
        """
        check_unit(self._unit, {"mask": mask})
        found, selections = self._found, []
        corpus, errors = found.corpus, found.reading.encoding_errors
        written = ~(found.skipped | self._dropped) if mask is None else ~found.skipped
        for source, begin, end in corpus.parts():
            ranges = partial(found.ranges, begin)
            cuts = TextEdits(column=names_of(found.reading.text)[0], ranges=ranges, replacement=mask or "")
            selections.append(Selection(source, written[begin:end], None, errors, cuts))
        said = self.provenance
        if mask is not None:
            said["summary"]["dropped"] = 0
        write_rows(output, selections, said, sources=corpus.sources, force=force)

    def write_list(self, output: str | Path, *, force: bool = False) -> None:
        """Write all lines, or paragraphs, of ``repeated``, or all passages of ``removed`` with a column ``text``.

        As parquet, JSON lines or CSV, by the suffix; some are held at a time.

        Parameters
        ----------
        output : path
        force : bool, default False
            Replace an existing output.
        """
        rows = Removed(self._found, self._runs, self._what, True) if self._unit == "passage" else self._repeated
        write_table(output, rows, self.provenance, sources=self._found.corpus.sources, force=force)
