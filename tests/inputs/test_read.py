import json

import pyarrow as pa
import pytest
from raising import assert_raises

from lookalike.errors import InputDataError
from lookalike.files import streams
from lookalike.formats.memory import as_sources
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns
from lookalike.inputs.read import ReadOptions, check_apart, read_documents, read_with_ids
from lookalike.values.tables import SOURCE_BITS

ROWS = [
    [{"text": "one", "id": "a", "n": 3, "site": "site a"}, {"text": "zwölf", "id": "b", "n": None, "site": 1}],
    [],
    [{"text": f"row {i} é", "id": f"c{i}", "n": i / 2, "site": [True, 1.0, "1", None, "site b"][i % 5]} for i in range(12)],
    [{"text": None, "id": "z", "n": 9, "site": None}],
]
ALL = [(number, row, values) for number, rows in enumerate(ROWS) for row, values in enumerate(rows)]
WITH_IDS = Columns("text", "id", (), (), "strict")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in")
    for number, rows in enumerate(ROWS):
        # a blank line before each: the number of a line is not its row
        (folder / f"{number}.jsonl").write_text("".join(f"\n{json.dumps(row)}\n" for row in rows))
    return folder


@pytest.fixture
def splits(folder):
    return open_sources(sorted(folder.glob("*.jsonl")))


def rows_of(found):
    rows = []
    for number, texts, batch in found:
        assert [texts.row(i) for i in range(len(texts))] == batch["text"].to_pylist()
        assert {position >> SOURCE_BITS for position in batch["position"].to_pylist()} == {number}
        rows += batch.to_pylist()
    return rows


def test_every_row_is_a_document(splits):
    found = rows_of(read_documents(splits, ReadOptions(id="id", within="site")))
    assert [(row["position"], row["number"], row["text"], row["id"], row["id_is_text"]) for row in found] == [
        (number << SOURCE_BITS | row, 2 * row + 2, (values["text"] or "").encode(), values["id"], True)
        for number, row, values in ALL
    ]
    sites = [values["site"] for *_, values in ALL]  # 1 equals 1.0, but neither true nor "1"
    groups = [
        (row["within"], repr(site if isinstance(site, bool | str) else site and float(site)))
        for row, site in zip(found, sites, strict=True)
    ]
    assert len(set(groups)) == len({code for code, _ in groups}) == len({site for _, site in groups}) == 6
    for n_references in (1, 2):  # which may have columns that annotation adds
        reading = ReadOptions(free=("n",), n_references=n_references)
        assert_raises(InputDataError, r"2\.jsonl, row 2: the field 'n' already exists", list, read_documents(splits, reading))
        assert len(rows_of(read_documents(splits[:2], reading))) == 2


def test_bytes_that_are_not_utf8_are_named_by_row():
    sources = as_sources(pa.array([b"fine", b"<p>", b"<p>ab\xffcd"], "binary"))
    said = "row 2: invalid UTF-8 at byte 5 of the text; convert it, or pass"
    assert_raises(InputDataError, said, list, read_documents(sources, ReadOptions(pages="main")))
    found = rows_of(read_documents(sources, ReadOptions()))
    assert found[2]["text"] == b"<p>ab\xffcd", "else steps find it, which know all of it"


def test_large_batches_have_all_rows_with_their_ids(splits, monkeypatch):
    monkeypatch.setattr(streams, "BLOCK", 80)
    wanted = [(values["id"], (values["text"] or "").encode()) for *_, values in ALL]
    for rows, n_bytes in ((100_000, 64 << 20), (3, 64 << 20), (100_000, 40), (0, 0)):
        found = [
            list(zip(ids, texts.to_pylist(), strict=True)) for ids, texts in read_with_ids(splits, WITH_IDS, n_bytes, rows)
        ]
        assert [pair for some in found for pair in some] == wanted and all(found)
        assert all(len(some) >= rows or sum(len(text) for _, text in some) >= n_bytes for some in found[:-1])
        assert (len(found) == 1) == (rows == 100_000 and n_bytes > 40)
    assert list(read_with_ids([], WITH_IDS)) == []


def test_a_file_on_both_sides_is_refused(folder, tmp_path):
    one, link, hard, copy = folder / "0.jsonl", *(tmp_path / f"{name}.jsonl" for name in ("link", "hard", "copy"))
    link.symlink_to(one)
    hard.hardlink_to(one)
    copy.write_bytes(one.read_bytes())
    inputs = open_sources([folder])
    for other in (one, link, folder / ".." / folder.name / "0.jsonl"):
        assert_raises(InputDataError, r"0\.jsonl is both an input and a reference", check_apart, inputs, open_sources([other]))
    for others in (open_sources([hard]), open_sources([copy]), []):
        check_apart(inputs, others)
    check_apart(as_sources(pa.array(["a"])), inputs)
