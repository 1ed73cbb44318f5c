import gzip
import logging
import sqlite3
from functools import partial
from io import BytesIO

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from formats.format_samples import sample
from json_lines import read_lines
from samples import one_in

import lookalike as la
from lookalike.errors import InputDataError

ROWS = [{"id": f"r{n}", "text": f"text {n} of this file has words of its own: a{n} b{n} c{n} d{n}"} for n in range(6)]
GOOD = [{"id": f"g{n}", "text": "quite another text which two rows have, word for word the same"} for n in range(2)]
CONTROL = "some text that only a reader of plain text would look at"


def columnar(write, rows, **how):
    write(pa.Table.from_pylist(rows), made := BytesIO(), **how)
    return made.getvalue()


jsonl = sample("jsonl").make
arrow = partial(columnar, feather.write_feather)
parquet = partial(columnar, pq.write_table, row_group_size=2)
as_orc = partial(columnar, orc.write_table)


def sqlite(rows):
    database = sqlite3.connect(":memory:")
    database.execute(f"create table pages ({', '.join(rows[0])})")
    database.executemany(f"insert into pages values ({', '.join('?' * len(rows[0]))})", [tuple(row.values()) for row in rows])
    database.commit()
    return database.serialize()


def mbox(rows):
    return "".join(f"From a@b\nMessage-ID: <{row['id']}>\n\n{row['text']}\n\n" for row in rows).encode()


def page(rows):
    return b"".join(b"<p>%s</p>" % row["text"].encode() for row in rows)


READERS = {
    ".jsonl": jsonl, ".json": sample("json").make, ".csv": sample("csv").make, ".tsv": sample("tsv").make, ".parquet": parquet,
    ".arrow": arrow, ".orc": as_orc, ".sqlite": sqlite, ".mbox": mbox, ".html": page,
    **dict.fromkeys((".txt", ".zip", ".tar", ".duckdb", ".docx", ".eml", ".warc"), page),
}  # fmt: skip
READERS |= {
    f"{suffix}.gz": lambda rows, make=READERS[suffix]: gzip.compress(make(rows))
    for suffix in (".jsonl", ".csv", ".txt", ".html")
}
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


@pytest.fixture(autouse=True)
def quiet():
    """What is left out is logged."""
    logging.getLogger("lookalike").handlers = [logging.NullHandler()]


def folder(tmp_path, name, data):
    made = tmp_path / "in"
    made.mkdir()
    (made / "good.jsonl").write_bytes(jsonl(GOOD))
    (made / name).write_bytes(data)
    return made


@pytest.mark.parametrize("suffix", one_in(3, READERS))
def test_a_bad_file_ends_no_job(tmp_path, suffix):
    """Each kind of file has each fault, and meets each command with some; so does each fault."""
    named = {} if suffix.startswith((".txt", ".html", ".docx", ".eml", ".zip", ".tar")) else {"id": "id"}
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
    "a.txt.gz": b"\x1f\x8b\x08 no", "a.html.gz": b"\x1f\x8b\x08 no", "a.parquet": b"PAR1", "a.arrow": arrow([{"text": 1}]),
    "a.orc": as_orc(ROWS)[:-9],
}  # fmt: skip


def test_an_input_of_which_nothing_can_be_read_is_an_error(tmp_path):
    """Whatever the job; it is no error beside what can be read. A column that all rows lack is not left out."""
    good = tmp_path / "good.jsonl"
    good.write_bytes(jsonl(GOOD))
    for name, data in ALL_BAD.items():
        path = tmp_path / name
        path.write_bytes(data)
        for command in COMMANDS.values() if "html" not in name else (la.dedup, la.pairs):
            with pytest.raises(InputDataError, match="can be read: .* left out; the first: ") as told:
                command(path, on_error="skip")
            assert str(path) in str(told.value) and "on_error" not in str(told.value)
        summary = la.dedup([path, good], on_error="skip").summary
        assert summary.documents - summary.documents_skipped == 2, name
    for suffix in (".csv", ".parquet", ".orc", ".sqlite"):
        (path := tmp_path / f"in{suffix}").write_bytes(READERS[suffix](ROWS))
        with pytest.raises(InputDataError, match="name another with text=[^,]*$"):
            la.dedup(path, text="body")


def test_rows_of_columns_are_left_out_alone(tmp_path):
    ids = [1, None, 3, 4]
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


def test_links_and_folders_with_nothing_behind_them_are_counted(tmp_path):
    """As is what a plan cannot look at."""
    made = folder(tmp_path, "odd.parquet", FAULTS["another kind"](b""))
    (made / "link.jsonl").symlink_to("nowhere")
    (tmp_path / "empty").mkdir()
    names = [made, made / "link.jsonl", tmp_path / "empty"]
    summary = la.dedup(names, on_error="skip").summary
    assert summary.documents == 2 and summary.skipped["by_reason"] == {"broken_link": 1, "unreadable": 3}
    with pytest.raises(InputDataError, match="no file can be read: 2 left out; the first:"):
        la.dedup(names[1:], on_error="skip")
