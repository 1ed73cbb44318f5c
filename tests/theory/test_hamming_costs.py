import gc
from dataclasses import replace
from math import log2

import numpy as np
import pytest
from fingerprint_words import of_margins
from numpy.testing import assert_allclose

from lookalike.search import HammingIndex, TableIndex, WeakBitIndex, tuning
from lookalike.theory import blocks, weak_bits
from lookalike.theory.hamming_costs import (
    Costs,
    layout_memory,
    layout_query,
    manku_batch,
    manku_memory,
    manku_query,
    weak_bits_batch,
    weak_bits_memory,
    weak_bits_query,
)

FEW, SOME, MANY = 2.0**10, 2.0**20, 2.0**26
# Counters in place of times: each cost formula becomes the number of such steps.
NOTHING = Costs(
    sizes=(2.0**10, 2.0**20, 2.0**30), probe=(0.0,) * 3, lookup=(0.0,) * 3, gather=(0.0,) * 3, compare=0.0, scan=0.0, hit=0.0,
    flip=0.0, step=0.0, key=0.0, sort=0.0, read=0.0,
)  # fmt: skip
COMPARISONS = replace(NOTHING, compare=1.0, gather=(1.0,) * 3)


def test_comparisons_are_those_of_searches_that_count(rng):
    n, asked = 50_000, 2000
    words, queries = (rng.integers(0, 1 << 64, size, dtype=np.uint64) for size in (n, asked))
    searches = [
        (TableIndex(radius=3), manku_query(n, 64, 4, 1, COMPARISONS)),
        (TableIndex(radius=3, blocks=8, lead=1), manku_query(n, 64, 8, 1, COMPARISONS)),
        (WeakBitIndex(radius=3, prefix_bits=12, probes=23), weak_bits_query(n, 12, 23, 3, COMPARISONS)),
        (HammingIndex(radius=3), None),
    ]
    for index, expected in searches:
        index.add(words)
        margins = rng.normal(0, 1, (asked, 64)).astype(np.float32) if isinstance(index, WeakBitIndex) else None
        index.query(queries, margins)
        if expected is None:
            expected = layout_query(n, index.layout.shape, COMPARISONS)
        assert abs(index.compared / asked - expected) < 4 * (expected / asked) ** 0.5 + 4 * expected / n**0.5, type(index)


def counting(**steps):
    return replace(NOTHING, **steps)


STEPS = counting(probe=(3.0,) * 3, lookup=(5.0,) * 3, key=13.0, sort=17.0, flip=19.0)
# a nanosecond for 2^10 times as many fingerprints
DEARER, BOTH, LOOKED_UP = counting(probe=(1.0, 2.0, 3.0)), counting(read=1.0, key=1.0), counting(probe=(1.0,) * 3)


def test_models_count_the_steps_of_the_thesis():
    for found, expected in [
        (weak_bits_query(MANY, 26, 23, 3, counting(flip=1.0)), (26 + 23) * log2(26)),  # 6.16
        (weak_bits_query(MANY, 24, 23, 3, COMPARISONS), 23 * 4),  # 6.21
        (manku_query(MANY, 64, 5, 2, counting(step=1.0), binary=True, tables=4.0), 4 * 26),  # 6.9: until the first match
        (manku_batch(MANY, SOME, 64, 4, 1, counting(read=1.0)), 2**26 * 12),  # the file is read once
        (manku_batch(MANY, SOME, 64, 4, 1, COMPARISONS), 4 * 2.0**30),
        (manku_batch(MANY, SOME, 64, 4, 2, COMPARISONS), 6 * 2.0**14),
        (weak_bits_batch(MANY, SOME, 1, 24, 23, 3, LOOKED_UP, pieces=4), 2**20 * 23 * 4),  # left out of 6.19
        (weak_bits_batch(MANY, SOME, 1, 24, 23, 3, COMPARISONS), 2**20 * 23 * 4),
        (manku_query(3000.0, 16, 4, 2, STEPS), 6 * (5 + 13)),
        *(
            (manku_memory(n, 1, 4, 1), 8 * n + 4 * (12 * n + (4 << bits)))
            for n, bits in ((1, 1), (2, 1), (5, 3), (1 << 30, 24))
        ),
        (weak_bits_query(3000.0, 10, 5, 3, STEPS), 15 * 3 * 19 + 5 * 3),
        (layout_query(3000.0, [(10, 1), (8, 2)], STEPS), (11 + 1 + 8 + 28) * 3),
    ]:
        assert found == pytest.approx(expected, rel=1e-12)


def test_constants_between_and_beyond_the_sizes_they_were_measured_at():
    costs = counting(sizes=(4.0, 16.0, 64.0), probe=(10.0, 20.0, 40.0), lookup=(1.0, 2.0, 1.5), gather=(2.0, 4.0, 8.0))
    assert [costs.at("probe", n) for n in (0, 1, 2, 4, 8, 64, 256)] == [10, 10, 10, 10, 15, 40, 60]
    assert replace(costs, sizes=(1.0, 4.0, 16.0)).at("probe", 1) == 10
    assert costs.at("lookup", 1024) == 1.5, "what fell does not go on falling"
    assert layout_query(8, [(3, 0), (3, 0)], costs) == 2 * 20, "all tables share the cache"
    lookups = replace(costs, lookup=(1.0, 2.0, 3.0), gather=NOTHING.gather)
    assert manku_query(16, 64, 4, 1, lookups) == 4 * 3, "16 fingerprints in each of four tables"


def test_parts_of_a_batch():
    for found, expected in [
        (manku_batch(3000.0, 128.0, 16, 4, 2, STEPS), 6 * ((3000 + 128) * 13 + 3000 * 5 + 128 * 7 * 17)),
        (weak_bits_batch(3000.0, 128.0, 1, 10, 5, 3, STEPS), 3000 * 13 + 128 * (15 * 3 * 19 + 5 * 3 + 7 * 17)),
        (weak_bits_batch(1e6, FEW, 2, 20, 5, 3, counting(read=1.0)), 20e6),
        (weak_bits_batch(2.0**22, 8, 1, 10, 5, 3, DEARER, pieces=4), 8 * 5 * 4 * 2),  # pieces are probed as small tables are
        *((manku_batch(1000, few, 64, 4, 1, counting(sort=1.0)), 4 * few) for few in (1, 2)),  # one step; one is taken for two
        *((manku_query(few, 64, 4, 1, counting(step=1.0), binary=True), 4) for few in (1, 2)),
        *((weak_bits_batch(1000, few, 1, 10, 5, 3, counting(sort=1.0)), few) for few in (1, 2)),
        # words of 64 bits, and rows of 32
        *(
            (manku_batch(1000, 10, n, min(n, 4), 1, counting(read=1.0)), 1000 * b)
            for n, b in ((1, 12), (65, 20), (128, 20), (129, 28))
        ),
        # 6.15: the larger of reading and computing, not both
        (manku_batch(SOME, FEW, 64, 4, 1, BOTH), 12 * SOME),
        (manku_batch(SOME, FEW, 64, 4, 1, replace(BOTH, key=5.0)), 4 * 5 * (SOME + FEW)),
        (weak_bits_batch(SOME, FEW, 1, 20, 5, 3, BOTH), 12 * SOME),
    ]:
        assert found == pytest.approx(expected, rel=1e-12)


def held_by(index):
    found, waiting = {}, [index]
    while waiting:
        one = waiting.pop()
        while isinstance(one, np.ndarray) and isinstance(one.base, np.ndarray):
            one = one.base
        if id(one) not in found and not isinstance(one, type):
            found[id(one)] = one
            waiting += gc.get_referents(one)
    return sum(one.nbytes for one in found.values() if isinstance(one, np.ndarray))


def test_memory_is_that_of_the_arrays(rng):
    n = 70_000
    words = rng.integers(0, 1 << 64, n, dtype=np.uint64)
    hamming, tables, weak = HammingIndex(), TableIndex(blocks=5, lead=2), WeakBitIndex()
    for index in (hamming, tables, weak):
        index.add(words).query(words[:1])
    assert held_by(hamming) == pytest.approx(layout_memory(n, 1, hamming.layout.shape), rel=0.01)
    assert held_by(tables) == pytest.approx(manku_memory(n, 1, 5, 2), rel=0.01)
    assert held_by(weak) == pytest.approx(weak_bits_memory(n, 1, 17), rel=0.01)


def test_choices_keep_to_memory_and_recall():
    every, exact = tuning.choices(10**6, radius=3, recall=0.95), tuning.choices(10**6, radius=3, recall=1.0, memory=7e7)
    assert [c.nanoseconds for c in every] == sorted(c.nanoseconds for c in every)
    assert {c.method.partition("(")[0] for c in every} >= {"WeakBitIndex", "HammingIndex"}
    tables = {c.method for c in every if c.method.startswith("TableIndex")}
    assert tables == {f"TableIndex(radius=3, blocks={blocks}, lead={blocks - 3})" for blocks in (4, 5, 6, 7)}
    assert all(c.recall == 1.0 and c.memory <= 7e7 for c in exact) and any(c.method.startswith("HammingIndex") for c in exact)
    assert tuning.choices(10**6, radius=3, recall=1.0, memory=10) == []


def test_index_chooses_by_the_memory_it_may_use(rng):
    words = rng.integers(0, 1 << 64, 300_000, dtype=np.uint64)
    small, large = (HammingIndex(radius=3, memory=m).add(words) for m in (9e6, 1e9))
    assert small.layout.memory <= 9e6 < large.layout.memory and small.layout.cost > large.layout.cost
    queries = words[:3000] ^ np.uint64(0b1000000001000000001)
    assert small.query(queries).right.tolist() == large.query(queries).right.tolist()


def test_recall_of_probabilistic_matching_is_that_of_its_model(rng):
    n = 20_000
    for sigma, probes in [(0.03, 1), (0.06, 23), (0.12, 8)]:
        margins = rng.normal(0, 1, (n, 64))
        queries, stored = of_margins(margins), of_margins(margins + rng.normal(0, sigma, margins.shape))
        distance = np.bitwise_count(queries ^ stored)
        wanted = np.flatnonzero((distance >= 1) & (distance <= 3))
        pairs = WeakBitIndex(radius=3, prefix_bits=16, probes=probes).add(stored).query(queries, margins.astype(np.float32))
        found = np.isin(wanted, pairs.left[pairs.left == pairs.right]).mean()
        share, near = weak_bits.weak_bit_recall(margins[:3000], sigma, 16, probes, 3)
        expected = share[:, -1].sum() / near.sum()
        of_model = np.std(share[:, -1] - expected * near) / near.mean() / len(near) ** 0.5
        assert abs(found - expected) < 3 * (expected * (1 - expected) / len(wanted) + of_model**2) ** 0.5 + 1e-9
        assert abs(len(wanted) / n - near.mean()) < 4 * (0.25 / n + near.var() / len(near)) ** 0.5


def test_all_probes_find_all(rng):
    share, near = weak_bits.weak_bit_recall(rng.normal(0, 1, (20, 64)), 0.1, 10, blocks.combinations_within(10, 3), 3)
    assert_allclose(share[:, -1], near, rtol=1e-9)
    assert (np.diff(share, axis=1) >= 0).all()
