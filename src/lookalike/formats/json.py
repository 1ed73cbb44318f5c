"""JSON: objects in one array, or one after another; a kept object is written out as it was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import BinaryIO

from ..errors import InputDataError
from ..files.streams import lines_of, long_line, read_blocks
from .format import Selection
from .jsonl import BOM, JsonLines
from .split import Record, Split

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+'  # but for the quotation mark at its end
_BRACKETS = re.compile(rb'(?:[^"{}\[\]]++|%b")*+(?:([{\[]++|[}\]]++)|%b(\\?)|)' % (_STRING, _STRING), re.DOTALL)
_STRING_ENDS = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+(?:(")|(\\?))', re.DOTALL)
_BLANK = re.compile(rb"[ \t\r\n]*+")
_UNDECIDED = re.compile(rb"(?:\xef\xbb?)?|(?:\xef\xbb\xbf)?[ \t\r\n]*+(?:\{[ \t]*+\r?)?")
_SHAPE = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+(?:(\[)|(\{[ \t]*+\r?\n))?")
_LOOKED_AT = 1 << 20  # bytes without anything in them, after which what follows is taken for lines


def _shape(blocks: Iterator[bytes]) -> tuple[str, Iterator[bytes]]:
    """Tell an "array", "objects" of several lines each, and "lines" by what comes first; return that and all of the blocks."""
    head = b""
    while len(head) < _LOOKED_AT and _UNDECIDED.fullmatch(head) and (block := next(blocks, b"")):
        head += block
    found = _SHAPE.match(head)
    shape = "lines" if found is None or found.lastindex is None else ("array", "objects")[found.lastindex - 1]
    return shape, chain([head], blocks)


class _Cutter:
    """Cuts objects out of blocks of bytes, and holds no more of one than the largest may have, and a block."""

    def __init__(self, split: Split, in_array: bool) -> None:
        self.name, self.limit, self.in_array = split.name, split.limit, in_array
        self.number, self.stopped = 0, False
        self._due = b"[" if in_array else b"{"  # what may come next where no object is
        self._after = {b"[": b"{]", b",": b"{", b"]": b"", b"{": b",]" if in_array else b"{"}
        self._depth, self._held = 0, 0
        self._pieces: list[bytes] = []
        self._in_string = self._escaped = False

    def cut(self, block: bytes) -> Iterator[bytes]:
        """Yield the objects that end in a block; ``LongLine`` for one that is too long, the last if none may be skipped."""
        at = self._between(block, 0)
        while at < len(block):
            begin, at = at, self._inside(block, at)
            self._held += at - begin
            if self._held > self.limit.most:
                self._pieces.clear()
                self.stopped = not self.limit.skip
            else:
                self._pieces.append(block[begin:at])
            if self._depth and not self.stopped:
                return
            self.number += 1
            yield b"".join(self._pieces) if self._held <= self.limit.most else long_line(self._held)
            if self.stopped:
                return
            self._pieces, self._held = [], 0
            at = self._between(block, at)

    def _between(self, block: bytes, at: int) -> int:
        """Return where the next object goes on, or begins; or the end of the block."""
        while not self._depth and (at := _BLANK.match(block, at).end()) < len(block):  # type: ignore[union-attr]
            sign = block[at : at + 1]
            if sign not in self._due:
                raise self._unexpected(block[at : at + 60])
            self._due = self._after[sign]
            if sign == b"{":
                break
            at += 1
        return at

    def _inside(self, block: bytes, at: int) -> int:
        """Return where the object at hand ends, or the end of the block."""
        if self._in_string:
            found = _STRING_ENDS.match(block, at + self._escaped)
            assert found is not None
            self._in_string, self._escaped, at = found[1] is None, bool(found[2]), found.end()
        while not self._in_string:
            found = _BRACKETS.match(block, at)
            assert found is not None
            run, at = found[1], found.end()
            if run is None:
                self._in_string, self._escaped = found[2] is not None, bool(found[2])
                break
            if run[:1] in b"{[":
                self._depth += len(run)
            elif len(run) < self._depth:
                self._depth -= len(run)
            else:
                at += self._depth - len(run)
                self._depth = 0
                break
        return at

    def _unexpected(self, found: bytes) -> InputDataError:
        """The error for what is no object, or not where one can be."""
        shown = repr(found.decode("utf-8", "replace"))
        if not self._due:
            return InputDataError(f"the file must end after the array; found {shown}", self.name)
        if self._due[:1] == b"{" and found[:1] not in (b",", b"]", b"}"):
            return InputDataError(f"an object is expected; found {shown}", self.name, self.number + 1)
        what = {b"{": "an object", b"{]": "an object or ']'", b",]": "',' or ']'"}[self._due]
        return InputDataError(f"{what} is expected; found {shown}", self.name, self.number + 1)

    def end(self) -> None:
        """Raise InputDataError if the file ends inside an object or the array."""
        if self._depth:
            raise InputDataError("not valid JSON: the file ends inside the object", self.name, self.number + 1)
        if self.in_array and self._due:
            raise InputDataError("not valid JSON: the file ends inside the array", self.name, self.number + 1)


def _objects(split: Split, blocks: Iterator[bytes], in_array: bool) -> Iterator[list[bytes]]:
    """Yield the objects of a file, a list a block."""
    cutter = _Cutter(split, in_array)
    for number, block in enumerate(blocks):
        found: list[bytes] = []
        try:
            found += cutter.cut(block if number else block.removeprefix(BOM))
        finally:  # what came before it is read
            yield found
        if cutter.stopped:
            return
        del found  # a long one is not held while the next is read
    cutter.end()


class Json(JsonLines):
    """An array of objects, if the file begins with ``[``, or one after the other, mostly one on each line.

    Rows are numbered by object, from 1, or by line if the first line holds more than a brace.
    """

    name = "json"
    offsets = False

    def blocks(self, split: Split) -> Iterator[list[bytes]]:
        """Yield the objects of a file, a list a block; ``LongLine`` in place of one that is too long."""
        shape, blocks = _shape(read_blocks(split.place.path, noted=split.on_read))
        if shape == "lines":
            return lines_of(blocks, split.limit.most, split.limit.skip)
        return _objects(split, blocks, shape == "array")

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Judge (rows, bytes of text) by the size of the file and the objects at its beginning."""
        n_rows, n_bytes = super().expected(split, texts)
        head = next(read_blocks(split.place.path, _LOOKED_AT), b"")
        shape, blocks = _shape(iter([head]))
        if shape == "lines":
            return n_rows, n_bytes
        n_objects = 0
        with suppress(InputDataError):  # it may be cut anywhere
            for some in _objects(split, blocks, shape == "array"):
                n_objects += len(some)
        return int(n_bytes * max(1, n_objects) / len(head)), n_bytes

    def _lines_of(self, selection: Selection) -> Iterator[bytes]:
        split = selection.split
        if isinstance(split.form, JsonLines):
            return self._lines_as_they_are(selection, split.form.lines(split))
        return super()._lines_of(selection)

    def write(self, stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
        """Write an array; lines, or one object after the other, if all files that were read are like this."""
        forms = {_shape(read_blocks(s.split.place.path))[0] if s.split.form is self else "array" for s in selections}
        if forms in ({"lines"}, {"objects"}):
            super().write(stream, selections, provenance)
            return
        stream.write(b"[")
        begun = False
        for selection in selections:
            for line in self._lines_of(selection):
                stream.write(b",\n" if begun else b"\n")
                stream.write(line.removeprefix(BOM).strip())
                begun = True
                del line  # not held while the next is made
        stream.write(b"\n]\n" if begun else b"]\n")


FORMAT = Json()
