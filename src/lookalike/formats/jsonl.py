"""JSON lines: a row is a line, and a kept line is written out as it was read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, islice, starmap
from operator import attrgetter, itemgetter, methodcaller
from types import SimpleNamespace
from typing import Any, BinaryIO

import msgspec
import numpy as np

from ..errors import InputDataError, ParameterError
from ..files.streams import LongLine, read_lines
from ..text.texts import from_strings
from ..wording import json_fault
from .cuts import TextEdits
from .format import Format, Selection, write_lines
from .rows import LONG, NumberedRows, Unread, has_value, is_finite, lost, names_in, not_utf8, raw_fields, text_of, value_at
from .split import Batch, Columns, Parts, Record, Split, mask_of, missing_column, no_text, reason_of, reserved_column

BOM = b"\xef\xbb\xbf"
_NULL = msgspec.Raw(b"null")
_LITERALS = {b"null": None, b"true": True, b"false": False}
_FAILURES = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = re.compile(
    rb"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_UNNAMED = re.compile(r'["\\\x00-\x1f]')


@lru_cache(maxsize=16)
def _decoder(wanted: tuple[str, ...], parts: tuple[str, ...], reserved: tuple[str, ...], text: Any = str | None) -> Any:
    """A decoder that builds nothing but the fields wanted; ``text`` is the type of the first."""
    odd = next((name for name in wanted if _UNNAMED.search(name)), None)
    if odd is not None:
        raise ParameterError(
            f"a field of JSON lines that is asked for cannot have a quotation mark, a backslash or a control character in its "
            f"name; got {odd!r}: rename the field, or convert the file to parquet"
        )
    if any("." in name for name in wanted):
        return _Paths(wanted, parts, reserved, text)
    fields: list[Any] = []
    for i, name in enumerate(dict.fromkeys(wanted)):
        kind = Any if i else text
        if name in parts:
            kind = kind if i else kind | msgspec.UnsetType
            fields.append((f"wanted{i}", kind, msgspec.field(name=name, default=msgspec.UNSET)))
        else:
            fields.append((f"wanted{i}", kind, msgspec.field(name=name)))
    return _with_reserved(fields, reserved)


def _with_reserved(fields: list[Any], names: Sequence[str]) -> msgspec.json.Decoder[Any]:
    """A decoder that also notices fields that are not to be there."""
    for i, name in enumerate(names):
        fields.append((f"reserved{i}", Any, msgspec.field(default=msgspec.UNSET, name=name)))
    return msgspec.json.Decoder(msgspec.defstruct("Row", fields, kw_only=True, gc=False))


class _Paths:
    """Does what ``_decoder`` does for names with points, which can mean fields inside others; slower, line by line."""

    def __init__(self, wanted: Sequence[str], parts: Sequence[str], reserved: Sequence[str], text: Any) -> None:
        self._names, self._parts, self._reserved = list(dict.fromkeys(wanted)), parts, reserved
        self._text = msgspec.json.Decoder(text).decode

    def decode(self, line: bytes) -> SimpleNamespace:
        fields = raw_fields(line)
        row = SimpleNamespace()
        for i, name in enumerate(self._names):
            try:
                raw = value_at(fields, name, _object)
            except KeyError as error:
                if name not in self._parts:
                    raise msgspec.ValidationError(f"there is no field {error}") from None
                value: Any = msgspec.UNSET
            else:
                value = (msgspec.json.decode if i else self._text)(_NULL if raw is None else raw)
            setattr(row, f"wanted{i}", value)
        for i, name in enumerate(self._reserved):
            setattr(row, f"reserved{i}", fields.get(name, msgspec.UNSET))
        return row


def _object(raw: msgspec.Raw) -> Any:
    """Return the fields of a value of JSON, None if it is null, or the value if it has none."""
    first = bytes(memoryview(raw)[:1])
    return raw_fields(raw) if first == b"{" else None if first == b"n" else raw


def _mended(line: bytes) -> bytes:
    """Replace invalid UTF-8 and lone surrogates by U+FFFD."""
    valid = line.decode("utf-8", "replace").encode()
    return _ESCAPE.sub(lambda escape: b"\xef\xbf\xbd" if escape[2] else escape[0], valid)


def _value(raw: msgspec.Raw) -> Any:
    """Return text, truth and null as they are; numbers and nested values stay as they were written, on one line."""
    data = bytes(raw)
    if b"\n" in data:
        return msgspec.Raw(msgspec.json.format(data, indent=-1))
    return msgspec.json.decode(data, type=str) if data[:1] == b'"' else _LITERALS.get(data, raw)


def _row(line: bytes) -> Record:
    line.decode()  # what is not decoded below must be UTF-8 too
    return {name: _value(raw) for name, raw in raw_fields(line).items()}


def _complete(row: Any, parts: Parts, places: dict[str, str], number: int, line: bytes) -> None:
    """Check that a row has one of the columns of its text; others are null."""
    missing = [name for name, place in places.items() if getattr(row, place) is msgspec.UNSET]
    parts.check(missing, number, partial(_names_of, line))
    for name in missing:
        setattr(row, places[name], None)


def _names_of(line: bytes) -> list[str]:
    return names_in(json.loads(_mended(line).removeprefix(BOM)))


def _int(digits: str) -> float:
    return int(digits) if len(digits) < 1000 else float(digits)


def _no_constant(name: str) -> None:
    raise ValueError(f"JSON has no {name}")


def _left_out(split: Split, number: int, line: bytes) -> int:
    """Return how long a line was that is left out because it is too long; if none may be, an error is raised."""
    if not split.limit.skip:
        raise split.too_large(row=number)
    assert isinstance(line, LongLine)
    return line.n_bytes


class JsonLines(Format):
    """JSON lines, plain or compressed, numbered by line from 1, but for blank ones; of a field given twice the last counts."""

    name = "jsonl"
    offsets = True  # rows follow one another without a gap, so that their lengths tell where in the file they are

    def blocks(self, split: Split) -> Iterator[list[bytes]]:
        """Yield the lines of a file, a list a block; ``LongLine`` in place of one that is too long."""
        return read_lines(split.place.path, split.limit.most, skip=split.limit.skip, noted=split.on_read)

    def lines(self, split: Split) -> Iterator[tuple[int, int, bytes]]:
        """Yield (line number, byte offset, line with its line feed) of all lines that are not blank; b"" is one left out."""
        number, offset = 0, 0
        for lines in self.blocks(split):
            for line in lines:
                number += 1
                if not line:
                    yield number, offset, line
                    offset += _left_out(split, number, line)
                elif (line.removeprefix(BOM) if number == 1 else line).strip():
                    yield number, offset, line
                offset += len(line)
            line = b""  # a long one is not held while the next is read
            lines.clear()

    def _decode(
        self, split: Split, decode: Callable[[bytes], Any], number: int, offset: int, line: bytes, columns: Columns | None,
        errors: str,
    ) -> Any:  # fmt: skip
        """Decode a line, mended if that is allowed and needed; ``columns`` must be there."""
        if number == 1 and line[:3] == BOM:
            offset, line = offset + 3, line[3:]
        try:
            return decode(line)
        except _FAILURES as error:
            problem: Exception = error
        if errors == "replace":
            try:
                return decode(_mended(line))
            except _FAILURES as error:
                line, problem = _mended(line), error
        try:
            raise self._explain(split, number, offset, line, columns, problem)
        except RecursionError:
            raise InputDataError(
                "values are nested too deeply to be read; flatten them, or remove the row", split.name, number
            ) from None

    def _explain(
        self, split: Split, number: int, offset: int, line: bytes, columns: Columns | None, error: Exception
    ) -> InputDataError:  # fmt: skip
        """Find out what is wrong with a line and say it in the user's words."""
        place = split.name, number
        try:
            text = line.decode("utf-8").rstrip("\n")
        except UnicodeDecodeError as problem:
            at = f"byte {offset + problem.start} of the file" if self.offsets else f"byte {problem.start} of the object"
            return InputDataError(
                f"invalid UTF-8 at {at}; convert the file, or pass "
                "--encoding-errors replace (encoding_errors='replace') to continue",
                *place,
            )
        way = "; for an array, pass --format json (format='json')" if number == 1 and text.startswith("[") else ""
        try:
            value = json.loads(text, parse_constant=_no_constant, parse_int=_int)
        except ValueError as problem:
            hint = " (it looks like UTF-16)" if "\0" in text else ""
            return InputDataError(f"not valid JSON{hint}: {json_fault(problem)}; it starts with {text[:60]!r}{way}", *place)
        if not isinstance(value, dict):
            return InputDataError(f"an object is expected on each line; found {text[:60]!r}{way}", *place)
        if columns is not None:
            missing = [name for name in dict.fromkeys(columns.wanted) if not has_value(value, name)]
            if set(columns.parts) - set(missing):
                missing = [name for name in missing if name not in columns.parts]
            if missing:
                return missing_column(split, number, "field", missing[0], names_in(value), columns)
            found = value_at(value, columns.text) if has_value(value, columns.text) else None
            if not isinstance(found, str | None):
                return no_text(*place, columns.text, found, f" ({error})")
        for name, found in value.items():
            if _SURROGATE.search(name + json.dumps(found, ensure_ascii=False)):
                shown = name.encode("utf-8", "replace").decode()
                return InputDataError(
                    f"field {shown!r} holds a lone surrogate, which no UTF-8 text can; "
                    "pass --encoding-errors replace (encoding_errors='replace') to continue",
                    *place,
                )
        return InputDataError(f"cannot be read: {error}; it starts with {text[:60]!r}", *place)

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        places = {name: f"wanted{i}" for i, name in enumerate(dict.fromkeys(columns.wanted))}
        free = tuple(name for name in columns.reserved if name not in places)
        known = places | {name: f"reserved{i}" for i, name in enumerate(free)}
        reserved = [(known[name], name) for name in columns.reserved]
        asked = tuple(columns.wanted), columns.parts, free
        decode, decode_long = _decoder(*asked).decode, _decoder(*asked, msgspec.Raw).decode
        parts, nothing = Parts(split, columns), SimpleNamespace(**dict.fromkeys(places.values()))
        number, offset = 0, 0
        for lines in self.blocks(split):
            numbers: list[int] = []
            rows: list[Any] = []
            left_out: list[int] = []
            wrong: dict[int, str] = {}
            for line in lines:
                number += 1
                offset += len(line)
                row: Any = nothing
                if not line:
                    offset += _left_out(split, number, line)
                elif not (line.removeprefix(BOM) if number == 1 else line).strip():
                    continue
                else:
                    try:
                        try:
                            if len(line) > LONG:
                                row = decode_long(line[3:] if number == 1 and line[:3] == BOM else line)
                                row.wanted0 = text_of(row.wanted0)
                            else:
                                row = decode(line[3:] if number == 1 and line[:3] == BOM else line)
                        except _FAILURES:
                            begin, errors = offset - len(line), columns.encoding_errors
                            row = self._decode(split, decode, number, begin, line, columns, errors)
                        if columns.parts:
                            _complete(row, parts, places, number, line)
                    except InputDataError as error:
                        if not split.limit.faults:
                            raise
                        row, wrong[len(rows)] = nothing, reason_of(split, error)
                if row is nothing:
                    left_out.append(len(rows))
                else:
                    for place, name in reserved:
                        if getattr(row, place) is not msgspec.UNSET:
                            raise reserved_column(split.name, number, "field", name)
                numbers.append(number)
                rows.append(row)
            lines.clear()
            if numbers:
                texts: list[Any] = [row.wanted0 for row in rows]
                ids = None if columns.id is None else list(map(attrgetter(places[columns.id]), rows))
                others = {name: list(map(attrgetter(places[name]), rows)) for name in columns.others}
                rows.clear()
                line, row = b"", None  # a large one is not held while its text is made, nor twice after that
                read = from_strings(texts, numbers[0], columns.encoding_errors)
                texts.clear()
                yield Batch(read, np.array(numbers, np.int64), ids, others, mask_of(len(numbers), left_out), wrong)
                del read  # not held while the next is read
        parts.end()

    def check_free(self, split: Split, names: Sequence[str]) -> None:
        decode = _with_reserved([], names).decode
        for number, offset, line in self.lines(split):
            if not line:
                continue
            try:
                row = self._decode(split, decode, number, offset, line, None, "replace")
            except InputDataError:
                if not split.limit.faults:
                    raise
                continue
            for i, name in enumerate(names):
                if getattr(row, f"reserved{i}") is not msgspec.UNSET:
                    raise reserved_column(split.name, number, "field", name)

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        """Read all rows as dictionaries, each with its number; numbers and nested values are ``msgspec.Raw``."""
        for number, offset, line in self.lines(split):
            try:
                yield number, {} if not line else self._decode(split, _row, number, offset, line, None, encoding_errors)
            except InputDataError as error:
                if not split.limit.faults:
                    raise
                yield number, Unread(error)

    def write(self, stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
        """Write lines: those of JSON lines as they are, other rows converted."""
        write_lines(stream, _unmarked(chain.from_iterable(map(self._lines_of, selections))))

    def _lines_of(self, selection: Selection) -> Iterator[bytes]:
        """Yield the rows that are written: each is a line or, of JSON, the bytes of an object."""
        split = selection.split
        if split.form is self:
            return self._lines_as_they_are(selection, self.lines(split))
        return starmap(partial(_json_line, split.name), selection.records())

    def _lines_as_they_are(self, selection: Selection, lines: Iterable[tuple[int, int, bytes]]) -> Iterator[bytes]:
        """Yield the selected lines, their own bytes where no text is cut."""

        def cut(line: bytes, cuts: TextEdits, ranges: list[int]) -> bytes:
            row = self._decode(selection.split, _row, 0, 0, line.removeprefix(BOM), None, selection.encoding_errors)
            return _json_line(selection.split.name, 0, cuts.record(row, ranges))

        return selection.lines(map(itemgetter(2), lines), self._annotate, cut)

    @staticmethod
    def _annotate(line: bytes, values: Record) -> bytes:
        """Append fields to the object on a line, leaving its own bytes as they are."""
        body = line.rstrip()
        inside = body[:-1].rstrip()
        comma = b"" if inside.endswith(b"{") else b", "
        added = b", ".join(msgspec.json.encode(k) + b": " + msgspec.json.encode(v) for k, v in values.items())
        return body[:-1] + comma + added + b"}" + line[len(body) :]


def _unmarked(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines of JSON, a byte order mark before the first of all alone."""
    lines = iter(lines)
    yield from islice(lines, 1)
    yield from map(methodcaller("removeprefix", BOM), lines)  # which holds none


def _json_line(source: str, row: int, record: Record) -> bytes:
    try:
        line = msgspec.json.encode(record)
    except UnicodeEncodeError:
        raise not_utf8(source, [(row, record)]) from None
    except TypeError as error:
        raise InputDataError(f"a value cannot be written as JSON: {error}; convert it, or leave it out", source, row) from None
    if b"null" in line:  # also what stands for numbers that are not finite
        for name, value in record.items():
            if not is_finite(value):
                raise lost(source, row, name, f"JSON has no {value!r:.60}")
    return line + b"\n"


FORMAT = JsonLines()
