"""Inputs read as documents: what every job begins with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import EncodingError, InputDataError
from ..files.ahead import make_first, map_ahead
from ..files.inputs import real_of
from ..files.urls import AnyPath
from ..formats.parsed import page_texts
from ..formats.split import Batch, Columns, Limit, Names, Split, unread_files
from ..text.texts import Texts, concatenate, no_texts
from ..values import Int64Array
from ..values.arrow import strings, to_arrow, to_numpy
from ..values.tables import COLUMN, DOCUMENTS, KEY, SKETCHES, SOURCE_BITS, WITHIN_BYTES, priority_name
from ..wording import printable, spoken
from .ids import apart_codes, column_keys, column_texts, default_ids, document_keys, group_codes, id_column
from .keep_order import Priority
from .sketch_rows import DESCRIPTION, ROWS, TEXT, SavedRows, is_saved, keys_of

WITHIN = pa.binary(WITHIN_BYTES)
UNLIMITED = Limit()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Which columns of the inputs a job needs, and how they are read."""

    text: Names = "text"
    id: str | None = None
    priorities: tuple[Priority, ...] = ()  # what the keep policy orders by
    order_by: str | None = None  # takes the place of positions where rows have none
    key: tuple[str, ...] = ()  # documents with equal values in these are one
    within: str | None = None  # groups
    across: str | None = None  # documents of an equal value are not compared
    carried: tuple[str, ...] = ()  # columns that decisions have, too, as text
    encoding_errors: str = "strict"
    pages: str = ""  # "main" or "all": texts are web pages, of which this is compared
    free: tuple[str, ...] = ()  # columns that annotation adds, which inputs must not have
    n_references: int = 0  # how many inputs, at the front, hold reference documents
    unnamed: tuple[bool, bool] = (False, False)  # references, and others: have default ids while some inputs have a column
    skip: bool = False  # documents may be left out, and are marked; so are pages that count as a whole
    prefix: str = ""  # of the options that name the text and the id
    once: bool = False  # no text is asked for again
    later: bool = False  # texts may be ``Later``, but those of web pages

    @property
    def schema(self) -> pa.Schema:
        schema = DOCUMENTS
        if self.id is not None:
            schema = schema.append(pa.field("id", pa.large_string())).append(pa.field("id_is_text", pa.bool_()))
        for name in self.keyed:
            schema = schema.append(pa.field(name, pa.large_binary()))
        for name in ("within", "across"):
            if getattr(self, name) is not None:
                schema = schema.append(pa.field(name, WITHIN))
        for name in self.carried:
            schema = schema.append(pa.field(COLUMN + name, pa.large_string()))
        for name in ("skipped", "whole") if self.skip else ():
            schema = schema.append(pa.field(name, pa.bool_()))
        return schema

    @property
    def keyed(self) -> list[str]:
        """The columns of documents that are bytes made of columns of the inputs."""
        given = {"order_by": self.order_by is not None, KEY: bool(self.key)}
        return [*map(priority_name, range(len(self.priorities))), *(name for name, there in given.items() if there)]

    @property
    def others(self) -> tuple[str, ...]:
        """The columns of the inputs that are wanted beside text and id."""
        given = (
            *(priority.column for priority in self.priorities),
            self.order_by,
            *self.key,
            self.within,
            self.across,
            *self.carried,
        )
        return tuple(dict.fromkeys(name for name in given if name is not None))

    @property
    def boundary(self) -> int:
        """The position of the first document that is no reference."""
        return self.n_references << SOURCE_BITS

    def columns(self, number: int, later: bool = False) -> Columns:
        """Return what is read of the input of a number."""
        free = self.free if number >= self.n_references else ()
        return Columns(self.text, self.id_of(number), self.others, free, self.encoding_errors, self.prefix, later)

    def id_of(self, number: int) -> str | None:
        return None if self.unnamed[number >= self.n_references] else self.id


def leaves_out(splits: Sequence[Split], pages: str = "") -> bool:
    """Tell whether documents of some inputs may be left out, or are parsed: what is marked then."""
    return any(split.limit.skip or split.limit.faults or bool(pages) or split.form.parsed for split in splits)


def check_encoding(source: Split, numbers: Int64Array, texts: Texts) -> None:
    try:
        texts.check()
    except EncodingError as error:
        raise InputDataError(error.reason, source.name, numbers[error.row]) from None


def read_batches(source: Split, columns: Columns, pages: str, skipped: int = 0) -> Iterator[Batch]:
    """Yield the batches of a source beyond some rows, web pages turned into their text."""
    for batch in source.batches(columns):
        if skipped >= len(batch.texts):
            skipped -= len(batch.texts)
            continue
        if skipped:
            batch, skipped = batch.take(np.arange(skipped, len(batch.texts))), 0
        if pages and not source.form.parsed:
            if columns.encoding_errors == "strict":
                check_encoding(source, batch.numbers, batch.texts)
            batch = page_texts(source, batch, pages)
        yield batch
        del batch  # not held while the next is read


def read_documents(
    splits: Sequence[Split], reading: ReadOptions, rows_of: Int64Array | None = None
) -> Iterator[tuple[int, Texts, pa.RecordBatch]]:
    """Yield (number of the input, texts, documents), references first; of saved sketches, empty texts and sketches."""
    done = np.zeros(len(splits), np.int64) if rows_of is None else rows_of
    started = np.flatnonzero(done)
    numbers = range(int(started[-1]) if len(started) else 0, len(splits))

    makes = (
        (
            0 if splits[number].form.parsed or is_saved(splits[number]) else splits[number].remote_bytes,
            partial(read_split, splits[number], number, reading, int(done[number])),
        )
        for number in numbers
    )
    for number, rows in zip(numbers, map_ahead(make_first, makes), strict=True):
        for texts, documents in rows:
            yield number, texts, documents
            del documents, texts


def read_split(
    source: Split, number: int, reading: ReadOptions, row: int = 0, first: int = 0
) -> Iterator[tuple[Texts, pa.RecordBatch]]:
    """Yield (texts, documents) of one input, or a piece of it, beyond some rows, batch by batch."""
    reads = saved_documents if is_saved(source) else read_texts
    yield from reads(source, number, reading, row, first)


def read_texts(
    source: Split, number: int, reading: ReadOptions, row: int = 0, first: int = 0
) -> Iterator[tuple[Texts, pa.RecordBatch]]:
    """Yield what ``read_split`` does; of saved sketches the texts too, which are read again from where they came from."""
    columns = reading.columns(number, reading.later and not reading.pages and not row)
    for batch in read_batches(source, columns, reading.pages, row):
        documents, texts = documents_of(source, number, first + row, batch, reading), batch.texts
        row += len(texts)
        del batch
        yield texts, documents
        del documents, texts


def documents_of(source: Split, number: int, row: int, batch: Batch, reading: ReadOptions) -> pa.RecordBatch:
    n = len(batch.texts)
    position = np.arange((number << SOURCE_BITS) + row, (number << SOURCE_BITS) + row + n)
    found = [to_arrow(position), to_arrow(batch.numbers), batch.texts.column()]
    if reading.id is not None:
        if reading.id_of(number) is None:
            batch = replace(batch, ids=default_ids(source, batch.numbers))
        found += id_column(source.name, with_ids(source, batch))
    made = [priority.keys(source, batch) for priority in reading.priorities]
    if reading.order_by is not None:
        made.append(column_keys(source, batch, reading.order_by))
    if reading.key:
        made.append(document_keys([column_keys(source, batch, name) for name in reading.key]))
    found += [strings(keys, pa.large_binary()) for keys in made]
    for name, coded in ((reading.within, group_codes), (reading.across, apart_codes)):
        if name is not None:
            codes = coded(column_keys(source, batch, name))
            found.append(pa.Array.from_buffers(WITHIN, n, [None, pa.py_buffer(np.ascontiguousarray(codes))]))
    found += [column_texts(source, batch, name) for name in reading.carried]
    if reading.skip:
        tell_unreadable(source, batch)
        found += [to_arrow(np.zeros(n, np.bool_) if mask is None else mask) for mask in (batch.skipped, batch.whole)]
    return pa.RecordBatch.from_arrays(found, schema=reading.schema)


def tell_unreadable(source: Split, batch: Batch) -> None:
    """Say which documents are left out because they cannot be read, or are too large."""
    large = () if batch.skipped is None else np.flatnonzero(batch.skipped).tolist()
    left = dict.fromkeys(large, f"is larger than the {source.limit.most:,} bytes that one may have") | batch.unreadable
    if left:
        import logging  # here, for what is not needed to start

        for place, why in left.items():
            logging.getLogger("lookalike").warning(
                printable(spoken(f"left out: {source.label(int(batch.numbers[place]))} {why}"))
            )


def check_left(
    splits: Sequence[Split], columns: Columns, n: int, left: int, unread: Sequence[str] = (), pages: str = ""
) -> None:  # fmt: skip
    """Refuse a corpus of ``n`` documents if faults are passed over, and all are left out, and files that are unread.

    The first document is read again for why.
    """
    if n > left or not (left or unread) or not any(split.limit.faults for split in splits):
        return
    large = "is larger than --max-document (max_document=)"
    why = (
        f"{split.label(int(batch.numbers[0]))} {batch.unreadable.get(0, large)}"
        for split in splits if isinstance(split, Split) and not is_saved(split)
        for batch in read_batches(split, columns, pages) if len(batch.texts)
    )  # fmt: skip
    first = unread[0] if unread else next(why, "it has changed")
    raise InputDataError(f"no file or document can be read: {left + len(unread):,} left out; the first: {first}")


def with_ids(source: Split, batch: Batch) -> Batch:
    """Name those rows after file, or table, and row whose id was left out with the rest of the row."""
    if batch.skipped is None or not isinstance(batch.ids, list):
        return batch
    rows = zip(batch.ids, batch.skipped.tolist(), batch.numbers.tolist(), strict=True)
    ids = [f"{source.name}:{number}" if skipped and given is None else given for given, skipped, number in rows]
    return replace(batch, ids=ids)


def saved_documents(
    split: Split, number: int, reading: ReadOptions, row: int = 0, first: int = 0
) -> Iterator[tuple[Texts, pa.RecordBatch]]:
    """Yield (empty texts, what is known) of saved documents: what ``sketch`` would make of them, and what else a job wants."""
    data: SavedRows = split.data
    for batch in replace(data, begin=data.begin + row).batches():
        n, sizes = len(batch), to_numpy(batch.column("bytes"))
        if n and int(sizes.max()) > split.limit.most:
            large = int(np.argmax(sizes))
            raise InputDataError(
                f"the document has {sizes[large]:,} bytes, more "
                f"than the {split.limit.most:,} that one may have; its sketch is in {data.saved.name}, and cannot be left "
                "out: raise --memory (memory=), of which it can be a tenth, and --max-document (max_document=), if given",
                split.name,
                batch.column("number")[large].as_py(),
            )
        start = (number << SOURCE_BITS) + first + row
        none, keys = strings([b""] * n, pa.large_binary()), batch.column("keys")
        made = {
            "position": to_arrow(np.arange(start, start + n)), "empty": keys.is_null(), "keys": keys_of(keys),
            "skipped": to_arrow(np.zeros(n, np.bool_)), "whole": to_arrow(np.zeros(n, np.bool_)),
        } | {name: none for name in reading.keyed if name != KEY}  # fmt: skip
        made |= {COLUMN + name: strings([""] * n, pa.large_string()) for name in reading.carried}
        if reading.id is not None and reading.id_of(number) is None:
            numbers = to_numpy(batch.column("number"))
            ids = Batch(no_texts(n), numbers, default_ids(split, numbers))
            made |= zip(("id", "id_is_text"), id_column(split.name, ids), strict=True)
        names = [*SKETCHES.names, *(name for name in ("code", "estimate") if name in batch.schema.names)]
        names += [name for name in reading.schema.names if name not in SKETCHES.names and name != TEXT]
        columns = [made[name] if name in made else batch.column(name) for name in names]
        row += n
        yield no_texts(n), pa.RecordBatch.from_arrays(columns, names)


BATCH_BYTES, ROW_BYTES = 64 << 20, 640  # what short documents are counted as: of each some hundred bytes are kept


def read_with_ids(
    sources: Sequence[Split], columns: Columns, n_bytes: int = BATCH_BYTES, n_rows: int = BATCH_BYTES // ROW_BYTES,
    *, limit: Limit = UNLIMITED,
) -> Iterator[tuple[list[Any], pa.Array]]:  # fmt: skip
    """Yield (ids, texts), about ``n_bytes`` and ``n_rows`` at a time, without what is too large; default ids: ``file:row``."""
    ids: list[Any] = []
    texts: list[Texts] = []
    size = n = left = 0
    splits = [replace(source, limit=limit) for source in sources]
    for source in splits:
        for batch in source.batches(columns):
            n, left = n + len(batch.texts), left + (0 if batch.skipped is None else int(batch.skipped.sum()))
            if columns.encoding_errors == "strict":
                check_encoding(source, batch.numbers, batch.texts)
            tell_unreadable(source, batch)
            batch = batch if batch.skipped is None else batch.take(np.flatnonzero(~batch.skipped))
            labels, some = label_rows(source, batch), batch.texts
            for begin, end in some.cut(n_bytes):
                ids += labels[begin:end]
                texts.append(some.slice(begin, end))
                size += texts[-1].n_bytes
                if size >= n_bytes or len(ids) >= n_rows:
                    yield ids, concatenate(texts).column()
                    ids, texts, size = [], [], 0
            del batch, labels, some
    check_left(splits, columns, n, left, unread_files(sources))
    if ids:
        yield ids, concatenate(texts).column()


def label_rows(source: Split, batch: Batch) -> list[Any]:
    """Return the ids of a batch: those of the column that was read, or ``file:row``."""
    if batch.ids is None:
        return [source.label(number) for number in batch.numbers.tolist()]
    id_column(source.name, batch)  # says which row has none
    return batch.ids if isinstance(batch.ids, list) else list(batch.ids.to_pylist())


def file_in_both(sources: Sequence[Split], against: Sequence[Split]) -> str | None:
    """Return the name of a file that is among two lists of sources, or None. Hard links are files of their own."""
    known: set[tuple[str, int, int]] = set()
    for source in against:
        if is_saved(source) and source.data.texts and source.data.origin is not None:  # of a file that may be gone, or another
            known |= {(real_of(one.path), one.size, one.modified_ns) for one in source.data.origin.places}
        known |= {(real_of(one.path), one.device, one.inode) for one in source.places}
    for place in (place for source in sources for place in source.places) if known else ():
        real = real_of(place.path)
        if (real, place.device, place.inode) in known or (real, place.size, place.modified_ns) in known:
            return str(place.name)
    return None


def check_apart(sources: Sequence[Split], against: Sequence[Split]) -> None:
    """Refuse a file that is both an input and a reference: all of its documents would be removed."""
    check_documents(sources)
    name = file_in_both(sources, against)
    if name is not None:
        holders = [one for one in against if is_saved(one) and file_in_both(sources, [one])]
        where = f" (its sketches are in {holders[0].data.saved.name})" if holders else ""
        way = "leave out one of them" if holders else "name it in one of the two places"
        raise InputDataError(
            f" is both an input and a reference{where}: every document would be its own duplicate; {way}", name
        )


def check_documents(sources: Sequence[Split]) -> None:
    """Refuse saved sketches where documents are read."""
    for source in sources:
        for place in () if is_saved(source) else source.places:
            if (folder := _folder_of_sketches(place.path)) is not None:
                raise InputDataError(
                    " holds saved sketches, which have no texts: name the documents; sketches are references, "
                    "for --against (against=) of dedup and pairs",
                    folder,
                )


def _folder_of_sketches(path: AnyPath) -> AnyPath | None:
    """Return the folder of saved sketches that a file is one of; None if it is none."""
    if path.parent.name == ROWS:
        folder: AnyPath = path.parent.parent
    elif path.name.startswith("sketches-"):
        folder = path.parent
    else:
        return None
    return folder if (folder / DESCRIPTION).exists() else None
