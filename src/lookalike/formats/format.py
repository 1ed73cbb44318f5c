"""What a format is: how its files are recognised, read and written; the rows that are to be written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import compress, islice, repeat
from typing import Any, BinaryIO, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputDataError, OutputError
from ..extraction import UnreadableError
from ..files.folder import UnfinishedFolder
from ..files.places import FoundFile
from ..files.streams import BLOCK, compression_of, read_blocks
from ..text.texts import from_strings
from .cuts import TextEdits
from .registry import format_named
from .rows import NumberedRows, Unread, has_value, names_in, value_at
from .split import (
    Batch,
    Columns,
    FinalError,
    Parts,
    Pieces,
    Record,
    Split,
    check_free,
    mask_of,
    missing_column,
    no_text,
    reason_of,
)

_RECORDS = 4096
_ADDED = 1 << 17  # rows whose additions are made at once: those may be drawn from all parts of a long job

Added = Callable[[int, int], pa.Table]
T = TypeVar("T")
_Row = tuple[int, Record, str]
"""The number of a row, its columns, and why they cannot be read, if so."""


class Selection:
    """The rows of one split that are to be written, what is added to them, and what is cut out of their texts.

    ``added`` makes an Arrow table of columns to append to rows, the first to the one before the last. ``encoding_errors`` says
    whether U+FFFD takes the place of invalid UTF-8 where a row is converted. ``left`` marks rows that were left out, which
    formats write nevertheless that ``keep_unread``.
    """

    def __init__(
        self, split: Split, mask: NDArray[np.bool_], added: Added | None = None, encoding_errors: str = "strict",
        cuts: TextEdits | None = None, left: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        self.split = split
        self.mask = mask
        self.added = added
        self.encoding_errors = encoding_errors
        self.cuts = cuts
        self.left = left

    @property
    def added_schema(self) -> pa.Schema:
        """The schema of what is added."""
        return pa.schema([]) if self.added is None else self.added(0, min(1, len(self.mask))).schema

    @property
    def last(self) -> int:
        """The number of rows up to the last one that is written: beyond it, nothing is read where faults are passed over."""
        return int(np.flatnonzero(self.mask)[-1]) + 1 if self.split.limit.faults and self.mask.any() else 0

    def within(self, rows: Iterable[T]) -> Iterable[T]:
        """Return the rows of the split up to the last that need be read."""
        return islice(rows, self.last) if self.split.limit.faults else rows

    def check_count(self, n_rows: int) -> None:
        """Raise InputDataError if the split has another number of rows than it had."""
        if n_rows != len(self.mask) and not (self.split.limit.faults and n_rows >= self.last):
            raise InputDataError(f"{len(self.mask)} rows were read at first, {n_rows} now; run again", self.split.name)

    def additions(self) -> Callable[[int, int], pa.Table]:
        """Return what gives the additions of some rows, which are made for many rows at once."""
        made: dict[int, pa.Table] = {}

        def some(first: int, last: int) -> pa.Table:
            assert self.added is not None
            parts: list[pa.Table] = []
            while first < last or not parts:
                begin = first // _ADDED * _ADDED
                if begin not in made:
                    made.clear()
                    made[begin] = self.added(begin, min(begin + _ADDED, len(self.mask)))
                end = min(last, begin + _ADDED)
                parts.append(made[begin].slice(first - begin, end - first))
                first = end
            return pa.concat_tables(parts)

        return some

    def _additions(self) -> Iterator[Record]:
        added = self.additions()
        for begin in range(0, len(self.mask), _RECORDS):
            yield from added(begin, min(begin + _RECORDS, len(self.mask))).to_pylist()

    def lines(
        self, raw_rows: Iterable[bytes], annotate: Callable[[bytes, Record], bytes],
        cut: Callable[[bytes, TextEdits, list[int]], bytes] | None = None,
    ) -> Iterator[bytes]:  # fmt: skip
        """Yield the selected ones of the rows' own bytes, texts cut by ``cut``, additions appended by ``annotate``."""
        self.split.check_unchanged()
        for line, added, ranges in self._selected(raw_rows):
            if self.cuts is not None and ranges:
                if cut is None:
                    raise OutputError("this format cannot leave out a part of a text; write .jsonl instead", self.split.name)
                line = cut(line, self.cuts, ranges)
            yield line if self.added is None else annotate(line, added)
            del line  # not held while the next is read

    def added_rows(self) -> Iterator[Record]:
        """Yield what is added to each of the selected rows, which are not read."""
        self.split.check_unchanged()
        yield from compress(self._additions(), self.mask.tolist())

    def records(self) -> NumberedRows:
        """Yield the rows as dictionaries, each with its number, texts cut, additions appended."""
        for (number, record), added, ranges in self._selected(self.split.records(self.encoding_errors)):
            if isinstance(record, Unread):
                raise record.error
            if isinstance(why := record.get("text"), UnreadableError):
                raise InputDataError(f"its text was read before, but now it {why}; run again", self.split.label(number))
            if self.cuts is not None and ranges:
                record = self.cuts.record(record, ranges)
            yield number, {**record, **added}
            del record  # not held while the next is read

    def _selected(self, rows: Iterable[T]) -> Iterator[tuple[T, Record, list[int] | None]]:
        """Yield the selected ones of all rows, each with what is added to it, and the ranges to cut."""
        additions = repeat(Record()) if self.added is None else self._additions()
        cuts = repeat(None) if self.cuts is None else self.cuts.of_rows(len(self.mask))
        count = 0
        for row in self.within(rows):  # ``enumerate`` would hold it while the next is made
            count += 1
            self.check_count(count) if count > len(self.mask) else None
            added, ranges = next(additions), next(cuts)
            if self.mask[count - 1]:
                yield row, added, ranges
            del row
        self.check_count(count)
        self.split.check_unchanged()


def write_lines(stream: BinaryIO, lines: Iterable[bytes], feed: bool = False) -> bool:
    """Write lines, a line feed first if one is missing (``feed``); return whether one is missing at the end."""
    for line in lines:
        if feed:
            stream.write(b"\n")
        stream.write(line)
        feed = not line.endswith(b"\n")
        del line  # not held while the next is made
    return feed


BATCH_ROWS = 4096
EXPANSION = 4  # of compressed lines, about


def unpacked_size(place: FoundFile) -> int:
    """Return about how many bytes a file has without its compression."""
    return place.size * (1 if compression_of(place.path) is None else EXPANSION)


def gather_batches(found: Iterable[tuple[T, int]], most: int = BATCH_ROWS) -> Iterator[list[T]]:
    """Yield what comes with its bytes in lists, up to so many or about a block; what comes before an error is yielded, too."""
    some: list[T] = []
    size = 0
    try:
        for one, n_bytes in found:
            some.append(one)
            size += n_bytes
            del one  # who has the list may clear it
            if len(some) == most or size > BLOCK:
                yield some
                some, size = [], 0
    except InputDataError:
        if some:
            yield some
        raise
    if some:
        yield some


class Format:
    """A file format. ``formats/NAME.py``, or an entry point ``NAME`` of "lookalike.formats", holds one as ``FORMAT``.

    A format must have ``name`` and ``rows``, and suffixes; with ``write`` it can be an output too. All else has a default,
    which a format replaces to be faster, or to keep the bytes of rows as they were. A format has no state: what it reads is in
    the split.
    """

    name: str
    suffixes: tuple[str, ...] = ()
    """In lower case, with the point, those that compress included: ".csv", ".csv.gz". Those of our own are in the registry."""

    kinds: tuple[str, ...] = ()
    """What files are by their first bytes, as ``files/signatures.py`` names it; none: texts."""

    row_bytes, text_share = 0, 1.0
    """About how many bytes of a file a row takes, and how much of it text is; 0: its beginning tells."""

    output_format: str | None = None
    """The format that a split becomes in an output folder; None: its own."""

    own_id: str | None = None
    """The column of ids, where rows have one whatever they are; None: the user names one, or none."""

    rows_are_files = False
    """A file is a row: the files of an input make one split, ids are their names, and no output file can hold several."""

    has_partitions = False
    """Columns of folders such as ``lang=de`` are columns of the input itself, which has their values and types."""

    has_columns = True
    """Rows have columns beside the text."""

    untyped = False
    """All values are text, so that a number is known by its looks alone."""

    counts_rows = False
    """How many rows there will be (``expected``) is known, not judged by the beginning of the file."""

    compressible = True
    """The suffix of a name may say that the file is compressed as a whole."""

    can_edit_text = True
    """Rows can be written in this format, or in that of ``output_format``, without a part of their text."""

    recovers = False
    """After what is damaged, the rest is read, with the numbers that its rows have."""

    parsed = False
    """Text comes out of a parser, at a cost, which a file can defeat: it is left out then, unless errors stop the job."""

    keep_unread = False
    """What cannot be read stays where it is in an output folder: it is a part of a larger file."""

    extra, package = "", ""
    """The extra that the format needs, and the package that this brings; empty: none."""

    sign = ""
    """How what is read is known where no suffix tells."""

    holds_provenance = False
    """A file says itself how it was made; otherwise a file beside it does."""

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle by name."""
        return format_named, (self.name,)

    @property
    def missing_extra(self) -> str:
        """How to install what the format needs and is not there; empty: all is."""
        with suppress(ModuleNotFoundError):
            if not self.package or find_spec(self.package) is not None:
                return ""
        return f"pip install 'lookalike[{self.extra}]'"

    def sniff(self, head: bytes) -> bool:
        """Tell by its first bytes whether a file that a folder or glob led to is one; asked where a file is a text."""
        return True

    def delimited(self, delimiter: str) -> Format:
        """Return the format whose fields a character separates that a user names; where nothing does, the same."""
        return self

    def queried(self, query: str) -> Format:
        """Return the format of the rows that a query gives; where nothing can be queried, the same."""
        return self

    def with_boilerplate(self) -> Format:
        """Return the format that keeps menus and the like of web pages; where there are none, the same."""
        return self

    def detailed(self, detail: str) -> Format:
        """Return the format that a name means with a detail after a colon."""
        return self.delimited(detail).queried(detail)

    def splits(self, places: Sequence[FoundFile]) -> list[Split]:
        """Return what files are read as: a split each, or all in one."""
        return [Split(form=self, name=place.name, relative=place.relative, places=(place,)) for place in places]

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        """Yield the number of each row, as a user counts it, and a dictionary of all its columns.

        Raises
        ------
        InputDataError
            If the file cannot be read, or is invalid UTF-8 and ``encoding_errors`` is "strict"; the message names file and row.
        """
        raise NotImplementedError

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Yield batches of the columns wanted.

        Raises
        ------
        InputDataError
            As ``rows``; also if a column is missing, or is reserved.
        """
        parts, text, wanted = Parts(split, columns), columns.text, columns.wanted

        def checked() -> Iterator[tuple[_Row, int]]:
            for number, row in self.rows(split, columns.encoding_errors):
                why = ""
                try:
                    row = _checked_row(split, number, row, columns, parts, text, wanted)
                except InputDataError as error:
                    if not split.limit.faults or isinstance(error, FinalError):
                        raise
                    why, row = reason_of(split, error), dict.fromkeys(wanted)
                yield (number, row, why), len(value_at(row, text) or "")
                del row  # not held while the next is read

        for rows in gather_batches(checked()):
            yield _batch(rows, columns)
        parts.end()

    def write(self, stream: BinaryIO, selections: Sequence[Selection], provenance: Record) -> None:
        """Write the selected rows of several splits, of any formats, into one stream, additions appended.

        Raises
        ------
        InputDataError, OutputError
            If rows cannot be written in this format.
        """
        raise OutputError(f"files of the format {self.name} cannot be written; write .jsonl instead")

    def write_kept_file(self, folder: UnfinishedFolder, selection: Selection, provenance: Record) -> None:
        """Write the selected rows of one split of this format into an output folder."""
        form = format_named(self.output_format or self.name)
        (name,) = self.names_in_folder(selection.split)
        with folder.file(name, compress=form.compressible) as stream:
            form.write(stream, [selection], provenance)

    def names_in_folder(self, split: Split) -> list[str]:
        """Return the names of the files that a split becomes in an output folder."""
        return [split.relative if self.output_format is None else f"{split.relative}.{self.output_format}"]

    def pieces(self, split: Split, n_bytes: int) -> Pieces:
        """Return pieces of a split that can be read apart, each with its first row, from 0; by default there is one."""
        return [(0, split)]

    def label(self, split: Split, number: int) -> Any:
        """Return the default id of a row: ``file:row``."""
        return f"{split.name}:{number}"

    def file(self, split: Split, number: int) -> str | None:
        """Return the name of the file that a row comes from, or None if it was in memory."""
        return split.name

    def identity(self, split: Split) -> Record:
        """Return name, bytes and time of change, as they were when the file was first met."""
        place = split.place
        if place.spool is not None:
            return {"name": split.name, "bytes": place.size, "read_once": True}
        return {"name": split.name, "bytes": place.size, "modified_ns": place.modified_ns}

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Judge (rows, bytes of text) by the size of the file and, perhaps, its beginning."""
        size = unpacked_size(split.place)
        if self.row_bytes:
            return max(1, size // self.row_bytes), int(size * self.text_share)
        start = next(read_blocks(split.place.path, 1 << 16, kinds=self.kinds), b"")
        return int(size * max(1, start.count(b"\n")) / max(1, len(start))), size

    def text_columns(self, split: Split) -> list[str] | None:
        """Return the names of all columns if they are known without reading the rows and hold only text, else None."""
        return None

    def check_free(self, split: Split, names: Sequence[str]) -> None:
        """Raise InputDataError if a row has a column of one of these names."""
        for number, row in self.rows(split, "replace") if self.has_columns else ():
            check_free(split.name, number, "field", row, names)


def _batch(rows: list[_Row], columns: Columns) -> Batch:
    text = columns.text
    wrong = {place: why for place, (_, _, why) in enumerate(rows) if why}
    return Batch(
        from_strings([value_at(row, text) for _, row, _ in rows], rows[0][0], columns.encoding_errors),
        np.array([number for number, _, _ in rows], np.int64),
        None if columns.id is None else [value_at(row, columns.id) for _, row, _ in rows],
        {name: [value_at(row, name) for _, row, _ in rows] for name in columns.others},
        mask_of(len(rows), wrong),
        wrong,
    )


def _checked_row(
    split: Split, number: int, row: Record, columns: Columns, parts: Parts, text: str, wanted: Sequence[str]
) -> Record:
    """Return a row with all columns; raise InputDataError if it lacks one that it must have, has what is reserved, or its text
    is none."""
    if isinstance(row, Unread):
        raise row.error
    missing = [name for name in wanted if not has_value(row, name)]
    for name in missing:
        if name not in columns.parts:
            raise missing_column(split, number, "field", name, names_in(row), columns)
    parts.check(missing, number, partial(names_in, row))
    row = row | dict.fromkeys(missing) if missing else row
    check_free(split.name, number, "field", row, columns.reserved)
    if not isinstance(found := value_at(row, text), (str, type(None))):
        raise no_text(split.name, number, text, found)
    return row
