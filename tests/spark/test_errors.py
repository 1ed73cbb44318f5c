"""What is wrong with the input is said as the local engine says it, though a task met it."""

import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_kinds import spark_engine
from row_files import WORDS, lines, write

import lookalike as la

pytestmark = pytest.mark.spark


def good(folder, name="a.jsonl"):
    """A file with nothing wrong."""
    return write(folder / name, lines([{"text": text, "id": f"{name}{i}", "v": i} for i, text in enumerate(WORDS)]))


def invalid(folder):
    """A byte that is no UTF-8, in the second file."""
    return [good(folder), write(folder / "b.jsonl", [b'{"text": "fine"}\n{"text": "ab\xffcd"}\n'])], {}


def no_text(folder):
    """A row without the column."""
    return [good(folder), write(folder / "b.jsonl", [b'{"text": "fine"}\n\n{"text": 5}\n'])], {}


def damaged(folder):
    """Parquet whose pages are damaged; its metadata are whole."""
    path = folder / "b.parquet"
    pq.write_table(pa.table({"text": WORDS * 20}), path, row_group_size=60, use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[100:400] = bytes(300)
    path.write_bytes(data)
    return [path], {}


def failing(text):
    """A tokenizer that cannot read one text."""
    if "row 7" in text:
        raise ValueError("row seven")
    return text.split()


def no_tokens(folder):
    """A tokenizer that fails."""
    return [good(folder)], {"tokenizer": failing}


def binary(folder):
    """Bytes in a column of Parquet that are no UTF-8: a step finds it, not the reader."""
    path = folder / "b.parquet"
    pq.write_table(pa.table({"text": pa.array([b"fine", b"ab\xffcd"], pa.binary())}), path)
    return [good(folder), path], {}


def twice(folder):
    """An id that comes twice."""
    return [good(folder), write(folder / "b.jsonl", lines([{"text": "x", "id": "new"}, {"text": "y", "id": "a.jsonl3"}]))], {
        "id": "id"
    }


def mixed(folder):
    """Values of which neither is larger."""
    rows = [{"text": "x", "id": "n", "v": "text"}]
    return [good(folder), write(folder / "b.jsonl", lines(rows))], {"keep": "largest:v"}


def large(folder):
    """A document larger than wanted."""
    return [good(folder), write(folder / "b.jsonl", lines([{"text": "x"}, {"text": "long " * 100}]))], {"max_document": 200}


def fields(folder):
    """A row of CSV with too few fields."""
    return [write(folder / "b.csv", [b"id,text\n1,x\n2\n"])], {}


QUICK = (invalid, no_tokens)
WRONG = [
    *QUICK,
    *(pytest.param(one, marks=pytest.mark.slow) for one in (no_text, damaged, binary, twice, mixed, large, fields)),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_the_error_is_that_of_the_local_engine(wrong, cluster, tmp_path):
    paths, settings = wrong(tmp_path)
    with pytest.raises(la.LookalikeError) as said:
        la.dedup(paths, threads=1, **settings)
    public = next(one for one in type(said.value).__mro__ if one.__module__ == "lookalike.errors")
    with pytest.raises(public, match=f"^{re.escape(str(said.value))}$"):
        la.dedup(paths, engine=spark_engine(tmp_path), **settings)
