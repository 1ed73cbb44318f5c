"""Files in, files out: rows stay as they were, outputs appear whole, errors name file and row."""

import json
import os

import numpy as np
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


def test_csv_keeps_its_own_bytes(tmp_path):
    raw = b'\xef\xbb\xbfid,"text",n\r\n007,"' + A.encode() + b'",NA\r\n"x ""y""","two\nlines, of text",01\r\nz,' + A2.encode()
    source = tmp_path / "in.csv"
    source.write_bytes(raw)
    result = la.dedup(source, id="id")
    assert result.keep.tolist() == [True, True, False]
    result.write(tmp_path / "out.csv")
    kept = raw[: raw.rindex(b"z,")]
    assert read(tmp_path / "out.csv") == kept
    result.write(tmp_path / "all.csv", annotate=True)
    written = read(tmp_path / "all.csv").decode("utf-8-sig").splitlines()
    assert written[0] == 'id,"text",n,keep,duplicate_of,resemblance,cluster'
    assert written[1].endswith(",NA,true,,,007")
    assert written[-1].startswith(f"z,{A2},,false,007,0.98")  # padded: the added fields stay in their columns


def test_parquet_keeps_schema_and_metadata(tmp_path):
    schema = pa.schema(
        [
            pa.field("text", pa.string(), metadata={"k": "v"}),
            ("n", pa.int16()),
            ("d", pa.date32()),
            ("l", pa.list_(pa.int8())),
        ],
        metadata={"made": "by hand"},
    )
    table = pa.table({"text": [A, B, A2, None], "n": [1, 2, 3, None], "d": [None] * 4, "l": [[1], [], None, [2]]}, schema)
    pq.write_table(table, tmp_path / "in.parquet", compression="zstd", row_group_size=2)
    result = la.dedup(tmp_path / "in.parquet")
    result.write(tmp_path / "out.parquet")
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.schema.equals(schema)
    assert written.schema.field("text").metadata == {b"k": b"v"}
    assert written.schema.metadata[b"made"] == b"by hand"
    assert written.to_pylist() == [table.to_pylist()[i] for i in (0, 1, 3)]
    assert pq.ParquetFile(tmp_path / "out.parquet").metadata.row_group(0).column(0).compression == "ZSTD"
    provenance = json.loads(written.schema.metadata[b"lookalike"])
    assert provenance["parameters"]["threshold"] == 0.8
    assert provenance["inputs"][0]["bytes"] == (tmp_path / "in.parquet").stat().st_size
    result.write(tmp_path / "all.parquet", annotate=True)
    assert pq.read_table(tmp_path / "all.parquet").column_names[-4:] == ["keep", "duplicate_of", "resemblance", "cluster"]


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
    with pytest.raises(la.ParameterError, match="annotated"):
        result.write(tmp_path / "other", annotate=True)
    result.write(tmp_path / "rows.jsonl", annotate=True)
    assert len(read(tmp_path / "rows.jsonl").splitlines()) == 3


def test_formats_are_converted_where_one_file_is_asked_for(tmp_path):
    one = write(tmp_path / "one.jsonl", lines(ROWS))
    two = tmp_path / "two.csv"
    two.write_text("id,text,n\nq,quite another text of several words,5\n")
    result = la.dedup([one, two], id="id")
    result.write(tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table["id"].to_pylist() == ["a", "b", "q"]
    assert table["n"].to_pylist() == ["007", "NA", "5"]
    result.write(tmp_path / "out.jsonl.zst")
    assert [json.loads(line)["id"] for line in read(tmp_path / "out.jsonl.zst").splitlines()] == ["a", "b", "q"]
    result.write(tmp_path / "out.csv")
    assert read(tmp_path / "out.csv").startswith(b"id,text,n,x\n")
    with pytest.raises(la.OutputError, match="first has not"):
        la.dedup([two, one]).write(tmp_path / "bad.csv")
    assert not (tmp_path / "bad.csv").exists()


def test_jsonl_files_join_even_where_a_last_line_is_unfinished(tmp_path):
    one = write(tmp_path / "one.jsonl", [lines(ROWS[:1])[0].rstrip()])
    two = write(tmp_path / "two.jsonl", lines(ROWS[1:2]))
    la.dedup([one, two]).write(tmp_path / "out.jsonl")
    assert read(tmp_path / "out.jsonl") == lines(ROWS[:1])[0] + lines(ROWS[1:2])[0]


def test_long_lines_and_blocks(tmp_path, monkeypatch):
    from lookalike.files import streams

    monkeypatch.setattr(streams, "BLOCK", 100)
    rows = [{"text": "word " * 5000 + str(i), "id": i} for i in range(5)]
    source = write(tmp_path / "in.jsonl", lines(rows))
    result = la.dedup(source, id="id", threshold=1.0)
    result.write(tmp_path / "out.jsonl")
    assert read(tmp_path / "out.jsonl") == b"".join(lines(rows))


def test_existing_output_needs_force(tmp_path):
    source = write(tmp_path / "in.jsonl", lines(ROWS))
    result = la.dedup(source)
    target = tmp_path / "out.jsonl"
    target.write_text("precious")
    with pytest.raises(la.OutputError, match="exists"):
        result.write(target)
    assert target.read_text() == "precious"
    result.write(target, force=True)
    assert len(read(target).splitlines()) == 2
    result.write(tmp_path / "dir")
    with pytest.raises(la.OutputError, match="exists"):
        result.write(tmp_path / "dir")
    (tmp_path / "dir/mine").write_text("stays")
    with pytest.raises(la.OutputError, match=r"1 file that no earlier run wrote \(mine\)"):
        result.write(tmp_path / "dir", force=True)
    assert (tmp_path / "dir/mine").read_text() == "stays"


def test_nothing_half_written_when_the_input_changes(tmp_path):
    source = write(tmp_path / "in.jsonl", lines(ROWS))
    result = la.dedup(source)
    os.utime(source, ns=(1, 1))
    for target in ("out.jsonl", "out"):
        with pytest.raises(la.InputDataError, match="changed"):
            result.write(tmp_path / target)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl"]


def test_nothing_half_written_on_a_full_disk(tmp_path, monkeypatch):
    from lookalike.formats import jsonl

    source = write(tmp_path / "in.jsonl", lines(ROWS))
    result = la.dedup(source)

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(jsonl, "write_lines", full)
    for target in ("out.jsonl", "out"):
        with pytest.raises(la.OutputError, match="No space left"):
            result.write(tmp_path / target)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl"]


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


def test_same_bytes_out_for_any_threads_and_blocks(tmp_path, monkeypatch, rng):
    from lookalike.files import streams
    from lookalike.formats import row_groups

    texts = [" ".join(rng.choice([f"w{i}" for i in range(300)], 40)) for _ in range(200)]
    rows = [{"id": i, "text": t + (" x" if i % 3 else "")} for i, t in enumerate(texts * 2)]
    source = write(tmp_path / "in.jsonl", lines(rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    outputs = []
    for threads, block, batch in ((1, 4 << 20, 4096), (2, 1000, 7), (4, 333, 50)):
        monkeypatch.setattr(streams, "BLOCK", block)
        monkeypatch.setattr(row_groups, "BATCH_ROWS", batch)
        for name in ("in.jsonl", "in.parquet"):
            target = tmp_path / f"{threads}.{name}"
            la.dedup(tmp_path / name, id="id", threads=threads, annotate=True).write(target, annotate=True)
            outputs.append(target.read_bytes())
    assert outputs[0] == outputs[2] == outputs[4]
    assert outputs[1] == outputs[3] == outputs[5]
    assert source.exists()


def test_pairs_are_written_by_suffix(tmp_path):
    from listing import find_pairs

    result = find_pairs([A, A2, B])
    for name in ("p.parquet", "p.csv", "p.jsonl", "p.jsonl.gz"):
        result.write(tmp_path / name)
    assert pq.read_table(tmp_path / "p.parquet").to_pylist() == result.table.to_pylist()
    assert json.loads(read(tmp_path / "p.jsonl")) == json.loads(read(tmp_path / "p.jsonl.gz"))
    assert read(tmp_path / "p.csv").splitlines()[0] == b"left_id,right_id,resemblance"
    with pytest.raises(la.ParameterError, match="suffix"):
        result.write(tmp_path / "p.xml")


def test_numpy_is_not_needed_to_be_contiguous():
    values = np.arange(40)[::2]
    assert la.Shingles.from_arrays(values, np.array([0, 10, 20], np.int32)).sizes.tolist() == [10, 10]
