"""Two columns of one name are read if nobody asks for them, and refused where one would have to be chosen, or lost."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.format_samples import sample
from formats.jobs import put, refused
from row_files import A

import lookalike as la

B = "another text altogether"
TWICE = pa.Table.from_arrays([pa.array([A, B, A]), pa.array([1, 2, 3]), pa.array(["x", "y", "z"])], names=["text", "n", "n"])
LINES = [f"{text},{n},{word}\n" for text, n, word in (("text", "n", "n"), (A, 1, "x"), (B, 2, "y"), (A, 3, "z"))]


@pytest.mark.parametrize("name", ["parquet", "arrow", "orc", "csv", "table"])
def test_names_that_appear_twice(tmp_path, name):
    path, out = tmp_path / f"in.{name}", tmp_path / f"out.{name}"
    data = TWICE if name == "table" else put(path, "".join(LINES) if name == "csv" else sample(name).file(TWICE))
    result, said = la.dedup(data), "the column 'n' appears 2 times; rename"
    assert result.keep.tolist() == [True, True, False]
    for asked in ({"text": "n"}, {"id": "n"}, {"within": "n"}, {"keep": "largest:n"}):
        refused(said, la.dedup, data, **asked)
    for other in {"csv": ["out.jsonl", "out.parquet"], "orc": ["out.jsonl", "out.orc", "folder"]}.get(
        name, ["out.jsonl", "out.csv"]
    ):
        refused(said, result.write, tmp_path / other)
    if name == "parquet":
        result.write(out)
        assert pq.ParquetFile(out).read().equals(TWICE[:2])
        pq.write_table(pa.table({"text": ["other"], "m": [1]}), tmp_path / "more.parquet")
        refused(said, la.dedup([path, tmp_path / "more.parquet"]).write, tmp_path / "both.parquet")
    elif name == "csv":
        result.write(out, annotate=True)
        added = (
            ",keep,duplicate_of,resemblance,cluster",
            f",true,,,{path}:1",
            f",true,,,{path}:2",
            f",false,{path}:1,1.0,{path}:1",
        )
        assert out.read_text().splitlines() == [line.rstrip() + more for line, more in zip(LINES, added, strict=True)]
