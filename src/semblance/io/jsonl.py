"""JSON lines: a row is a line, and a kept line is written out as it was read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from ..errors import InputDataError
from ..text.texts import from_strings
from .formats import read_lines
from .sources import Batch, Columns, FileSource, Record, missing_column, reserved_column

_BOM = b"\xef\xbb\xbf"


def _decoder(columns: Columns) -> msgspec.json.Decoder[Any]:
    """A decoder that builds nothing but the fields wanted."""
    fields: list[Any] = [("text", str | None, msgspec.field(name=columns.text))]
    if columns.id is not None and columns.id != columns.text:
        fields.append(("id", Any, msgspec.field(name=columns.id)))
    for i, name in enumerate(columns.others):
        if name not in (columns.text, columns.id):
            fields.append((f"other{i}", Any, msgspec.field(name=name)))
    for i, name in enumerate(columns.reserved):
        fields.append((f"reserved{i}", Any, msgspec.field(default=msgspec.UNSET, name=name)))
    return msgspec.json.Decoder(msgspec.defstruct("Row", fields))


class JsonLinesSource(FileSource):
    """A file of JSON lines, plain or compressed. Blank lines are no rows; rows are numbered by line, from 1."""

    format = "jsonl"

    def lines(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield (line number, byte offset, line with its line feed) of all lines that are not blank."""
        number, offset = 0, 0
        for lines in read_lines(self.path):
            for line in lines:
                number += 1
                if line.strip():
                    yield number, offset, line
                offset += len(line)

    def _explain(self, number: int, offset: int, line: bytes, columns: Columns, error: Exception) -> InputDataError:
        """Find out what is wrong with a line and say it in the user's words."""
        where = f"{self.name}, row {number}"
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as problem:
            hint = " (it looks like UTF-16)" if line[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
            return InputDataError(
                f"{where}: invalid UTF-8 at byte {offset + problem.start} of the file{hint}; "
                "convert the file, or pass --encoding-errors replace to go on"
            )
        try:
            value = json.loads(text.lstrip("\ufeff"))
        except ValueError as problem:
            return InputDataError(f"{where}: not valid JSON: {problem}; the line starts with {text[:60]!r}")
        if not isinstance(value, dict):
            return InputDataError(f"{where}: an object is expected on each line; found {text[:60]!r}")
        for name in (columns.text, *([columns.id] if columns.id else []), *columns.others):
            if name not in value:
                return missing_column(self.name, f"row {number}", "field", name, list(value), columns)
        found = value[columns.text]
        if isinstance(found, str):
            return InputDataError(
                f"{where}: field {columns.text!r} holds a lone surrogate, which no UTF-8 text can; "
                "pass --encoding-errors replace to go on"
            )
        return InputDataError(f"{where}: field {columns.text!r} must be a string or null; found {found!r:.60} ({error})")

    def _lenient(self, line: bytes, columns: Columns) -> Record | None:
        """Decode a line with invalid UTF-8 or lone surrogates, or return None if that does not help."""
        try:
            value = json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"))
        except ValueError:
            return None
        wanted = {columns.text, *columns.others, *([columns.id] if columns.id else [])}
        if not isinstance(value, dict) or not wanted <= value.keys() or not isinstance(value[columns.text], str):
            return None
        return value

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the fields wanted."""
        decode = _decoder(columns).decode
        others = {name: f"other{i}" for i, name in enumerate(columns.others)}
        names = {columns.text: "text", columns.id: "id"}
        number, offset = 0, 0
        for lines in read_lines(self.path):
            numbers: list[int] = []
            texts: list[str | None] = []
            ids: list[Any] = []
            more: dict[str, list[Any]] = {name: [] for name in others}
            for line in lines:
                number += 1
                offset += len(line)
                if line.isspace():
                    continue
                try:
                    row = decode(line[3:] if number == 1 and line[:3] == _BOM else line)
                    get = row.__getattribute__
                    text = row.text
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    lenient = self._lenient(line, columns) if columns.encoding_errors == "replace" else None
                    if lenient is None:
                        raise self._explain(number, offset - len(line), line, columns, error) from None
                    text = lenient[columns.text]
                    fields = {"text": text, "id": lenient.get(columns.id or "")}
                    get = (fields | {other: lenient[name] for name, other in others.items()}).__getitem__
                else:
                    for i, name in enumerate(columns.reserved):
                        if get(f"reserved{i}") is not msgspec.UNSET:
                            raise reserved_column(self.name, f"row {number}", "field", name)
                numbers.append(number)
                texts.append(text)
                if columns.id is not None:
                    ids.append(get("id" if columns.id != columns.text else "text"))
                for name, other in others.items():
                    more[name].append(get(names.get(name, other)))
            if numbers:
                yield Batch(
                    from_strings(texts, numbers[0], columns.encoding_errors),
                    np.array(numbers, np.int64),
                    ids if columns.id is not None else None,
                    dict(more),
                )

    def check_free(self, names: Sequence[str]) -> None:
        """Raise InputDataError if a line has a field of one of these names."""
        fields = [(f"f{i}", Any, msgspec.field(default=msgspec.UNSET, name=name)) for i, name in enumerate(names)]
        decoder = msgspec.json.Decoder(msgspec.defstruct("Reserved", fields))
        for number, _, line in self.lines():
            try:
                row = decoder.decode(line.removeprefix(_BOM) if number == 1 else line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                found = json.loads(line.decode("utf-8", "replace").lstrip("\ufeff")).keys() & set(names)
            else:
                found = {name for i, name in enumerate(names) if getattr(row, f"f{i}") is not msgspec.UNSET}
            if found:
                raise reserved_column(self.name, f"row {number}", "field", min(found))

    def raw_rows(self) -> Iterator[bytes]:
        """Yield each row's own bytes."""
        self.check_unchanged()
        return (line for _, _, line in self.lines())

    @staticmethod
    def annotate(line: bytes, values: Record) -> bytes:
        """Append fields to the object on a line, leaving its own bytes as they are."""
        body = line.rstrip()
        inside = body[:-1].rstrip()
        comma = b"" if inside.endswith(b"{") else b", "
        added = b", ".join(msgspec.json.encode(k) + b": " + msgspec.json.encode(v) for k, v in values.items())
        return body[:-1] + comma + added + b"}" + line[len(body) :]

    def records(self) -> Iterator[Record]:
        """Read all rows as dictionaries."""
        for line in self.raw_rows():
            yield json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"))
