"""CSV: a kept record is written out as it was read, whatever its quoting; every field is text."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ..errors import InputDataError
from ..files.atomic import BLOCK, read_lines
from ..text.texts import from_strings
from ._rows import csv_field, refuse_twice
from .sources import Batch, Columns, FileSource, Record, missing_column, numbers_from, reserved_column

BATCH_ROWS = 4096
csv.field_size_limit(sys.maxsize)


class CsvSource(FileSource):
    """A comma-separated file with a header. Rows are numbered by record, from 1, the header not counted.

    A row with more fields than the header is refused. A row with fewer is read if it has the columns asked for; it is copied
    as it is, padded with empty fields where columns are added, and its missing values are null in other formats.
    """

    format = "csv"

    def raw_records(self, encoding_errors: str = "strict") -> Iterator[tuple[list[str], bytes]]:
        """Yield (fields, own bytes) of each record, the header first."""
        consumed: list[bytes] = []
        offset = 0

        def decoded() -> Iterator[str]:
            nonlocal offset
            for lines in read_lines(self.path):
                for line in lines:
                    consumed.append(line)
                    try:
                        text = line.decode("utf-8", encoding_errors)
                    except UnicodeDecodeError as error:
                        hint = " (it looks like UTF-16)" if line[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
                        raise InputDataError(
                            f"{self.name}, line {reader.line_num + 1}: invalid UTF-8 at byte {offset + error.start} "
                            f"of the file{hint}; convert the file, or pass --encoding-errors replace to go on"
                        ) from None
                    yield text.removeprefix("\ufeff") if offset == 0 else text
                    offset += len(line)

        reader = csv.reader(decoded(), strict=True)
        try:
            for fields in reader:
                if fields:
                    yield fields, b"".join(consumed)
                consumed.clear()
        except csv.Error as error:
            what = str(error)
            if "new-line character" in what:
                what = "a carriage return outside quotes; end records with a line feed, and put such a field in quotes"
            elif "unexpected end" in what:
                what = "the file ends inside a quoted field"
            raise InputDataError(f"{self.name}, line {reader.line_num}: not valid CSV: {what}") from None

    def header(self) -> tuple[list[str], bytes]:
        """Return the names of the columns, and the header's own bytes."""
        return next(self.raw_records("replace"), ([], b""))

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the columns wanted, as text."""
        records = self.raw_records(columns.encoding_errors)
        names, _ = next(records, ([], b""))
        if not names:
            return
        wanted = [columns.text, *([columns.id] if columns.id is not None else []), *columns.others]
        for name in wanted:
            if name not in names:
                if "\0" in "".join(names):
                    raise InputDataError(
                        f"{self.name}, header: it contains NUL (it looks like UTF-16), and no column {name!r}; "
                        "convert the file to UTF-8"
                    )
                unsplit = len(names) == 1 and set(";\t|") & set(names[0])
                way_out = "; fields are to be separated by commas" if unsplit else ""
                raise missing_column(self.name, "header", "column", name, names, columns, way_out)
        refuse_twice(self.name, "header", names, wanted)
        self._check_free(names, columns.reserved)
        places = [names.index(name) for name in wanted]
        last = max(places)
        rows: list[list[str]] = []
        first, size = 1, 0
        for fields, raw in records:
            if not last < len(fields) <= len(names):
                way_out = "; put a field that contains a comma in quotes" if len(fields) > last else ""
                raise InputDataError(
                    f"{self.name}, row {first + len(rows)}: {len(fields)} fields where the header names {len(names)}{way_out}"
                )
            rows.append([fields[place] for place in places])
            size += len(raw)
            if len(rows) == BATCH_ROWS or size > BLOCK:
                yield self._batch(rows, first, columns)
                first, rows, size = first + len(rows), [], 0
        if rows:
            yield self._batch(rows, first, columns)

    def check_free(self, names: Sequence[str]) -> None:
        """Raise InputDataError if the header names one of these."""
        self._check_free(self.header()[0], names)

    def _check_free(self, header: Sequence[str], names: Sequence[str]) -> None:
        for name in names:
            if name in header:
                raise reserved_column(self.name, "header", "column", name)

    @staticmethod
    def _batch(rows: list[list[str]], first: int, columns: Columns) -> Batch:
        values = [list(column) for column in zip(*rows, strict=True)]
        has_id = columns.id is not None
        return Batch(
            from_strings(values[0], first, columns.encoding_errors),
            numbers_from(first, len(rows)),
            values[1] if has_id else None,
            dict(zip(columns.others, values[1 + has_id :], strict=True)),
        )

    def raw_rows(self, padded: bool = False) -> Iterator[bytes]:
        """Yield each record's own bytes, the header left out; ``padded`` with empty fields to the header's number."""
        self.check_unchanged()
        records = self.raw_records("replace")
        names, _ = next(records, ([], b""))
        for fields, raw in records:
            if padded and len(fields) < len(names):
                body = raw.rstrip(b"\r\n")
                raw = body + b"," * (len(names) - len(fields)) + raw[len(body) :]
            yield raw

    @staticmethod
    def annotate(line: bytes, values: Record) -> bytes:
        """Append fields to a record, leaving its own bytes as they are."""
        body = line.rstrip(b"\r\n")
        return body + b"".join(b"," + csv_field(value).encode() for value in values.values()) + line[len(body) :]

    def records(self, encoding_errors: str = "strict") -> Iterator[tuple[int, Record]]:
        """Read all records as dictionaries of text, each with its number; the fields that a row lacks are None."""
        self.check_unchanged()
        records = self.raw_records(encoding_errors)
        names, _ = next(records, ([], b""))
        refuse_twice(self.name, "header", names)
        for number, (fields, _) in enumerate(records, 1):
            yield number, dict(zip_longest(names, fields))
