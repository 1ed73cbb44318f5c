"""The columns beside the text: ids, what the keep policy orders by, groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import InputDataError
from ..kernels.hashing import digest_rows
from ..text.texts import from_arrow_array
from ..values import Int64Array, UInt64Array


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """The ids of all rows: a column of str or int, or made from file and row when they are asked for."""

    column: pa.Array | None
    numbers: Int64Array
    sources: list[Any]
    source_starts: Int64Array

    def place(self, row: int) -> str:
        """Say where a row is, for messages."""
        source = int(np.searchsorted(self.source_starts, row, side="right")) - 1
        return f"{self.sources[source].name}, row {self.numbers[row]}"

    def take(self, rows: Int64Array, missing: NDArray[np.bool_] | None = None) -> pa.Array:
        """Return the ids of some rows as an Arrow array, null where ``missing``."""
        if self.column is not None:
            ids = self.column.take(pa.array(rows))
        else:
            source = np.searchsorted(self.source_starts, rows, side="right") - 1
            labels = [self.sources[s].label(n) for s, n in zip(source.tolist(), self.numbers[rows].tolist(), strict=True)]
            kind = pa.int64() if labels and all(isinstance(label, int) for label in labels) else pa.string()
            ids = pa.array(labels if kind == pa.int64() else map(str, labels), kind)
        return ids if missing is None else pc.if_else(pa.array(~missing), ids, pa.scalar(None, ids.type))


def collect_ids(parts: list[Any], numbers: Int64Array, sources: list[Any], source_starts: Int64Array) -> Ids:
    """Join the ids of all batches and check them.

    Raises
    ------
    InputDataError
        If an id is null, not a str or int, or there twice; the message names the rows.
    """
    made = Ids(None, numbers, sources, source_starts)
    if not parts or parts[0] is None:
        return made
    row, arrays = 0, []
    for part in parts:
        if isinstance(part, list):
            for i, value in enumerate(part):
                if not isinstance(value, (str, int)) or isinstance(value, bool):
                    what = "null" if value is None else f"{value!r:.60}, of type {type(value).__name__}"
                    raise InputDataError(f"{made.place(row + i)}: an id must be a str or an int; this one is {what}")
            arrays.append(_id_array(part))
        else:
            if part.null_count:
                raise InputDataError(f"{made.place(row + pc.is_null(part).index(True).as_py())}: the id is null")
            kind = part.type
            if pa.types.is_dictionary(kind):
                part = part.dictionary_decode()
                kind = part.type
            if pa.types.is_integer(kind) and kind != pa.uint64():
                arrays.append(part.cast(pa.int64()))
            elif "string" in str(kind) or kind == pa.uint64():
                arrays.append(part.cast(pa.large_string()))
            else:
                raise InputDataError(f"{made.place(row)}: ids must be strings or integers; the column holds {kind}")
        row += len(part)
    if len({array.type for array in arrays}) > 1:
        arrays = [array.cast(pa.large_string()) for array in arrays]
    column = pa.chunked_array(arrays).combine_chunks() if arrays else pa.array([], pa.large_string())
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks)
    codes = column.dictionary_encode()
    if len(codes.dictionary) < len(column):
        indices = np.asarray(codes.indices)
        order = np.argsort(indices, kind="stable")
        again = np.flatnonzero(np.diff(indices[order]) == 0)
        second = int(np.min(order[again + 1]))
        first = int(np.flatnonzero(indices == indices[second])[0])
        raise InputDataError(
            f"the id {column[second].as_py()!r} is there twice: {made.place(first)} and {made.place(second)}; "
            "ids must be unique: name another column, or none"
        )
    return Ids(column, numbers, sources, source_starts)


def _id_array(values: list[Any]) -> pa.Array:
    """Integers where all fit 64 bits, else text."""
    if all(isinstance(value, int) for value in values):
        try:
            return pa.array(values, pa.int64())
        except (OverflowError, pa.ArrowInvalid):
            pass
    return pa.array([str(value) for value in values], pa.large_string())


def collect_order(parts: list[Any], column: str) -> NDArray[Any]:
    """Join what the keep policy orders by: ranks of numbers, or of text where no value is a number; null ranks -1.

    Raises
    ------
    InputDataError
        If some values are numbers and others are not.
    """
    values: list[Any] = [v for part in parts for v in (part if isinstance(part, list) else part.to_pylist())]
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
