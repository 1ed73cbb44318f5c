"""Counts, sources and slices of jobs: in results, written rows, saved results, and over references."""

from contextlib import closing

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from json_lines import read_lines, write_lines

import lookalike as la
from lookalike.errors import InputDataError, ParameterError

LONG = "the quick brown fox jumps over the lazy dog near the bank of the river"
ROWS = [
    {"id": "a", "text": LONG, "from": "wiki", "lang": "en"}, {"id": "b", "text": "another text of its own", "from": "news", "lang": "de"},
    {"id": "c", "text": LONG, "from": "news", "lang": "en"}, {"id": "d", "text": f"{LONG} again", "from": None, "lang": "en"},
    {"id": "e", "text": LONG, "from": "news", "lang": "de"}, {"id": "f", "text": LONG, "from": "crawl", "lang": None},
]  # fmt: skip
COUNTS = {"a": (3, 4, 4), "b": (0, 0, 1)}
NAMES = ["n_exact", "n_duplicates", "n_sources"]


READERS = {
    "jsonl": read_lines,
    "parquet": lambda path: pq.read_table(path).to_pylist(),
    "csv": lambda path: pa.csv.read_csv(path).to_pylist(),
}


@pytest.fixture
def result():
    with closing(la.dedup(ROWS, id="id", counts=True, source="from", slices="lang")) as with_counts:
        yield with_counts


def counted(rows):
    return {row["id"]: tuple(row[name] for name in NAMES) for row in rows}


def test_counts_of_the_kept_documents_are_written_with_their_rows(tmp_path, result):
    assert counted(result.kept.to_pylist()) == COUNTS
    assert la.dedup(ROWS, id="id").kept.column_names == ["id", "n_exact", "n_duplicates"]
    for suffix, read in READERS.items():
        result.write(tmp_path / f"out.{suffix}")
        rows = read(tmp_path / f"out.{suffix}")
        assert [list(row) for row in rows] == [["id", "text", "from", "lang", *NAMES]] * 2 and counted(rows) == COUNTS


def test_all_rows_have_them_with_annotations_and_as_attributes(tmp_path, result):
    rows = result.clean(annotate=True).to_pylist()
    assert list(rows[0])[4:] == ["keep", "duplicate_of", "resemblance", "cluster", *NAMES]
    write_lines(tmp_path / "in.jsonl", ROWS)
    with closing(la.dedup(tmp_path / "in.jsonl", id="id", counts=True)) as apart:
        apart.write(tmp_path / "out", attributes=True)
    attributes = [row["attributes"] for row in read_lines(tmp_path / "out/in.jsonl")]
    for told in (rows, attributes):
        assert [row["n_duplicates"] for row in told] == [4, 0, 0, 0, 0, 0]


def test_who_shares_documents_with_whom(result):
    found = {row["value"]: (row["documents"], row["removed"]) for row in result.summary.slices["lang"]}
    assert found == {"en": (3, 2), "de": (2, 1), None: (1, 1)} and list(result.summary.slices) == ["lang"]
    assert "  removed by lang:\n    en " in str(result.summary)
    rows = [tuple(row.values()) for row in result.matrix.to_pylist()]
    assert rows[0] == ("news", "wiki", 2) and sorted(rows[1:], key=str) == [("crawl", "wiki", 1), (None, "wiki", 1)]
    plain = la.dedup({"one": pa.table({"text": [LONG]}), "two": pa.table({"text": [LONG, LONG]})})
    assert plain.matrix.to_pylist() == [{"removed_from": "two", "kept_in": "one", "documents": 2}]


def test_names_that_counts_would_add_are_refused():
    with pytest.raises(InputDataError, match="the column 'n_exact' already exists, and writing would add another"):
        la.dedup(pa.table({"text": [LONG], "n_exact": [1]}), counts=True)


def test_known_pairs_do_not_count_groups_anew():
    result = la.dedup(ROWS, id="id", evidence="all", counts=True)
    with pytest.raises(ParameterError, match="rethreshold does not count groups again"):
        result.rethreshold(0.95)
    opened = la.dedup(ROWS, id="id", counts=True).rethreshold(1.0)
    assert opened.kept.to_pylist()[0]["n_duplicates"] == 3


def test_without_a_column_each_file_is_a_source(tmp_path):
    for name, rows in (("x", ROWS[:3]), ("y", ROWS[3:])):
        write_lines(tmp_path / f"{name}.jsonl", rows)
    (tmp_path / "z.txt").write_text(LONG)
    (tmp_path / "z2.txt").write_text(LONG)
    with closing(la.dedup(tmp_path, counts=True)) as result:
        first, own = result.kept.to_pylist()
    assert first["n_sources"] == 4 and first["n_exact"] == 5 and own["n_sources"] == 1


def test_references_count_what_is_removed_for_them():
    result = la.dedup(ROWS[2:], against=ROWS[:2], id="id", counts=True, source="from", at_most=2)
    told = {row["id"]: (row["reason"], row["n_duplicates"], row["n_sources"]) for row in result.decisions.to_pylist()}
    assert told == {
        "a": ("reference", 3, 4), "b": ("reference", 0, 1), "c": ("spared", 0, 0), "d": ("near", 0, 0), "e": ("exact", 0, 0),
        "f": ("exact", 0, 0),
    }  # fmt: skip
    assert result.keep.tolist() == [True, False, False, False] and result.summary.spared == 1
