"""What documents are called, and the columns beside the text: ids, what the keep policy orders by, groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputDataError
from ..formats.rows import as_text, plain_values
from ..formats.split import Batch, Split
from ..text.texts import from_arrow_array
from ..values import Int64Array, UInt64Array
from ..values.arrow import nulled, strings, to_arrow, to_numpy
from ..values.cells import cell_keys
from ..values.tables import SOURCE_BITS

_STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def as_utf8(label: Any) -> str:
    """Return a file's name, or what is made from it, with the bytes that are not UTF-8 as escapes."""
    return str(label).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def default_ids(split: Split, numbers: Int64Array) -> list[str | int]:
    """Return the default ids of rows, as the values of a column."""
    labels = map(split.label, numbers.tolist())
    return [label if isinstance(label, int) else as_utf8(label) for label in labels]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The names of inputs, and what ids are."""

    splits: tuple[Split, ...]  # a position's input is the one of its number
    kind: pa.DataType  # int64 where all ids are integers, else strings

    @classmethod
    def of(cls, splits: Sequence[Split], named: bool, all_integers: bool) -> Labels:
        """Return the labels of a job whose ids come from a column (``named``), or are made from file and row."""
        if named:
            return cls(splits=tuple(splits), kind=pa.int64() if all_integers else pa.large_string())
        rows_only = bool(splits) and all(isinstance(split.label(1), int) for split in splits)
        return cls(splits=tuple(splits), kind=pa.int64() if rows_only else pa.string())

    def ids(self, positions: Int64Array, numbers: Int64Array, given: pa.Array | None = None) -> pa.Array:
        """Return the ids of some documents: as ``given``, or the default ones; null of a row whose integer was left out."""
        if given is not None:
            if self.kind != given.type == pa.large_string():
                given = nulled(given, ~to_numpy(pc.match_substring_regex(given, r"^-?\d+$"), False))
            return given.cast(self.kind)
        if self.kind == pa.int64():
            return to_arrow(numbers)
        return self._make_ids(positions, numbers, lambda split, number: as_utf8(split.label(number)))

    def files(self, positions: Int64Array, numbers: Int64Array) -> pa.Array:
        """Return the file that each document comes from, null for those from memory."""

        def file(split: Split, number: int) -> str | None:
            name = split.file(number)
            return None if name is None else as_utf8(name)

        return self._make_ids(positions, numbers, file)

    def _make_ids(self, positions: Int64Array, numbers: Int64Array, make: Callable[[Split, int], str | None]) -> pa.Array:
        sources = (positions >> SOURCE_BITS).tolist()
        return strings([make(self.splits[s], n) for s, n in zip(sources, numbers.tolist(), strict=True)])

    def without(self, missing: np.ndarray[Any, Any], make: Callable[..., pa.Array], *columns: Any) -> pa.Array:
        """Return what ``make`` makes of some rows of columns, null for the ``missing`` ones, which are not made."""
        there = ~missing
        if there.all():
            return make(*columns)
        some = [c.filter(to_arrow(there)) if isinstance(c, pa.Array) else None if c is None else c[there] for c in columns]
        made = make(*some)
        places = np.maximum(np.cumsum(there) - 1, 0)
        return made.take(to_arrow(places, missing))


def id_column(name: str, batch: Batch) -> list[pa.Array]:
    """Return the ids of a batch as text, and of each whether some of rows that are not left out are no integers."""
    ids = batch.ids
    assert ids is not None

    def wrong(place: int, what: str) -> InputDataError:
        return InputDataError(f"an id must be a str or an int; {what}", name, batch.numbers[place])

    if isinstance(ids, list):
        texts = []
        for place, value in enumerate(ids):
            if value is None:
                raise wrong(place, "this one is null")
            if not isinstance(value, (str, int)) or isinstance(value, bool):
                raise wrong(place, f"this one is {value!r:.60}, of type {type(value).__name__}")
            texts.append(str(value))
            check_surrogates(texts[-1], name, batch.numbers[place], "an id must be text: this one")
        there = ids if batch.skipped is None else compress(ids, ~batch.skipped)
        n_texts = sum(not isinstance(value, int) or not -(1 << 63) <= value < 1 << 63 for value in there)
        column = strings(texts, pa.large_string())
    else:
        if ids.null_count:
            raise InputDataError("the id is null", name, batch.numbers[pc.is_null(ids).index(True).as_py()])
        if pa.types.is_dictionary(ids.type):
            ids = ids.dictionary_decode()
        whole = pa.types.is_integer(ids.type)
        if not whole and not any(is_kind(ids.type) for is_kind in _STRINGS):
            raise wrong(0, f"the column holds {ids.type}")
        n_texts = 0 if whole and ids.type != pa.uint64() else len(ids)
        column = ids.cast(pa.large_string())
    found = from_arrow_array(column)
    sizes = np.diff(found.offsets)
    invalid = found.find_invalid()
    if invalid is not None:
        raise wrong(invalid[0], f"this one is not valid UTF-8: {found.row(invalid[0])!r:.60}")
    if not sizes.all():
        raise wrong(int(np.argmin(sizes)), "this one is empty")
    return [column, to_arrow(np.full(len(column), n_texts > 0))]


def column_keys(source: Split, batch: Batch, column: str) -> list[bytes]:
    """Return the key of each value of a column: see ``cell_keys``."""
    try:
        return cell_keys(batch.others[column], untyped=source.form.untyped)
    except InputDataError as error:
        raise InputDataError(error, source.name, column=column) from None


def document_keys(columns: Sequence[list[bytes]]) -> list[bytes]:
    """Return, of the keys of some columns, what tells documents apart by all of them; no bytes where one is a null."""
    if len(columns) == 1:
        return columns[0]
    rows = zip(*columns, strict=True)
    return [b"".join(len(key).to_bytes(8) + key for key in row) if all(row) else b"" for row in rows]


def column_texts(source: Split, batch: Batch, column: str) -> pa.Array:
    """Return the values of a column as text; null is the empty text, as tables on the disk have no null texts."""
    values = batch.others[column]
    if isinstance(values, pa.Array):
        if any(is_kind(values.type) for is_kind in _STRINGS):
            return pc.fill_null(values.cast(pa.large_string()), "")
        values = plain_values(values, source.name, column, int(batch.numbers[0]) if len(batch.numbers) else 0)
    texts = ["" if value is None else as_text(value) for value in values]
    for number, text in zip(batch.numbers, texts, strict=True):
        check_surrogates(text, source.name, number, f"field {column!r}")
    return strings(texts, pa.large_string())


def check_surrogates(text: str, name: str, row: int, what: str) -> None:
    """Refuse a text that has no bytes."""
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise InputDataError(f"{what} holds a lone surrogate: {text!r:.60}", name, row)


def group_codes(keys: list[bytes]) -> UInt64Array:
    """Return what tells groups apart, words of shape (n, 5): one that enters sketches, and 256 bits that nobody can make equal.

    These are the first 64 bits of a key's BLAKE2b of 128 bits, and that of 256 bits: two keys of one code take 2^128 attempts.
    """
    from hashlib import blake2b  # here, for what is not needed to start

    known = {key: blake2b(key, digest_size=16).digest()[:8] + blake2b(key, digest_size=32).digest() for key in set(keys)}
    return np.frombuffer(b"".join(known[key] for key in keys), "<u8").reshape(-1, 5).astype(np.uint64)


def apart_codes(keys: list[bytes]) -> UInt64Array:
    """Return ``group_codes`` of what documents are compared across; zeros are no value, which differs from every other."""
    codes = group_codes(keys)
    codes[[not key for key in keys]] = 0
    return codes
