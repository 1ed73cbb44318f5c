"""Files of several formats that are written into one."""

import datetime
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from row_files import MOMENT, WORDS, column_file, parquet

import lookalike as la
from lookalike.formats.sources import open_sources

A = "one two three four five six seven eight"
B = "nothing that stands in here is in any of the others"


def test_rows_of_other_fields_in_csv(tmp_path):
    """Values missing are empty; a field that the first row lacks is refused with its row."""
    path = tmp_path / "in.jsonl"
    path.write_text(f'{{"text":"{A}","a":1}}\n\n{{"text":"{B}"}}\n')
    la.dedup(path).write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"text,a\n{A},1\n{B},\n"
    path.write_text(f'{{"text":"{A}","a":1}}\n\n{{"text":"{B}","b":2,"c":3}}\n')
    with pytest.raises(la.OutputError, match=r"in\.jsonl, row 3: it has fields that the first has not \('b', 'c'\).*\.jsonl"):
        la.dedup(path).write(tmp_path / "bad.csv")


@pytest.mark.parametrize("empty", ["empty.csv", "empty.jsonl", "empty.parquet", "header.csv"])
@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("first", [True, False])
def test_an_empty_file_changes_nothing_of_what_is_copied(tmp_path, empty, form, first):
    """Among the inputs, before or after, in whatever format."""
    (tmp_path / empty).write_bytes(b"text,z\n" if empty == "header.csv" else b"")
    if empty == "empty.parquet":
        pq.write_table(pa.table({"text": pa.array([], pa.string()), "z": pa.array([], pa.date32())}), tmp_path / empty)
    path = tmp_path / f"in.{form}"
    if form == "parquet":
        pq.write_table(pa.table({"text": pa.array([A, B], pa.large_string()), "d": [datetime.date(2020, 1, 1)] * 2}), path)
    else:
        own = f'{{"text": "{A}",  "x":1.10}}\r\n' if form == "jsonl" else f'"text",x\r\n"{A}",1.10\r\n'
        path.write_bytes(own.encode())
    files = [tmp_path / empty, path] if first else [path, tmp_path / empty]
    la.dedup(files).write(tmp_path / f"out.{form}")
    if form == "parquet":
        assert pq.read_table(tmp_path / "out.parquet").equals(pq.read_table(path))
    else:
        assert (tmp_path / f"out.{form}").read_bytes() == path.read_bytes()


def test_lines_are_copied_beside_files_of_other_formats(tmp_path):
    """Only what has to be converted is."""
    one = tmp_path / "one.jsonl"
    one.write_bytes(f'{{"text": "{A}",  "x":1.10}}'.encode())
    two = tmp_path / "two.csv"
    two.write_bytes(f'text,x\r\n"{B}",1.10\r\n'.encode())
    la.dedup([one, two]).write(tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == one.read_bytes() + f'\n{{"text":"{B}","x":"1.10"}}\n'.encode()
    la.dedup([two, one]).write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == two.read_bytes() + f"{A},1.10\n".encode()


def test_parquet_files_of_other_schemas_meet(tmp_path):
    """Types grow where values stay as they are; else the column is text."""
    pq.write_table(
        pa.table({"text": [A], "n": pa.array([1], pa.int8()), "d": pa.array([0], pa.date32()), "s": ["x"]}),
        tmp_path / "1.parquet",
    )
    two = pa.table(
        {
            "d": pa.array([MOMENT], pa.timestamp("ns")),
            "n": pa.array([2**40]),
            "text": pa.array([B], pa.large_string()),
            "s": [[1]],
        }
    )
    pq.write_table(two, tmp_path / "2.parquet")
    files = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    la.dedup(files).write(tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.to_pydict() == {
        "text": [A, B],
        "n": [1, 2**40],
        "d": ["1970-01-01", "2023-11-14T22:13:20.123456789"],
        "s": ["x", "[1]"],
    }
    assert table.schema.field("n").type == pa.int64()
    la.dedup(files).write(tmp_path / "all.parquet", annotate=True)
    assert pq.read_table(tmp_path / "all.parquet")["keep"].to_pylist() == [True, True]
    column_file(tmp_path / "3.jsonl", ["0.5"], 5)
    parquet(tmp_path / "4.parquet", pa.array([2**53 + 1]))
    with pytest.raises(la.InputDataError, match=r"4\.parquet, column 'x': its values do not fit into double"):
        la.dedup([tmp_path / "3.jsonl", tmp_path / "4.parquet"]).write(tmp_path / "5.parquet")


def test_writing_reads_each_row_a_fixed_number_of_times(tmp_path, monkeypatch):
    """However many files meet in one: their number does not multiply the work."""
    for i in range(30):
        (tmp_path / f"{i}.jsonl").write_text(
            json.dumps({"text": f"{i} {i * 7919} {i * 104729} words of row {i * 17}", "x": i}) + "\n"
        )
    sources = open_sources(sorted(tmp_path.glob("*.jsonl")))
    read = []
    own = type(sources[0]).records
    monkeypatch.setattr(type(sources[0]), "records", lambda self, *args: read.append(self) or own(self, *args))
    result = la.dedup(sources)
    for name, times in (("out.csv", 1), ("out.parquet", 2), ("out.jsonl", 0)):
        read.clear()
        result.write(tmp_path / name)
        assert len(read) <= 30 * times + 1
    assert pq.ParquetFile(tmp_path / "out.parquet").metadata.num_row_groups == 1


def test_an_input_that_changes_while_it_is_written_is_an_error(tmp_path, monkeypatch):
    from lookalike.formats.jsonl import JsonLines

    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": f"{word} xxx"}) + "\n" for word in WORDS))
    result = la.dedup(path)
    lines = JsonLines.lines

    def changing(self, split):
        for i, line in enumerate(lines(self, split)):
            if i == 1:
                path.write_bytes(path.read_bytes().replace(b"xxx", b"YYY"))
            yield line

    monkeypatch.setattr(JsonLines, "lines", changing)
    with pytest.raises(la.InputDataError, match="changed"):
        result.write(tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
