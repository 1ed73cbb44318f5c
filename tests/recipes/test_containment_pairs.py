from itertools import combinations
from math import ceil

import pytest
from listing import find_pairs
from samples import one_in


def pages(rng, n, common, own, blocks=1):
    """Pages of ``common`` words that all with the same of ``blocks`` have, and ``own`` words; each third is a near-copy."""
    texts, words = [], []
    for i in range(n):
        block, fresh = int(rng.integers(blocks)), [f"p{i}w{j}" for j in range(own)]
        if i % 3 == 2:
            fresh[int(rng.integers(own))] = f"p{i}other"
            block, words = texts[-1][0], [*words[:-1], *fresh[-1:]]
        else:
            words = fresh
        texts.append((block, " ".join([*(f"b{block}w{j}" for j in range(common)), *words])))
    return [text for _, text in texts]


def contained(texts, threshold):
    sets = [frozenset(text.split()) for text in texts]
    some = combinations(enumerate(sets), 2)
    return {(i, j) for (i, a), (j, b) in some if len(a & b) >= ceil(threshold * min(len(a), len(b)) - 1e-9)}


@pytest.mark.parametrize(
    ("common", "own", "blocks", "threshold"),
    one_in(4, [(150, 50, 3, 0.8), (16, 6, 1, 0.8), (100, 100, 1, 0.6)]),
)
def test_boilerplate_makes_no_candidates_and_loses_no_pair(rng, common, own, blocks, threshold):
    texts = pages(rng, 600, common, own, blocks)
    wanted = contained(texts, threshold)
    found = find_pairs(texts, measure="containment", threshold=threshold, width=1, max_bucket=16, recall=1 - 1e-6)
    assert len(wanted) > 150 and {(row["left_id"], row["right_id"]) for row in found.table.to_pylist()} == wanted
    assert found.summary["candidate_pairs"] <= 2 * len(wanted) + 600 * 16 and found.summary["warnings"] == []


def test_a_job_that_compares_much_for_little_says_so(rng):
    """Ten pieces of boilerplate that many have, each of four kinds, and hardly anything else."""
    kinds = [[[f"piece{piece}kind{kind}w{j}" for j in range(10)] for kind in range(4)] for piece in range(10)]
    texts = [
        " ".join([*(word for piece, kind in zip(kinds, row, strict=True) for word in piece[kind]), f"own{i}"])
        for i, row in enumerate(rng.integers(0, 4, (400, 10)).tolist())
    ]
    found = find_pairs(texts, measure="containment", threshold=0.9, width=1, max_bucket=4)
    assert found.summary["candidate_pairs"] > 10_000 and found.summary["pairs"] < 100
    (warning,) = found.summary["warnings"]
    assert f"{found.summary['candidate_pairs']:,} pairs were compared" in warning and "--ignore" in warning
