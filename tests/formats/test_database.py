"""Rows of databases: of the only table, of a query, of a query that fails; read again alike."""

import os
import pickle
import sqlite3
from contextlib import closing

import duckdb
import pyarrow.parquet as pq
import pytest
from formats.jobs import kept_texts, put, refused
from json_lines import read_lines
from samples import one_in

import lookalike as la
from lookalike.formats import database
from lookalike.formats.registry import format_named
from lookalike.formats.sources import open_sources

A = "one two three four five six seven eight nine ten eleven twelve"
PAGES = [
    (1, A, 0.5),
    (2, f"{A} thirteen", None),
    (3, "quite another text, which has nothing in common with these", 2.0),
    (4, None, 1.0),
]


def made_by(path, *statements):
    """A database in which statements were run, each with the rows that it takes."""
    with duckdb.connect(path) if path.suffix == ".duckdb" else sqlite3.connect(path) as opened:
        for statement in statements:
            if isinstance(statement, str):
                opened.execute(statement)
            elif statement[1]:
                opened.executemany(*statement)
    opened.close()
    return path


def pages_in(path, rows=PAGES, name="pages"):
    """A database of one table."""
    table = f'"{name}" (id integer, text text, score double)'
    return made_by(path, f"create table {table}", (f'insert into "{name}" values (?, ?, ?)', rows))


both = pytest.mark.parametrize("suffix", [".sqlite", ".duckdb"])


@both
def test_the_only_table(tmp_path, suffix):
    result = la.dedup(pages_in(tmp_path / f"in{suffix}", name="some pages"), id="id")
    assert result.decisions["reason"].to_pylist() == ["kept", "near", "kept", "kept"]
    result.write(tmp_path / "out")
    (written,) = (tmp_path / "out").glob("*.parquet")
    kept = [{"id": i, "text": text, "score": score} for i, text, score in (PAGES[0], PAGES[2], PAGES[3])]
    assert pq.read_table(written).to_pylist() == kept
    result.write(tmp_path / "out.jsonl")
    assert read_lines(tmp_path / "out.jsonl") == kept


@both
def test_a_query(tmp_path, suffix):
    path = pages_in(tmp_path / f"in{suffix}")
    how = {"query": "select id as number, text as body, score from pages where id < 4 order by score desc", "text": "body"}
    for more in ({}, {"threads": 2}, {"work": tmp_path / "work"}, {"keep": "largest:score"}):
        result = la.dedup(path, **how, **more, id="number")
        assert [int(i) for i in result.decisions["id"].to_pylist()] == [3, 1, 2]
        assert result.summary.near_duplicates == 1 and result.settings.query == how["query"]
    result.save(tmp_path / "saved")
    assert len(la.Result.open(tmp_path / "saved", trust=path).texts([0, 1, 2])) == 3


@both
def test_splits_pickle_with_their_query(tmp_path, suffix):
    (split,) = open_sources([pages_in(tmp_path / f"in{suffix}")], query="select text from pages limit 1")
    assert [row for _, row in pickle.loads(pickle.dumps(split)).records()] == [{"text": A}]
    assert format_named(split.form.name).query == "select text from pages limit 1"


@both
def test_what_is_not_as_it_should_be(tmp_path, suffix):
    path = pages_in(tmp_path / f"in{suffix}")
    before = path.read_bytes()
    for words, asked in (
        (r": .*nowhere.*\(query: 'select text from nowhere'\)", {"query": "select text from nowhere"}),
        (", row 1: field 'body' is missing; fields found: id, text, score; name ano", {"text": "body"}),
        (", row 1: field 'text' must be a string or null; found 1", {"query": "select id as text from pages"}),
        (": .*(?i:read.?only)", {"query": "delete from pages"}),
    ):
        refused(f"in{suffix}{words}", la.dedup, path, **asked)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path], "nothing is changed"
    for content in (b"this is no database" * 300, path.read_bytes()[:2000]):
        refused(f"bad{suffix}", la.dedup, put(tmp_path / f"bad{suffix}", content))
    two = pages_in(pages_in(tmp_path / f"two{suffix}"), name="other")
    refused("has 2 tables: other, pages; say which rows with query=.*'$", la.dedup, two)


OUTSIDE = "select 1 as id, content as text from read_text('{secret}')"


@pytest.mark.parametrize(
    ("made", "query"),
    [
        (f"create view v as {OUTSIDE}", None),
        (f"create view pages as {OUTSIDE}", "select id, upper(text) as text from pages"),
        (f"create macro told() as table {OUTSIDE}", "select text from told()"),
        ("create table p (id integer)", OUTSIDE),
        ("create table p (id integer)", "select file as text from glob('{secret}')"),
        ("create table p (id integer)", "attach '{secret}' as other"),
    ],
)
def test_nothing_in_a_database_reads_another_file(tmp_path, made, query):
    """Whatever a view or macro says, or a query, which can be one's own."""
    secret = put(tmp_path / "secret.txt", "of this machine")
    path = made_by(tmp_path / "v.duckdb", made.format(secret=secret))
    refused(r"v\.duckdb", la.dedup, path, query=query and query.format(secret=secret))


BOMBS = {
    "view.sqlite": ["create view v as select hex(zeroblob(300000000)) as text"],
    "many columns.sqlite": ["create view v as select 1" + "".join(f", zeroblob(9000000) as c{i}" for i in range(500))],
    "generated.sqlite": [
        "create table t (id integer, text as (hex(zeroblob(300000000))))", "insert into t (id) values (1)",
    ],
    "blob.sqlite": ["create table t (text text, image blob)", "insert into t values ('a', zeroblob(200000000))"],
    "view.duckdb": ["create view v as select repeat('word ', 300000000) as text"],
    "generated.duckdb": [
        "create table t (id integer, text varchar as (repeat('word ', 300000000)))", "insert into t (id) values (1)",
    ],
    "list.duckdb": ["create table t as select 'a' as text, (select list(i) from range(25000000) r(i)) as numbers"],
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, BOMBS))
def test_a_row_has_no_more_bytes_than_the_cap_leaves(tmp_path, name):
    """Columns that are not asked for cost nothing."""
    path = made_by(tmp_path / name, *BOMBS[name])
    refused(rf"{name}, row 1: .* MB for a row, or .* MB in all", la.dedup, path, memory="400MB")
    if name == "list.duckdb":
        assert len(la.dedup(path, memory="400MB", query="select text from t")) == 1


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


@both
def test_views_of_tables_are_read(tmp_path, suffix):
    """And what else a database of one's own may have: generated columns, indexes of expressions."""
    path = made_by(
        tmp_path / f"in{suffix}", "create table t (id integer, title text, body text, text text as (title || ' ' || body))",
        "insert into t (id, title, body) values (1, 'A b', 'c d'), (2, 'E', 'f')", "create index i on t (lower(title))",
        "create view v as select id, upper(text) as text from t",
    )  # fmt: skip
    for query, found in (
        ("select text from t where lower(title) = 'e'", ["E f"]), ("select text from v order by id", ["A B C D", "E F"]),
        ("with w as (select max(id) as id from t) select v.text from v join w using (id)", ["E F"]),
    ):  # fmt: skip
        assert [row["text"] for _, row in open_sources([path], query=query)[0].records()] == found


@pytest.mark.parametrize("name", ["in.sqlite-wal", "in.sqlite-journal", "in.duckdb.wal"])
def test_what_is_beside_a_database_is_a_file(tmp_path, name):
    path, beside = pages_in(tmp_path / f"in{name[2:9]}"), tmp_path / name
    os.mkfifo(beside)
    refused(f"{path.name}: .*{name} next to it.* is not a regular file", la.dedup, path)
    beside.unlink()
    beside.symlink_to("/etc/hostname")
    refused("is not a regular file", la.dedup, path)


def test_two_columns_of_one_name_in_a_query(tmp_path):
    query = "select a.text, b.text from pages a, pages b"
    refused("the column 'text' appears 2 times", la.dedup, pages_in(tmp_path / "in.sqlite"), query=query)


def test_a_name_of_a_column_that_is_not_utf8(tmp_path):
    path = made_by(tmp_path / "n.sqlite", "create table t (text, naaame)", "insert into t values ('a', 'b')")
    refused(r"n\.sqlite", la.dedup, put(path, path.read_bytes().replace(b"naaame", b"n\xff\xfe\xffme")))


def test_bytes_are_text_where_they_are_utf8(tmp_path):
    path = pages_in(tmp_path / "in.db", [(1, A.encode(), 0.5), (2, b"a \xff b", 0.5)])
    assert kept_texts(path, query="select text from pages limit 1") == [A]
    refused("in.db, row 2: invalid UTF-8 at byte 2 of column 'text'", la.dedup, path)
    assert len(la.dedup(path, encoding_errors="replace")) == 2


def test_references_can_be_databases_and_inputs_not(tmp_path):
    given = {"query": "select text from pages", "against": pages_in(tmp_path / "in.sqlite")}
    free = put(tmp_path / "a.jsonl", '{"text": "a b c"}\n')
    refused("query is for databases", la.dedup, free, **given, error=la.errors.ParameterError)
    new = pages_in(tmp_path / "new.sqlite", [(1, A, 0.0), (2, "new", 0.0)])
    assert la.dedup(new, **given).keep.tolist() == [False, True]


def test_an_empty_table(tmp_path):
    assert len(la.dedup(pages_in(tmp_path / "in.sqlite", []))) == 0


def test_databases_that_were_cut(tmp_path):
    """Also within the last page, of which SQLite would take zeros for rows."""
    path = pages_in(tmp_path / "in.db", [(i, f"{A} {i} " * 20, None) for i in range(200)])
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
    """A database of which some pages, by their numbers from the end, are zeros."""
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
        pages_in(path, [(i, f"{A} {i} " * 20, None) for i in range(200)])
        held = journal.read_bytes()
    refused("the database is cut short", la.dedup, put(path, path.read_bytes()[:-5000]))
    put(journal, held)
    assert len(la.dedup(path)) == 200
