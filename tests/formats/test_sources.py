from itertools import chain

import pytest
from formats.jobs import one_split, put, rows_in

from lookalike.formats import Columns, txt

A = "one two three four five six seven"


def test_batches_end_beyond_so_many_bytes_or_with_so_many_files(tmp_path, monkeypatch):
    for i in range(7):
        put(tmp_path / f"{i}.txt", f"no {i}")
    split = one_split(tmp_path)
    for n_bytes, files, sizes in (
        (10, 1024, "331"), (11, 1024, "331"), (12, 1024, "43"), (10, 2, "2221"), (0, 9, "1111111"), (28, 7, "7"),
    ):  # fmt: skip
        monkeypatch.setattr("lookalike.formats.format.BLOCK", n_bytes)
        monkeypatch.setattr(txt, "BATCH_FILES", files)
        batches = [batch.numbers.tolist() for batch in split.batches(Columns())]
        assert "".join(str(len(batch)) for batch in batches) == sizes
        assert list(chain(*batches)) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("form", ["txt", "eml"])
def test_pieces_of_a_folder_are_its_files_by_their_numbers(tmp_path, form, monkeypatch):
    """As tasks of a cluster read them: no piece holds the files of others."""
    for n in range(40):
        (tmp_path / f"n={n % 3}").mkdir(exist_ok=True)
        put(tmp_path / f"n={n % 3}/{n:02}.{form}", f"Subject: {n}\n\n{A} {n}" * (n % 5 + 1))
    split = one_split(tmp_path)
    monkeypatch.setattr(txt, "OPENED", 100)

    def read(split):
        return [(*row, split.label(row[0])) for row in rows_in(split.batches(Columns(others=("n",))))]

    whole, pieces = read(split), split.pieces(1000)
    assert [row[0] for row in whole] == list(range(1, 41)) and {row[2] for row in whole} == {0, 1, 2}
    assert len(pieces) > 9 and max(len(piece.places) for _, piece in pieces) < 9
    assert [(first, row) for first, piece in pieces for row in read(piece)[:1]] == [
        (first, whole[first]) for first, _ in pieces
    ]
    assert [row for _, piece in pieces for row in read(piece)] == whole
    assert [row for _, piece in pieces for row in piece.records()] == list(split.records())
