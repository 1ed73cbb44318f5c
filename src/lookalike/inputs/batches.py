"""Documents with their ids, a large batch at a time, for what adds or looks up as it goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ..formats.split import Batch, Columns
from ..text.texts import Texts, concatenate
from .columns import id_columns
from .reading import check_encoding

BATCH_BYTES, ROW_BYTES = 64 << 20, 640  # what short documents are counted as: of each some hundred bytes are kept


def read_with_ids(
    sources: list[Any], columns: Columns, n_bytes: int = BATCH_BYTES, n_rows: int = BATCH_BYTES // ROW_BYTES
) -> Iterator[tuple[list[Any], pa.Array]]:
    """Yield (ids, texts) of many documents at a time; ids are those of a column, or ``file:row``.

    Batches are about as large as ``n_bytes`` and ``n_rows`` say. Documents that are left out because of their size are in none.
    """
    ids: list[Any] = []
    texts: list[Texts] = []
    size = 0
    for source in sources:
        for batch in source.batches(columns):
            if columns.encoding_errors == "strict":
                check_encoding(source, batch.numbers, batch.texts)
            batch = _without_skipped(batch)
            labels, some = label_rows(source, batch), batch.texts
            for begin, end in some.cut(n_bytes):
                ids += labels[begin:end]
                texts.append(some.slice(begin, end))
                size += texts[-1].n_bytes
                if size >= n_bytes or len(ids) >= n_rows:
                    yield ids, as_column(concatenate(texts))
                    ids, texts, size = [], [], 0
            del batch, labels, some
    if ids:
        yield ids, as_column(concatenate(texts))


def _without_skipped(batch: Batch) -> Batch:
    """Return the rows of a batch that are not left out; those that are have an empty text, and perhaps no id."""
    if batch.skipped is None:
        return batch
    kept = np.flatnonzero(~batch.skipped)
    texts = Texts(batch.texts.data, np.append(batch.texts.offsets[kept], batch.texts.offsets[-1]))
    ids = batch.ids if batch.ids is None or isinstance(batch.ids, list) else batch.ids.to_pylist()
    return Batch(texts, batch.numbers[kept], None if ids is None else [ids[i] for i in kept.tolist()])


def label_rows(source: Any, batch: Batch) -> list[Any]:
    """Return the ids of a batch: those of the column that was read, or ``file:row``."""
    if batch.ids is None:
        return [source.label(number) for number in batch.numbers.tolist()]
    id_columns(source.name, batch)  # says which row has none
    return batch.ids if isinstance(batch.ids, list) else list(batch.ids.to_pylist())


def as_column(texts: Texts) -> pa.Array:
    """Return texts as an Arrow column, without copying."""
    buffers = [None, pa.py_buffer(texts.offsets), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.large_binary(), len(texts), buffers)
