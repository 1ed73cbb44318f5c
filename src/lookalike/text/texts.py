"""Texts as the compiled loops read them: one buffer of UTF-8 bytes and the offsets of the rows in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import find_invalid, gather_rows
from ..errors import EncodingError, InputDataError
from ..values import Int64Array
from ..values.arrow import strings as as_column
from ..values.arrow import without_views

CHUNK_ROWS, CHUNK_CHARACTERS = 4096, 1 << 20
MANY = 1 << 20
PIECE_BYTES = 4 << 20
_made = 0  # texts, of Python strings, by this process


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Some texts: row i is ``data[offsets[i]:offsets[i + 1]]``."""

    data: NDArray[np.uint8]
    offsets: Int64Array

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.offsets) - 1

    @property
    def n_bytes(self) -> int:
        """Bytes of UTF-8 in all rows."""
        return int(self.offsets[-1] - self.offsets[0])

    @property
    def content(self) -> NDArray[np.uint8]:
        """The bytes of all rows, one after the other."""
        return self.data[self.offsets[0] : self.offsets[-1]]

    @property
    def longest(self) -> int:
        """Bytes of the longest text."""
        return int((self.offsets[1:] - self.offsets[:-1]).max(initial=0))

    def row(self, row: int) -> bytes:
        """Return the bytes of one text."""
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def column(self) -> pa.Array:
        """Return them as an Arrow column, without copying."""
        buffers = [None, pa.py_buffer(np.ascontiguousarray(self.offsets)), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)

    def cut(self, n_bytes: int = PIECE_BYTES) -> Iterator[tuple[int, int]]:
        """Yield the bounds of pieces of at most so many bytes, or of one text that is longer."""
        begin = 0
        while begin < len(self):
            end = int(np.searchsorted(self.offsets, self.offsets[begin] + n_bytes, side="right")) - 1
            end = min(max(end, begin + 1), len(self))
            yield begin, end
            begin = end

    def slice(self, begin: int, end: int) -> Texts:
        """Return some texts in a row, without copying."""
        return Texts(self.data, self.offsets[begin : end + 1])

    def take(self, rows: Int64Array) -> Texts:
        """Copy some rows together; a row below 0 is empty."""
        return take_rows([self], np.zeros(len(rows), np.int64), rows)

    def find_invalid(self) -> tuple[int, int] | None:
        """Return (row, byte offset in it) of the first byte that is not valid UTF-8, or None."""
        row, offset = find_invalid(self.data, self.offsets)
        return None if row < 0 else (row, offset)

    def check(self) -> None:
        """Raise EncodingError if a text is not valid UTF-8."""
        invalid = self.find_invalid()
        if invalid is not None:
            raise EncodingError(*invalid)


@dataclass(frozen=True, slots=True, eq=False)
class Later(Texts):
    """Texts that ``make`` makes where they are needed, in another thread perhaps; till then each is empty."""

    make: Callable[[], Texts]

    @classmethod
    def of(cls, n: int, make: Callable[[], Texts]) -> Later:
        """Return so many texts that are not made yet."""
        return cls(np.zeros(0, np.uint8), np.zeros(n + 1, np.int64), make)


_WORDY = np.array([byte > 127 or chr(byte).isalnum() for byte in range(256)])
_WRITTEN_CLOSE = np.array([byte in {0xE1, *range(0xE3, 0xEA)} for byte in range(256)])  # without spaces


def most_tokens(text: NDArray[np.uint8], unit: str) -> int:
    """Return how many words or other units a text has at most."""
    n = 1
    for begin in range(0, len(text), PIECE_BYTES):
        some = text[max(0, begin - 1) : begin + PIECE_BYTES]
        before, own = some[:-1], some[1:]
        if unit == "word":
            close = _WRITTEN_CLOSE[own] | (before == 0xE0) & (own >= 0xB8) | (before == 0xF0) & (own != 0x9F)  # not emoji
            n += int(np.count_nonzero(_WORDY[own] & ~_WORDY[before] | close))
        else:
            n += int(np.count_nonzero(own == 10 if unit == "line" else (own & 0xC0) != 0x80))
    return len(text) if unit == "byte" else n


def no_texts(n: int) -> Texts:
    """Return so many empty texts."""
    return Texts(np.empty(0, np.uint8), np.zeros(n + 1, np.int64))


def take_rows(parts: Sequence[Texts], part: Int64Array, rows: Int64Array) -> Texts:
    """Copy texts together: of each, its part and its row in this; a row below 0 is empty."""
    return Texts(*gather_rows([texts.data for texts in parts], [texts.offsets for texts in parts], part, rows))


def concatenate(parts: Sequence[Texts]) -> Texts:
    """Return all rows of several texts as one buffer."""
    if len(parts) == 1:
        return parts[0]
    sizes = np.concatenate([np.diff(part.offsets) for part in parts] or [np.zeros(0, np.int64)])
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    data = [part.content for part in parts]
    return Texts(np.concatenate(data) if data else np.zeros(0, np.uint8), offsets)


def join_columns(columns: Sequence[Texts], between: str) -> Texts:
    """Return texts that are made of one of each column, those that are not empty."""
    import pyarrow.compute as pc  # here, for what is not needed to start

    separator = pa.scalar(between.encode(), pa.large_binary())
    made: Any = None
    for texts in columns:
        more = texts.column()
        if made is not None:
            both = pc.binary_join_element_wise(made, more, separator)
            first = pc.if_else(pc.equal(pc.binary_length(more), 0), made, both)
            more = pc.if_else(pc.equal(pc.binary_length(made), 0), more, first)
        made = more
    return from_arrow_array(made)


def without(texts: Texts, emptied: NDArray[np.bool_]) -> Texts:
    """Return the same texts, copied together, but none of those marked, which are empty."""
    sizes = np.where(emptied, 0, np.diff(texts.offsets))
    data = [texts.data[texts.offsets[row] : texts.offsets[row + 1]] for row in np.flatnonzero(~emptied).tolist()]
    return Texts(np.concatenate([np.zeros(0, np.uint8), *data]), np.concatenate([[0], np.cumsum(sizes)]))


def from_arrow_array(array: pa.Array) -> Texts:
    """Read one Arrow string or binary array without copying its bytes; null counts as empty."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array, kind = array.dictionary_decode(), kind.value_type
    if pa.types.is_null(kind):
        return Texts(np.zeros(0, np.uint8), np.zeros(len(array) + 1, np.int64))
    if not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    ):
        raise InputDataError(f"texts must be strings; the column holds {kind}")
    if pa.types.is_string_view(kind):
        array = array.cast(pa.large_string())
    if array.null_count:
        array = array.fill_null(as_column([""], array.type)[0])
    wide = "large" in str(array.type)
    _, offsets, data = array.buffers()
    if offsets is None or len(array) == 0:
        return Texts(np.zeros(0, np.uint8), np.zeros(len(array) + 1, np.int64))
    bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
    content = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return Texts(content, bounds.astype(np.int64, copy=False))


def _better_without_arrow(count: int) -> bool:
    """Tell whether ``count`` more texts are better made without Arrow: it is faster, but its first call loads pandas, where
    that is installed, which takes as long as a million texts do without."""
    global _made
    _made += count
    return _made < MANY and "pandas" not in sys.modules


def from_strings(strings: Iterable[Any], first_row: int = 0, encoding_errors: str = "strict") -> Texts:
    """Encode Python strings (or UTF-8 bytes, or None for an empty text)."""
    items = list(strings)
    spares_pandas = _better_without_arrow(len(items))
    if spares_pandas:
        with suppress(UnicodeEncodeError, TypeError):  # all of them are str, nearly always
            return from_bytes([*map(str.encode, items)])
    if not spares_pandas or not all(item is None or isinstance(item, (str, bytes, bytearray)) for item in items):
        with suppress(UnicodeEncodeError, pa.ArrowInvalid, pa.ArrowTypeError, TypeError):  # takes texts of more types, too
            return from_arrow_array(pa.array(items, pa.large_string()))
    encoded: list[bytes | bytearray] = []
    for row, item in enumerate(items, first_row):
        if item is None or isinstance(item, (bytes, bytearray)):
            encoded.append(item or b"")
        elif isinstance(item, str):
            try:
                encoded.append(item.encode("utf-8", "surrogatepass" if encoding_errors == "replace" else "strict"))
            except UnicodeEncodeError as error:
                raise InputDataError(
                    f"the text cannot be written as UTF-8 (a lone surrogate at character {error.start}); "
                    "pass --encoding-errors replace (encoding_errors='replace') to continue",
                    row=row,
                ) from None
        else:
            hint = "; pass rows as a table, pyarrow.Table.from_pylist(rows)" if isinstance(item, dict) else ""
            raise InputDataError(f"a text must be a str; this one is {type(item).__name__}: {item!r:.60}{hint}", row=row)
    return from_bytes(encoded)


def from_bytes(items: Sequence[bytes | bytearray]) -> Texts:
    """Put texts, encoded, one behind the other."""
    return Texts(
        np.frombuffer(b"".join(items), np.uint8),
        np.concatenate([[0], np.cumsum(np.fromiter(map(len, items), np.int64, len(items)))]),
    )


def as_arrow_columns(data: Any) -> pa.ChunkedArray | None:
    """Return the Arrow column behind an Arrow, pandas or polars column, or None if ``data`` is none of these. None too for
    pandas columns of Python objects that Arrow cannot hold: ``as_texts`` names the first of them."""
    if isinstance(data, pa.ChunkedArray):
        return without_views(data)
    if isinstance(data, pa.Array):
        return without_views(pa.chunked_array([data]))
    if type(data).__module__.startswith("pandas"):
        if getattr(data, "ndim", 1) != 1:
            raise InputDataError(f"texts must be a list of str or a column; got {type(data).__name__}: pass one of its columns")
        try:
            return without_views(pa.chunked_array([pa.array(data, from_pandas=True)]))
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
            return None
    try:
        if hasattr(data, "__arrow_c_stream__"):
            return without_views(pa.chunked_array(data))
        if hasattr(data, "__arrow_c_array__"):
            return without_views(pa.chunked_array([pa.array(data)]))
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise InputDataError(f"the column cannot be read as texts: {error}") from None
    return None


def as_items(data: Any, expected: str) -> list[Any] | tuple[Any, ...]:
    """Return a list, a tuple, a one-dimensional array, or whatever can be iterated over, as a list or tuple."""
    if isinstance(data, (list, tuple)):
        return data
    if isinstance(data, (str, bytes)):
        raise InputDataError(f"{expected}; got a single text: put it into a list")
    if isinstance(data, (set, frozenset)):
        raise InputDataError(f"{expected}; got a set, which has no order: pass sorted(texts), so that rows have numbers")
    if isinstance(data, np.ndarray) and data.ndim != 1:
        raise InputDataError(f"{expected}; got an array of shape {data.shape}: pass one of its columns")
    if isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise InputDataError(f"{expected}; got {type(data).__name__}")
    return data.tolist() if isinstance(data, np.ndarray) else list(data)


def as_texts(data: Any, encoding_errors: str = "strict") -> list[Texts]:
    """Read texts from a list of str or from an Arrow, pandas or polars column, in pieces, copying as little as possible. An
    iterator is read once."""
    column = None if isinstance(data, (list, tuple)) else as_arrow_columns(data)
    if column is not None:
        return [from_arrow_array(chunk) for chunk in column.chunks]
    items = as_items(data, "texts must be a list of str or a column")
    if hasattr(data, "isna"):  # pandas: missing values of any kind
        items = [None if missing else item for item, missing in zip(items, data.isna(), strict=True)]
    # Few at a time: what Arrow needs beside a column while it is made is as large as the column.
    lengths = [len(item) if isinstance(item, (str, bytes)) else 0 for item in items]
    if 0 < len(items) < CHUNK_ROWS and sum(lengths) < CHUNK_CHARACTERS:
        return [from_strings(items, 0, encoding_errors)]
    chunk = (np.cumsum(lengths) // CHUNK_CHARACTERS) + (np.arange(len(items)) // CHUNK_ROWS)
    bounds = [*np.flatnonzero(np.diff(chunk, prepend=-1)).tolist(), len(items)]
    return [from_strings(items[start:end], start, encoding_errors) for start, end in pairwise(bounds)]
