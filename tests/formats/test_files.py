"""Files in, files out: rows stay as they were, outputs appear whole, errors name file and row."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from row_files import A2, A, B, lines, read, write

import lookalike as la

ROWS = [
    {"id": "a", "text": A, "n": "007", "x": None},
    {"id": "b", "text": B, "n": "NA", "x": 1.50},
    {"id": "c", "text": A2, "n": "2020-01-02", "x": [1, {"y": 2}]},
    {"id": "d", "text": A, "n": "", "x": True},
]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_kept_lines_are_the_bytes_of_the_input(tmp_path, suffix):
    raw = [
        b'{"text": "' + A.encode() + b'",   "num": 1.0e5, "id":1}\r\n',
        b"\n",
        b'{"id":2, "text":"\\u00e9 caf\xc3\xa9 and more words here"}\n',
        b'{"id":3, "text":"' + A2.encode() + b'"}\n',
        b'{"id":4, "text":null, "deep": {"text": "x"}}',
    ]
    source = write(tmp_path / f"in{suffix}", raw)
    result = la.dedup(source, id="id")
    assert result.removed["id"].to_pylist() == [3]
    result.write(tmp_path / f"out{suffix}")
    assert read(tmp_path / f"out{suffix}") == raw[0] + raw[2] + raw[4]
    result.write(tmp_path / "all.jsonl", annotate=True)
    written = read(tmp_path / "all.jsonl").split(b"\n")
    assert written[0].startswith(raw[0].rstrip()[:-1] + b', "keep": true, "duplicate_of": null')
    assert written[0].endswith(b"}\r")
    rows = [json.loads(line) for line in written]
    assert [row["keep"] for row in rows] == [True, True, False, True]
    assert rows[2]["duplicate_of"] == rows[2]["cluster"] == 1
    assert rows[2]["resemblance"] == pytest.approx(56 / 57)


def test_empty_object_is_annotated(tmp_path):
    source = write(tmp_path / "in.jsonl", [b'{"text":""}\n'])
    la.dedup(source).write(tmp_path / "o.jsonl", annotate=True)
    assert json.loads(read(tmp_path / "o.jsonl"))["cluster"] == f"{source}:1"


def test_default_ids_are_file_and_row(tmp_path):
    source = write(tmp_path / "in.jsonl", [b"\n", *lines(ROWS)])
    assert la.dedup(source).removed.to_pylist()[0] == {
        "id": f"{source}:4", "duplicate_of": f"{source}:2", "resemblance": pytest.approx(56 / 57)}  # fmt: skip


def test_a_directory_gets_one_file_per_input(tmp_path):
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    write(folder / "one.jsonl", lines(ROWS[:2]))
    write(folder / "sub/two.jsonl.gz", lines(ROWS[2:]))
    pq.write_table(pa.Table.from_pylist([{"text": "third file"}]), folder / "three.parquet")
    result = la.dedup(folder)
    result.write(tmp_path / "out")
    names = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert names == ["_lookalike.json", "one.jsonl", "sub/two.jsonl.gz", "three.parquet"]
    assert read(tmp_path / "out/one.jsonl") == b"".join(lines(ROWS[:2]))
    assert read(tmp_path / "out/sub/two.jsonl.gz") == b""
    provenance = json.loads((tmp_path / "out/_lookalike.json").read_text())
    assert provenance["lookalike"] == la.__version__ and len(provenance["inputs"]) == 3


def test_text_files_are_documents(tmp_path):
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    for name, text in (("a.txt", A), ("deep/b.txt", A2), ("c.txt", B), ("notes.log", B)):
        (folder / name).write_text(text)
    result = la.dedup(folder)
    assert result.removed.to_pylist()[0]["id"] == str(folder / "deep/b.txt")
    result.write(tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").rglob("*.txt")) == ["a.txt", "c.txt"]
    assert len(la.dedup(folder, glob="*.log", format="txt")) == 1
    with pytest.raises(la.errors.ParameterError, match="annotated"):
        result.write(tmp_path / "other", annotate=True)
    result.write(tmp_path / "rows.jsonl", annotate=True)
    assert len(read(tmp_path / "rows.jsonl").splitlines()) == 3


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_empty_inputs(tmp_path, suffix):
    path = tmp_path / f"in.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    else:
        path.write_bytes(b"text\n" if suffix == "csv" else b"")
    result = la.dedup(path)
    assert len(result) == 0 and result.removed.num_rows == 0
    result.write(tmp_path / f"out.{suffix}")
    assert (tmp_path / f"out.{suffix}").exists()
    assert la.pairs(path).num_rows == 0


def test_pairs_are_written_by_suffix(tmp_path):
    from listing import find_pairs

    result = find_pairs([A, A2, B])
    for name in ("p.parquet", "p.csv", "p.jsonl", "p.jsonl.gz"):
        result.write(tmp_path / name)
    assert pq.read_table(tmp_path / "p.parquet").to_pylist() == result.table.to_pylist()
    assert json.loads(read(tmp_path / "p.jsonl")) == json.loads(read(tmp_path / "p.jsonl.gz"))
    assert read(tmp_path / "p.csv").splitlines()[0] == b"left_id,right_id,resemblance"
    with pytest.raises(la.errors.ParameterError, match="suffix"):
        result.write(tmp_path / "p.xml")
