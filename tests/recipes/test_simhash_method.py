"""The same job by fingerprints: cosines measured, distances stated, the same walk."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from naive import walk as naive

import lookalike as la


def corpus(rng, n=60):
    """Texts and near-copies of them, with a word or two changed."""
    texts = []
    for _ in range(n):
        words = list(rng.choice([f"w{i}" for i in range(400)], 150))
        texts.append(" ".join(words))
        for changes in (1, 4):
            copy = list(words)
            for place in rng.choice(150, changes, replace=False):
                copy[place] = f"x{rng.integers(10**6)}"
            texts.append(" ".join(copy))
    return texts


def cosine(a, b):
    left, right = Counter(a.split()), Counter(b.split())
    dot = sum(left[w] * right[w] for w in left)
    return dot / (sum(x * x for x in left.values()) * sum(x * x for x in right.values())) ** 0.5


def test_pairs_are_those_within_the_radius_and_the_threshold(rng):
    texts = corpus(rng)
    table = la.pairs(texts, method="simhash", width=1, radius=6, threshold=0.9)
    assert table.column_names == ["left_id", "right_id", "cosine", "distance"]
    assert len(table) > 40
    for row in table.to_pylist():
        assert row["cosine"] == pytest.approx(cosine(texts[row["left_id"]], texts[row["right_id"]])) and row["cosine"] >= 0.9
        assert 0 <= row["distance"] <= 6
    wide = la.pairs(texts, method="simhash", width=1, radius=16, threshold=0.9)
    exact = {(i, j) for i in range(len(texts)) for j in range(i + 1, len(texts)) if cosine(texts[i], texts[j]) >= 0.9}
    found = set(zip(wide["left_id"].to_pylist(), wide["right_id"].to_pylist(), strict=True))
    assert found <= exact and len(found) > 0.95 * len(exact)


def test_removed_documents_name_kept_ones(rng):
    texts = corpus(rng)
    settings = {"method": "simhash", "width": 1, "radius": 5, "threshold": 0.9}
    result = la.dedup(texts, **settings)
    pairs = {(r["left_id"], r["right_id"]): r["cosine"] for r in la.pairs(texts, **settings).to_pylist()}
    assert [r["duplicate_of"] for r in result.removed.to_pylist()] == [
        k for i, k in enumerate(naive.keep(len(texts), pairs)) if k != i
    ]
    assert result.removed.column_names == ["id", "duplicate_of", "cosine", "distance"]
    assert "cosine >= 0.9" in str(result.summary) and "within 5 of 64 bits" in str(result.summary)
    assert result.rethreshold(0.99).keep.sum() > result.keep.sum()
    for threads in (1, 3):
        assert la.dedup(texts, threads=threads, **settings).annotations == result.annotations


def test_estimates_groups_references_and_empty_texts(rng):
    text = " ".join(rng.choice([f"w{i}" for i in range(400)], 200))
    near = text + " w1"
    estimated = la.dedup([text, near], method="simhash", radius=8, width=1, verify="sketch")
    assert estimated.removed.column_names == ["id", "duplicate_of", "estimated_cosine", "distance"]
    assert "estimated from fingerprints" in str(estimated.summary)
    table = pa.table({"text": [text, near, near, "", None], "site": ["x", "x", "y", "x", "x"]})
    kept = la.dedup(table, method="simhash", radius=8, width=1, within="site").keep.tolist()
    assert kept == [True, False, True, True, True]
    assert la.dedup([near], against=[text], method="simhash", radius=8, width=1).keep.tolist() == [False]
    assert la.pairs([text, text, near], method="simhash", radius=8, width=1)["distance"].to_pylist()[0] == 0
    with pytest.raises(la.errors.ParameterError):
        la.dedup([text], method="simhash", radius=17)
    with pytest.raises(la.errors.ParameterError):
        la.dedup([text], method="guess")


def test_recall_is_stated_as_what_it_is():
    summary = la.dedup(["a b c"], method="simhash", threshold=0.95).summary
    assert summary.recall_planned == pytest.approx(0.101, abs=0.001)
    assert np.isfinite(summary.recall_vouched)


def templates(rng, n):
    """Pages of one template: the same feature counts but for one word, so that fingerprints are equal or close."""
    body = " ".join(f"b{i}" for i in range(60)) + " "
    return [body * 3 + f"page{rng.integers(10**9)}" for _ in range(n)]


def test_documents_of_one_fingerprint_are_not_paired_all_with_all(rng):
    """20,000 documents of the same feature counts in other orders would make 2e8 pairs."""
    words = [f"w{i}" for i in range(12)]
    texts = [" ".join(rng.permutation(words)) for _ in range(20_000)]
    result = la.dedup(texts, method="simhash", width=1, threshold=0.9)
    assert result.keep.sum() == 1
    assert result.summary.candidate_pairs < 10 * len(texts)


def test_a_limit_counts_no_pairs_of_reference_documents(rng):
    """Reference documents that are all alike must not use the limit up."""
    reference = templates(rng, 60)
    texts = corpus(rng, 8)
    settings = {"method": "simhash", "width": 1, "radius": 6, "threshold": 0.9}
    every = la.pairs(texts, against=reference, **settings)
    assert 8 < len(every) < 50
    assert la.pairs(texts, against=reference, max_pairs=50, **settings).equals(every)
