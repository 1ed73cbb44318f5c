"""Inputs read as documents: what every job begins with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputDataError
from ..formats.split import Batch, Columns
from ..text.texts import Texts
from ..values import Int64Array
from ..values.arrow import strings, to_arrow
from ..values.tables import DOCUMENTS, SOURCE_BITS, WITHIN_BYTES
from .columns import column_keys, group_codes, id_column
from .labels import default_ids
from .saved_rows import saved_documents
from .saved_texts import is_saved

WITHIN = pa.binary(WITHIN_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which columns of the inputs a job needs, and how they are read.

    Parameters
    ----------
    id, priority, order_by, within : str, optional
        Columns of ids, of what the keep policy orders by, of what takes the place of positions where rows have none, and of
        groups.
    html : bool
        The texts are web pages, of which the main text is compared.
    free : tuple of str
        Columns that annotation adds, which inputs must not have.
    n_references : int
        How many of the inputs, at the front, hold reference documents.
    unnamed : (bool, bool)
        Whether the references, and the others, have no column of ids while some inputs do: theirs are the default ones.
    skip : bool
        Whether documents that are too large are left out, and marked.
    """

    text: str = "text"
    id: str | None = None
    priority: str | None = None
    order_by: str | None = None
    within: str | None = None
    encoding_errors: str = "strict"
    html: bool = False
    free: tuple[str, ...] = ()
    n_references: int = 0
    unnamed: tuple[bool, bool] = (False, False)
    skip: bool = False

    @property
    def schema(self) -> pa.Schema:
        """The columns of the documents."""
        schema = DOCUMENTS
        kinds = {"id": pa.large_string(), "priority": pa.large_binary(), "order_by": pa.large_binary(), "within": WITHIN}
        for name, kind in kinds.items():
            if getattr(self, name) is not None:
                schema = schema.append(pa.field(name, kind))
                if name == "id":
                    schema = schema.append(pa.field("id_is_text", pa.bool_()))
        return schema.append(pa.field("skipped", pa.bool_())) if self.skip else schema

    @property
    def boundary(self) -> int:
        """The position of the first document that is no reference."""
        return self.n_references << SOURCE_BITS

    def id_of(self, number: int) -> str | None:
        """Return the column of ids that an input has."""
        return None if self.unnamed[number >= self.n_references] else self.id


def check_encoding(source: Any, numbers: Int64Array, texts: Texts) -> None:
    """Refuse texts that are not UTF-8."""
    invalid = texts.find_invalid()
    if invalid is not None:
        raise InputDataError(f"{source.name}, row {numbers[invalid[0]]}: {not_utf8(invalid[1])}")


def not_utf8(place: int) -> str:
    """Say that a text is not valid UTF-8 from some byte on."""
    return f"invalid UTF-8 at byte {place} of the text; convert it, or pass --encoding-errors replace to continue"


def read_batches(source: Any, columns: Columns, html: bool, skipped: int = 0) -> Iterator[Batch]:
    """Yield the batches of a source beyond some rows, web pages turned into their text."""
    for batch in source.batches(columns):
        if skipped >= len(batch.texts):
            skipped -= len(batch.texts)
            continue
        if skipped:
            texts = Texts(batch.texts.data, batch.texts.offsets[skipped:])
            ids = None if batch.ids is None else batch.ids[skipped:]
            others = {name: values[skipped:] for name, values in batch.others.items()}
            large = None if batch.skipped is None else batch.skipped[skipped:]
            batch, skipped = Batch(texts, batch.numbers[skipped:], ids, others, large), 0
        if html:
            from ..text.html import extract_texts  # here, for what is not needed to start

            if columns.encoding_errors == "strict":
                check_encoding(source, batch.numbers, batch.texts)
            batch = replace(batch, texts=extract_texts(batch.texts))
        yield batch
        del batch  # not held while the next is read


def read_documents(
    splits: Sequence[Any], reading: Reading, rows_of: Int64Array | None = None
) -> Iterator[tuple[int, Texts, pa.RecordBatch]]:
    """Yield (number of the input, texts, documents) of all inputs, references first, batch by batch.

    Of saved sketches texts are empty, and documents are sketches, which ``sketch`` lets pass.
    """
    done = np.zeros(len(splits), np.int64) if rows_of is None else rows_of
    begun = np.flatnonzero(done)
    for number in range(int(begun[-1]) if len(begun) else 0, len(splits)):
        for texts, documents in read_split(splits[number], number, reading, int(done[number])):
            yield number, texts, documents
            del documents, texts


def read_split(
    source: Any, number: int, reading: Reading, row: int = 0, first: int = 0
) -> Iterator[tuple[Texts, pa.RecordBatch]]:
    """Yield (texts, documents) of one input, or a piece of it, beyond some rows, batch by batch."""
    reads = saved_documents if is_saved(source) else read_texts
    yield from reads(source, number, reading, row, first)


def read_texts(
    source: Any, number: int, reading: Reading, row: int = 0, first: int = 0
) -> Iterator[tuple[Texts, pa.RecordBatch]]:
    """Yield what ``read_split`` does; of saved sketches the texts too, which are read again from where they came from."""
    given = (reading.priority, reading.order_by, reading.within)
    others = tuple(dict.fromkeys(name for name in given if name is not None))
    free = reading.free if number >= reading.n_references else ()
    columns = Columns(reading.text, reading.id_of(number), others, free, reading.encoding_errors)
    for batch in read_batches(source, columns, reading.html, row):
        documents, texts = documents_of(source, number, first + row, batch, reading), batch.texts
        row += len(texts)
        del batch
        yield texts, documents
        del documents, texts


def documents_of(source: Any, number: int, row: int, batch: Batch, reading: Reading) -> pa.RecordBatch:
    """Return the rows of a batch as documents."""
    n = len(batch.texts)
    position = np.arange((number << SOURCE_BITS) + row, (number << SOURCE_BITS) + row + n)
    found = [to_arrow(position), to_arrow(batch.numbers), text_column(batch.texts)]
    if reading.id is not None:
        if reading.id_of(number) is None:
            batch = replace(batch, ids=default_ids(source, batch.numbers))
        found += id_column(source.name, with_ids(source, batch))
    for name in (reading.priority, reading.order_by):
        if name is not None:
            found.append(strings(column_keys(source, batch, name), pa.large_binary()))
    if reading.within is not None:
        codes = group_codes(column_keys(source, batch, reading.within))
        found.append(pa.Array.from_buffers(WITHIN, n, [None, pa.py_buffer(np.ascontiguousarray(codes))]))
    if reading.skip:
        found.append(to_arrow(np.zeros(n, np.bool_) if batch.skipped is None else batch.skipped))
    return pa.RecordBatch.from_arrays(found, schema=reading.schema)


def with_ids(source: Any, batch: Batch) -> Batch:
    """Name those rows after file and row whose id was left out with the rest of the row."""
    if batch.skipped is None or not isinstance(batch.ids, list):
        return batch
    rows = zip(batch.ids, batch.skipped.tolist(), batch.numbers.tolist(), strict=True)
    ids = [str(source.label(number)) if skipped and given is None else given for given, skipped, number in rows]
    return replace(batch, ids=ids)


def text_column(texts: Texts) -> pa.Array:
    """Return texts as an Arrow column, without copying."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(texts.offsets)), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_binary(), len(texts), buffers)
