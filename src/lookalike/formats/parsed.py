"""Documents that need a parser: files of one each (web pages, PDF, DOCX, ODT, EPUB, e-mail), and records of files with many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..errors import InputDataError
from ..extraction import page_text
from ..extraction.parsers import Text, texts_of
from ..files.folder import UnfinishedFolder
from ..text.texts import from_bytes
from .format import Format, Selection
from .rows import NumberedRows
from .split import Batch, Columns, Record, Split, check_free, missing_column, numbers_from
from .txt import TextFiles, batches_of, check_left, whole_of, written

SMALL_PAGE = 8192
"""Bytes of pages that this process parses itself: the slowest known of that size takes a tenth of a second."""


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
            check_left(split, f"{split.name}, row {batch.numbers[row]}", text)
            left[row], unreadable[row] = True, str(text)
    for row in np.setdiff1d(np.flatnonzero(~left), large).tolist():
        texts[row] = page_text(batch.texts.row(row).decode("utf-8", "replace"), boilerplate=whole)
    skipped = left if left.any() else None
    unreadable |= batch.unreadable
    return replace(batch, texts=from_bytes(texts), skipped=skipped, unreadable=unreadable, whole=whole_of(texts))


class ParsedFiles(TextFiles):
    """A document in each file, parsed in a process of its own; the default id is the file's path."""

    parsed = True
    can_edit_text = False

    def __init__(
        self, name: str, *, kinds: tuple[str, ...] = (), extra: str = "", package: str = ""
    ) -> None:  # fmt: skip
        self.name, self.kinds, self.extra, self.package = name, kinds, extra, package

    def texts(self, split: Split, strict: bool = False) -> Iterator[tuple[int, Text]]:
        """Yield the number of each file and its text, of whatever encoding the file is."""
        if split.texts is None:
            yield from texts_of(super().texts(split), self.name, split.limit.most, split.threads, self.extra)
        else:
            yield from zip((number for number, _ in split.numbered_files), split.texts(), strict=True)


class ParsedRecords(Format):
    """Files of many documents, parsed in processes of their own; rows are numbered from 1."""

    parsed = True
    can_edit_text = False
    fields: tuple[str, ...]
    """The columns that rows have, "id" and "text" among them."""

    kind: str
    """What the parser is asked for."""

    def copied(self, selection: Selection, folder: UnfinishedFolder, name: str) -> int:
        """Write the selected records as they are into a file of a folder; return how many there are of all."""
        raise NotImplementedError

    def write_kept_file(self, folder: UnfinishedFolder, selection: Selection, provenance: Record) -> None:
        """Write the selected records as they are."""
        split = selection.split
        split.check_unchanged()
        (name,) = self.names_in_folder(split)
        selection.check_count(self.copied(selection, folder, name))
        split.check_unchanged()

    def documents(self, split: Split) -> Iterator[tuple[Record, Text]]:
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
        for rows, some in batches_of(
            split, self._numbered_texts(split), lambda one: f"{split.name}, row {one[0]} ({one[1]['id']})"
        ):
            given = None if columns.id is None else [row[columns.id] for _, row in rows]
            others = {name: [row[name] for _, row in rows] for name in columns.others}
            yield replace(some, numbers=numbers_from(rows[0][0], len(rows)), ids=given, others=others)

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        """Read all records as dictionaries, each with its number."""
        for (number, row), text in self._numbered_texts(split):
            row = row | {"text": written(text)}
            del text
            yield number, row
            del row

    def check_free(self, split: Split, names: Sequence[str]) -> None:
        check_free(split.name, None, "field", self.fields, names)

    def _numbered_texts(self, split: Split) -> Iterator[tuple[tuple[int, Record], Text]]:
        """Yield the number of each document, from 1, and what is known of it, and its text."""

        def numbered_records() -> Iterator[tuple[tuple[int, Record], Text]]:
            number = 0
            for row, content in self.documents(split):
                number += 1  # noqa: SIM113  # ``enumerate`` would hold what was read last
                yield (number, row), content
                del content  # not held while the next is read

        if split.texts is None:
            yield from texts_of(numbered_records(), self.kind, split.limit.most, split.threads, self.extra)
        else:
            yield from zip((row for row, _ in numbered_records()), split.texts(), strict=True)
