"""What tests of formats ask of jobs."""

from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.files.streams import read_blocks
from lookalike.formats.sources import open_sources
from lookalike.text.texts import Later


def refused(words, call, *given, error=la.errors.InputDataError, **more):
    """Check that a call ends in an error that says so; return the error."""
    with pytest.raises(error, match=words) as caught:
        call(*given, **more)
    return caught.value


refused_option = partial(refused, error=la.errors.ParameterError)
refused_output = partial(refused, error=la.errors.OutputError)


def reasons(data, **given):
    """What is decided about each document."""
    return la.dedup(data, **given).decisions["reason"].to_pylist()


def kept_texts(data, **given):
    """The texts of the documents that are kept."""
    return la.dedup(data, **given).clean()["text"].to_pylist()


def rewritten(result, path):
    """What is written of a file, decompressed."""
    result.write(path.parent / "out", force=True)
    return b"".join(read_blocks(path.parent / "out" / path.name))


def put(path, content):
    """Write bytes or text, joined if they are several; return the path."""
    if isinstance(content, list):
        content = b"".join(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table_at(path, columns, **how):
    """Write columns to a file of parquet; return the path."""
    pq.write_table(pa.table(columns), path, **how)
    return path


def one_split(path, **how):
    """The only split of what is at a path."""
    (split,) = open_sources([path], **how)
    return split


def rows_in(batches):
    """Number, text, id if one was asked for, and other columns of each row, as jobs read them."""
    found = []
    for batch in batches:
        texts = batch.texts.make() if isinstance(batch.texts, Later) else batch.texts
        columns = [*([] if batch.ids is None else [batch.ids]), *batch.others.values()]
        values = (column if isinstance(column, list) else column.to_pylist() for column in columns)
        found += zip(batch.numbers.tolist(), map(texts.row, range(len(texts))), *values, strict=True)
    return found
