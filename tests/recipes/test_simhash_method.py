"""The same job by fingerprints: cosines measured, distances stated, the same walk."""

from collections import Counter

import pytest

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
