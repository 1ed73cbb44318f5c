"""Samples of shingles, and links and counts of who holds them, against plain Python."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from naive.crowds import Rule, heads_of
from naive.dedup import dedup

import lookalike as la
from lookalike import core
from lookalike.theory import containment as theory

TURNS = 60


@pytest.mark.parametrize(("sample", "max_bucket"), [(4, 2), (9, 5), (32, 128)])
def test_contained_documents_are_those_of_the_definition(rng, monkeypatch, sample, max_bucket):
    """By samples of their shingles, of which some are crowded; documents shorter than a sample, and empty ones, are among them."""
    monkeypatch.setattr(theory, "SAMPLE", sample)
    words, removed = [f"w{i}" for i in range(60)], 0
    for threshold, references in product([0.3, 0.7, 1.0], [0, 20]):
        pages = [rng.choice(words, 40) for _ in range(40)]
        cuts = [rng.permutation(pages[i % 40])[: int(rng.integers(0, 40))] for i in range(100)]
        texts = [" ".join(page) for page in (*pages, *cuts)]
        plan = {"measure": "containment", "threshold": threshold, "width": 1, "seed": 1, "keep": "longest"}
        against = texts[:references] or None
        found = la.dedup(texts[references:], against=against, recall=0.9, max_bucket=max_bucket, **plan)
        plan |= zip(("sample", "least"), theory.plan_sample(threshold, 0.9), strict=True)
        expected = dedup([text.encode() for text in texts], references=references, rule=Rule(max_bucket), **plan)[references:]
        assert found.keep.tolist() == [decision.reason == "kept" for decision in expected]
        scores = [decision.score for decision in expected if decision.keeper is None or decision.reason != "kept"]
        assert found.removed["containment"].to_pylist() == scores
        removed += len(scores)
    assert removed > 20


def test_holders_are_linked_as_defined(rng):
    for both, room in product([False, True], [1, 3, 1000]):
        for _ in range(TURNS):
            boundary, heads, most = int(rng.integers(0, 12)), 0 if both else int(rng.integers(0, 4)), int(rng.integers(2, 6))
            groups = [np.sort(rng.choice(40, rng.integers(1, 25), replace=False)) for _ in range(3)]
            marks = [
                [int(rng.choice([0, 3, 3 | 128])) if both or order >= boundary else 0 for order in group] for group in groups
            ]
            holders = np.array(
                [o << 8 | m for group, some in zip(groups, marks, strict=True) for o, m in zip(group, some, strict=True)]
            )
            keys, at, found = np.repeat([5, -3, 1 << 62], [len(group) for group in groups]), (0, 0, 0), []
            while at[0] < len(keys):
                *some, at = core.link_holders(keys, holders, (most, 4 * most, heads, boundary, both), at, room)
                assert len(some[0]) <= room
                found += zip(*(column.tolist() for column in some), strict=True)
            expected = []
            for group, some in zip(groups, marks, strict=True):
                for member, (order, mark) in enumerate(zip(group.tolist(), some, strict=True)):
                    earlier = group[:member].tolist()
                    if both:
                        earlier = [o for o in group.tolist() if o != order]
                    if len(earlier) > (4 * most if mark & 128 else most):
                        earlier = [*heads_of(earlier, boundary, heads), order]
                    if both:
                        earlier = [o for o in earlier if o == order or o >= boundary or order >= boundary]
                    expected += [(order << 8 | (mark & 127), other) for other in earlier if mark]
            assert found == expected


def test_what_is_shared_is_counted(rng):
    needed = np.array([0, 1, 2, 2, 3])
    for _ in range(TURNS):
        looking = np.sort(rng.integers(0, 6, 60) << 8 | 4)
        looking = looking - (looking >> 8 & 1)  # samples of four and of three
        held = rng.integers(0, 6, 60)
        held = held[np.lexsort((held, looking))]
        found = core.count_shared(looking, held, needed)
        expected = []
        for code in sorted(set(looking.tolist())):
            own, size = code >> 8, code & 127
            counts = Counter(held[looking == code].tolist())
            nothing = counts.pop(own, 0)
            if nothing >= needed[size]:
                expected.append((own, own, size, nothing))
            expected += [
                (min(own, o), max(own, o), size, 0) for o, n in sorted(counts.items()) if n >= max(1, needed[size] - nothing)
            ]
        assert list(zip(*(column.tolist() for column in found), strict=True)) == expected
