"""Documents with their ids, a large batch at a time, for what adds or looks up as it goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from ..formats.sources import Batch, Columns
from ..text.texts import Texts, concatenate
from .columns import id_columns
from .reading import check_encoding

BATCH_BYTES, BATCH_ROWS = 64 << 20, 100_000


def read_with_ids(sources: list[Any], columns: Columns) -> Iterator[tuple[list[Any], pa.Array]]:
    """Yield (ids, texts) of many documents at a time; ids are those of a column, or ``file:row``.

    Raises
    ------
    InputDataError
        If a row is not as expected; the message names file and row.
    """
    ids: list[Any] = []
    texts: list[Texts] = []
    size = 0
    for source in sources:
        for batch in source.batches(columns):
            if columns.encoding_errors == "strict":
                check_encoding(source, batch.numbers, batch.texts)
            ids += label_rows(source, batch)
            texts.append(batch.texts)
            size += batch.texts.n_bytes
            if size > BATCH_BYTES or len(ids) > BATCH_ROWS:
                yield ids, as_column(concatenate(texts))
                ids, texts, size = [], [], 0
    if ids:
        yield ids, as_column(concatenate(texts))


def label_rows(source: Any, batch: Batch) -> list[Any]:
    """Return the ids of a batch: those of the column that was read, or ``file:row``.

    Raises
    ------
    InputDataError
        If one is null, or not a str or int.
    """
    if batch.ids is None:
        return [source.label(number) for number in batch.numbers.tolist()]
    id_columns(source.name, batch)  # says which row has none
    return batch.ids if isinstance(batch.ids, list) else list(batch.ids.to_pylist())


def as_column(texts: Texts) -> pa.Array:
    """Return texts as an Arrow column, without copying."""
    buffers = [None, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_binary(), len(texts), buffers)
