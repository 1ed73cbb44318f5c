from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from formats.jobs import refused
from json_lines import read_lines, write_lines
from row_files import A

import lookalike as la

B = "completely different words stand here, so that nothing could match"
TEXTS = [A, B, A + " more"]


class Iterable(SimpleNamespace):
    def __iter__(self):
        return iter(self.items)


ONCE = [iter, lambda items: Iterable(items=items), lambda items: map(str, items), lambda items: dict.fromkeys(items).keys()]


@pytest.mark.parametrize("once", ONCE)
def test_what_can_be_read_once_is_read_by_every_function_and_written_whole(once, tmp_path):
    result = la.dedup(once(TEXTS))
    assert result.keep.tolist() == [True, True, False]
    for _ in range(2):
        result.write(tmp_path / "out.jsonl", force=True)
        assert [row["text"] for row in read_lines(tmp_path / "out.jsonl")] == [A, B]
    assert la.pairs(once(TEXTS)).num_rows == 1
    assert la.dedup(once([B, A]), against=once([A])).keep.tolist() == [True, False]
    assert la.decontaminate(once([B, A]), against=once([A])).overlaps.tolist() == [False, True]
    assert la.shingle(once(TEXTS)).sizes.tolist() == la.shingle(TEXTS).sizes.tolist()
    assert la.sketches.weigh(once(TEXTS)).weights.tolist() == la.sketches.weigh(TEXTS).weights.tolist()


def test_a_stream_of_record_batches_is_a_table_and_an_index_of_pandas_no_column(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "n": [1, 2, 3]}, index=[7, 8, 9])
    for data in (pa.table({"text": TEXTS, "n": [1, 2, 3]}).to_reader(1), frame[frame.n > 0]):
        la.dedup(data).write(tmp_path / "out.jsonl", force=True)
        assert read_lines(tmp_path / "out.jsonl") == [{"text": A, "n": 1}, {"text": B, "n": 2}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (set(TEXTS), "got a set, which has no order: pass sorted"),
        ({"a": A, "b": 0.5}, "got 'b': float"),
        ({"text": TEXTS}, r"got 'text': list: pass a dict of columns as a table, pyarrow.table\(columns\)"),
        ({"a/b": pa.table({"text": TEXTS})}, "a dict must be of id to text, or of name to table or data set; got 'a/b': Table"),
        ([{"text": A}, A], "row 1: a list with a dict must hold dicts only; got str"),
        ([{"text": A}, {"text": A, 2: "x"}], "row 1: the names of fields must be str; got 2: rename the field"),
        ([{"text": A, None: "x"}], "row 0: the names of fields must be str; got None: "),
        ([{"body": A}], r"row 0: field 'text' is missing; fields found: body; name another with text="),
        ([{"text": 3}], "row 0: field 'text' must be a string or null; found 3"),
        ([[A], [B]], "row 0: a text must be a str; this one is list"),
        (np.array([[A, B]]), r"got an array of shape \(1, 2\): pass one of its columns"),
        (pd.Series([A, 3]), "row 1: a text must be a str; this one is int: 3"),
        (pd.Series([1, 2]), "texts must be strings; the column holds int64"),
        (pd.DataFrame({"text": TEXTS, "n": [1, "a", 2]}), "a DataFrame must have columns of one type each: .*column n"),
        (pd.DataFrame({"text": TEXTS, "n": pd.Series([2**70, 1, 2], dtype=object)}), "columns of one type each"),
        (pd.DataFrame({"text": TEXTS, "n": pd.Series(["\ud800", "b", "c"], dtype=object)}), "columns of one type each"),
        (pd.DataFrame([[A, 1, 2]], columns=["text", "n", "n"]), "the column 'n' appears 2 times"),
        ([Path("a.jsonl"), 3], "a list with a path must hold paths only; got int: 3"),
        ("a text, not a path", "no file of that name; a str is read as a path: put a text into a list"),
        ("Is this a text?", "no file matches; a str is read as a path: put a text into a list"),
        ("x " * 5000, "put a text into a list"),
        ("one line\nand another.jsonl", "put a text into a list"),
        ("a\0b", "put a text into a list"),
        (Path("x" * 5000), "no file of that name"),
    ],
)
def test_what_cannot_be_texts_is_refused_with_a_way_out(data, message):
    refused(message, la.dedup, data)


def test_shingle_refuses_the_same():
    for data in [set(TEXTS), {"text": TEXTS}, np.array([[A, B]]), A, pl.DataFrame({"text": TEXTS}).lazy()]:
        refused("texts must be a list of str or a column; got", la.shingle, data)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name, text in (("a.jsonl", A), ("b.jsonl", A + " more"), ("folder/c.jsonl", B), ("notes.xyz", A)):
        write_lines(tmp_path / name, [text])


@pytest.mark.parametrize(
    "data",
    [
        ["a.jsonl", "b.jsonl"], [Path("a.jsonl"), "b.jsonl"], (Path("a.jsonl"), Path("b.jsonl")), ["*.jsonl"], ["*.{jsonl,csv}"],
        ["{a,b}.jsonl"], "*.jsonl", [Path("*.jsonl")], [Path("a.jsonl"), Path("b.jsonl"), Path("folder")],
    ],
)  # fmt: skip
def test_lists_of_paths(files, data):
    for form in (data, iter(data)) if not isinstance(data, str) else (data,):
        result = la.dedup(form)
        assert result.keep.tolist()[:2] == [True, False]
        assert result.removed["id"].to_pylist() == ["b.jsonl:1"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["a.jsonl", A], "'a.jsonl' names an existing file or folder, but the list could be texts"),
        ([A, "a.jsonl"], "pass paths as pathlib.Path"),
        (["a.jsonl", "typo.jsonl"], "'typo.jsonl': no file of that name; a list is read as paths if"),
        (["typo.jsonl"], r"if these are texts, pass the texts as a column, pyarrow.array\(texts\)"),
        (["folder"], "'folder' names an existing file or folder"),
        (["folder", "a.jsonl"], "names an existing file or folder"),
        (["notes.xyz"], "'notes.xyz' names an existing file or folder"),
        ([Path("a.jsonl"), A], "no file of that name"),
    ],
)
def test_a_list_that_could_be_paths_or_texts_is_refused(files, data, message):
    refused(message, la.dedup, data)


def test_a_column_is_never_read_as_paths_nor_texts_that_mention_files(files):
    for data in (["a.jsonl", A, "folder"], ["typo.jsonl"], ["folder"]):
        assert len(la.dedup(pa.array(data))) == len(data)
    assert len(la.dedup(["see a.jsonl", "folder and more", "missing.jsonl", "a.jsonl is a file"])) == 4
    assert len(la.dedup(["*.{jsonl,other}", "{a,b}", "}", "a}}", "{a}{}"])) == 5
