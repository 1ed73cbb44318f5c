from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.files.streams import read_blocks
from lookalike.formats.sources import open_sources
from lookalike.text.texts import Later


def refused(words, call, *given, error=la.errors.InputDataError, **more):
    with pytest.raises(error, match=words) as caught:
        call(*given, **more)
    return caught.value


refused_option = partial(refused, error=la.errors.ParameterError)
refused_output = partial(refused, error=la.errors.OutputError)


def reasons(data, **given):
    return la.dedup(data, **given).decisions["reason"].to_pylist()


def kept_texts(data, **given):
    return la.dedup(data, **given).clean()["text"].to_pylist()


def rewritten(result, path):
    result.write(path.parent / "out", force=True)
    return b"".join(read_blocks(path.parent / "out" / path.name))


def put(path, content):
    if isinstance(content, list):
        content = b"".join(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table_at(path, columns, **how):
    pq.write_table(pa.table(columns), path, **how)
    return path


def one_split(path, **how):
    (split,) = open_sources([path], **how)
    return split


def rows_in(batches):
    """Number, text, id if asked for, and other columns of each row, as jobs read them."""
    found = []
    for batch in batches:
        texts = batch.texts.make() if isinstance(batch.texts, Later) else batch.texts
        columns = [*([] if batch.ids is None else [batch.ids]), *batch.others.values()]
        values = (column if isinstance(column, list) else column.to_pylist() for column in columns)
        found += zip(batch.numbers.tolist(), map(texts.row, range(len(texts))), *values, strict=True)
    return found
