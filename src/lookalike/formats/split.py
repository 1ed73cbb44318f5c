"""What a job reads: splits of inputs, the columns it wants of them, and batches of rows."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import InputDataError
from ..files.names import Skipped
from ..files.places import Place
from ..files.streams import MOST, Noted, read_lines, why
from ..files.urls import Url
from ..text.texts import Texts, without
from ..values import Int64Array
from .rows import Record as Record

if TYPE_CHECKING:
    from .format import Format

ROOM = 0.5  # of what a cap leaves beside the interpreter, for rows that are written: texts and tables may be held meanwhile


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that a job needs."""

    text: str = "text"
    id: str | None = None  # None: made from file and row
    others: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()  # names that rows must not have, as annotation adds columns of these
    encoding_errors: str = "strict"
    prefix: str = ""  # of the options that name the text and the id
    later: bool = False  # texts may be ``Later``

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
    places: tuple[Place, ...] = ()  # none if its rows are in memory
    named: bool = False  # though its rows are in memory: ids have the name, not the row alone
    data: Any = None  # rows that are in memory
    limit: Limit = Limit()  # a format reads no more of a document
    groups: tuple[int, int] | None = None  # row groups, or files, the first and the one after the last; None: all
    noted: Noted = None  # told how many bytes are read, as they are on the disk
    threads: int = 1  # how many documents can be parsed at one time

    @property
    def format(self) -> str:
        """The name of the format."""
        return self.form.name

    @property
    def numbered(self) -> Iterator[tuple[int, Place]]:
        """The files that are read, each with its number among all of the input; where rows are files."""
        return enumerate(self.places, 1 if self.groups is None else self.groups[0] + 1)

    def place_of(self, number: int) -> Place:
        """Return the file of a number, from 1."""
        return self.places[number - 1 if self.groups is None else number - 1 - self.groups[0]]

    @property
    def place(self) -> Place:
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
        for batch in self.form.read(self, columns):
            if partitions:
                first = 1 if self.groups is None else self.groups[0] + 1
                of_files = batch.numbers - first if self.form.rows_are_files else np.zeros(len(batch.numbers), np.int64)
                given = {name: [values[place] for place in of_files.tolist()] for name, values in partitions.items()}
                batch = replace(batch, others=batch.others | given)
            yield self._limited(batch)
            del batch  # not held while the next is read

    def _limited(self, batch: Batch) -> Batch:
        """Refuse texts that are larger than the limit, or leave them out."""
        sizes = np.diff(batch.texts.offsets)
        if not len(sizes) or sizes.max() <= self.limit.most:
            return batch
        large = sizes > self.limit.most
        if not self.limit.skip:
            row = int(np.argmax(large))
            raise self.too_large(f"row {batch.numbers[row]}", int(sizes[row]))
        skipped = large if batch.skipped is None else large | batch.skipped
        return replace(batch, texts=without(batch.texts, large), skipped=skipped)

    def lines(self) -> Iterator[list[bytes]]:
        """Read the lines of the file, a list a block, each with its line feed (the last may lack it)."""
        number = 0
        for lines in read_lines(self.place.path, self.limit.most, noted=self.noted):
            if not lines[-1]:
                raise self.too_large(f"line {number + len(lines)}")
            yield lines
            number += len(lines)

    def too_large(self, row: str, n_bytes: int | None = None) -> InputDataError:
        """The error for a document that is larger than the limit; ``n_bytes``: None if it was not read to its end."""
        size = (
            f"has {n_bytes:,} bytes, more than the {self.limit.most:,}"
            if n_bytes
            else f"has more than the {self.limit.most:,} bytes"
        )
        return InputDataError(
            f"{self.name}, {row}: the document {size} that one may have; raise --memory (memory=), of which it can be a "
            "tenth, and --max-document (max_document=), if given; or leave it out: --max-document BYTES (max_document=) "
            "and --on-error skip (on_error='skip')"
        )

    def records(self, encoding_errors: str = "strict") -> Iterator[tuple[int, Record]]:
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

    def expected(self, text: str) -> tuple[int, int]:
        """Return about how many rows, and how many bytes in the column of that name, there will be."""
        return self.form.expected(self, text)

    def pieces(self, n_bytes: int) -> list[tuple[int, Split]]:
        """Return this input cut into pieces of about so many bytes on the disk, each with the number of its first row."""
        return self.form.pieces(self, n_bytes)

    def check_free(self, names: Sequence[str]) -> None:
        """Raise InputDataError if a column of one of these names, which annotation would add, is there already."""
        self.form.check_free(self, names)

    def check_unchanged(self) -> None:
        """Raise InputDataError if a file is known to have changed since it was first met."""
        for place in self.places:
            try:
                status = place.path.stat()
            except OSError as error:
                raise InputDataError(f"{place.name}: cannot be read: {why(error)}") from None
            if status.st_size != place.size or (place.spool is None and status.st_mtime_ns != place.modified_ns):
                raise InputDataError(f"{place.name}: the file changed during the run; run again")


def marked(n: int, rows: Sequence[int]) -> NDArray[np.bool_] | None:
    """Return a mask of ``n`` rows that marks some; None if it marks none."""
    if not rows:
        return None
    mask = np.zeros(n, np.bool_)
    mask[rows] = True
    return mask


def missing_column(
    split: Split, row: str, kind: str, name: str, found: Sequence[str], columns: Columns, way_out: str = ""
) -> InputDataError:
    """The error for a column that a file does not have; one of several files may be left out."""
    for option, given in (("text", columns.text), ("id", columns.id)):
        if name == given and not way_out:
            option = columns.prefix + option
            way_out = f"; name another with --{option} ({option.replace('-', '_')}=)"
    if any(place.found for place in split.places):
        way_out += "; or leave the file out: --exclude PATTERN (exclude=)"
    said = f"{split.name}, {row}: {kind} {name!r} is missing; {kind}s found: {', '.join(found) or 'none'}"
    return InputDataError(said + way_out)


def reserved_column(source: str, row: str, kind: str, name: str) -> InputDataError:
    """The error for a column that annotation would write a second time."""
    return InputDataError(
        f"{source}, {row}: the {kind} {name!r} is there already, and writing adds one of that name with "
        "--annotate (annotate=), --counts (counts=) or --removed (removed=): rename it, or leave that out"
    )


def check_free(source: str, row: str, kind: str, found: Container[str], names: Sequence[str]) -> None:
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


def skipped_in(*inputs: Any) -> dict[str, Any]:
    """Return what was left out of several inputs, as a dictionary."""
    together = Skipped()
    for some in inputs:
        if isinstance(some, Inputs):
            together.update(some.skipped)
    return together.to_dict()
