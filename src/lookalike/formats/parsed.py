"""Documents that need a parser: files of one each (web pages, PDF, DOCX, ODT, EPUB, e-mail), and records of files with many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputDataError, ParameterError
from ..extraction import AllText, UnreadableError, page_text
from ..extraction.parsers import texts_of
from ..files.places import Place
from ..files.streams import BLOCK, DamagedError
from ..text.texts import from_bytes
from .format import BATCH_ROWS, Format
from .split import Batch, Columns, FinalError, Record, Split, check_free, marked, missing_column, numbers_from, reason_of
from .txt import BATCH_FILES, TextFiles, content_of, contents_of

Text = bytes | UnreadableError | None
"""What comes of a document: its text, why it has none, or None if it is too large and left out."""

Row = TypeVar("Row")
SMALL_PAGE = 8192
"""Bytes of pages that this process parses itself: the slowest known of that size takes a tenth of a second."""


def unreadable_file(name: str, why: UnreadableError) -> InputDataError:
    """Return the error for a document that has no text, where that is one."""
    return InputDataError(f"{why}; repair or remove it, or leave it out: --on-error skip (on_error='skip')", name)


def _check_left(split: Split, name: str, why: UnreadableError) -> None:
    """Raise InputDataError for a document that has no text, unless such ones are left out."""
    if not split.limit.leave:
        raise unreadable_file(name, why)


def page_texts(split: Split, batch: Batch, pages: str) -> Batch:
    """Return rows that hold web pages with the texts of these, "main" or "all"; bytes that are not UTF-8 are replaced.

    What cannot be parsed within the limits is left out, or an error.
    """
    whole, n = pages == "all", len(batch.texts)
    left = np.zeros(n, np.bool_) if batch.skipped is None else batch.skipped.copy()
    large = np.flatnonzero((np.diff(batch.texts.offsets) > SMALL_PAGE) & ~left).tolist()
    texts = [b""] * n
    unreadable: dict[int, str] = {}
    markup, kind = ((row, batch.texts.row(row)) for row in large), "page:all" if whole else "page"
    for row, text in texts_of(markup, kind, split.limit.most, split.threads, "html"):
        if isinstance(text, bytes):
            texts[row] = text
        elif text is not None:
            _check_left(split, f"{split.name}, row {batch.numbers[row]}", text)
            left[row], unreadable[row] = True, str(text)
    for row in np.setdiff1d(np.flatnonzero(~left), large).tolist():
        texts[row] = page_text(batch.texts.row(row).decode("utf-8", "replace"), boilerplate=whole)
    skipped = left if left.any() else None
    unreadable |= batch.unreadable
    return replace(batch, texts=from_bytes(texts), skipped=skipped, unreadable=unreadable, whole=_whole(texts))


def _whole(texts: Sequence[bytes | None]) -> NDArray[np.bool_] | None:
    """Mark pages of which all text was taken for lack of main text."""
    return marked(len(texts), [row for row, text in enumerate(texts) if isinstance(text, AllText)])


def _content_or_why(place: Place, split: Split) -> bytes | UnreadableError | None:
    """Return what ``content_of`` does; of compressed files that are damaged, why they cannot be read."""
    try:
        return content_of(place, split)
    except DamagedError as error:
        return UnreadableError(error.reason)
    except FinalError:
        raise
    except InputDataError as error:
        if not split.limit.faults:
            raise
        return UnreadableError(reason_of(replace(split, name=place.name), error))


def _gathered(split: Split, found: Iterable[tuple[Row, str, Text]], most: int) -> Iterator[tuple[list[Row], Batch]]:
    """Yield some rows and their batch, which lacks all but texts, at a time; each document comes with its name."""
    rows: list[Row] = []
    texts: list[bytes | None] = []
    unreadable: dict[int, str] = {}
    size = 0

    def some() -> tuple[list[Row], Batch]:
        left, whole = marked(len(texts), [place for place, text in enumerate(texts) if text is None]), _whole(texts)
        together = from_bytes([text or b"" for text in texts])
        texts.clear()  # not to be held twice
        return rows, Batch(together, numbers_from(0, len(rows)), skipped=left, unreadable=unreadable, whole=whole)

    try:
        for row, name, text in found:
            if isinstance(text, UnreadableError):
                _check_left(split, name, text)
                unreadable[len(texts)] = str(text)
            rows.append(row)
            texts.append(text if isinstance(text, bytes) else None)
            size += len(texts[-1] or b"")
            del text
            if len(texts) == most or size > BLOCK:
                yield some()
                rows, unreadable, size = [], {}, 0
    except InputDataError:
        if texts:
            yield some()
        raise
    if texts:
        yield some()


def _written(text: Text) -> str | UnreadableError | None:
    """Return a text as rows have it; what was read at first and cannot be now, which must not be written, as it is."""
    return text.decode() if isinstance(text, bytes) else text


class ParsedFiles(TextFiles):
    """A document in each file, parsed in a process of its own; the default id is the file's path."""

    parsed = True
    shortens = False

    def __init__(
        self, name: str, *suffixes: str, kinds: tuple[str, ...] = (), extra: str = "", package: str = ""
    ) -> None:  # fmt: skip
        self.name, self.suffixes, self.kinds, self.extra, self.package = name, suffixes, kinds, extra, package

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Read the files; what cannot be parsed is left out, or an error."""
        if columns.id is not None or columns.others:
            names = [*([columns.id] if columns.id else []), *columns.others]
            raise ParameterError(
                f"{self.name} files have no columns; {', '.join(names)} was asked for: leave out {split.name} and others "
                "(--exclude PATTERN (exclude=)), or do without the column"
            )
        found = ((row, split.place_of(row).name, text) for row, text in self._texts(split))
        for numbers, some in _gathered(split, found, BATCH_FILES):
            yield replace(some, numbers=np.array(numbers, np.int64))

    def rows(self, split: Split, encoding_errors: str) -> Iterator[tuple[int, Record]]:
        """Read all files as dictionaries of id and text, each with its number; what was left out has none."""
        for number, text in self._texts(split):
            row = {"id": split.place_of(number).name, "text": _written(text)}
            del text  # not held beside what it is written as, nor this while the next is read
            yield number, row
            del row

    def _texts(self, split: Split) -> Iterator[tuple[int, Text]]:
        """Yield the number of each file and its text."""
        read = ((number, content) for number, _, content in contents_of(split, _content_or_why))
        yield from texts_of(read, self.name, split.limit.most, split.threads, self.extra)


class ParsedRecords(Format):
    """Files of many documents, parsed in processes of their own; rows are numbered from 1."""

    parsed = True
    shortens = False
    fields: tuple[str, ...]
    """The columns that rows have, "id" and "text" among them."""

    kind: str
    """What the parser is asked for."""

    def documents(self, split: Split) -> Iterator[tuple[Record, bytes | UnreadableError | None]]:
        """Yield what is known of each document, and its bytes, why it has none, or None if it is too large and left out."""
        raise NotImplementedError

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Read the records; what cannot be parsed is left out, or an error."""
        for name in columns.wanted:
            if name not in self.fields:
                raise missing_column(split, None, "field", name, list(self.fields), columns)
        if columns.text != "text":
            raise InputDataError(f"the text of {self.name} records is the column 'text'; {columns.text!r} was asked for")
        check_free(split.name, None, "field", self.fields, columns.reserved)
        first = 1
        found = (
            (row, f"{split.name}, row {number} ({row['id']})", text) for number, (row, text) in enumerate(self._found(split), 1)
        )
        for rows, some in _gathered(split, found, BATCH_ROWS):
            given = None if columns.id is None else [row[columns.id] for row in rows]
            others = {name: [row[name] for row in rows] for name in columns.others}
            yield replace(some, numbers=numbers_from(first, len(rows)), ids=given, others=others)
            first += len(rows)

    def rows(self, split: Split, encoding_errors: str) -> Iterator[tuple[int, Record]]:
        """Read all records as dictionaries, each with its number."""
        for number, (row, text) in enumerate(self._found(split), 1):
            row = row | {"text": _written(text)}
            del text
            yield number, row
            del row

    def check_free(self, split: Split, names: Sequence[str]) -> None:
        check_free(split.name, None, "field", self.fields, names)

    def _found(self, split: Split) -> Iterator[tuple[Record, Text]]:
        """Yield what is known of each document, and its text."""
        yield from texts_of(self.documents(split), self.kind, split.limit.most, split.threads, self.extra)
