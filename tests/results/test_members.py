import statistics

import numpy as np
import pyarrow as pa
import pytest
from corpora import planted

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
    """{order of the kept document: (its row, (score, row) of those removed for it)}"""
    rows = result.decisions.to_pylist()
    found = {row["order"]: (i, []) for i, row in enumerate(rows) if row["kept"]}
    for i, row in enumerate(rows):
        if not row["kept"] and row["keeper"] is not None:
            found[row["keeper"]][1].append((RANKED.get(row["reason"], row["resemblance"]), i))
    return {order: (row, sorted(some)) for order, (row, some) in found.items()}


@pytest.mark.parametrize("batch", [7, 1 << 17])
def test_groups_are_those_of_decisions(result, batch, monkeypatch):
    monkeypatch.setattr(rows_module, "BATCH_ROWS", batch)
    groups = sorted(expected(result).values(), key=lambda group: (-len(group[1]), group[0]))
    for least, n in ((2, 1), (2, 5), (2, 10**6), (4, 5), (4, 10**6)):
        wanted = [group for group in groups if len(group[1]) + 1 >= least]
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


FILES = "data/a.jsonl:1", "data/a.jsonl:17", "data/a.jsonl:170", "data/b.jsonl:17", "https://x.example/page"


def test_documents_are_found_by_name_and_similar_names_are_suggested():
    for names, name, rows, first in (
        ("aba", "a", [0, 2], "a"), ("a", "A", [], None), ((7, 12, -3), "12", [1], "12"), ((7, 12, -3), "-3", [2], "-3"),
        ((7, 12), "twelve", [], None), ((7,), "07", [], "7"),
        (FILES, "a.jsonl:17", [], "data/a.jsonl:17"),  # it contains the name
        (FILES, "other/b.jsonl:17", [], "data/b.jsonl:17"),  # it ends alike
        (FILES, "https://x.example/Page.html", [], "https://x.example/page"),  # it begins alike
        (FILES, "zebra", [], None), (FILES, "(", [], None), ("", "a", [], None), ((101, 205), "10", [], "101"),
    ):  # fmt: skip
        held = TableRows(pa.table({"id": pa.array([*names])}))
        found = names_like(held, name)
        assert rows_named(held, name) == rows and (found or [None])[0] == first
        assert {*found} <= {*map(str, names)} and len(found) == len({*found}) <= RESEMBLING
