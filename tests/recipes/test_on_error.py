"""With ``on_error="skip"`` no file or row that cannot be read ends a job: it is named, counted and left out."""

import gzip
import json
import logging
import re
import sqlite3
from functools import partial
from io import BytesIO

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from cli.commands import run
from formats.format_samples import sample
from json_lines import read_lines
from samples import one_in

import lookalike as la
from lookalike.errors import InputDataError

ROWS = [{"id": f"r{n}", "text": f"text {n} of this file has words of its own: a{n} b{n} c{n} d{n}"} for n in range(6)]
GOOD = [{"id": f"g{n}", "text": "quite another text which two rows have, word for word the same"} for n in range(2)]
CONTROL = "some text that only a reader of plain text would look at"


def jsonl(rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def columnar(write, **how):
    def make(rows):
        write(pa.Table.from_pylist(rows), made := BytesIO(), **how)
        return made.getvalue()

    return make


def sqlite(rows):
    database = sqlite3.connect(":memory:")
    database.execute(f"create table pages ({', '.join(rows[0])})")
    database.executemany(f"insert into pages values ({', '.join('?' * len(rows[0]))})", [tuple(row.values()) for row in rows])
    database.commit()
    return database.serialize()


def mbox(rows):
    return "".join(f"From a@b\nMessage-ID: <{row['id']}>\n\n{row['text']}\n\n" for row in rows).encode()


def text(rows):
    return "\n".join(row["text"] for row in rows).encode()


def page(rows):
    return b"<html><body>" + b"".join(b"<p>%s</p>" % row["text"].encode() for row in rows) + b"</body></html>"


def packed(make):
    return lambda rows: gzip.compress(make(rows))


READERS = {
    ".jsonl": jsonl, ".jsonl.gz": packed(jsonl), ".json": lambda rows: json.dumps(rows).encode(), ".csv": sample("csv").make,
    ".csv.gz": packed(sample("csv").make), ".tsv": sample("tsv").make, ".parquet": columnar(pq.write_table, row_group_size=2),
    ".arrow": columnar(feather.write_feather), ".orc": columnar(orc.write_table), ".sqlite": sqlite, ".db": sqlite,
    ".mbox": mbox, ".txt": text, ".txt.gz": packed(text), ".html": page, ".html.gz": packed(page), ".zip": text, ".tar": text,
    ".duckdb": text, ".docx": text, ".eml": text, ".warc": text,
}  # fmt: skip
"""Those that make no such file at all stand for what is no file of its name."""

FAULTS = {
    "whole": lambda data: data,
    "cut short": lambda data: data[: len(data) * 2 // 3],
    "without its end": lambda data: data[:-3],
    "damaged": lambda data: data[: len(data) // 2] + bytes(range(240, 256)) + data[len(data) // 2 + 16 :],
    "empty": lambda data: b"",
    "another kind": lambda data: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100),
    "plain text": lambda data: CONTROL.encode(),
    "no utf-8": lambda data: b"a line \xff of bytes\n" * 3,
}
COMMANDS = {
    "dedup": la.dedup,
    "against": lambda data, **how: la.dedup(GOOD, against=data, **how),
    "pairs": la.pairs,
    "lines": la.repeats,
    "passages": partial(la.repeats, unit="passage"),
    "decontaminate": partial(la.decontaminate, against=GOOD),
    "decontaminate against": lambda data, **how: la.decontaminate(GOOD, against=data, **how),
}
FILES_ALONE = (".txt", ".txt.gz", ".html", ".html.gz", ".docx", ".eml", ".zip", ".tar")


@pytest.fixture(autouse=True)
def quiet():
    """What is left out is logged."""
    logging.getLogger("lookalike").handlers = [logging.NullHandler()]


def folder(tmp_path, name, data):
    """A folder of a good file, and of one that is not."""
    made = tmp_path / "in"
    made.mkdir()
    (made / "good.jsonl").write_bytes(jsonl(GOOD))
    (made / name).write_bytes(data)
    return made


@pytest.mark.parametrize("suffix", one_in(3, READERS))
def test_a_bad_file_ends_no_job(tmp_path, suffix):
    """The good file is treated as if it were alone, whatever is beside it; what is kept is what is written.

    Each kind of file has each fault, and meets each command with some; so does each fault.
    """
    named = {} if suffix in FILES_ALONE else {"id": "id"}
    others = list(COMMANDS)[1:]
    for place, (fault, spoil) in enumerate(FAULTS.items()):
        (place_of := tmp_path / fault).mkdir()
        data = folder(place_of, f"odd{suffix}", spoil(READERS[suffix](ROWS)))
        name = others[(place + list(READERS).index(suffix)) % len(others)]
        COMMANDS[name](data, on_error="skip", **(named if name != "decontaminate against" else {}))
        result = la.dedup(data, on_error="skip", **named)
        assert result.summary.exact_duplicates == 1
        result.write(place_of / "out.jsonl", annotate=place % 2 == 1)
        rows = read_lines(place_of / "out.jsonl")
        assert GOOD[0]["text"] in [row["text"] for row in rows]
        assert len(rows) == (result.summary.documents - result.summary.documents_skipped if place % 2 else result.summary.kept)
        if not named:
            result.write(place_of / "out")


ALL_BAD = {
    "a.jsonl": b'{oops\n{"x": 1}\n', "a.csv": b"a,b\n1,2\n", "a.txt": b"\xff\xfe\xff", "a.txt.gz": b"\x1f\x8b\x08 no",
    "a.json": b'[{"text": 7}, 1]', "a.parquet": b"PAR1", "b.parquet": columnar(pq.write_table)([{"id": "x", "body": "a b"}]),
    "a.arrow": columnar(feather.write_feather)([{"text": 1}]), "a.orc": columnar(orc.write_table)(ROWS)[:-9],
    "a.db": sqlite([{"id": "x", "body": "a b"}]), "a.html.gz": b"\x1f\x8b\x08 no", "a.mbox": b"no mailbox", "a.warc": b"no records",
}  # fmt: skip


@pytest.mark.parametrize("name", ALL_BAD)
def test_an_input_of_which_nothing_can_be_read_is_an_error(tmp_path, name):
    """Whatever its format, and the job; it is no error beside what can be read."""
    path, good = tmp_path / name, tmp_path / "good.jsonl"
    path.write_bytes(ALL_BAD[name])
    good.write_bytes(jsonl(GOOD))
    others = [one for one in COMMANDS if one not in ("lines", "passages") or name not in ("a.html.gz", "a.mbox", "a.warc")]
    for command in ("dedup", others[list(ALL_BAD).index(name) % len(others)]):
        with pytest.raises(InputDataError, match="can be read: .* left out; the first: ") as told:
            COMMANDS[command](path, on_error="skip")
        assert str(path) in str(told.value) and "on_error" not in str(told.value)
    summary = la.dedup([path, good], on_error="skip").summary
    assert summary.documents - summary.documents_skipped == 2
    assert name != "a.json" or summary.documents_skipped == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", b""), ("a.csv", b"id,text\n"), ("a.txt", b""), ("a.parquet", columnar(pq.write_table)([{"text": ""}]))],
)
def test_an_empty_input_is_none(tmp_path, capsys, name, content):
    (tmp_path / name).write_bytes(content)
    assert run(capsys, "dedup", tmp_path / name, "--on-error", "skip", "-o", tmp_path / "out.jsonl")[0] == 0
    assert (tmp_path / "out.jsonl").exists()


def test_a_bad_file_that_is_opened_beside_an_empty_one(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "b.jsonl").write_bytes(b"")
    with pytest.raises(InputDataError, match="no file or document can be read: 1 left out; the first: .*a.parquet"):
        la.dedup(tmp_path, on_error="skip")


@pytest.mark.parametrize("option", ["text", "id"])
@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet", ".orc", ".sqlite"])
def test_a_wrong_column_is_not_to_be_left_out(tmp_path, capsys, suffix, option):
    """Where all rows lack it, that would leave nothing; a row that alone lacks it can be left out."""
    path = tmp_path / f"in{suffix}"
    path.write_bytes(READERS[suffix](ROWS))
    code, _, error = run(capsys, "dedup", path, f"--{option}", "body")
    assert code == 1 and f"name another with --{option}" in error and "--on-error" not in error
    if suffix == ".jsonl":
        path.write_bytes(jsonl(ROWS) + b'{"id": "x"}\n')
        code, _, error = run(capsys, "dedup", path)
        assert code == 1 and "row 7: field 'text' is missing" in error and "--on-error skip" in error


ROW_FAULTS = {
    ".jsonl": [b"{oops\n", b"[1, 2]\n", b'{"id": "x"}\n', b'{"id": "x", "text": 7}\n', b'{"id": "x", "text": "a\xff"}\n', b'"word"\n',
               b'{"id": null, "text": "a b"}\n', b'{"id": "x", "text": "\\ud800"}\n', b'{"id": "x", "text": ["a"]}\n',
               b'{"id": "x", "text": "a", "deep": ' + b"[" * 9999 + b"]" * 9999 + b"}\n"],
    ".csv": [b"x,a,b,c\n", b"x\n", b'x,"a"b\n', b"x,a \xff b\n", b",a text without an id\n"],
}  # fmt: skip


@pytest.mark.parametrize(("suffix", "row"), [(suffix, row) for suffix, rows in ROW_FAULTS.items() for row in rows])
def test_a_bad_row_is_the_only_one_that_is_left_out(tmp_path, suffix, row, caplog):
    make = READERS[suffix]
    lines = make(ROWS).splitlines(keepends=True)
    path = tmp_path / f"in{suffix}"
    path.write_bytes(b"".join([*lines[:3], row, *lines[3:]]))
    with pytest.raises(InputDataError, match="in.*(row|line) [34]"):
        la.dedup(path, id="id", on_error="stop")
    result = la.dedup(path, id="id", on_error="skip")
    assert result.summary.documents_skipped == 1 and result.summary.kept == len(ROWS)
    (said,) = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert said.startswith(f"left out: {path}:{3 if suffix == '.csv' else 4} ")
    result.write(tmp_path / f"out{suffix}")
    assert (tmp_path / f"out{suffix}").read_bytes() == make(ROWS)


@pytest.mark.parametrize("row", ROW_FAULTS[".jsonl"][:7])
def test_integers_stay_integers_beside_a_row_that_is_left_out(tmp_path, row):
    lines = jsonl([{"id": n, "text": one["text"]} for n, one in enumerate([*ROWS[:2], *ROWS[1:]])]).splitlines(True)
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join([*lines[:2], row, *lines[2:]]))
    result = la.dedup(path, id="id", on_error="skip")
    result.write(tmp_path / "out.jsonl", annotate=True)
    rows = read_lines(tmp_path / "out.jsonl")
    assert [row["id"] for row in rows] == [*range(7)] and rows[2]["duplicate_of"] == 1
    assert result.decisions["id"].type == result.pairs["left_id"].type == pa.int64()
    assert result.decisions["id"].to_pylist() == [0, 1, None, *range(2, 7)]
    assert la.pairs(path, id="id", on_error="skip")["right_id"].to_pylist() == [2]


@pytest.mark.parametrize("ids", [["a", None, "c", "d"], [1, None, 3, 4]])
def test_rows_of_columns_are_left_out_alone(tmp_path, ids):
    table = pa.table({"id": ids, "text": pa.array([b"one two", b"three", b"four \xff", b"five"])})
    for name, write in (("in.parquet", pq.write_table), ("in.arrow", feather.write_feather), ("in.orc", orc.write_table)):
        write(table, tmp_path / name)
        for data in (tmp_path / name, table):
            result = la.dedup(data, id="id", on_error="skip")
            assert result.kept["id"].to_pylist() == ids[::3] and result.summary.documents_skipped == 2
            result.write(tmp_path / "out.jsonl", force=True)
            assert [row["id"] for row in read_lines(tmp_path / "out.jsonl")] == ids[::3]


def test_a_damaged_row_group_leaves_the_others(tmp_path):
    path = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=2, use_dictionary=False, compression="gzip")
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(1)
    begin, end = chunk.data_page_offset + 30, chunk.data_page_offset + chunk.total_compressed_size
    data = bytearray(path.read_bytes())
    data[begin:end] = bytes(end - begin)
    path.write_bytes(data)
    result = la.dedup(path, id="id", on_error="skip")
    result.write(out := tmp_path / "out.parquet")
    assert pq.read_table(out)["id"].to_pylist() == result.kept["id"].to_pylist() == ["r0", "r1", "r4", "r5"]
    assert result.summary.documents_skipped == 2


def test_files_that_are_named_and_not_there_are_counted(tmp_path, capsys):
    made = folder(tmp_path, "link.jsonl", b"")
    (made / "link.jsonl").unlink()
    (made / "link.jsonl").symlink_to("nowhere")
    (tmp_path / "empty").mkdir()
    names = [made / "good.jsonl", made / "link.jsonl", tmp_path / "empty", tmp_path / "gone.csv"]
    code, out, _ = run(capsys, "dedup", *names, "--on-error", "skip", "--json")
    said = json.loads(out)
    assert code == 0 and said["documents"] == 2 and said["skipped"]["by_reason"] == {"unreadable": 3}
    assert "gone.csv: no file of that name" in " ".join(said["skipped"]["names"])
    code, _, error = run(capsys, "dedup", *names[1:], "--on-error", "skip")
    assert code == 1 and "no file can be read: 3 left out; the first:" in error


@pytest.mark.parametrize("name", ["odd.jsonl", "odd.parquet", "odd.json", "gone.csv"])
def test_a_plan_names_what_it_cannot_look_at(tmp_path, capsys, name):
    inputs = [folder(tmp_path, "odd.jsonl" if name == "gone.csv" else name, FAULTS["another kind"](b"")), tmp_path / name]
    code, _, told = run(capsys, "plan", *inputs[: 1 + (name == "gone.csv")])
    assert code == 1 and name in told
    code, out, told = run(capsys, "plan", *inputs[: 1 + (name == "gone.csv")], "--on-error", "skip", "--json")
    assert code == 0 and json.loads(out)["foresight"]["documents"] == 2 and "files not read: " in told and name in told


def test_indexes_leave_out_what_cannot_be_read(tmp_path, capsys):
    index, data = tmp_path / "x.idx", folder(tmp_path, "odd.jsonl", jsonl(ROWS[:2]) + b"{oops\n" + jsonl(ROWS[2:]))
    (tmp_path / "bad.jsonl").write_bytes(ALL_BAD["a.jsonl"])
    run(capsys, "index", "create", index)
    for command, said in (("add", "8 documents added"), ("query", "8 documents looked up")):
        code, out, error = run(capsys, "index", command, index, data, "--id", "id", "--on-error", "skip")
        assert code == 0 and said in out + error
        assert run(capsys, "index", command, index, data, "--id", "id")[0] == 1
        code, _, error = run(capsys, "index", command, index, tmp_path / "bad.jsonl", "--on-error", "skip")
        assert code == 1 and "no file or document can be read: 2 left out; the first: " in error


def test_the_next_week_reads_again_what_the_last_one_left_something_out_of(tmp_path):
    odd, later = tmp_path / "week1.jsonl", tmp_path / "week2.jsonl"
    odd.write_bytes(jsonl(ROWS[:2]) + b"{oops\n" + jsonl(ROWS[2:]))
    later.write_bytes(jsonl([{"id": "n", "text": ROWS[4]["text"] + " more"}]))
    for path, kept, on_error in ((odd, 6, "skip"), (later, 0, "stop")):
        settings = la.Settings(id="id", threshold=0.6, on_error=on_error)
        with la.History(tmp_path / "history") as history:
            result = history.add(path, tmp_path / f"out {path.name}", settings, texts=False)
            assert result.summary.kept == kept
            result.close()


@pytest.mark.parametrize("command", ["dedup", "pairs", "repeats", "repeats --unit passage", "decontaminate"])
def test_what_is_too_large_is_named_once_and_counted(tmp_path, command, capsys):
    source = folder(tmp_path, "in.jsonl", jsonl([*GOOD, {"id": "big", "text": "word " * 500}, {"id": "odd", "text": 5}]))
    (tmp_path / "other.jsonl").write_bytes(jsonl(ROWS))
    more = ["--against", tmp_path / "other.jsonl"] if command == "decontaminate" else []
    code, out, err = run(capsys, *command.split(), source, *more, "--on-error", "skip", "--set", "max_document=1KB")
    assert code == 0 and re.search(r"(left out|skipped) +2 ", out), out
    assert err.count("in.jsonl:3 is larger than the 1,000 bytes") == err.count("in.jsonl:4 cannot be read") == 1
