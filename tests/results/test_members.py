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
    texts = planted(np.random.default_rng(3), n_families=60)
    texts += texts[:30] + texts[:10]
    more = {"against": texts[:40:3]} if "against" in request.param else {}
    rows = [{"text": text, "k": i % 97 or None} for i, text in enumerate(texts)]
    return la.dedup(rows if "key" in request.param else texts, threshold=0.6, **request.param | more)


def expected(result):
    """Groups from ``decisions``: {order of the kept document: (its row, (score, row) of those removed for it)}."""
    rows = result.decisions.to_pylist()
    found = {row["order"]: (i, []) for i, row in enumerate(rows) if row["kept"]}
    for i, row in enumerate(rows):
        if not row["kept"] and row["keeper"] is not None:
            found[row["keeper"]][1].append((RANKED.get(row["reason"], row["resemblance"]), i))
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


def test_numbers_take_21_bytes_of_each_document(result):
    numbers = Numbers(result.rows())
    held = sum(column.nbytes for column in vars(numbers).values() if isinstance(column, np.ndarray))
    assert held == 21 * len(result.decisions) and numbers.names == {}


def test_no_groups():
    rows = la.dedup(["a b c d e f", "other words than these"], empty="drop").rows()
    assert Numbers(rows).largest_groups(5) == Numbers(rows.slice(0, 0)).largest_groups(5) == (0, [])


def ids(*names):
    return TableRows(pa.table({"id": pa.array(names)}))


FILES = "data/a.jsonl:1", "data/a.jsonl:17", "data/a.jsonl:170", "data/b.jsonl:17", "https://x.example/page"


@pytest.mark.parametrize(
    ("held", "name", "rows"),
    [(["a", "b", "a"], "a", [0, 2]), (["a"], "A", []), ([7, 12, -3], "12", [1]), ([7, 12, -3], "-3", [2]),
     ([7, 12], "twelve", []), ([7], "07", [])],
)  # fmt: skip
def test_rows_are_found_by_name(held, name, rows):
    assert rows_named(ids(*held), name) == rows


@pytest.mark.parametrize(
    ("held", "name", "first"),
    [(FILES, "a.jsonl:17", "data/a.jsonl:17"),  # it contains the name
     (FILES, "other/b.jsonl:17", "data/b.jsonl:17"),  # it ends alike
     (FILES, "https://x.example/Page.html", "https://x.example/page"),  # it begins alike
     (FILES, "zebra", None), (FILES, "(", None), ((), "a", None), ((101, 205), "10", "101")],
)  # fmt: skip
def test_similar_names_are_suggested(held, name, first):
    assert (names_like(ids(*held), name) or [None])[0] == first


@given(st.lists(st.text(max_size=4)), st.text(max_size=4))
def test_suggestions_are_names_that_are_there(names, name):
    found = names_like(TableRows(pa.table({"id": pa.array(names, pa.string())})), name)
    assert set(found) <= set(names) and len(found) <= RESEMBLING and len(set(found)) == len(found)
