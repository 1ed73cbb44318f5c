import json
import re

import pytest
from samples import one_in

import lookalike as la


@pytest.mark.parametrize("n", [1000, 2500])
def test_planted_news_are_found_and_nothing_else(data, n):
    """Precision and recall 1: the planted pairs are exactly the pairs above .3 at width 3."""
    truth = {frozenset(pair) for pair in json.loads((data / f"news_planted/truth_{n}.json").read_text())}
    for settings in ({"threshold": 0.5}, {"threshold": 0.9}, {"threshold": 0.3, "width": 3}):
        table = la.pairs(data / f"news_planted/articles_{n}.jsonl", id="id", **settings)
        found = {frozenset((row["left_id"], row["right_id"])) for row in table.to_pylist()}
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
