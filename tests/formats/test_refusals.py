"""What is refused."""

import numpy as np
import pyarrow as pa
import pytest
from formats.jobs import put, refused
from json_lines import write_lines

import lookalike as la
from lookalike.errors import OutputError, ParameterError
from lookalike.formats.writers import check_output

TEXT = "one two three four five six seven"


@pytest.fixture
def corpus(tmp_path):
    return write_lines(tmp_path / "in.jsonl", [TEXT])


def test_what_is_refused_and_what_is_not(corpus):
    refused("a list of texts has no columns", la.dedup, [TEXT], id="id")
    refused("salvage is for reading", la.Index.open, corpus.parent / "x", salvage=True, error=ParameterError)
    refused("cannot be made", la.Index.create, corpus / "below-a-file", error=OutputError)
    la.dedup([]).write(corpus.parent / "no" / "x.txt" / "y")


def test_an_output_of_the_other_kind_is_not_replaced(tmp_path):
    (tmp_path / "folder.jsonl").mkdir()
    put(tmp_path / "file", "mine")
    for name in ("folder.jsonl", "file"):
        refused("of that name exists", check_output, tmp_path / name, force=True, error=OutputError)
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
    refused(said, result.write, name, error=ParameterError)
    assert [p.name for p in tmp_path.iterdir()] == ["in.jsonl"]
    result.write(f"{name}/")
    result.write(name, force=True)
    assert sorted(p.name for p in (tmp_path / name).iterdir()) == ["_lookalike.json", "in.jsonl"]


def test_names_of_folders(tmp_path):
    for name in ("clean", ".hidden", "v2.", "a.b/clean", "clean.xlsx/"):
        check_output(f"{tmp_path}/{name}", force=False)
