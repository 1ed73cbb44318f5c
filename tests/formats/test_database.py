import os
import pickle
import sqlite3
from contextlib import closing

import duckdb
import pytest
from formats.jobs import one_split, put, refused

import lookalike as la
from lookalike.formats import database
from lookalike.formats.registry import format_named

A = "one two three four five six seven eight nine ten eleven twelve"


def made_by(path, *statements):
    with duckdb.connect(path) if path.suffix == ".duckdb" else sqlite3.connect(path) as opened:
        for statement in statements:
            if isinstance(statement, str):
                opened.execute(statement)
            elif statement[1]:
                opened.executemany(*statement)
    opened.close()
    return path


def pages_in(path, n=3):
    rows = [(i, f"{A} {i} " * 20) for i in range(n)]
    return made_by(path, "create table pages (id integer, text text)", ("insert into pages values (?, ?)", rows))


@pytest.mark.parametrize("suffix", [".sqlite", ".duckdb"])
def test_a_query_is_known_wherever_its_rows_are_read_again(tmp_path, suffix):
    query, path = "select text from pages limit 1", pages_in(tmp_path / f"in{suffix}")
    split = one_split(path, query=query)
    assert [row for _, row in pickle.loads(pickle.dumps(split)).records()] == [{"text": f"{A} 0 " * 20}]
    assert format_named(split.form.name).query == query
    result = la.dedup(path, query=query)
    result.save(tmp_path / "saved")
    assert len(la.Result.open(tmp_path / "saved", trust=path).texts([0])) == 1 and result.settings.query == query
    for content in (b"this is no database" * 300, path.read_bytes()[:2000]):
        refused(f"bad{suffix}", la.dedup, put(tmp_path / f"bad{suffix}", content))


MANY_COLUMNS = "create view v as select 1" + "".join(f", zeroblob(9000000) as c{i}" for i in range(500))


def test_a_row_of_many_columns_has_no_more_bytes_than_the_cap_leaves(tmp_path):
    path = made_by(tmp_path / "a.sqlite", MANY_COLUMNS)
    refused(r"a.sqlite, row 1: .* MB for a row, or .* MB in all", la.dedup, path, memory="400MB")


ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c) select 'word ' || x as text from c"


@pytest.mark.parametrize(
    ("suffix", "which", "query"),
    [
        (".sqlite", "", None), (".sqlite", " where x < 0", "select text from v"), (".duckdb", " where x < 0", None),
        (".duckdb", "", "select text from v"),
    ],
)  # fmt: skip
def test_reading_ends(tmp_path, monkeypatch, suffix, which, query):
    monkeypatch.setattr(database, "SECONDS", 1)
    path = made_by(tmp_path / f"in{suffix}", f"create view v as {ENDLESS}{which}")
    refused("[12] seconds of processor time that a file of its size may take", la.dedup, path, query=query)


@pytest.mark.parametrize("name", ["in.sqlite-wal", "in.sqlite-journal", "in.duckdb.wal"])
def test_what_is_beside_a_database_is_a_file(tmp_path, name):
    path, beside = pages_in(tmp_path / f"in{name[2:9]}"), tmp_path / name
    os.mkfifo(beside)
    refused(f"{path.name}: .*{name} next to it.* is not a regular file", la.dedup, path)
    beside.unlink()
    beside.symlink_to("/etc/hostname")
    refused("is not a regular file", la.dedup, path)


def test_a_name_of_a_column_that_is_not_utf8(tmp_path):
    path = made_by(tmp_path / "n.sqlite", "create table t (text, naaame)", "insert into t values ('a', 'b')")
    refused(r"n\.sqlite", la.dedup, put(path, path.read_bytes().replace(b"naaame", b"n\xff\xfe\xffme")))


def test_databases_that_were_cut(tmp_path):
    """Also within the last page, of which SQLite would take zeros for rows."""
    path = pages_in(tmp_path / "in.db", 200)
    whole = path.read_bytes()
    for lost in (1, 500, 5000, len(whole) - 600):
        why = rf"in\.db: the database is cut short: .*{len(whole) - lost:,} bytes.* {len(whole):,}"
        refused(why, la.dedup, put(path, whole[:-lost]))
    uncounted = whole[:24] + bytes(4) + whole[28:]  # an old version wrote last, and did not count pages
    refused(r"in\.db: the database is cut short", la.dedup, put(path, uncounted[:-1]))
    for content in (uncounted, whole + bytes(100)):
        assert len(la.dedup(put(path, content))) == 200


PAGE = 4096


def damaged(path, *pages, rows=400, table="create table t (id integer primary key, text)", key=lambda i: i):
    """Some pages, by their numbers from the end, are zeros."""
    texts = (" ".join(f"w{i}x{j}" for j in range(40)) for i in range(rows))
    made_by(path, table, ("insert into t values (?, ?)", [(key(i), text) for i, text in enumerate(texts, 1)]))
    with path.open("r+b") as stream:
        for number in pages:
            stream.seek(-PAGE * number, os.SEEK_END)
            stream.write(bytes(PAGE))
    return path


@pytest.mark.parametrize(
    ("pages", "gaps", "how"),
    [
        ((12,), 1, {}), ((1,), 1, {}), ((5, 6, 14), 2, {}), ((12,), 1, {"key": lambda i: i * 10**15}),
        ((12,), 1, {"table": "create table t (rowid, text)"}),
    ],
)  # fmt: skip
def test_a_damaged_page_costs_no_other(tmp_path, pages, gaps, how, caplog):
    path = damaged(tmp_path / "a.db", *pages, **how)
    refused(r"a.db, row [1-9]\d*: damaged data: .*malformed.*on_error='skip'", la.dedup, path)
    result = la.dedup(path, on_error="skip")
    lost = 400 - result.summary.kept
    assert result.summary.documents_skipped == gaps and 3 * len(pages) < lost < 20 * len(pages)
    said = [one.getMessage() for one in caplog.records if "left out" in one.getMessage()]
    assert len(said) == gaps and all("damaged data" in one and "from rowid" in one for one in said)
    result.write(tmp_path / "out.jsonl")
    rows = (tmp_path / "out.jsonl").read_bytes().splitlines()
    assert len(rows) == 400 - lost == len(set(rows)) and (b"w399x0 " in rows[-1]) == (1 not in pages)


@pytest.mark.parametrize(
    "how", [{"query": "select * from t"}, {"table": "create table t (id primary key, text) without rowid"}]
)
def test_without_keys_rows_are_read_up_to_the_damage(tmp_path, how):
    query = how.pop("query", None)
    result = la.dedup(damaged(tmp_path / "a.db", 6, **how), on_error="skip", query=query)
    assert 100 < result.summary.kept < 399 and result.summary.documents_skipped == 1


def test_pages_in_a_journal_do_not_count_as_lost(tmp_path):
    """A checkpoint that was interrupted has written the number of pages, not all of them; the journal has them."""
    path, journal = tmp_path / "in.db", tmp_path / "in.db-wal"
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("pragma journal_mode = wal")
        opened.execute("select * from sqlite_master").fetchall()
        pages_in(path, 200)
        held = journal.read_bytes()
    refused("the database is cut short", la.dedup, put(path, path.read_bytes()[:-5000]))
    put(journal, held)
    assert len(la.dedup(path)) == 200
