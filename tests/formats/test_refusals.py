"""What is refused, in which words."""

import json

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.formats.writers import check_output

TEXT = "one two three four five six seven"


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": "a", "text": TEXT}) + "\n")
    return tmp_path / "in.jsonl"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda at: la.dedup(at, format="xml"), la.errors.ParameterError, "format must be one of"),
        (lambda at: la.dedup([]).write(at.parent / "no" / "x.txt" / "y"), None, ""),
        (lambda at: la.dedup([TEXT], id="id"), la.errors.InputDataError, "a list of texts has no columns"),
        (
            lambda at: la.dedup(at.parent, format="txt", glob="*", id="id"),
            la.errors.ParameterError,
            "text files have no columns",
        ),
        (lambda at: la.dedup(at, memory="1..2GB"), la.errors.ParameterError, "a number of bytes such as 4GB"),
        (lambda at: la.Index.open(at.parent / "x", salvage=True), la.errors.ParameterError, "salvage is for reading"),
        (lambda at: la.Index.create(at / "below-a-file"), la.errors.OutputError, "cannot be made"),
    ],
)
def test_refused(corpus, call, error, words):
    if error is None:
        call(corpus)
    else:
        with pytest.raises(error, match=words):
            call(corpus)


def test_an_output_of_the_other_kind_is_not_replaced(tmp_path):
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "file").write_text("mine")
    for name in ("folder.jsonl", "file"):
        with pytest.raises(la.errors.OutputError, match="of that name exists"):
            check_output(tmp_path / name, force=True)
    assert (tmp_path / "file").read_text() == "mine"


def test_structs_are_tables():
    column = pa.chunked_array([pa.array([{"text": TEXT}, {"text": TEXT}])])
    assert la.dedup(column).keep.tolist() == [True, False]


def test_pairs_as_a_table():
    assert la.search.Pairs([0], [1], 2).to_arrow().to_pydict() == {"left": [0], "right": [1]}
    both = la.search.Pairs(np.array([0]), np.array([1]), 2, np.array([0.5]), np.array([3]))
    assert both.to_arrow().to_pydict() == {"left": [0], "right": [1], "resemblance": [0.5], "distance": [3]}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("clean.xlsx", "clean.xlsx: unrecognized suffix .xlsx: write clean.jsonl, or clean/ for a folder"),
        ("deep/clean.tar.gz", "unrecognized suffix .gz: write deep/clean.jsonl, or deep/clean/ for a folder"),
        ("2024.10", "2024.10: unrecognized suffix .10"),
        ("clean.txt", "a .txt file holds one document: write clean.jsonl, or clean/ for a folder"),
    ],
)
def test_a_new_folder_has_no_suffix(tmp_path, corpus, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    result = la.dedup(corpus)
    with pytest.raises(la.errors.ParameterError) as caught:
        result.write(name)
    assert said in str(caught.value) and [p.name for p in tmp_path.iterdir()] == ["in.jsonl"]
    result.write(f"{name}/")
    result.write(name, force=True)
    assert sorted(p.name for p in (tmp_path / name).iterdir()) == ["_lookalike.json", "in.jsonl"]


@pytest.mark.parametrize("name", ["clean", ".hidden", "v2.", "a.b/clean", "clean.xlsx/"])
def test_names_of_folders(tmp_path, name):
    check_output(f"{tmp_path}/{name}", force=False)
