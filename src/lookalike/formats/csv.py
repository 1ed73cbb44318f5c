"""CSV: a kept record is written out as it was read, whatever its quoting; fields are text, between commas or others."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, starmap, zip_longest
from typing import Any, BinaryIO

from ..errors import InputDataError, OutputError, ParameterError
from ..files.streams import DamagedError, LongLine, read_lines
from ..text.texts import from_strings
from .columnar import ColumnarFormat
from .cuts import TextEdits
from .format import Format, Selection, gather_batches, write_lines
from .rows import NumberedRows, as_text, is_finite, lost, not_utf8, refuse_twice
from .split import Batch, Columns, Record, Split, check_free, mask_of, missing_column, numbers_from, reason_of

_NO_DELIMITERS = "\"'.+-_"  # that numbers, dates and quoted fields have
csv.field_size_limit(sys.maxsize)


class _TooLargeError(Exception):
    """A record is larger than a document may be."""


def _quotes(line: bytes) -> int:
    return line.n_quotes if isinstance(line, LongLine) else line.count(b'"')


def _size(line: bytes) -> int:
    return line.n_bytes if isinstance(line, LongLine) else len(line)


def _take_lines(blocks: Iterable[list[bytes]]) -> Iterator[bytes]:
    for lines in blocks:
        lines.reverse()
        while lines:
            yield lines.pop()


def delimiter_of(given: str) -> str:
    r"""Return the character that ``--delimiter`` names; a tab may be written as ``\t``."""
    delimiter = "\t" if given == "\\t" else given
    printed = delimiter.isprintable() or delimiter == "\t"
    if len(delimiter) != 1 or not printed or delimiter.isalnum() or delimiter in _NO_DELIMITERS:
        raise ParameterError(
            "must be one character that is not a letter, a digit, a quotation mark, or one of . + - _, such as ';', "
            "'|', or '\\t' for a tab",
            "delimiter",
            given,
        )
    return delimiter


class _LeftOut(list[Any]):
    """No fields: a record that is left out, as too large or because of an error."""

    def __init__(self, error: InputDataError | None = None) -> None:
        super().__init__()
        self.error = error


class Csv(Format):
    """Fields under a header, separated by commas or another character. Rows are numbered by record, from 1, without the header.

    A row with more fields than the header is refused. A row with fewer is read if it has the columns asked for; it is copied
    as it is, padded with empty fields where columns are added, and its missing values are null in other formats.
    """

    untyped = True

    def __init__(self, name: str, delimiter: str) -> None:
        self.name, self.delimiter = name, delimiter

    def delimited(self, delimiter: str) -> Format:
        """Return the same format with another delimiter, which its name then says."""
        return Csv(f"csv:{delimiter_of(delimiter)}", delimiter_of(delimiter))

    def raw_records(self, split: Split, encoding_errors: str = "strict") -> Iterator[tuple[list[str], list[bytes]]]:
        """Yield (fields, own lines) of each record, the header first; no lines of one that is left out.

        Who has taken what it needs of a list may clear it, so that large fields are not held.
        """
        limit = split.limit
        read = read_lines(split.place.path, limit.most, skip=limit.skip, noted=split.on_read)
        lines = _take_lines(read)
        consumed: list[bytes] = []
        number = offset = size = quotes = 0
        named, left = False, list[str]()

        def decoded() -> Iterator[str]:
            nonlocal number, offset, size, quotes
            for line in lines:
                number += 1
                begin, offset = offset, offset + _size(line)
                size += len(line)
                if not line or size > limit.most:
                    quotes = sum(some.count(b'"') for some in consumed) + _quotes(line)
                    raise _TooLargeError
                consumed.append(line)
                del line  # a large one is not held beside its fields
                try:
                    yield consumed[-1].decode("utf-8", encoding_errors).removeprefix("" if begin else "\ufeff")
                except UnicodeDecodeError as error:
                    quotes = sum(some.count(b'"') for some in consumed)
                    raise InputDataError(
                        f"invalid UTF-8 at byte {begin + error.start} of the file; convert the "
                        "file, or pass --encoding-errors replace (encoding_errors='replace') to continue",
                        split.name,
                        line=number,
                    ) from None

        while True:
            try:
                for fields in csv.reader(decoded(), delimiter=self.delimiter, strict=True):
                    size = 0
                    if fields:
                        named = True
                        yield fields, consumed
                    consumed.clear()
                return
            except _TooLargeError:
                if not named:
                    raise InputDataError(
                        f"the header has more than the {limit.most:,} bytes that a record may "
                        "have, or a quotation mark in it is not closed",
                        split.name,
                        line=number,
                    ) from None
                if not limit.skip:
                    raise split.too_large(line=number) from None
                left = _LeftOut()
            except InputDataError as error:
                if not limit.faults or not named or isinstance(error, DamagedError):
                    raise
                left = _LeftOut(error)
            except csv.Error as error:
                what = str(error)
                if "new-line character" in what:
                    what = "a carriage return outside quotes; end records with a line feed, and put such a field in quotes"
                elif "unexpected end" in what:
                    what = "the file ends inside a quoted field"
                wrong = InputDataError(f"not valid CSV: {what}", split.name, line=number)
                if not limit.faults or not named:
                    raise wrong from None
                left, quotes = _LeftOut(wrong), 0
            consumed.clear()
            size = 0
            while quotes % 2 and (line := next(lines, None)) is not None:  # inside quotes a line feed ends no record
                number, offset, quotes = number + 1, offset + _size(line), quotes + _quotes(line)
            yield left, []

    def header(self, split: Split) -> tuple[list[str], bytes]:
        """Return the names of the columns, and the header's own bytes."""
        try:
            names, lines = next(self.raw_records(split, "replace"), ([], []))
            return names, b"".join(lines)
        except InputDataError:
            if not split.limit.faults:
                raise
            return [], b""

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        records = self.raw_records(split, columns.encoding_errors)
        names, _ = next(records, ([], []))
        if not names:
            return
        wanted = columns.wanted
        for name in wanted:
            if name not in names:
                if "\0" in "".join(names):
                    raise InputDataError(
                        f"the header contains NUL (it looks like UTF-16), and no column {name!r}; convert the file to UTF-8",
                        split.name,
                        column=name,
                    )
                other = next((mark for mark in ",;\t|" if mark in names[0]), None) if len(names) == 1 else None
                way_out = "" if other is None else (
                    f"; fields must be separated by {self.delimiter!r}: if another character separates them, name it with "
                    f"--delimiter {other!r} (delimiter={other!r})"
                )  # fmt: skip
                raise missing_column(split, None, "column", name, names, columns, way_out)
        refuse_twice(split.name, names, wanted)
        check_free(split.name, None, "column", names, columns.reserved)
        places = [names.index(name) for name in wanted]
        parts = {names.index(name) for name in columns.parts}
        last = max({*places} - parts | {min(parts, default=0)})  # of the fields that a row must have

        def checked() -> Iterator[tuple[Any, int]]:
            for number, (fields, lines) in enumerate(records, 1):
                if fields and not last < len(fields) <= len(names):
                    way_out = f"; put a field that contains {self.delimiter!r} in quotes" if len(fields) > last else ""
                    error = InputDataError(
                        f"{len(fields)} fields where the header names {len(names)}{way_out}", split.name, number
                    )
                    if not split.limit.faults:
                        raise error
                    fields = _LeftOut(error)
                row = [fields[place] if place < len(fields) else None for place in places] if fields else fields
                size = sum(map(len, lines))
                fields.clear()
                lines.clear()
                yield row, size
                del row  # not held while the next is read

        first = 1
        for rows in gather_batches(checked()):
            first += len(rows)
            yield self._batch(rows, first - len(rows), columns, split)

    @staticmethod
    def _batch(rows: list[Any], first: int, columns: Columns, split: Split) -> Batch:
        """Make a batch of rows, which are taken out of their list: large ones are not held beside it."""
        left_out = {place: row for place, row in enumerate(rows) if isinstance(row, _LeftOut)}
        for place in left_out:
            rows[place] = [None] * len(columns.wanted)
        numbers, values = numbers_from(first, len(rows)), [list(column) for column in zip(*rows, strict=True)]
        rows[-1].clear()  # its generator still holds it
        rows.clear()
        has_id = columns.id is not None
        return Batch(
            from_strings(values[0], first, columns.encoding_errors),
            numbers,
            values[1] if has_id else None,
            dict(zip(columns.others, values[1 + has_id :], strict=True)),
            mask_of(len(numbers), left_out),
            {place: reason_of(split, row.error) for place, row in left_out.items() if row.error is not None},
        )

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        """Read all records as dictionaries of text, each with its number; the fields that a row lacks are None."""
        records = self.raw_records(split, encoding_errors)
        names, _ = next(records, ([], []))
        refuse_twice(split.name, names)
        number = 0
        for fields, lines in records:
            number, row = number + 1, dict(zip_longest(names, fields))
            fields.clear()
            lines.clear()
            yield number, row
            del row  # not held while the next is read

    def text_columns(self, split: Split) -> list[str]:
        return self.header(split)[0]

    def check_free(self, split: Split, names: Sequence[str]) -> None:
        check_free(split.name, None, "column", self.header(split)[0], names)

    def write(self, stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
        """Write records under the header of the first split; those of CSV files with the same header as they are.

        CSV files that were read with a delimiter of their own are written back with it; the suffix ``.tsv`` says another.
        """
        forms = (selection.split.form for selection in selections)
        given = (form for form in forms if isinstance(form, Csv) and form.name.startswith(f"{self.name}:"))
        next(given, self)._write(stream, selections)

    def _write(self, stream: BinaryIO, selections: Sequence[Selection]) -> None:
        names: list[str] = []
        feed = False
        for selection in selections:
            split, added = selection.split, selection.added_schema.names
            if isinstance(split.form, Csv) and split.form.delimiter == self.delimiter:
                own, header = self.header(split)
                if own and not names:
                    names = [*own, *added]
                    feed = write_lines(stream, [self._annotate(header, dict(zip(added, added, strict=True)))])
                if [*own, *added] == names:
                    rows = self._raw_rows(split, bool(added))
                    feed = write_lines(stream, selection.lines(rows, self._annotate, partial(self._cut, own)), feed)
                    continue
            records: NumberedRows = selection.records()
            if not names:
                first = next(records, None)
                records = chain([] if first is None else [first], records)
                names = list(first[1]) if first is not None else _schema_names(split)
                stream.write(self._line(names).encode() if names else b"")
            feed = write_lines(stream, starmap(partial(self._record, split.name, names=names), records), feed)

    def _raw_rows(self, split: Split, padded: bool) -> Iterator[bytes]:
        """Yield each record's own bytes, the header left out; ``padded`` with empty fields to the header's number."""
        records = self.raw_records(split, "replace")
        names, _ = next(records, ([], []))
        for fields, lines in records:
            raw = b"".join(lines)
            lines.clear()
            if padded and len(fields) < len(names):
                body = raw.rstrip(b"\r\n")
                raw = body + self.delimiter.encode() * (len(names) - len(fields)) + raw[len(body) :]
            fields.clear()
            yield raw
            del raw  # not held while the next is read

    def _cut(self, names: list[str], line: bytes, cuts: TextEdits, ranges: list[int]) -> bytes:
        """Return a record without some of its text."""
        (fields,) = csv.reader([line.decode("utf-8", "replace")], delimiter=self.delimiter, strict=True)
        place = names.index(cuts.column)
        fields[place] = cuts.record({cuts.column: fields[place]}, ranges)[cuts.column]
        return self._line(value or None for value in fields)[:-1].encode() + line[len(line.rstrip(b"\r\n")) :]

    def _annotate(self, line: bytes, values: Record) -> bytes:
        """Append fields to a record, leaving its own bytes as they are."""
        body = line.rstrip(b"\r\n")
        added = "".join(self.delimiter + self._field(value) for value in values.values())
        return body + added.encode() + line[len(body) :]

    def _field(self, value: object) -> str:
        """Return a value as a field: null as nothing, an empty text in quotes, and quotes wherever a reader needs them."""
        if value is None:
            return ""
        if type(value) is float or type(value) is int:
            return str(value)
        text = as_text(value)
        if text and not (self.delimiter in text or '"' in text or "\n" in text or "\r" in text or "\ufeff" in text):
            return text
        return '"' + text.replace('"', '""') + '"'

    def _line(self, values: Iterable[object]) -> str:
        """Return a record with its line feed; one that would be a blank line is an empty text in quotes."""
        return (self.delimiter.join(map(self._field, values)) or '""') + "\n"

    def _record(self, source: str, row: int, record: Record, names: Sequence[str]) -> bytes:
        """Return a row as a record of CSV with the columns named; what it lacks is null."""
        if not record.keys() <= set(names):
            more = ", ".join(repr(name) for name in record if name not in names)
            raise OutputError(
                f"it has fields that the first row lacks ({more}): one CSV file cannot hold both; write .jsonl instead",
                source,
                row,
            )
        try:
            return self._line(record.get(name) for name in names).encode()
        except UnicodeEncodeError:
            raise not_utf8(source, [(row, record)]) from None
        except ValueError:
            name = next(name for name, value in record.items() if not isinstance(value, float) and not is_finite(value))
            raise lost(source, row, name, f"JSON has no {record[name]!r:.60}") from None


def _schema_names(split: Split) -> list[str]:
    """Return the columns of a split without rows, if they are known."""
    return list(split.form.schema(split).names) if isinstance(split.form, ColumnarFormat) else []


FORMAT = Csv("csv", ",")
