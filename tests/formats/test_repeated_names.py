"""Two columns of one name are read if nobody asks for them, and refused where one would be chosen, or lost."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.format_samples import sample
from formats.jobs import put, refused, table_at
from row_files import A

import lookalike as la

B = "another text altogether"
TWICE = pa.Table.from_arrays([pa.array([A, B, A]), pa.array([1, 2, 3]), pa.array(["x", "y", "z"])], names=["text", "n", "n"])
OUTPUTS = {"orc": ["out.jsonl", "out.orc", "folder"]}


@pytest.mark.parametrize("name", ["parquet", "arrow", "orc", "table"])
def test_names_that_appear_twice(tmp_path, name):
    path, said = tmp_path / f"in.{name}", "the column 'n' appears 2 times; rename"
    data = TWICE if name == "table" else put(path, sample(name).file(TWICE))
    result = la.dedup(data)
    assert result.keep.tolist() == [True, True, False]
    for asked in ({"text": "n"}, {"id": "n"}, {"within": "n"}, {"keep": "largest:n"}):
        refused(said, la.dedup, data, **asked)
    for other in OUTPUTS.get(name, ["out.jsonl", "out.csv"]):
        refused(said, result.write, tmp_path / other)
    if name == "parquet":
        result.write(tmp_path / "out.parquet")
        assert pq.ParquetFile(tmp_path / "out.parquet").read().equals(TWICE[:2])
        table_at(tmp_path / "more.parquet", {"text": ["other"], "m": [1]})
        refused(said, la.dedup([path, tmp_path / "more.parquet"]).write, tmp_path / "both.parquet")
