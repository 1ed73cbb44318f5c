import json
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises
from samples import words

from lookalike.engines.local.documents import Documents
from lookalike.errors import InputDataError
from lookalike.files.workspace import Workspace
from lookalike.formats.sources import open_sources
from lookalike.inputs.read import ReadOptions
from lookalike.text import html
from lookalike.values.tables import SOURCE_BITS

ROWS = [3, 0, 9, 1]
ALL = np.ones(0, "bool")  # of documents that are saved there are none
TEXTS = [f"text {number}.{row} " + "é" * (row % 4) for number, n in enumerate(ROWS) for row in range(n)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, texts = tmp_path_factory.mktemp("in"), iter(TEXTS)
    for number, n in enumerate(ROWS):
        (folder / f"{number}.jsonl").write_text("".join(json.dumps({"text": next(texts)}) + "\n" for _ in range(n)))
    return folder


def opened(folder, **reading):
    seen = []
    splits = open_sources(sorted(folder.glob("*.jsonl")))
    made = Documents(splits, ReadOptions(**reading), threads=1, workspace=Workspace(), progress=lambda *some: seen.append(some))
    return made, seen


def listed(found):
    return [found.row(i).decode() for i in range(len(found))]


def texts_in(batches):
    return [text.decode() for batch in batches for text in batch["text"].to_pylist()]


cuts = st.tuples(st.sampled_from([40, 200, 1 << 20]), st.sampled_from([1, 30, 1 << 20]))


@given(cuts, st.integers(0, sum(ROWS)))
def test_documents_go_on_after_a_mark_and_are_read_again_from_any_row_on(folder, cut, row):
    with patch("lookalike.files.streams.BLOCK", cut[0]), patch("lookalike.engines.local.documents.PIECE_BYTES", cut[1]):
        (whole, _), (resumed, _), (again, seen) = (opened(folder) for _ in range(3))
        pieces = [(piece.mark, texts_in(piece.make())) for piece in whole.pieces(0)]
        assert [text for _, texts in pieces for text in texts] == TEXTS and whole.rows_of.tolist() == ROWS
        assert [mark for mark, _ in pieces] == np.cumsum([len(texts) for _, texts in pieces]).tolist(), "marks count rows"
        positions = [p for batch in whole.batches() for p in batch["position"].to_pylist()]
        assert positions == [number << SOURCE_BITS | row for number, n in enumerate(ROWS) for row in range(n)]
        mark = max(mark for mark in (0, *(mark for mark, _ in pieces)) if mark <= row)
        resumed.rows_of = np.clip(mark - np.cumsum([0, *ROWS[:-1]]), 0, ROWS)
        assert [text for piece in resumed.pieces(mark) for text in texts_in(piece.make())] == TEXTS[mark:]
        list(again.batches())
        again.release_texts()
        found = [(first + i, text) for first, some in again.read_again(row, ALL) for i, text in enumerate(listed(some))]
    assert found == list(enumerate(TEXTS))[row:]
    assert all(name == "reading candidates again" for name, _ in seen) and sum(n for _, n in seen) == len(TEXTS) - row


@pytest.mark.parametrize("on_disk", [False, True])
def test_pages_are_turned_into_text_once(tmp_path, monkeypatch, on_disk):
    """On the disk as they come, or when all is moved there."""
    own = words("word", 60)
    pages = [f"<html><body><main><p>{own} {i}</p></main></body></html>" for i in range(5)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": page}) + "\n" for page in pages))
    count, extract = [], html.read_page
    monkeypatch.setattr(html, "read_page", lambda *page: count.append(1) or extract(*page))
    monkeypatch.setattr(Workspace, "on_disk", on_disk)
    documents, _ = opened(tmp_path, pages="main")
    texts = texts_in(documents.batches())
    assert [own in text and text.strip().endswith(str(i)) for i, text in enumerate(texts)] == [True] * 5
    if not on_disk:
        documents.release_texts()
    for begin in range(6):
        assert [text for _, some in documents.read_again(begin, ALL) for text in listed(some)] == texts[begin:]
    assert len(count) == 5


def test_an_input_with_other_rows_is_an_error(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}\n')
    documents, _ = opened(tmp_path)
    list(documents.batches())
    assert [texts.row(0) for _, texts in documents.read_again(1, ALL)] == [b"b"]
    documents.rows_of = np.array([3])
    assert_raises(InputDataError, r"in\.jsonl: 3 rows were read at first, 2 now; run again", list, documents.read_again(0, ALL))
    path.write_text('{"text": "a"}\n{"text": "bc"}\n')
    assert_raises(InputDataError, "changed", list, documents.read_again(0, ALL))
