"""The columns beside the text: ids, what the keep policy orders by, groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputDataError
from ..io.sources import Batch
from ..io.workspace import Workspace
from ..kernels.hashing import digest_rows
from ..text.texts import from_arrow_array
from ..values import Int64Array, UInt64Array


class Ids:
    """The ids of all rows: a column of str or int, or made from file and row when they are asked for.

    Ids lie in the parts of the documents as text: ``id_bytes``, ``id_sizes``, and ``id_texts`` that counts those that are no
    integers. They are integers where all are.
    """

    def __init__(
        self, workspace: Workspace, parts: list[str], part_starts: Int64Array, sources: list[Any], source_starts: Int64Array,
        named: bool,
    ) -> None:  # fmt: skip
        self._workspace = workspace
        self._parts = parts
        self._part_starts = part_starts
        self._sources = sources
        self._source_starts = source_starts
        self._named = named
        self._texts = named and any(workspace.get(part)["id_texts"].any() for part in parts)
        self._last: tuple[int, pa.Array] | None = None

    def place(self, row: int) -> str:
        """Say where a row is, for messages."""
        source = int(np.searchsorted(self._source_starts, row, side="right")) - 1
        return f"{self._sources[source].name}, row {self._numbers(np.array([row]))[0]}"

    def _numbers(self, rows: Int64Array) -> Int64Array:
        part = np.searchsorted(self._part_starts, rows, side="right") - 1
        out = np.empty(len(rows), np.int64)
        for i in np.unique(part).tolist():
            out[part == i] = self._workspace.get(self._parts[i])["numbers"][rows[part == i] - self._part_starts[i]]
        return out

    def _part(self, i: int) -> pa.Array:
        """Return the ids of one part; the last one asked for is at hand."""
        if self._last is None or self._last[0] != i:
            arrays = self._workspace.get(self._parts[i])
            offsets = np.concatenate([[0], np.cumsum(arrays["id_sizes"], dtype=np.int64)])
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(arrays["id_bytes"])]
            column = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
            self._last = i, column if self._texts else column.cast(pa.int64())
        return self._last[1]

    def take(self, rows: Int64Array, missing: NDArray[np.bool_] | None = None) -> pa.Array:
        """Return the ids of some rows as an Arrow array, null where ``missing``."""
        if self._named and len(self._parts) == 1:
            ids = self._part(0).take(pa.array(rows))
        elif self._named:
            order = np.argsort(rows, kind="stable")
            bounds = np.searchsorted(rows[order], self._part_starts)
            pieces = [
                self._part(i).take(pa.array(rows[order[bounds[i] : bounds[i + 1]]] - self._part_starts[i]))
                for i in np.flatnonzero(np.diff(bounds)).tolist()
            ]
            back = np.empty(len(rows), np.int64)
            back[order] = np.arange(len(rows))
            kind = pa.large_string() if self._texts else pa.int64()
            ids = pa.concat_arrays(pieces).take(pa.array(back)) if pieces else pa.array([], kind)
        else:
            source = np.searchsorted(self._source_starts, rows, side="right") - 1
            numbers = self._numbers(rows)
            labels = [self._sources[s].label(n) for s, n in zip(source.tolist(), numbers.tolist(), strict=True)]
            kind = pa.int64() if labels and all(isinstance(label, int) for label in labels) else pa.string()
            ids = pa.array(labels if kind == pa.int64() else map(str, labels), kind)
        return ids if missing is None else pc.if_else(pa.array(~missing), ids, pa.scalar(None, ids.type))

    def check(self) -> None:
        """Raise InputDataError if an id is there twice; the message names the rows."""
        if not self._named:
            return
        digests = []
        for part in self._parts:
            arrays = self._workspace.get(part)
            offsets = np.concatenate([[0], np.cumsum(arrays["id_sizes"], dtype=np.int64)])
            digests.append(np.empty((len(offsets) - 1, 2), np.uint64))
            digest_rows(arrays["id_bytes"], offsets, 0, len(offsets) - 1, digests[-1])
        both = np.concatenate(digests)
        order = np.lexsort(both.T)
        again = np.flatnonzero((both[order[1:]] == both[order[:-1]]).all(1))
        if len(again):
            at = again[np.argmin(order[again + 1])]
            first, second = int(order[at]), int(order[at + 1])
            raise InputDataError(
                f"the id {self.take(np.array([second]))[0].as_py()!r} is there twice: {self.place(first)} and "
                f"{self.place(second)}; ids must be unique: name another column, or none"
            )


def id_columns(name: str, batch: Batch) -> dict[str, NDArray[Any]]:
    """Return the ids of a batch as text: bytes, their number in each, and how many are no integers.

    Raises
    ------
    InputDataError
        If an id is null, or not a str or int; the message names the row.
    """
    ids = batch.ids
    assert ids is not None
    if isinstance(ids, list):
        for number, value in zip(batch.numbers.tolist(), ids, strict=True):
            if not isinstance(value, (str, int)) or isinstance(value, bool):
                what = "null" if value is None else f"{value!r:.60}, of type {type(value).__name__}"
                raise InputDataError(f"{name}, row {number}: an id must be a str or an int; this one is {what}")
        n_texts = sum(not isinstance(value, int) or not -(1 << 63) <= value < 1 << 63 for value in ids)
        column = pa.array([str(value) for value in ids], pa.large_string())
    else:
        if ids.null_count:
            raise InputDataError(f"{name}, row {batch.numbers[pc.is_null(ids).index(True).as_py()]}: the id is null")
        if pa.types.is_dictionary(ids.type):
            ids = ids.dictionary_decode()
        whole = pa.types.is_integer(ids.type)
        if not whole and "string" not in str(ids.type):
            raise InputDataError(
                f"{name}, row {batch.numbers[0]}: ids must be strings or integers; the column holds {ids.type}"
            )
        n_texts = 0 if whole and ids.type != pa.uint64() else len(ids)
        column = ids.cast(pa.large_string())
    texts = from_arrow_array(column)
    sizes = np.diff(texts.offsets).astype(np.int32)
    return {
        "id_bytes": texts.data[texts.offsets[0] : texts.offsets[-1]],
        "id_sizes": sizes,
        "id_texts": np.array([n_texts], np.int64),
    }


def order_column(values: list[Any] | pa.Array) -> NDArray[np.uint8]:
    """Return what the keep policy orders by as a line of JSON: times as integers, other values as they are."""
    if isinstance(values, pa.Array):
        kind = values.type
        if pa.types.is_temporal(kind):
            values = values.cast(pa.int32() if pa.types.is_date32(kind) or pa.types.is_time32(kind) else pa.int64())
        elif pa.types.is_decimal(kind):
            values = values.cast(pa.float64())
        values = values.to_pylist()
    return np.frombuffer(msgspec.json.encode(values) + b"\n", np.uint8)


def collect_order(lines: Iterable[NDArray[np.uint8]], column: str) -> NDArray[Any]:
    """Join what the keep policy orders by: ranks of numbers, or of text where no value is a number; null ranks -1.

    Raises
    ------
    InputDataError
        If some values are numbers and others are not.
    """
    values: list[Any] = []
    for text in lines:
        for line in text.tobytes().splitlines():
            values += msgspec.json.decode(line)
    present = [i for i, value in enumerate(values) if value is not None and value != ""]
    found: list[Any] = [values[i] for i in present]
    if any(isinstance(v, str) for v in found):
        numbers = [_number(v) for v in found]
        stranger = next((v for v, n in zip(found, numbers, strict=True) if n is None), None)
        if stranger is None:
            found = numbers
        elif any(n is not None for n in numbers) and not all(isinstance(v, str) for v in found):
            raise InputDataError(f"column {column!r} holds numbers and {stranger!r}: no order covers both")
    ranks = np.full(len(values), -1, np.int64)
    try:
        distinct = {value: rank for rank, value in enumerate(sorted(set(found)))}
        ranks[present] = [distinct[value] for value in found]
    except TypeError:
        raise InputDataError(f"the values of column {column!r} have no order: {found[0]!r:.60}") from None
    return ranks


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return int(value)
    except ValueError:
        try:
            return float(value) if value.strip().lower() not in ("nan", "inf", "-inf") else None
        except ValueError:
            return None


def group_codes(values: list[Any] | pa.Array) -> UInt64Array:
    """Return a 64-bit hash of each value as text; null has one of its own."""
    if isinstance(values, list):
        missing = np.array([v is None for v in values], np.bool_)
        texts = from_arrow_array(pa.array([None if v is None else str(v) for v in values], pa.large_string()))
    else:
        missing = np.asarray(values.is_null())
        texts = from_arrow_array(values.cast(pa.large_string()))
    digests = np.empty((len(texts), 2), np.uint64)
    digest_rows(texts.data, texts.offsets, 0, len(texts), digests)
    digests[missing, 0] = 1
    return np.ascontiguousarray(digests[:, 0])
