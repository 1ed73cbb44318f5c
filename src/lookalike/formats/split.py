"""What a job reads: splits of inputs, the columns it wants of them, and batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputDataError, LookalikeError, ParameterError
from ..files.names import Skipped, describe_skipped
from ..files.places import FoundFile
from ..files.streams import MOST, DamagedError, OnRead, read_lines, why
from ..files.urls import Url
from ..text.texts import Texts, from_arrow_array, from_strings, join_columns, no_texts, without
from ..values import Int64Array
from .rows import NumberedRows
from .rows import Record as Record

if TYPE_CHECKING:
    from .format import Format

Names = str | Sequence[str]
"""The column of the text or, of several, those whose texts make one."""

ROOM = 0.5  # of what a cap leaves beside the interpreter, for rows that are written: texts and tables may be held meanwhile


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that a job needs."""

    texts: Names = "text"
    id: str | None = None  # None: made from file and row
    others: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()  # names that rows must not have, as annotation adds columns of these
    encoding_errors: str = "strict"
    prefix: str = ""  # of the options that name the text and the id
    later: bool = False  # texts may be ``Later``

    @property
    def text(self) -> str:
        """The column that a format reads as the text; of several, the others are among ``others``."""
        names = names_of(self.texts)
        return "text" if "text" in names else names[-1]

    @property
    def parts(self) -> tuple[str, ...]:
        """The columns of texts, if there are several: a row may lack some of them, but not all."""
        names = names_of(self.texts)
        return names if len(names) > 1 else ()

    @property
    def wanted(self) -> list[str]:
        """The names of the columns that must be there, the text first; a name may come twice."""
        return [self.text, *([self.id] if self.id is not None else []), *self.others]


@dataclass(frozen=True, slots=True)
class Limit:
    """How large a document may be."""

    most: int = MOST  # bytes of its text and, in formats of lines, of its line or record
    skip: bool = False  # larger ones are passed over; otherwise they are an error
    leave: bool = True  # so are those that a parser can make nothing of
    room: int = 1 << 60  # bytes that all columns of rows may take, beside what is small
    faults: bool = False  # rows, and files, that cannot be read are passed over, too
    tokens: int = 1 << 60  # words or other units that a text may have


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows in a row."""

    texts: Texts
    numbers: Int64Array  # as a user counts them
    ids: list[Any] | pa.Array | None = None
    others: dict[str, list[Any] | pa.Array] = field(default_factory=dict)
    skipped: NDArray[np.bool_] | None = None  # larger than the limit or unreadable, with empty text; None: no row is
    unreadable: dict[int, str] = field(default_factory=dict)  # why rows, from 0, cannot be read
    whole: NDArray[np.bool_] | None = None  # pages of which all text is taken for lack of main text; None: no row is

    def take(self, rows: Int64Array) -> Batch:
        """Return some of the rows, by their places."""

        def some(values: Any) -> Any:
            if isinstance(values, list):
                return [values[row] for row in rows.tolist()]
            return None if values is None else values.take(rows)

        places = rows.tolist() if self.unreadable else []
        why = {place: self.unreadable[row] for place, row in enumerate(places) if row in self.unreadable}
        others = {name: some(values) for name, values in self.others.items()}
        texts = from_arrow_array(self.texts.column().take(rows))
        return Batch(texts, some(self.numbers), some(self.ids), others, some(self.skipped), why, some(self.whole))


ON_ERROR = "; to leave out what cannot be read, pass --on-error skip (on_error='skip')"


class FinalError(InputDataError):
    """An error of a job, not of a file or row that could be left out: the memory is too small, or a file has changed."""


class ColumnError(InputDataError):
    """An error of a column that the first row lacks already: it can be left out, but the name of the column will be wrong."""


def _with_way_out(error: LookalikeError) -> LookalikeError:
    """Return an error that says what to do where nobody wants to stop at it."""
    if type(error) in (InputDataError, DamagedError) and not any(way in error.reason for way in ("on_error", "(query")):
        error.reason += ON_ERROR
    return error


def names_of(text: Names) -> tuple[str, ...]:
    """Return the columns that texts are in."""
    return (text,) if isinstance(text, str) else tuple(text)


def _partition(name: str, column: str) -> tuple[str | int | None, ...]:
    """Return what the innermost folder of a name says about a column, as Hive and Spark write it; nothing: ()."""
    for folder in reversed(name.split("/")[:-1]):
        key, equals, value = folder.partition("=")
        if equals and unquote(key) == column:
            text = unquote(value)
            whole = text.isdecimal() and text.isascii() and str(int(text)) == text if len(text) < 19 else False
            return (int(text) if whole else None if text == "__HIVE_DEFAULT_PARTITION__" else text,)
    return ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """Rows of one format, read together; they can be read again, to be written out as they were.

    It is a value and pickles, so that another process can read the same rows, unless its rows lie in memory or in a temporary
    copy of what can be read only once.
    """

    form: Format
    name: str  # for messages and ids
    relative: str  # the name in an output folder
    places: tuple[FoundFile, ...] = ()  # none if its rows are in memory
    named: bool = False  # though its rows are in memory: ids have the name, not the row alone
    data: Any = None  # rows that are in memory, or are saved sketches; of a file of Arrow, which batches
    limit: Limit = Limit()  # a format reads no more of a document
    groups: tuple[int, int] | None = None  # row groups, or files, the first and the one after the last; None: all
    on_read: OnRead = None  # told how many bytes are read, as they are on the disk
    threads: int = 1  # how many documents can be parsed at one time
    texts: Callable[[], Iterator[bytes]] | None = None  # of all rows, which were parsed before; None: they are parsed

    @property
    def format(self) -> str:
        """The name of the format."""
        return self.form.name

    @property
    def numbered_files(self) -> Iterator[tuple[int, FoundFile]]:
        """The files that are read, each with its number among all of the input; where rows are files."""
        return enumerate(self.places, 1 if self.groups is None else self.groups[0] + 1)

    def note_rows(self, n: int, of: int) -> None:
        """Tell who wants to know what part of the file is read: some rows of all."""
        if self.on_read is not None:
            self.on_read(self.place.size * n // max(1, of))

    def place_of(self, number: int) -> FoundFile:
        """Return the file of a number, from 1."""
        return self.places[number - 1 if self.groups is None else number - 1 - self.groups[0]]

    @property
    def place(self) -> FoundFile:
        """The file, where there is only one."""
        (place,) = self.places
        return place

    @property
    def remote_bytes(self) -> int:
        """Bytes of its files that are on stores."""
        return sum(place.size for place in self.places if isinstance(place.path, Url))

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the columns wanted, in batches of rows; a folder such as ``lang=de`` is a column of what is in it."""
        partitions: dict[str, list[Any]] = {}
        for name in () if self.form.has_partitions else columns.others:
            found = [_partition(place.name, name) for place in self.places]
            if found and all(found):
                partitions[name] = [value for one in found for value in one]
        if partitions:
            columns = replace(columns, others=tuple(name for name in columns.others if name not in partitions))
        for batch in self._passing_over(columns):
            if partitions:
                first = 1 if self.groups is None else self.groups[0] + 1
                of_files = batch.numbers - first if self.form.rows_are_files else np.zeros(len(batch.numbers), np.int64)
                given = {name: [values[place] for place in of_files.tolist()] for name, values in partitions.items()}
                batch = replace(batch, others=batch.others | given)
            yield self._limited(batch)
            del batch  # not held while the next is read

    def _passing_over(self, columns: Columns) -> Iterator[Batch]:
        """Read rows; where faults are passed over, what cannot be read is marked, and so is a row for an end that is not."""
        done, number = 0, 1 if self.places else 0
        try:
            for batch in self._read(columns):
                done, number = done + len(batch.numbers), int(batch.numbers[-1]) + 1 if len(batch.numbers) else number
                yield self._sound(batch, columns) if self.limit.faults else batch
                del batch  # not held while the next is read
        except FinalError:
            raise
        except (InputDataError, ParameterError) as error:
            if isinstance(error, ParameterError) and (self.form.has_columns or not self.limit.faults):
                raise
            if not self.limit.faults:
                raise _with_way_out(error) from None
            number = self.groups[0] + 1 + done if self.groups and self.form.rows_are_files else number
            left = len(self.places) - done if self.form.rows_are_files else 1
            yield unread(self, columns, number, left, error)

    def _sound(self, batch: Batch, columns: Columns) -> Batch:
        """Mark texts that are not valid UTF-8, where that is an error, and rows without an id."""
        wrong: dict[int, str] = {}
        begin, texts, n = 0, batch.texts, len(batch.texts)
        while columns.encoding_errors == "strict" and (found := texts.slice(begin, n).find_invalid()) is not None:
            begin += found[0] + 1
            wrong[begin - 1] = f"has invalid UTF-8 at byte {found[1]} of the text"
        ids = batch.ids
        if ids is not None and not isinstance(ids, list):
            ids = ids.to_pylist() if ids.null_count else None
        for row, given in enumerate(ids or ()):
            if not isinstance(given, str | int) or isinstance(given, bool) or given == "":
                wrong[row] = f"has no id: {given!r:.60}"
        skipped = np.zeros(n, np.bool_) if batch.skipped is None else batch.skipped.copy()
        wrong = {row: why for row, why in wrong.items() if not skipped[row]}
        if not wrong:
            return batch
        skipped[list(wrong)] = True
        if ids is not None:
            ids = [None if left else given for given, left in zip(ids, skipped.tolist(), strict=True)]
        return replace(
            batch, texts=without(texts, skipped), ids=ids or batch.ids, skipped=skipped, unreadable=batch.unreadable | wrong
        )

    def _read(self, columns: Columns) -> Iterator[Batch]:
        """Read rows whose texts are those of one column, or of several, joined by a blank line where they are not empty."""
        main, names = columns.text, columns.parts if self.form.has_columns else ()
        if not names:
            yield from self.form.read(self, replace(columns, texts=main))
            return
        others = tuple(dict.fromkeys([*columns.others, *(name for name in names if name != main)]))
        for batch in self.form.read(self, replace(columns, others=others, later=False)):
            wrong: dict[int, str] = {}
            parts = [batch.texts if name == main else self._part(name, batch, columns, wrong) for name in names]
            texts, skipped = join_columns(parts, "\n\n"), mask_of(len(batch.texts), wrong)
            if batch.skipped is not None:
                skipped = batch.skipped if skipped is None else batch.skipped | skipped
            texts = texts if skipped is None else without(texts, skipped)
            yield replace(batch, texts=texts, skipped=skipped, unreadable=batch.unreadable | wrong)
            del batch, parts, texts  # not held while the next is read

    def _part(self, name: str, batch: Batch, columns: Columns, wrong: dict[int, str]) -> Texts:
        """Return the texts of another column than the one that is read as the text."""
        values = batch.others[name]
        if isinstance(values, pa.Array):
            try:
                return from_arrow_array(values)
            except InputDataError as error:
                raise ColumnError(error, self.name, column=name) from None
        for row, value in enumerate(values):
            if not isinstance(value, str | None):
                odd = no_text(self.name, int(batch.numbers[row]), name, value)
                if not self.limit.faults:
                    raise odd
                wrong[row] = reason_of(self, odd)
        if wrong:
            values = [None if row in wrong else value for row, value in enumerate(values)]
        return from_strings(values, int(batch.numbers[0]) if len(values) else 0, columns.encoding_errors)

    def _limited(self, batch: Batch) -> Batch:
        """Refuse texts that are larger than the limit, or leave them out."""
        sizes = np.diff(batch.texts.offsets)
        if not len(sizes) or sizes.max() <= self.limit.most:
            return batch
        large = sizes > self.limit.most
        if not self.limit.skip:
            row = int(np.argmax(large))
            raise self.too_large(int(sizes[row]), row=int(batch.numbers[row]))
        skipped = large if batch.skipped is None else large | batch.skipped
        return replace(batch, texts=without(batch.texts, large), skipped=skipped)

    def lines(self) -> Iterator[list[bytes]]:
        """Read the lines of the file, a list a block, each with its line feed (the last may lack it)."""
        number = 0
        for lines in read_lines(self.place.path, self.limit.most, noted=self.on_read):
            if not lines[-1]:
                raise self.too_large(line=number + len(lines))
            yield lines
            number += len(lines)

    def too_large(self, n_bytes: int | None = None, row: int | None = None, line: int | None = None) -> InputDataError:
        """The error for a document that is larger than the limit; ``n_bytes``: None if it was not read to its end."""
        size = (
            f"has {n_bytes:,} bytes, more than the {self.limit.most:,}"
            if n_bytes
            else f"has more than the {self.limit.most:,} bytes"
        )
        return FinalError(
            f"the document {size} that one may have; raise --memory (memory=), of which it can be a tenth, and "
            "--max-document (max_document=), if given; or leave it out: --max-document BYTES (max_document=) "
            "and --on-error skip (on_error='skip')",
            self.name,
            row,
            line=line,
        )

    def records(self, encoding_errors: str = "strict") -> NumberedRows:
        """Read all rows again, whole: the number of each and a dictionary."""
        self.check_unchanged()
        yield from self.form.rows(self, encoding_errors)

    def label(self, number: int) -> Any:
        """Return the default id of the row of a number."""
        return self.form.label(self, number)

    def file(self, number: int) -> str | None:
        """Return the file that the row of a number comes from, or None if it was in memory."""
        return self.form.file(self, number)

    def identity(self) -> Record:
        """Return what tells this input from another: name, size, time of change."""
        return self.form.identity(self)

    def expected(self, text: Names) -> tuple[int, int]:
        """Return about how many rows, and how many bytes in the column of that name, there will be."""
        try:
            return self.form.expected(self, names_of(text))
        except InputDataError as error:
            if not self.limit.faults:
                raise _with_way_out(error) from None
            return 0, 0

    def pieces(self, n_bytes: int) -> Pieces:
        """Return this input cut into pieces of about so many bytes on the disk, each with the number of its first row."""
        if self.limit.faults and not self.form.recovers:  # in which piece the end is, reading tells
            return [(0, self)]
        return self.form.pieces(self, n_bytes)

    def check_free(self, names: Sequence[str]) -> None:
        """Raise InputDataError if a column of one of these names, which annotation would add, is there already."""
        try:
            self.form.check_free(self, names)
        except FinalError:
            raise
        except InputDataError:
            if not self.limit.faults:
                raise

    def check_unchanged(self) -> None:
        """Raise InputDataError if a file is known to have changed since it was first met."""
        for place in self.places:
            try:
                status = place.path.stat()
            except OSError as error:
                raise FinalError(f"cannot be read: {why(error)}", place.name) from None
            if status.st_size != place.size or (place.spool is None and status.st_mtime_ns != place.modified_ns):
                raise FinalError("the file changed during the run; run again", place.name)


Pieces = list[tuple[int, Split]]
"""Parts of an input that can be read apart, each with its first row, from 0."""


def mask_of(n: int, rows: Collection[int]) -> NDArray[np.bool_] | None:
    """Return a mask of ``n`` rows that marks some; None if it marks none."""
    if not rows:
        return None
    mask = np.zeros(n, np.bool_)
    mask[list(rows)] = True
    return mask


def unread(split: Split, columns: Columns, number: int, n: int, error: LookalikeError) -> Batch:
    """Return rows, numbered from ``number``, that are left out because of an error."""
    none: list[Any] = [None] * n
    return Batch(
        no_texts(n), numbers_from(number, n), None if columns.id is None else none, dict.fromkeys(columns.others, none),
        np.ones(n, np.bool_), dict.fromkeys(range(n), reason_of(split, error, number)),
    )  # fmt: skip


def reason_of(split: Split, error: LookalikeError, number: int | None = None) -> str:
    """Return an error as what follows the name of a row, its own or one of a number."""
    path, said = None if error.path == split.name else error.path, error.reason.removesuffix(ON_ERROR)
    row = None if number in (None, error.row) else error.row
    return f"cannot be read: {LookalikeError(said, path, row, line=error.line, column=error.column)}"


def missing_column(
    split: Split, row: int | None, kind: str, name: str, found: Sequence[str], columns: Columns, way_out: str = ""
) -> InputDataError:
    """The error for a column that a file does not have; one of several files may be left out."""
    for option, given in (("text", names_of(columns.texts)), ("id", (columns.id,))):
        if name in given and not way_out:
            option = columns.prefix + option
            way_out = f"; name another with --{option} ({option.replace('-', '_')}=)"
    if any(place.found for place in split.places):
        way_out += "; or leave the file out: --exclude PATTERN (exclude=)"
    said = f"{kind} {name!r} is missing; {kind}s found: {', '.join(found) or 'none'}{way_out}"
    return _of_column(said, split.name, row, name)


def no_text(source: str, row: int, name: str, found: object, why: object = "") -> InputDataError:
    """The error for a value that is no text."""
    return _of_column(f"field {name!r} must be a string or null; found {found!r:.60}{why}", source, row, name)


def _of_column(said: str, source: str, row: int | None, name: str) -> InputDataError:
    return (InputDataError if row is not None and row > 1 else ColumnError)(said, source, row, column=name)


class Parts:
    """Checks that each row has one of the columns that make its text, and that of these none is in no row."""

    def __init__(self, split: Split, columns: Columns) -> None:
        self._split, self._columns, self._names = split, columns, columns.parts
        self._never = set(self._names)

    def check(self, missing: Container[str], number: int, found: Callable[[], Sequence[str]]) -> None:
        """Check a row that lacks some columns; ``found`` names those that it has."""
        there = [name for name in self._names if name not in missing]
        if self._names and not there:
            raise self._error(number, self._names[0], found())
        self._never.difference_update(there)
        self._found = found

    def end(self) -> None:
        """Check what all rows had."""
        for name in self._names:
            if name in self._never and len(self._never) < len(self._names):
                raise self._error(None, name, self._found())

    def _error(self, row: int | None, name: str, found: Sequence[str]) -> InputDataError:
        return missing_column(self._split, row, "field", name, found, self._columns)


def reserved_column(source: str, row: int | None, kind: str, name: str) -> InputDataError:
    """The error for a column that annotation would write a second time."""
    return FinalError(
        f"the {kind} {name!r} already exists, and writing would add another with --annotate (annotate=), "
        "--counts (counts=) or --removed (removed=): rename it, or leave that out",
        source,
        row,
        column=name,
    )


def check_free(source: str, row: int | None, kind: str, found: Container[str], names: Sequence[str]) -> None:
    """Raise InputDataError if one of the names that annotation would add is there."""
    for name in names:
        if name in found:
            raise reserved_column(source, row, kind, name)


def numbers_from(first: int, count: int) -> Int64Array:
    """Row numbers ``first``, ``first + 1``, ..."""
    return np.arange(first, first + count, dtype=np.int64)


class Inputs(list[Split]):
    """Sources, and what was left out."""

    def __init__(self, sources: Iterable[Split] = (), skipped: Skipped | None = None) -> None:
        super().__init__(sources)
        self.skipped = skipped or Skipped()


def unread_files(inputs: Sequence[Split]) -> Sequence[str]:
    """Return the errors of files that could not be opened."""
    return inputs.skipped.errors if isinstance(inputs, Inputs) else ()


def note_skipped(skipped: dict[str, Any]) -> None:
    """Log which files of folders and globs were not read, where there are any."""
    import logging  # here, for what is not needed to start

    if skipped["files"]:
        logging.getLogger("lookalike").info(f"files not read: {describe_skipped(skipped)}")


def skipped_in(*inputs: Any) -> dict[str, Any]:
    """Return what was left out of several inputs, as a dictionary."""
    together = Skipped()
    for some in inputs:
        if isinstance(some, Inputs):
            together.update(some.skipped)
    return together.to_dict()
