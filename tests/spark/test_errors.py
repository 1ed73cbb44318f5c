import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_kinds import spark_engine
from json_lines import write_lines
from row_files import WORDS

import lookalike as la

pytestmark = pytest.mark.spark


def failing(text):
    if "row 7" in text:
        raise ValueError("row seven")
    return text.split()


def damaged(folder):
    """The metadata are whole."""
    pq.write_table(pa.table({"text": WORDS * 20}), folder / "b.parquet", row_group_size=60, use_dictionary=False)
    data = bytearray((folder / "b.parquet").read_bytes())
    data[100:400] = bytes(300)
    (folder / "b.parquet").write_bytes(data)


def binary(folder):
    pq.write_table(pa.table({"text": pa.array([b"fine", b"ab\xffcd"], pa.binary())}), folder / "b.parquet")


WRONG = {  # what the file after a good one holds, and settings
    "a byte that is no UTF-8": (b'{"text": "fine"}\n{"text": "ab\xffcd"}\n', {}),
    "a tokenizer that fails": (b'{"text": "fine"}\n', {"tokenizer": failing}),
    "a row without the column": (b'{"text": "fine"}\n\n{"text": 5}\n', {}),
    "damaged pages": (damaged, {}),
    "a column of bytes": (binary, {}),
    "an id that comes twice": (b'{"text": "x", "id": "new"}\n{"text": "y", "id": "a3"}\n', {"id": "id"}),
    "values of which neither is larger": (b'{"text": "x", "id": "n", "v": "text"}\n', {"keep": "largest:v"}),
    "a document larger than wanted": (b'{"text": "x"}\n{"text": "%s"}\n' % (b"long " * 100), {"max_document": 200}),
}
QUICK = list(WRONG)[1:2]


@pytest.mark.parametrize("wrong", [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in WRONG if one not in QUICK)])
def test_the_error_is_that_of_the_local_engine(wrong, cluster, tmp_path):
    write_lines(tmp_path / "a.jsonl", ({"text": text, "id": f"a{i}", "v": i} for i, text in enumerate(WORDS)))
    held, settings = WRONG[wrong]
    held(tmp_path) if callable(held) else (tmp_path / "b.jsonl").write_bytes(held)
    paths = sorted(tmp_path.iterdir())
    with pytest.raises(la.LookalikeError) as said:
        la.dedup(paths, threads=1, **settings)
    public = next(one for one in type(said.value).__mro__ if one.__module__ == "lookalike.errors")
    with pytest.raises(public, match=f"^{re.escape(str(said.value))}$"):
        la.dedup(paths, engine=spark_engine(tmp_path), **settings)
