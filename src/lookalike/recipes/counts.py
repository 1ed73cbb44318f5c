"""How often the texts of several weeks occur: what each job counted is saved with its sketches, and added up over the jobs.

A job counts for the documents that it kept, and for its references whose sketches are saved. Both are named by their rows in
folders of sketches, and these by checksums: what is about a folder that is gone, or was replaced, does not count any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
import pyarrow as pa

from .. import __version__
from ..engines.engine import Batches
from ..errors import ParameterError
from ..files.folder import UnfinishedFolder
from ..formats.split import Split
from ..inputs.counts import COUNTS, GROUP_ROWS, MOST, CountRows
from ..inputs.generations import Generation
from ..inputs.ids import Labels
from ..inputs.sketch_rows import ROWS, is_saved
from ..inputs.sketches import open_saved
from ..steps.batches import batch_of, ints, starts_of
from ..values import Int64Array
from ..values.arrow import strings, to_arrow, to_numpy
from ..values.tables import SOURCE_BITS

MERGED_ROWS = 1 << 13  # documents that are added up at a time
_NUMBERS = ("documents", "n_exact", "n_duplicates")
Parts = Iterable[tuple[str, pa.RecordBatch]]
"""Rows of ``COUNTS``, and the checksum of the folder that has their documents; "": the folder that they are written to."""


def of_job(rows: Batches, references: Sequence[Split], boundary: int, kept: Int64Array) -> Parts:
    """Yield what a job counted (``DecisionTables.shares``) for its saved references, then for what it kept.

    References have the first ``boundary`` places; ``kept`` are those of the documents that are saved, ascending.
    """
    saved = [one.data for one in takewhile(is_saved, references)]  # these come first
    starts = np.cumsum([0, *(one.end - one.begin for one in saved)])
    for batch in rows:
        cuts = np.searchsorted(ints(batch, "place"), np.append(starts, boundary))
        for number in np.flatnonzero(np.diff(cuts[:-1])).tolist():
            one = saved[number]
            some = batch.slice(int(cuts[number]), int(cuts[number + 1] - cuts[number]))
            yield one.saved.checksum, _at(ints(some, "place") - starts[number] + one.begin, some)
        own = batch.slice(int(cuts[-1]))
        if len(own):
            yield "", _at(np.searchsorted(kept, ints(own, "place")), own)


def _at(row: Int64Array, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Put rows in place of places."""
    return pa.RecordBatch.from_arrays([to_arrow(row), *batch.columns[1:]], schema=COUNTS)


def write(parts: Parts, new: UnfinishedFolder, source: str | None, without: Sequence[str] = ()) -> dict[str, Any]:
    """Write counts into a folder of sketches; return what its description says of them."""
    import pyarrow.parquet as pq  # here, for what is not needed to start

    name, of = new.apart(ROWS, "counts.parquet"), list[dict[str, Any]]()

    def count_batches() -> Batches:
        for folder, batch in parts:
            if len(batch):
                if not of or of[-1]["folder"] != folder:
                    of.append({"folder": folder, "rows": 0})
                of[-1]["rows"] += len(batch)
                yield batch

    with (
        new.file(name) as stream,
        pq.ParquetWriter(
            stream, COUNTS, compression="zstd", compression_level=1, use_dictionary=["source", *_NUMBERS],
            column_encoding={"row": "DELTA_BINARY_PACKED"}, write_page_checksum=True,
        ) as writer,
    ):  # fmt: skip
        for table in _grouped(count_batches()):
            writer.write_table(table, GROUP_ROWS)
    return {"name": name, "source": source, "of": of, "without": list(without)}


def _grouped(batches: Batches) -> Iterator[pa.Table]:
    """Cut rows into tables of ``GROUP_ROWS``, so that the file does not depend on how they came."""
    held = COUNTS.empty_table()
    for batch in batches:
        held = pa.concat_tables([held, pa.Table.from_batches([batch])])
        while len(held) >= GROUP_ROWS:
            yield held.slice(0, GROUP_ROWS).combine_chunks()
            held = held.slice(GROUP_ROWS)
    if len(held):
        yield held.combine_chunks()


def merge(generations: Sequence[Generation], new: UnfinishedFolder) -> dict[str, Any] | None:
    """Write what generations counted into the folder that they are merged into; None: they counted nothing."""
    if not any(one.counts for one in generations):
        return None

    def added() -> Parts:
        begin = 0
        for one in generations:
            sums = Sums(generations, one)
            for row in range(0, one.documents, MERGED_ROWS):
                found = sums.below(row + MERGED_ROWS)
                yield "", batch_of(COUNTS, begin + found.row, found.names.take(to_arrow(found.source)), *found.numbers)
            begin += one.documents

    return write(added(), new, source_of(generations), without(generations))


def without(generations: Sequence[Generation]) -> list[str]:
    """Return the names of generations, merged ones too, whose jobs counted nothing."""
    return [name for one in generations for name in ([one.name] if one.counts is None else one.counts.without)]


def source_of(generations: Sequence[Generation]) -> str | None:
    """Return the column by which generations tell sources; None: their input files."""
    known = {one.counts.source: one.name for one in generations if one.counts is not None}
    if len(known) > 1:
        said = "; ".join(f"{name} by {told_by(source)}" for source, name in known.items())
        raise ParameterError(f"sources of these generations were counted by different columns, and cannot be added up: {said}")
    return next(iter(known), None)


def told_by(source: str | None) -> str:
    """Name a column of sources."""
    return "input file" if source is None else f"the column {source!r}"


def check_source(generations: Sequence[Generation], source: str | None, counts: bool) -> None:
    """Refuse a job that counts by other sources than the generations that it is run against."""
    for one in generations if counts else ():
        if one.counts is not None and one.counts.source != source:
            given = (
                "without --source (source=)" if one.counts.source is None else f"with --source {one.counts.source!r} (source=)"
            )
            raise ParameterError(
                f"{one.name} counted sources by {told_by(one.counts.source)}, and this job would by {told_by(source)}, so that "
                f"they could not be added up: run {given}, or without --counts (counts=)"
            )


def check(generations: Sequence[Generation], one: Generation) -> None:
    """Read all that a generation counted."""
    documents = {some.checksum: some.documents for some in generations} | {"": one.documents}
    if one.counts is not None:
        for number, part in enumerate(one.counts.of):
            for _ in CountRows(one.folder, one.counts, number, documents.get(part.folder, MOST)).below(MOST):
                pass


@dataclass(frozen=True, slots=True, eq=False)
class Summed:
    """What is counted for some documents: a row for each of them and each of its sources, in the order in which these came."""

    row: Int64Array
    source: Int64Array  # a place in ``names``
    names: pa.Array
    numbers: tuple[Int64Array, Int64Array, Int64Array]  # documents, n_exact, n_duplicates


class Sums:
    """Adds up what all generations count for the documents of one, which are asked for in the order of their rows."""

    def __init__(self, generations: Sequence[Generation], of: Generation) -> None:
        self._parts = [
            CountRows(one.folder, one.counts, number, of.documents)
            for one in generations if one.counts is not None
            for number, part in enumerate(one.counts.of) if part.folder == ("" if one is of else of.checksum)
        ]  # fmt: skip

    def below(self, row: int) -> Summed:
        """Return what is counted for documents before one, that were not asked for before."""
        table = pa.Table.from_batches((batch for part in self._parts for batch in part.below(row)), COUNTS).combine_chunks()
        encoded = table["source"].combine_chunks().dictionary_encode("encode")  # null is a value
        rows, sources = (np.asarray(to_numpy(column), np.int64) for column in (table["row"], encoded.indices))
        numbers = [np.asarray(to_numpy(table[name]), np.int64) for name in _NUMBERS]
        order = np.lexsort((numbers[0] == 0, sources, rows))  # a source comes with its first document
        begins = np.flatnonzero(starts_of(rows[order], None) | starts_of(sources[order], None))
        first = order[begins]
        in_turn = np.lexsort((first, rows[first]))
        if len(begins):
            numbers = [np.add.reduceat(column[order], begins)[in_turn] for column in numbers]
        documents, exact, duplicates = numbers
        first = first[in_turn]
        return Summed(rows[first], sources[first], encoded.dictionary, (documents, exact, duplicates))


class AddedUp:
    """A row for each document that generations have: its id, the generation, and how often its text occurs in all weeks."""

    def __init__(self, generations: Sequence[Generation]) -> None:
        source_of(generations)
        self._generations = generations

    def __len__(self) -> int:
        """Return the number of documents."""
        return sum(one.documents for one in self._generations)

    @cached_property
    def _splits(self) -> list[list[Split]]:
        return [open_saved(one.folder, None, texts=False) for one in self._generations]

    @cached_property
    def _kind(self) -> pa.DataType:
        """The type of ids: numbers where all are."""
        every = self.sources
        saved = [split.data.saved for split in every]
        named = [one.id is not None for one in saved]
        if any(named) and not all(named):
            return pa.large_string()
        return Labels.of(every, any(named), not any(one.text_ids for one in saved)).kind

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns."""
        counts = [(name, pa.int64()) for name in ("n_exact", "n_duplicates", "n_sources")]
        return pa.schema([("id", self._kind), ("generation", pa.string()), *counts])

    @property
    def sources(self) -> list[Split]:
        """The saved documents as inputs, of which no file is read."""
        return [split for splits in self._splits for split in splits]

    @property
    def provenance(self) -> dict[str, Any]:
        """What was added up, as written with the output."""
        inputs = [{"name": one.name, "checksum": one.checksum} for one in self._generations]
        return {"lookalike": __version__, "inputs": inputs}

    def batches(self) -> Batches:
        """Add up, some documents at a time, in the order of the generations and of their inputs."""
        for one, splits in zip(self._generations, self._splits, strict=True):
            sums, row, labels = Sums(self._generations, one), 0, Labels(splits=tuple(splits), kind=self._kind)
            for number, split in enumerate(splits):
                given = ["id", "id_is_text"] if split.data.saved.id is not None else []
                for batch in split.data.batches(["number", *given]):
                    n = len(batch)
                    named = batch.column("id") if given else None
                    ids = labels.ids(np.full(n, number << SOURCE_BITS), ints(batch, "number"), named)
                    yield batch_of(self.schema, ids, strings([one.name] * n), *self._columns(sums.below(row + n), row, n))
                    row += n

    def _columns(self, found: Summed, first: int, n: int) -> Iterator[pa.Array]:
        """Make the columns of counts of ``n`` documents."""
        (documents, *numbers), row = found.numbers, found.row - first
        for column in numbers:
            total = np.zeros(n, np.int64)
            np.add.at(total, row, column)
            yield to_arrow(total)
        member = documents > 0  # one that is removed by its key is of no source
        yield to_arrow(np.bincount(row[member], minlength=n))


def largest(rows: AddedUp, n: int) -> pa.Table:
    """Return the documents with the most duplicates, those in more sources first, and of equal ones the first."""
    held = rows.schema.empty_table()
    for batch in rows.batches():
        both = pa.concat_tables([held, pa.Table.from_batches([batch])])
        keys = [-np.asarray(to_numpy(both[name]), np.int64) for name in ("n_sources", "n_duplicates")]
        held = both.take(to_arrow(np.lexsort(keys)[:n]))
    return held
