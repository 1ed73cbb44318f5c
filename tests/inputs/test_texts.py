"""Texts of saved documents are read from where they came from, those that are wanted, and no piece without one."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.formats.parquet import Parquet
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
    read = []
    whole = Parquet.read

    def groups(self, split, n):
        return [(10 * i, replace(split, groups=(i, i + 1))) for i in range(N // 10)]

    monkeypatch.setattr(Parquet, "pieces", groups)
    monkeypatch.setattr(Parquet, "read", lambda self, split, columns: read.append(split.groups) or whole(self, split, columns))
    return read


def references(file, folder):
    """The documents of a file, with saved sketches."""
    la.dedup(file, threads=1).save_sketches(folder / "history")
    return as_references(folder / "history")


def test_rows_that_ascend_come_from_the_pieces_that_have_them(file, pieces):
    (split,) = open_sources([file])
    rows = np.array([3, 4, 9, 31, 59])
    again = TextReader(split.pieces(1), Columns(others=("n",)), rows)
    found = []
    while len(found) < len(rows):
        first, batch = again.at(len(found))
        assert first == len(found) and batch.others["n"].to_pylist() == rows[first : first + len(batch.texts)].tolist()
        found += [text.decode() for text in batch.texts.column().to_pylist()]
    assert found == [TEXTS[row] for row in rows] and pieces == [(0, 1), (3, 4), (5, 6)]


def test_what_is_not_wanted_is_empty(file, pieces, tmp_path):
    (split,) = references(file, tmp_path)
    wanted = np.isin(np.arange(N), [0, 8, 9, 40, 41])
    for start in (0, 7, 33, 59):
        pieces.clear()
        row = start
        found = []
        for first, texts in wanted_texts(split, wanted, start):
            assert first == row
            found += [text.decode() for text in texts.column().to_pylist()]
            row += len(texts)
        assert found == [text if wanted[i] else "" for i, text in enumerate(TEXTS)][start:]
        assert pieces == [piece for piece, last in (((0, 1), 9), ((4, 5), 41)) if start <= last]
    assert [len(SavedTexts(split).at(place)[1].texts) for place in (0, 10)] == [10, 10]


def test_pieces_of_saved_sketches_are_those_of_the_whole(file, tmp_path, monkeypatch):
    monkeypatch.setattr(input_texts, "PIECE_ROWS", 25)
    (split,) = references(file, tmp_path)
    cut = split.pieces(1)
    assert [first for first, _ in cut] == [0, 25, 50]
    whole, parts = ([row for one in some for batch in one.data.batches() for row in batch.to_pylist()]
                    for some in ([split], [piece for _, piece in cut]))  # fmt: skip
    assert whole == parts and [row["position"] for row in whole] == list(range(N))
    assert SavedTexts(cut[1][1]).at(0)[1].texts.row(0).decode() == TEXTS[25]


def test_which_paths_mean_saved_sketches(tmp_path, monkeypatch):
    history = tmp_path / "history"
    for name in ("b", "a"):
        (history / name).mkdir(parents=True)
        (history / name / "sketches.json").touch()
    (history / ".a.tmp").mkdir()
    assert saved_in(history) == [history / "a", history / "b"] and saved_in(str(history / "a")) == [history / "a"]
    for other in (tmp_path, tmp_path / "none", "a text", "x" * 5000, "nul\0", None, 7, pa.table({"text": ["a"]})):
        assert saved_in(other) == []
    monkeypatch.chdir(history)
    assert la.dedup(["some text"], against=["history", "some text"], threads=1).keep.tolist() == [False]
