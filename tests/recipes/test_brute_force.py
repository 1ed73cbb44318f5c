"""The whole job against exact resemblances of all pairs."""

from functools import cache

import numpy as np
import pytest
from corpora import planted, word_sets
from listing import find_pairs
from naive import walk as naive

import lookalike as la


def check_removed(result, texts, threshold):
    """Precision 1: every removed document names a kept one that resembles it exactly as stated."""
    sets = word_sets(texts)
    kept = set(np.flatnonzero(result.keep).tolist())
    removed = result.removed.to_pylist()
    assert {row["id"] for row in removed} | kept == set(range(len(texts)))
    for row in removed:
        assert row["duplicate_of"] in kept
        assert row["resemblance"] == naive.resemblance(sets[row["id"]], sets[row["duplicate_of"]]) >= threshold


@cache
def edited_texts():
    """Texts, and their exact pairs of resemblance .5 and more."""
    texts = planted(np.random.default_rng(1), lengths=(5, 1500))
    return texts, naive.all_pairs(word_sets(texts), 0.5)


def test_recall_and_precision_on_edited_texts():
    for threshold in [0.5, 0.7, 0.8, 0.9]:
        texts, at_half = edited_texts()
        exact = {pair: r for pair, r in at_half.items() if r >= threshold}
        listed = la.pairs(texts, threshold=threshold, recall=0.99).to_pylist()
        found = {(row["left_id"], row["right_id"]): row["resemblance"] for row in listed}
        assert found.items() <= exact.items(), "a pair is listed that is none, or with a wrong resemblance"
        floor = 0.99 - 3 * (0.99 * 0.01 / len(exact)) ** 0.5
        assert len(found) / len(exact) >= floor
        check_removed(la.dedup(texts, threshold=threshold), texts, threshold)


def test_unverified_candidates_have_no_score():
    assert la.pairs(["a b c", "a b c "], verify="none").column_names == ["left_id", "right_id"]
    with pytest.raises(la.errors.ParameterError, match="only verified duplicates"):
        la.dedup(["a"], verify="none")


def test_pages_of_one_template_are_not_all_compared():
    """Any two of them are just below the threshold; a few are above it."""
    base = [f"t{i}" for i in range(105)]
    texts = [" ".join([*base, *(f"p{page}w{i}" for i in range(15))]) for page in range(500)]
    texts += [f"{text} more" for text in texts[:9]]
    found = find_pairs(texts, threshold=0.8)
    assert [(row["left_id"], row["right_id"]) for row in found.table.to_pylist()] == [(i, 500 + i) for i in range(9)]
    assert found.summary["candidate_pairs"] < 10_000, "those of small buckets"
    assert find_pairs(texts, threshold=0.8, verify="none").summary["candidate_pairs"] > 100_000
