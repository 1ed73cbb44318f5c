"""Texts of saved documents are read from where they came from, those that are wanted, and no piece without one."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns
from lookalike.inputs import texts as input_texts
from lookalike.inputs.sketches import as_references, saved_in
from lookalike.inputs.texts import SavedTexts, TextReader, wanted_texts

N = 60
TEXTS = [f"document number {i} has words of its own such as w{i * 7} and v{i * 11} and x{i * 13}" for i in range(N)]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("in") / "all.parquet"
    pq.write_table(pa.table({"text": TEXTS, "n": range(N)}), path, row_group_size=10)
    return path


@pytest.fixture
def pieces(monkeypatch):
    """Each row group is a piece; which of them are read."""
    from lookalike.formats.parquet import FORMAT, Parquet

    read = []
    monkeypatch.setattr(
        Parquet, "pieces", lambda self, split, n: [(10 * i, replaced(split, (i, i + 1))) for i in range(N // 10)]
    )
    whole = Parquet.read
    monkeypatch.setattr(Parquet, "read", lambda self, split, columns: read.append(split.groups) or whole(self, split, columns))
    assert FORMAT.name == "parquet"
    return read


def replaced(split, groups):
    from dataclasses import replace

    return replace(split, groups=groups)


def test_rows_that_ascend_come_from_the_pieces_that_have_them(file, pieces):
    (split,) = open_sources([file])
    rows = np.array([3, 4, 9, 31, 59])
    again = TextReader(split.pieces(1), Columns(others=("n",)), rows)
    found, place = [], 0
    while place < len(rows):
        first, batch = again.at(place)
        assert first == place and batch.others["n"].to_pylist() == rows[first : first + len(batch.texts)].tolist()
        found += [batch.texts.row(i).decode() for i in range(len(batch.texts))]
        place += len(batch.texts)
    assert found == [TEXTS[row] for row in rows] and pieces == [(0, 1), (3, 4), (5, 6)]


@pytest.mark.parametrize("start", [0, 7, 33, 59])
def test_what_is_not_wanted_is_empty(start, file, pieces, tmp_path):
    result = la.dedup(file, threads=1)
    result.save_sketches(tmp_path / "history")
    result.close()
    (split,) = as_references(tmp_path / "history")
    wanted = np.zeros(N, np.bool_)
    wanted[[0, 8, 9, 40, 41]] = True
    pieces.clear()
    row, found = start, []
    for first, texts in wanted_texts(split, wanted, start):
        assert first == row
        found += [texts.row(i).decode() for i in range(len(texts))]
        row += len(texts)
    assert found == [text if wanted[i] else "" for i, text in enumerate(TEXTS)][start:]
    assert pieces == [piece for piece, last in (((0, 1), 9), ((4, 5), 41)) if start <= last]
    assert [len(SavedTexts(split).at(place)[1].texts) for place in (0, 10)] == [10, 10]


def test_pieces_of_saved_sketches_are_those_of_the_whole(file, tmp_path, monkeypatch):
    monkeypatch.setattr(input_texts, "PIECE_ROWS", 25)
    result = la.dedup(file, threads=1)
    result.save_sketches(tmp_path / "history")
    (split,) = as_references(tmp_path / "history")
    cut = split.pieces(1)
    assert [first for first, _ in cut] == [0, 25, 50]
    whole, parts = ([row for one in some for batch in one.data.batches() for row in batch.to_pylist()]
                    for some in ([split], [piece for _, piece in cut]))  # fmt: skip
    assert whole == parts and [row["position"] for row in whole] == list(range(N))
    assert SavedTexts(cut[1][1]).at(0)[1].texts.row(0).decode() == TEXTS[25]


def test_which_paths_mean_saved_sketches(tmp_path):
    for name in ("b", "a"):
        (tmp_path / "history" / name).mkdir(parents=True)
        (tmp_path / "history" / name / "sketches.json").touch()
    (tmp_path / "history" / ".a.tmp").mkdir()
    assert saved_in(tmp_path / "history") == [tmp_path / "history" / "a", tmp_path / "history" / "b"]
    assert saved_in(str(tmp_path / "history" / "a")) == [tmp_path / "history" / "a"]
    for other in (tmp_path, tmp_path / "none", "a text", "x" * 5000, "nul\0", None, 7, pa.table({"text": ["a"]})):
        assert saved_in(other) == []


def test_texts_are_not_taken_for_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert la.dedup(["some text"], against=["history", "some text"], threads=1).keep.tolist() == [False]
