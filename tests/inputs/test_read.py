"""Inputs read as documents: positions, texts, ids and groups, from any row on."""

import json
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

from lookalike.errors import InputDataError
from lookalike.files import streams
from lookalike.formats.memory import as_sources
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns
from lookalike.inputs.keep_order import Priority
from lookalike.inputs.read import ReadOptions, check_apart, file_in_both, read_documents, read_with_ids
from lookalike.text.texts import Texts
from lookalike.values.tables import SOURCE_BITS

ROWS = [
    [{"text": "one", "id": "a", "n": 3, "site": "x"}, {"text": "zwölf", "id": "b", "n": None, "site": 1}],
    [],
    [{"text": f"row {i} é", "id": f"c{i}", "n": i / 2, "site": [True, 1.0, "1", None, "x"][i % 5]} for i in range(12)],
    [{"text": None, "id": "z", "n": 9, "site": None}],
]
ALL = [(number, row, values) for number, rows in enumerate(ROWS) for row, values in enumerate(rows)]


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
    """The documents of all batches; the texts that come beside them are theirs."""
    rows = []
    for number, texts, batch in found:
        assert [texts.row(i) for i in range(len(texts))] == batch["text"].to_pylist()
        assert {position >> SOURCE_BITS for position in batch["position"].to_pylist()} == {number}
        rows += batch.to_pylist()
    return rows


@pytest.mark.parametrize("block", [40, 300, 1 << 20])
def test_every_row_is_a_document(splits, monkeypatch, block):
    monkeypatch.setattr(streams, "BLOCK", block)
    reading = ReadOptions(id="id", priorities=(Priority("n"),), within="site")
    found = rows_of(read_documents(splits, reading))
    assert [(row["position"], row["number"], row["text"], row["id"], row["id_is_text"]) for row in found] == [
        (number << SOURCE_BITS | row, 2 * row + 2, (values["text"] or "").encode(), values["id"], True)
        for number, row, values in ALL
    ]
    by_priority = sorted((row["priority"], i) for i, row in enumerate(found) if row["priority"])
    wanted = sorted((values["n"], i) for i, (_, _, values) in enumerate(ALL) if values["n"] is not None)
    assert [i for _, i in by_priority] == [i for _, i in wanted], "bytes are ordered as the numbers are"
    assert [row["priority"] or None for row in found].count(None) == 1
    groups = {}
    for row, (_, _, values) in zip(found, ALL, strict=True):  # 1 equals 1.0, but neither true nor "1"
        value = values["site"]
        group = (type(value) if isinstance(value, (bool, str)) else float, value)
        assert len(row["within"]) == 40 and groups.setdefault(group, row["within"]) == row["within"]
    assert len(set(groups.values())) == len(groups) == 5


@given(st.data())
def test_rows_that_were_read_before_are_passed_over(folder, data):
    """A job that goes on has read whole inputs, and of the last some rows."""
    splits = open_sources(sorted(folder.glob("*.jsonl")))
    reading = ReadOptions(id="id", within="site")
    whole = rows_of(read_documents(splits, reading))
    done = data.draw(st.integers(0, len(whole)))
    rows_of_each = np.bincount([number for number, _, _ in ALL[:done]], minlength=len(splits))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BLOCK", data.draw(st.sampled_from([40, 300, 1 << 20])))
        assert rows_of(read_documents(splits, reading, rows_of_each)) == whole[done:]


def test_the_columns_are_those_that_are_asked_for():
    assert ReadOptions().schema.names == ["position", "number", "text"]
    assert ReadOptions(within="w", id="i").schema.names == ["position", "number", "text", "id", "id_is_text", "within"]
    more = ReadOptions(priorities=(Priority("p"), Priority("q", ("a",))), key=("p", "k"), order_by="p")
    names = ["priority", "priority_1", "order_by", "document_key"]
    assert more.schema.names[3:] == names and more.others == ("p", "q", "k")
    assert {more.schema.field(name).type for name in names} == {pa.large_binary()}
    assert ReadOptions(n_references=3).boundary == 3 << SOURCE_BITS and ReadOptions().boundary == 0


def test_references_may_have_the_columns_that_annotation_adds(splits):
    """Nothing is written of them."""
    for n_references in (1, 2):
        reading = ReadOptions(free=("n",), n_references=n_references)
        assert_raises(InputDataError, r"2\.jsonl, row 2: the field 'n' already exists", list, read_documents(splits, reading))
        assert len(rows_of(read_documents(splits[:2], reading))) == 2
    assert len(rows_of(read_documents(splits, ReadOptions(free=("n",), n_references=4)))) == len(ALL)


def test_bytes_that_are_not_utf8_are_named_by_row():
    sources = as_sources(pa.array([b"fine", b"<p>", b"<p>ab\xffcd"], pa.binary()))
    assert_raises(
        InputDataError,
        "row 2: invalid UTF-8 at byte 5 of the text; convert it, or pass",
        list,
        read_documents(sources, ReadOptions(pages="main")),
    )
    assert (
        rows_of(read_documents(sources, ReadOptions()))[2]["text"] == b"<p>ab\xffcd"
    )  # else steps find it, which know all of it


def test_large_batches_have_all_rows_with_their_ids(splits, monkeypatch):
    monkeypatch.setattr(streams, "BLOCK", 80)
    names = {"id": [v["id"] for _, _, v in ALL], None: [f"{splits[n].name}:{2 * r + 2}" for n, r, _ in ALL]}
    for (rows, n_bytes), column in product([(100_000, 64 << 20), (3, 64 << 20), (100_000, 40), (0, 0)], names):
        found = list(read_with_ids(splits, Columns("text", column, (), (), "strict"), n_bytes, rows))
        assert [i for ids, _ in found for i in ids] == names[column]
        assert [t for _, texts in found for t in texts.to_pylist()] == [(v["text"] or "").encode() for _, _, v in ALL]
        assert all(len(ids) == len(texts) > 0 for ids, texts in found)
        assert all(len(ids) >= rows or sum(map(len, texts.to_pylist())) >= n_bytes for ids, texts in found[:-1])
        assert (len(found) == 1) == (rows == 100_000 and n_bytes > 40)
    assert list(read_with_ids([], Columns("text", None, (), (), "strict"))) == []


def test_a_file_on_both_sides_is_refused(folder, tmp_path):
    """By whatever name; a copy, and a hard link, are files of their own."""
    one, link, hard, copy = folder / "0.jsonl", *(tmp_path / f"{name}.jsonl" for name in ("link", "hard", "copy"))
    link.symlink_to(one)
    hard.hardlink_to(one)
    copy.write_bytes(one.read_bytes())
    inputs = open_sources([folder])
    for other in (one, link, folder / ".." / folder.name / "0.jsonl"):
        assert_raises(InputDataError, r"0\.jsonl is both an input and a reference", check_apart, inputs, open_sources([other]))
        assert file_in_both(open_sources([other]), inputs) is not None
    for others in (open_sources([hard]), open_sources([copy]), []):
        check_apart(inputs, others)
    check_apart(as_sources(pa.array(["a"])), inputs)


def test_texts_are_passed_on_without_a_copy():
    texts = Texts(np.frombuffer(b"xxabcdef", np.uint8), np.array([2, 3, 3, 8]))
    column = texts.column()
    assert column.to_pylist() == [b"a", b"", b"bcdef"]
    assert column.buffers()[2].address == texts.data.ctypes.data
