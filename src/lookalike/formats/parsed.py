"""Documents that need a parser: files of one each (web pages, PDF, DOCX, ODT, EPUB, e-mail), and records of files with many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..errors import InputDataError, ParameterError
from ..extraction import UnreadableError
from ..extraction.parsers import texts_of
from ..files.places import Place
from ..files.streams import BLOCK, DamagedError
from ..text.texts import from_strings
from .format import BATCH_ROWS, Format
from .split import Batch, Columns, Record, Split, check_free, marked, missing_column, numbers_from
from .txt import BATCH_FILES, TextFiles, content_of, contents_of

SMALL_PAGE = 8192
"""Bytes of pages that this process parses itself: the slowest known of that size takes a tenth of a second."""


def unreadable_file(name: str, why: UnreadableError) -> InputDataError:
    """Return the error for a document that has no text, where that is one."""
    return InputDataError(f"{name}: {why}; repair or remove it, or leave it out: --on-error skip (on_error='skip')")


def page_texts(split: Split, batch: Batch, pages: str) -> Batch:
    """Return rows that hold web pages with the texts of these, "main" or "all"; bytes that are not UTF-8 are replaced.

    What cannot be parsed within the limits is left out, or an error.
    """
    from ..text.html import html_to_text  # here, for what is not needed to start

    whole, n = pages == "all", len(batch.texts)
    left = np.zeros(n, np.bool_) if batch.skipped is None else batch.skipped.copy()
    large = np.flatnonzero((np.diff(batch.texts.offsets) > SMALL_PAGE) & ~left).tolist()
    texts: list[str | None] = [None] * n
    unreadable: dict[int, str] = {}
    markup, kind = ((row, batch.texts.row(row)) for row in large), "page:all" if whole else "page"
    for row, text in texts_of(markup, kind, split.limit.most, split.threads, "html"):
        if not isinstance(text, UnreadableError):
            texts[row] = text
        elif split.limit.leave:
            left[row], unreadable[row] = True, str(text)
        else:
            raise unreadable_file(f"{split.name}, row {batch.numbers[row]}", text)
    for row in np.setdiff1d(np.flatnonzero(~left), large).tolist():
        texts[row] = html_to_text(batch.texts.row(row).decode("utf-8", "replace"), boilerplate=whole)
    skipped = left if left.any() else None
    return replace(batch, texts=from_strings(texts), skipped=skipped, unreadable=batch.unreadable | unreadable)


def _content_or_why(place: Place, split: Split) -> bytes | UnreadableError | None:
    """Return what ``content_of`` does; of compressed files that are damaged, why they cannot be read."""
    try:
        return content_of(place, split)
    except DamagedError as error:
        return UnreadableError(error.what)


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
                f"{self.name} files have no columns; {', '.join(names)} was asked for: leave out {split.name} and others with "
                "--glob (glob=), or do without the column"
            )
        size = 0
        texts: list[str | None] = []
        unreadable: dict[int, str] = {}
        for number, text in self._texts(split):
            if isinstance(text, UnreadableError):
                if not split.limit.leave:
                    raise unreadable_file(split.place_of(number).name, text)
                unreadable[len(texts)] = str(text)
            texts.append(text if isinstance(text, str) else None)
            size += len(texts[-1] or "")
            if len(texts) == BATCH_FILES or size > BLOCK or split.place_of(number) is split.places[-1]:
                skipped = marked(len(texts), [i for i, text in enumerate(texts) if text is None])
                numbers = numbers_from(number + 1 - len(texts), len(texts))
                yield Batch(from_strings(texts), numbers, skipped=skipped, unreadable=unreadable)
                size, texts, unreadable = 0, [], {}

    def rows(self, split: Split, encoding_errors: str) -> Iterator[tuple[int, Record]]:
        """Read all files as dictionaries of id and text, each with its number; what was left out has none."""
        for number, text in self._texts(split):
            yield number, {"id": split.place_of(number).name, "text": text if isinstance(text, str) else None}

    def _texts(self, split: Split) -> Iterator[tuple[int, str | UnreadableError | None]]:
        """Yield the number of each file and its text, why it has none, or None if the file is too large and left out."""
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
                raise missing_column(split.name, "records", "field", name, list(self.fields), columns)
        if columns.text != "text":
            raise InputDataError(f"the text of {self.name} records is the column 'text'; {columns.text!r} was asked for")
        check_free(split.name, "records", "field", self.fields, columns.reserved)
        first, size = 1, 0
        rows: list[Record] = []
        texts: list[str | None] = []
        unreadable: dict[int, str] = {}

        def batch() -> Batch:
            left = marked(len(texts), [place for place, text in enumerate(texts) if text is None])
            given = None if columns.id is None else [row[columns.id] for row in rows]
            others = {name: [row[name] for row in rows] for name in columns.others}
            return Batch(from_strings(texts), numbers_from(first, len(texts)), given, others, left, unreadable)

        for row, text in self._found(split):
            if isinstance(text, UnreadableError):
                if not split.limit.leave:
                    raise unreadable_file(f"{split.name}, row {first + len(texts)} ({row['id']})", text)
                unreadable[len(texts)] = str(text)
            rows.append(row)
            texts.append(text if isinstance(text, str) else None)
            size += len(texts[-1] or "")
            if len(texts) == BATCH_ROWS or size > BLOCK:
                yield batch()
                first, size, rows, texts, unreadable = first + len(texts), 0, [], [], {}
        if texts:
            yield batch()

    def rows(self, split: Split, encoding_errors: str) -> Iterator[tuple[int, Record]]:
        """Read all records as dictionaries, each with its number."""
        for number, (row, text) in enumerate(self._found(split), 1):
            yield number, row | {"text": text if isinstance(text, str) else None}

    def check_free(self, split: Split, names: Sequence[str]) -> None:
        check_free(split.name, "records", "field", self.fields, names)

    def _found(self, split: Split) -> Iterator[tuple[Record, str | UnreadableError | None]]:
        """Yield what is known of each document, and its text, or why it has none; None: it is too large and left out."""
        yield from texts_of(self.documents(split), self.kind, split.limit.most, split.threads, self.extra)
