"""Reference documents as items: read once, hashed, with their other fields and the benchmark that each is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import EncodingError, InputDataError
from ..formats.split import Batch, Columns, Split
from ..inputs.ids import check_surrogates
from ..inputs.read import ReadOptions, check_left, documents_of, read_batches, tell_unreadable
from ..search.items import DistinctTexts, Items, Ragged
from ..text.hashes import KeyedHashes
from ..text.texts import Texts, from_strings
from ..values import Int64Array


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class References:
    """Items as they were read: where each is, the text of each (-1: too short), and the names of benchmarks."""

    rows: pa.Table
    text: Int64Array
    tokens: Int64Array
    items: Items
    benchmarks: list[str]


@dataclass(slots=True, kw_only=True)
class ReferenceReader:
    """Reads items. ``texts`` gets their first fields, ``others`` the other ones, and ``check`` is called as these grow."""

    reading: ReadOptions
    fields: Sequence[str]  # the others
    benchmark: str | None
    hashing: KeyedHashes
    texts: DistinctTexts
    others: DistinctTexts
    check: Callable[[], None]
    _rows: list[pa.RecordBatch] = field(default_factory=list)
    _texts: list[tuple[Int64Array, Int64Array]] = field(default_factory=list)
    _fields: list[list[tuple[Int64Array, Int64Array]]] = field(default_factory=list)
    _names: dict[str, int] = field(default_factory=dict)
    _benchmarks: list[int] = field(default_factory=list)
    n: int = 0

    def read(self, splits: Sequence[Split], unread: Sequence[str]) -> References:
        """Read all items; ``unread`` are the errors of files that could not be opened."""
        more = (*self.fields, *([] if self.benchmark is None else [self.benchmark]))
        reading, self._fields = self.reading, [[] for _ in self.fields]
        columns = Columns(reading.text, reading.id, tuple(dict.fromkeys(more)), (), reading.encoding_errors, reading.prefix)
        left = 0
        for number, source in enumerate(splits):
            row = 0
            for batch in read_batches(source, columns, ""):
                tell_unreadable(source, batch)
                documents = documents_of(source, number, row, batch, reading)
                self._rows.append(documents.drop_columns(["text"]))
                self._add(source, batch)
                row += len(batch.texts)
                left += 0 if batch.skipped is None else int(batch.skipped.sum())
            source.check_unchanged()
        check_left(splits, columns, self.n, left, unread)
        names = [name for name in reading.schema.names if name != "text"]
        schema = pa.schema([reading.schema.field(name) for name in names])
        rows = pa.Table.from_batches(self._rows, schema).combine_chunks()
        none = np.empty(0, np.int64)
        text, tokens = (np.concatenate(some) for some in zip((none, none), *self._texts, strict=True))
        whole = np.flatnonzero(text >= 0)
        fields = []
        for one in self._fields:
            owner, texts = (np.concatenate(some) for some in zip((none, none), *one, strict=True))
            fields.append(Ragged.of(owner, texts, self.n))
        of_text = Ragged.of(text[whole], whole, len(self.texts.values))
        items = Items(of_text, fields, np.array(self._benchmarks, np.int64), len(self._names))
        return References(rows=rows, text=text, tokens=tokens, items=items, benchmarks=list(self._names))

    def _add(self, source: Split, batch: Batch) -> None:
        n = len(batch.texts)
        for begin, end in batch.texts.cut():
            self._texts.append(self._hashed(self.texts, source, batch.texts.slice(begin, end), batch.numbers[begin:end]))
            self.check()
        for name, found in zip(self.fields, self._fields, strict=True):
            texts = [_texts_of(source, batch, name, row, value) for row, value in enumerate(_values_of(batch.others[name]))]
            owner = np.repeat(np.arange(n), [len(some) for some in texts])
            numbers, _ = self._hashed(self.others, source, from_strings(list(chain(*texts))), batch.numbers[owner])
            found.append((self.n + owner[numbers >= 0], numbers[numbers >= 0]))
            self.check()
        given = [None] * n if self.benchmark is None else _values_of(batch.others[self.benchmark])
        names = [source.name if name is None else str(name) for name in given]
        for number, name in zip(batch.numbers, names, strict=True):
            check_surrogates(name, source.name, number, f"field {self.benchmark!r}")
        self._benchmarks += [self._names.setdefault(name, len(self._names)) for name in names]
        self.n += n

    def _hashed(self, known: DistinctTexts, source: Split, texts: Texts, numbers: Int64Array) -> tuple[Int64Array, Int64Array]:
        try:
            return known.add(self.hashing, texts, self.reading.encoding_errors == "strict")
        except EncodingError as error:
            raise InputDataError(error.reason, source.name, numbers[error.row]) from None


def _values_of(values: list[Any] | pa.Array) -> list[Any]:
    return values if isinstance(values, list) else values.to_pylist()


def _texts_of(source: Split, batch: Batch, name: str, row: int, value: Any) -> list[str]:
    """Return the texts of a field: one, none, or several of a list."""
    texts = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputDataError(
            f"field {name!r} must be a string, a list of strings or null; found "
            f"{value!r:.60}; name another with --against-text (against_text=), such as {name}.text for a field inside it",
            source.name,
            batch.numbers[row],
        )
    return texts
