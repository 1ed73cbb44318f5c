"""Opening inputs: which splits files, folders and globs are."""

import json

import pytest
from formats.jobs import put, refused
from json_lines import write_lines

import lookalike as la
from lookalike.formats import Columns, txt
from lookalike.formats.sources import open_sources
from lookalike.values.arrow import to_numpy

A, B = "one two three four five six seven", "quite another text of several words"


def test_texts_of_mixed_inputs_are_found_again(tmp_path):
    """By their positions, also from a saved result: there are several sources of text files."""
    texts = {
        "a.txt": A,
        "b.json": json.dumps([{"text": f"{B} two"}, {"text": A}]),
        "c.md": f"{B} 3",
        "d.tsv": f"text\n{A}\n",
        "e.rst": A,
    }
    result = la.dedup([put(tmp_path / name, text) for name, text in texts.items()], threshold=1.0)
    assert result.removed["duplicate_of"].to_pylist() == [str(tmp_path / "a.txt")] * 3
    result.save(tmp_path / "saved")
    for one in (result, la.Result.load(tmp_path / "saved")):
        found = one.inputs.texts(to_numpy(one.decisions["position"]), one.settings)
        assert [text.decode() for text in found.values()] == [A, f"{B} two", A, f"{B} 3", A, A]


def test_what_needs_a_parser_is_refused_with_a_way_to_its_text(tmp_path):
    for name, way in (("a.rtf", "pandoc"), ("a.xlsx", "libreoffice"), ("a.7z", "format='txt'")):
        path = put(tmp_path / name, "%PDF")
        assert str(refused(way, open_sources, [path])).startswith(str(path))


def test_what_lookalike_wrote_beside_outputs_is_no_input(tmp_path):
    la.dedup(write_lines(tmp_path / "a.jsonl", [A, A])).write(tmp_path / "b.jsonl")
    for given in ([tmp_path], sorted(tmp_path.iterdir())):
        result = la.dedup(given)
        assert result.keep.tolist() == [True, False, False] and result.summary.skipped["by_reason"] == {"marker": 1}


@pytest.mark.parametrize(("n_bytes", "files", "sizes"), [(10, 1024, [3, 3, 1]), (11, 1024, [3, 3, 1]), (12, 1024, [4, 3]),
                                                        (10, 2, [2, 2, 2, 1]), (0, 9, [1] * 7), (28, 7, [7])])  # fmt: skip
def test_batches_end_beyond_so_many_bytes_or_with_so_many_files(tmp_path, monkeypatch, n_bytes, files, sizes):
    """Of seven files of four bytes."""
    for i in range(7):
        (tmp_path / f"{i}.txt").write_text(f"no {i}")
    monkeypatch.setattr("lookalike.formats.format.BLOCK", n_bytes)
    monkeypatch.setattr(txt, "BATCH_FILES", files)
    (split,) = open_sources([tmp_path])
    batches = list(split.batches(Columns()))
    assert [len(batch.texts) for batch in batches] == sizes
    assert [number for batch in batches for number in batch.numbers.tolist()] == list(range(1, 8))


@pytest.mark.parametrize("form", ["txt", "eml"])
def test_pieces_of_a_folder_are_its_files_by_their_numbers(tmp_path, form, monkeypatch):
    """As tasks of a cluster read them, and texts are read again: no piece holds the files of others."""
    for n in range(40):
        (tmp_path / f"n={n % 3}").mkdir(exist_ok=True)
        put(tmp_path / f"n={n % 3}/{n:02}.{form}", f"Subject: {n}\n\n{A} {n}" * (n % 5 + 1))
    (split,) = open_sources([tmp_path])
    monkeypatch.setattr(txt, "OPENED", 100)

    def read(split):
        found = []
        for batch in split.batches(Columns(others=("n",))):
            numbers, texts = batch.numbers.tolist(), map(batch.texts.row, range(len(batch.texts)))
            found += zip(numbers, texts, batch.others["n"], map(split.label, numbers), strict=True)
        return found

    whole, pieces = read(split), split.pieces(1000)
    assert [row[0] for row in whole] == list(range(1, 41)) and {row[2] for row in whole} == {0, 1, 2}
    assert len(pieces) > 9 and max(len(piece.places) for _, piece in pieces) < 9
    assert [(first, row) for first, piece in pieces for row in read(piece)[:1]] == [
        (first, whole[first]) for first, _ in pieces
    ]
    assert [row for _, piece in pieces for row in read(piece)] == whole
    assert [row for _, piece in pieces for row in piece.records()] == list(split.records())
