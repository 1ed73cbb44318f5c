"""Ids that repeat, and priorities of different kinds, are refused by the rows that are first."""

import random

import pyarrow as pa
import pytest
from engine_kinds import KINDS, prepare

import lookalike as la


def documents(n, **columns):
    """Different texts beside some columns."""
    return pa.table({"text": [f"a b c{i}" for i in range(n)]} | columns)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_first_repeat_is_named(kind, seed, monkeypatch):
    ids = random.Random(seed).choices(range(40), k=30)
    seen = {}
    for row, number in enumerate(ids):
        if number in seen:
            break
        seen[number] = row
    said = f"the id '{number}' appears twice: table, row {seen[number]} and table, row {row};"
    with pytest.raises(la.InputDataError, match=said):
        la.dedup(documents(30, id=ids), id="id", **prepare(kind, monkeypatch))


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_that_have_no_order(kind, monkeypatch, tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"text": "a b", "v": null}\n{"text": "c d", "v": "x"}\n{"text": "e f", "v": "y"}\n{"text": "g h", "v": 3}\n{"text": "i", "v": 4}\n'
    )
    with pytest.raises(la.InputDataError, match=r"keep: column 'v' holds .*a\.jsonl, row 2\) and .*a\.jsonl, row 4\)"):
        la.dedup(tmp_path / "a.jsonl", keep="largest:v", **prepare(kind, monkeypatch))
