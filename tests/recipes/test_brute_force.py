import numpy as np
from corpora import planted, word_sets
from naive import walk as naive

import lookalike as la


def test_recall_and_precision_on_edited_texts():
    """Every removed document names a kept one that resembles it exactly as stated."""
    texts = planted(np.random.default_rng(1), lengths=(5, 1500))
    sets = word_sets(texts)
    at_half = naive.all_pairs(sets, 0.5)
    for threshold in [0.5, 0.7, 0.8, 0.9]:
        exact = {pair: r for pair, r in at_half.items() if r >= threshold}
        listed = la.pairs(texts, threshold=threshold, recall=0.99).to_pylist()
        found = {(row["left_id"], row["right_id"]): row["resemblance"] for row in listed}
        assert found.items() <= exact.items(), "a pair is listed that is none, or with a wrong resemblance"
        assert len(found) / len(exact) >= 0.99 - 3 * (0.99 * 0.01 / len(exact)) ** 0.5
        result = la.dedup(texts, threshold=threshold)
        kept, removed = set(np.flatnonzero(result.keep).tolist()), result.removed.to_pylist()
        assert {row["id"] for row in removed} | kept == set(range(len(texts)))
        for row in removed:
            assert row["duplicate_of"] in kept
            assert row["resemblance"] == naive.resemblance(sets[row["id"]], sets[row["duplicate_of"]]) >= threshold
