"""Real corpora, where they are present."""

import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from samples import one_in

import lookalike as la


@pytest.mark.parametrize("n", [1000, 2500])
def test_planted_news_are_found_and_nothing_else(data, n):
    """Precision and recall 1: the planted pairs are exactly the pairs above .3 at width 3."""
    truth = {frozenset(pair) for pair in json.loads((data / f"news_planted/truth_{n}.json").read_text())}
    for settings in ({"threshold": 0.5}, {"threshold": 0.9}, {"threshold": 0.3, "width": 3}):
        table = la.pairs(data / f"news_planted/articles_{n}.jsonl", id="id", **settings)
        found = {frozenset(pair) for pair in zip(table["left_id"].to_pylist(), table["right_id"].to_pylist(), strict=True)}
        assert found == truth


@pytest.mark.parametrize(
    ("threshold", "exact", "recall"),
    one_in(3, [(0.9, 24_014, 0.9999), (0.7, 351_853, 0.9999), (0.7, 351_853, 1)]),
)
def test_licences_equal_the_exact_join(data, threshold, exact, recall):
    """As many pairs as an independent exact join counted, of 3 words each matched by \\w+ in the text with its head."""
    table = la.pairs(
        data / "licences.parquet", threshold=threshold, recall=recall, width=3, tokenizer=re.compile(r"\w+").findall
    )
    assert len(table) == exact


def test_policies_keep_nothing_alike_and_remove_nothing_unlike(data):
    path = data / "policies.parquet"
    result = la.dedup(path, id="id")
    shingles = la.shingle(pq.read_table(path, columns=["text"])["text"])
    rows = {value: row for row, value in enumerate(pq.read_table(path, columns=["id"])["id"].to_pylist())}
    for removed in result.removed.to_pylist()[::200]:
        exact = shingles.resemblance(rows[removed["id"]], rows[removed["duplicate_of"]])
        assert removed["resemblance"] == exact >= 0.8
        assert result.keep[rows[removed["duplicate_of"]]]
    kept = np.flatnonzero(result.keep)
    subset = la.sketches.Shingles(
        np.concatenate([shingles.row(i) for i in kept]), np.concatenate([[0], np.cumsum(shingles.sizes[kept])])
    )
    left, right = np.triu_indices(len(kept), 1)
    alike = len(la.verify(la.search.Pairs(left, right, len(kept)), subset, threshold=0.8))
    assert alike <= 0.01 * len(result.removed), "kept documents that resemble each other are missed pairs"
