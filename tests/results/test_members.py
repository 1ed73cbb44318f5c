"""The largest groups, the documents of a kept one, and names that resemble one that is not there."""

import statistics

import numpy as np
import pyarrow as pa
import pytest
from corpora import planted
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.results import rows as rows_module
from lookalike.results.members import RESEMBLING, Numbers, names_like, rows_named
from lookalike.results.rows import TableRows

RANKED = {"exact": 8.0, "key": 9.0}  # after all near-duplicates


@pytest.fixture(scope="module", params=[{}, {"keep": "longest"}, {"against": True}, {"key": "k"}], ids=str)
def result(request):
    rng = np.random.default_rng(3)
    texts = planted(rng, n_families=60)
    texts += texts[:30] + texts[:10]
    settings = dict(request.param)
    if settings.pop("against", False):
        settings["against"] = texts[:40:3]
    if "key" in settings:
        texts = [{"text": text, "k": i % 97 or None} for i, text in enumerate(texts)]
    return la.dedup(texts, threshold=0.6, **settings)


def expected(result):
    """Groups from ``decisions``, row by row: the row of the kept document, and (score, row) of those removed for it."""
    rows = result.decisions.to_pylist()
    found = {row["order"]: (i, []) for i, row in enumerate(rows) if row["kept"]}
    for i, row in enumerate(rows):
        if not row["kept"] and row["keeper"] is not None:
            found[row["keeper"]][1].append((row["resemblance"] if row["reason"] == "near" else RANKED[row["reason"]], i))
    return {order: (row, sorted(some)) for order, (row, some) in found.items()}


@pytest.mark.parametrize("batch", [7, 1 << 17])
@pytest.mark.parametrize("least", [2, 4])
def test_groups_are_those_of_decisions(result, batch, least, monkeypatch):
    monkeypatch.setattr(rows_module, "BATCH_ROWS", batch)
    wanted = [group for group in expected(result).values() if len(group[1]) + 1 >= least]
    wanted.sort(key=lambda group: (-len(group[1]), group[0]))
    for n in (1, 5, 10**6):
        total, found = Numbers(result.rows()).largest_groups(n, least)
        assert total == len(wanted) > 3
        assert [(g.row, g.rows.tolist()) for g in found] == [(row, [i for _, i in some]) for row, some in wanted[:n]]
        for group, (_, some) in zip(found, wanted, strict=False):
            near, scores = [score for score, _ in some if score <= 1], [score for score, _ in some]
            assert group.scores.tolist() == near and group.size == len(some) + 1
            assert (group.n_exact, group.n_keys) == (scores.count(RANKED["exact"]), scores.count(RANKED["key"]))
            assert group.spread == ((near[0], statistics.median(near), near[-1]) if near else None)


def test_members_of_documents_that_stand_for_none(result):
    alone = [order for order, (_, some) in expected(result).items() if not some][:3]
    numbers = Numbers(result.rows())
    for order, group in zip(alone, numbers.members(numbers.row_of[alone].tolist()), strict=True):
        assert group.row == expected(result)[order][0] and group.size == 1 and group.spread is None


def test_numbers_are_those_of_decisions(result):
    rows, numbers = result.decisions.to_pylist(), Numbers(result.rows())
    row_of = {row["order"]: i for i, row in enumerate(rows)}
    for i, row in enumerate(rows):
        assert numbers.row_of[row["order"]] == i and numbers.keeper[i] == row_of.get(row["keeper"], -1)
        assert numbers.source[i] == row["position"] >> 40
    assert numbers.where("near").tolist() == [i for i, row in enumerate(rows) if row["reason"] == "near"]
    assert numbers.names == {}
    assert sum(column.nbytes for column in vars(numbers).values() if isinstance(column, np.ndarray)) == 21 * len(rows)


def test_no_groups():
    result = la.dedup(["a b c d e f", "other words than these"], empty="drop")
    assert Numbers(result.rows()).largest_groups(5) == (0, [])
    assert Numbers(result.rows().slice(0, 0)).largest_groups(5) == (0, [])


def ids(*names):
    return TableRows(pa.table({"id": pa.array(names)}))


def test_rows_are_found_by_name():
    assert rows_named(ids("a", "b", "a"), "a") == [0, 2] and rows_named(ids("a"), "A") == []
    assert rows_named(ids(7, 12, -3), "12") == [1] and rows_named(ids(7, 12, -3), "-3") == [2]
    assert rows_named(ids(7, 12), "twelve") == [] and rows_named(ids(7), "07") == []


def test_similar_names_are_suggested():
    some = ids("data/a.jsonl:1", "data/a.jsonl:17", "data/a.jsonl:170", "data/b.jsonl:17", "https://x.example/page")
    assert names_like(some, "a.jsonl:17")[0] == "data/a.jsonl:17", "it contains the name"
    assert names_like(some, "other/b.jsonl:17")[0] == "data/b.jsonl:17", "it ends alike"
    assert names_like(some, "https://x.example/Page.html") == ["https://x.example/page"], "it begins alike"
    assert names_like(some, "zebra") == [] and names_like(ids(), "a") == []
    assert names_like(ids(101, 205), "10") == ["101"] and names_like(some, "(") == []


@given(st.lists(st.text(max_size=4)), st.text(max_size=4))
def test_suggestions_are_names_that_are_there(names, name):
    found = names_like(TableRows(pa.table({"id": pa.array(names, pa.string())})), name)
    assert set(found) <= set(names) and len(found) <= RESEMBLING and len(set(found)) == len(found)
