"""Decisions and pairs of whole jobs, and what resolves matches, against plain Python."""

import numpy as np
import pytest
from naive import walk as naive

import lookalike as la
from lookalike.core import Resolver, Rows
from lookalike.methods.method import FINGERPRINTS


@pytest.mark.parametrize("threshold", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("how", [{"recall": 1}, {"bands": 60, "rows": 1}])
def test_decisions_and_pairs_are_those_of_the_walk(rng, threshold, how):
    sets = [{*rng.choice(30, int(rng.integers(1, 14))).tolist()} for _ in range(150)]
    texts, how = [" ".join(f"w{i}" for i in sorted(some)) for some in sets], {"width": 1, "threshold": threshold, **how}
    pairs = naive.all_pairs(sets, threshold)
    found = la.pairs(texts, **how).to_pylist()
    assert {(row["left_id"], row["right_id"]): row["resemblance"] for row in found} == pairs
    keepers = naive.keep(len(sets), pairs)
    result = la.dedup(texts, **how)
    assert result.keep.tolist() == [keeper == row for row, keeper in enumerate(keepers)]
    named = zip(*(result.removed[name].to_pylist() for name in ("id", "duplicate_of")), strict=True)
    assert dict(named) == {row: keeper for row, keeper in enumerate(keepers) if keeper != row}


@pytest.mark.parametrize("partner", [-1, 1, 2, 5, 7, 9])
def test_a_partner_that_is_not_there_is_told(partner):
    """Orders 2 and 5 are in another bundle, 7 is the row itself, 9 comes later."""
    words, scores = np.zeros(5, np.uint64), 1 - np.arange(65) / 64
    rows = Rows(FINGERPRINTS, np.ones(5, np.int64), np.arange(6), np.empty(0, np.int32), words, scores)
    with pytest.raises(RuntimeError, match="not in the bundle"):
        rows.walk(
            np.array([0, 2, 5]), np.array([2, 5, 3, 7, 9]), np.array([0, 0, 0, 0, 1, 1]), np.array([partner]), 0, 0.5, False
        )


def test_resolve_equals_a_set(rng):
    for _ in range(100):
        pairs = sorted({(int(b), int(a)) for a, b in np.sort(rng.integers(0, 30, (40, 2)), axis=1) if a < b})
        boundary = int(rng.integers(0, 12))
        removed, expected = set(), []
        for right, left in pairs:
            expected.append(left not in removed)
            if expected[-1] and right >= boundary:
                removed.add(right)
        left, right = (np.array([pair[i] for pair in pairs]) for i in (1, 0))
        resolver, kept = Resolver(boundary), []
        for begin, end in ((0, 10), (10, 10), (10, len(pairs))):
            kept += resolver.resolve(left[begin:end], right[begin:end]).view(np.bool_).tolist()
        assert kept == expected
