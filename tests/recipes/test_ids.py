"""Ids: unique, and integers or strings; anything else is refused with its file and row. Priorities: of one kind."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_kinds import KINDS, prepare
from json_lines import write_lines
from samples import one_in

import lookalike as la
from lookalike.errors import InputDataError


def lines(path, ids):
    return write_lines(path, ({"text": f"text {i}", "id": value} for i, value in enumerate(ids)))


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", True], "row 2: .*bool"), (pa.array(["a", ""]), "row 2: .*empty"), (pa.array([["a"], ["b"]]), "list<"),
        (pa.array(["a", "a"]).dictionary_encode(), "'a' appears twice: .*row 1 and .*row 2"),
        (pa.StringArray.from_buffers(2, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")), "row 2: .*UTF-8"),
    ],
)  # fmt: skip
def test_what_is_no_id_is_refused(tmp_path, ids, said):
    if isinstance(ids, list):
        path = lines(tmp_path / "x.jsonl", ids)
    else:
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table({"text": ["a", "b"], "id": ids}), path)
    with pytest.raises(InputDataError, match=said) as told:
        la.dedup(path, id="id", encoding_errors="replace")
    assert str(path) in str(told.value)


@pytest.mark.parametrize("ids", [["a", "b", "a"], [1, "b", "1"], [7, 2**60, 7]])
def test_an_id_that_is_there_twice_is_named_with_both_rows(tmp_path, ids):
    twice = [lines(tmp_path / "x.jsonl", ids[:2]), lines(tmp_path / "y.jsonl", ids[2:])]
    for data, against in ((twice, None), (lines(tmp_path / "z.jsonl", ["z"]), twice)):
        with pytest.raises(InputDataError, match=rf"'?{ids[0]}'? appears twice: .*x.jsonl, row 1 and .*y.jsonl, row 1;"):
            la.dedup(data, against=against, id="id")


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_that_have_no_order(kind, monkeypatch, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"text": "a b", "v": null}\n{"text": "c d", "v": "x"}\n{"text": "e f", "v": "y"}\n{"text": "g h", "v": 3}\n{"text": "i", "v": 4}\n'
    )
    with pytest.raises(InputDataError, match=r"keep: column 'v' holds .*a\.jsonl, row 2\) and .*a\.jsonl, row 4\)"):
        la.dedup(tmp_path / "a.jsonl", keep="largest:v", **prepare(kind, monkeypatch))


def documents(n, **columns):
    """Different texts beside some columns."""
    return pa.table({"text": [f"a b c{i}" for i in range(n)]} | columns)


@pytest.mark.parametrize(("seed", "kind"), one_in(3, [1, 2, 3], KINDS))
def test_the_first_repeat_is_named(kind, seed, monkeypatch):
    ids = random.Random(seed).choices(range(40), k=30)
    seen = {}
    for row, number in enumerate(ids):
        if number in seen:
            break
        seen[number] = row
    said = f"the id '{number}' appears twice: table, row {seen[number]} and table, row {row};"
    with pytest.raises(InputDataError, match=said):
        la.dedup(documents(30, id=ids), id="id", **prepare(kind, monkeypatch))
