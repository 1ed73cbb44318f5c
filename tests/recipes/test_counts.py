"""Counts, sources and slices of jobs: in results, written rows, saved results, and over references."""

import csv
import json
from contextlib import closing
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from json_lines import read_lines, write_lines

import lookalike as la

LONG = "the quick brown fox jumps over the lazy dog near the bank of the river"
ROWS = [
    {"id": "a", "text": LONG, "from": "wiki", "lang": "en"}, {"id": "b", "text": "another text of its own", "from": "news", "lang": "de"},
    {"id": "c", "text": LONG, "from": "news", "lang": "en"}, {"id": "d", "text": f"{LONG} again", "from": None, "lang": "en"},
    {"id": "e", "text": LONG, "from": "news", "lang": "de"}, {"id": "f", "text": LONG, "from": "crawl", "lang": None},
]  # fmt: skip
COUNTS = {"a": (3, 4, 4), "b": (0, 0, 1)}
NAMES = ["n_exact", "n_duplicates", "n_sources"]


def as_judged(summary):
    """A summary without what saving, which comes after, adds to times and memory."""
    return replace(summary, seconds={}, peak_memory=0)


@pytest.fixture
def result():
    with_counts = la.dedup(ROWS, id="id", counts=True, source="from", slices="lang")
    yield with_counts
    with_counts.close()


def test_counts_of_the_kept_documents(result):
    assert {row["id"]: tuple(row[name] for name in NAMES) for row in result.kept.to_pylist()} == COUNTS
    assert la.dedup(ROWS, id="id").kept.column_names == ["id", "n_exact", "n_duplicates"]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_written_rows_have_them(tmp_path, result, suffix):
    result.write(tmp_path / f"out.{suffix}")
    if suffix == "jsonl":
        rows = read_lines(tmp_path / "out.jsonl")
    elif suffix == "parquet":
        rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    else:
        with open(tmp_path / "out.csv") as stream:
            rows = list(csv.DictReader(stream))
        rows = [row | {name: json.loads(row[name]) for name in NAMES} for row in rows]
    assert [list(row) for row in rows] == [["id", "text", "from", "lang", *NAMES]] * 2
    assert {row["id"]: tuple(row[name] for name in NAMES) for row in rows} == COUNTS


def test_all_rows_have_them_with_annotations(result):
    rows = result.clean(annotate=True).to_pylist()
    assert list(rows[0])[4:] == ["keep", "duplicate_of", "resemblance", "cluster", *NAMES]
    assert [row["n_duplicates"] for row in rows] == [4, 0, 0, 0, 0, 0]


def test_attributes_have_them(tmp_path):
    write_lines(tmp_path / "in.jsonl", ROWS)
    with closing(la.dedup(tmp_path / "in.jsonl", id="id", counts=True)) as result:
        result.write(tmp_path / "out", attributes=True)
    told = read_lines(tmp_path / "out/in.jsonl")
    assert [row["attributes"]["n_duplicates"] for row in told] == [4, 0, 0, 0, 0, 0]


def test_without_a_column_each_file_is_a_source(tmp_path):
    for name, rows in (("x", ROWS[:3]), ("y", ROWS[3:])):
        write_lines(tmp_path / f"{name}.jsonl", rows)
    (tmp_path / "z.txt").write_text(LONG)
    (tmp_path / "z2.txt").write_text(LONG)
    with closing(la.dedup(tmp_path, counts=True)) as result:
        first, own = result.kept.to_pylist()
    assert first["n_sources"] == 4 and first["n_exact"] == 5 and own["n_sources"] == 1


def test_slices_are_counted(result):
    found = {row["value"]: (row["documents"], row["removed"]) for row in result.summary.slices["lang"]}
    assert found == {"en": (3, 2), "de": (2, 1), None: (1, 1)} and list(result.summary.slices) == ["lang"]
    assert "  removed by lang:\n    en " in str(result.summary)


def test_who_shares_documents_with_whom(tmp_path, result):
    rows = [tuple(row.values()) for row in result.matrix.to_pylist()]
    assert rows[0] == ("news", "wiki", 2) and sorted(rows[1:], key=str) == [("crawl", "wiki", 1), (None, "wiki", 1)]
    result.save(tmp_path / "saved")
    loaded = la.Result.load(tmp_path / "saved")
    assert (
        loaded.matrix.equals(result.matrix)
        and loaded.kept.equals(result.kept)
        and as_judged(loaded.summary) == as_judged(result.summary)
    )
    plain = la.dedup({"one": pa.table({"text": [LONG]}), "two": pa.table({"text": [LONG, LONG]})})
    assert plain.matrix.to_pylist() == [{"removed_from": "two", "kept_in": "one", "documents": 2}]


def test_references_count_what_is_removed_for_them():
    result = la.dedup(ROWS[2:], against=ROWS[:2], id="id", counts=True, source="from", at_most=2)
    told = {row["id"]: (row["reason"], row["n_duplicates"], row["n_sources"]) for row in result.decisions.to_pylist()}
    assert told == {
        "a": ("reference", 3, 4), "b": ("reference", 0, 1), "c": ("spared", 0, 0), "d": ("near", 0, 0), "e": ("exact", 0, 0),
        "f": ("exact", 0, 0),
    }  # fmt: skip
    assert result.keep.tolist() == [True, False, False, False] and result.summary.spared == 1


@pytest.mark.parametrize(("rules", "kept"), [
    ({"at_most": 3}, "abcd"), ({"at_most": 9}, "abcdef"),
])  # fmt: skip
def test_rules_of_groups(tmp_path, rules, kept):
    with closing(la.dedup(ROWS, id="id", **rules)) as result:
        assert "".join(row["id"] for row in result.clean().to_pylist()) == kept
        assert result.summary.kept == len(kept) == int(result.keep.sum())
        result.save(tmp_path / "saved")
        assert la.Result.load(tmp_path / "saved").decisions.equals(result.decisions)
        result.report(tmp_path / "page.html")
        groups = {row["id"]: row["duplicates"] for row in result.groups.to_pylist()}
        assert sum(map(len, groups.values())) == sum(row["reason"] in ("exact", "near") for row in result.decisions.to_pylist())


@pytest.mark.parametrize(("given", "message"), [
    ({"at_most": 0}, "at_most must be at least 1; got 0"),
    ({"slices": "nowhere"}, "column 'nowhere' is missing|field 'nowhere' is missing"),
])  # fmt: skip
def test_what_cannot_be(given, message):
    with pytest.raises((la.errors.ParameterError, la.errors.InputDataError), match=message):
        la.dedup(ROWS, id="id", **given)


def test_names_that_counts_would_add_are_refused():
    with pytest.raises(la.errors.InputDataError, match="the column 'n_exact' already exists, and writing would add another"):
        la.dedup(pa.table({"text": [LONG], "n_exact": [1]}), counts=True)


def test_known_pairs_do_not_count_groups_anew():
    result = la.dedup(ROWS, id="id", evidence="all", counts=True)
    with pytest.raises(la.errors.ParameterError, match="rethreshold does not count groups again"):
        result.rethreshold(0.95)
    opened = la.dedup(ROWS, id="id", counts=True).rethreshold(1.0)
    assert opened.kept.to_pylist()[0]["n_duplicates"] == 3
