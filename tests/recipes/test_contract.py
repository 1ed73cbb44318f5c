import numpy as np
import pytest

import lookalike as la

A = " ".join(f"word{i}" for i in range(100))


def test_fifty_thousand_identical_documents():
    result = la.dedup([A] * 50_000)
    assert (result.summary.kept, result.summary.exact_duplicates) == (1, 49_999)
    assert len(la.pairs([A] * 50_000, max_pairs=1000)) == 1000


def family(n, changed, seed):
    head = " ".join(f"base{i}" for i in range(200 - changed))
    tails = np.random.default_rng(seed).integers(0, 10**9, (n, changed)).tolist()
    return [f"{head} {' '.join(f't{x}' for x in tail)}" for tail in tails]


@pytest.mark.parametrize("many", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_many_documents_of_one_template(many):
    """Those just below the threshold all stay, and the summary says that they are crowded."""
    n = 20_000 * many
    result = la.dedup(family(n, 10, 1))
    assert result.keep.tolist() == [True] + [False] * (n - 1)
    summary = result.summary
    assert summary.verified_pairs == n - 1, "one kept document, and each of the others matches it"
    assert summary.crowded == n and n - 1 < summary.candidate_pairs < n * (16 + 384 + 64)
    result = la.dedup(family(6000 * many, 26, 2))
    summary = result.summary
    assert result.keep.all() and summary.crowded > 0.99 * 6000 * many
    assert 0 < summary.recall_vouched < summary.recall_planned - 0.001
    assert f"recall at the threshold: {summary.recall_vouched:.4f} on average" in str(summary)


def test_documents_of_one_fingerprint_are_not_paired_all_with_all(rng):
    """20,000 documents of the same feature counts in other orders would make 2e8 pairs."""
    words = [f"w{i}" for i in range(12)]
    texts = [" ".join(rng.permutation(words)) for _ in range(20_000)]
    result = la.dedup(texts, method="simhash", width=1, threshold=0.9)
    assert result.keep.sum() == 1 and result.summary.candidate_pairs < 10 * len(texts)


def test_equal_sets_of_shingles_make_no_square_of_pairs():
    """With recall 1 only the first of them meets later documents, unless all matches are asked for: the same is decided."""
    texts = [" ".join(f"w{i}" for i in range(n)) + "." * dots for dots in range(80) for n in range(4, 12)][3:]
    chosen = {"recall": 1, "width": 1}
    found, every = (la.dedup(texts, evidence=evidence, threshold=0.7, **chosen) for evidence in ("keepers", "all"))
    columns = found.decisions.column_names
    assert found.decisions.equals(every.decisions.select(columns)) and found.summary.kept == 3
    assert found.summary.candidate_pairs < 10 * len(texts) and every.summary.verified_pairs > 50 * len(texts)
    for threshold in (0.8, 1.0):
        higher = la.dedup(texts, threshold=threshold, **chosen).decisions
        assert all(one.rethreshold(threshold).decisions.select(columns).equals(higher) for one in (found, every))
