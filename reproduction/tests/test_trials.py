"""Trials of searches: the model plants what it says, and the probe that finds a pair is the one at which the index does."""

import numpy as np
import pair_model
import pytest
from matching import trials

import lookalike as la
from lookalike.theory.blocks import combinations_within


@pytest.fixture(scope="module")
def trial():
    return pair_model.families(1 << 13, 1500)


def pairs_of(trial):
    return sorted(zip(trial.asked.tolist(), trial.rows.tolist(), strict=True))


def test_the_model_plants_all_pairs_and_no_other(trial):
    found = la.search.ExhaustiveHammingIndex(radius=3).add(trial.stored).query(trial.queries)
    assert sorted(zip(found.left.tolist(), found.right.tolist(), strict=True)) == pairs_of(trial)
    assert found.distance.min() >= 1
    place = np.uint64(1) << np.arange(64, dtype=np.uint64)
    assert (((trial.margins > 0) * place).sum(1, dtype=np.uint64) == trial.queries).all()
    sizes = np.bincount(np.bincount(trial.asked))[1:]
    expected = 1500 * np.array(pair_model.SIZES)
    assert (np.abs(sizes - expected) < 4 * np.sqrt(expected)).all()


def test_more_members_are_as_near_as_the_first(trial):
    """The first of a family comes with its query, the others are drawn for given sums: their distances follow one law."""
    distance = np.bitwise_count(trial.queries[trial.asked] ^ trial.near)
    first, other = ([(part == d).mean() for d in (1, 2, 3)] for part in (distance[:1500], distance[1500:]))
    assert np.abs(np.subtract(first, other)).max() < 4 * np.sqrt(0.25 / 1500 + 0.25 / len(distance[1500:]))


def test_fewer_stored_ones_keep_all_pairs(trial):
    small = trial.among(1 << 12)
    assert len(small.stored) == 1 << 12 and (small.near == trial.near).all()
    assert np.isin(small.stored, trial.stored).all()
    with pytest.raises(ValueError, match="10 fingerprints cannot hold"):
        trial.among(10)


@pytest.mark.parametrize("prefix", [6, 13])
@pytest.mark.parametrize("probes", [1, 9, 40])
def test_ranks_are_those_of_the_index(trial, prefix, probes):
    ranks = trials.probe_ranks(trial, prefix, 50)
    index = la.search.WeakBitIndex(radius=3, prefix_bits=prefix, probes=3).add(trial.stored)
    index.query(trial.queries[:1], trial.margins[:1])
    index = trials.with_probes(index, probes)
    found = index.query(trial.queries, trial.margins)
    chosen = ranks <= probes
    expected = sorted(zip(trial.asked[chosen].tolist(), trial.rows[chosen].tolist(), strict=True))
    assert sorted(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected
    answered = index.first(trial.queries, trial.margins) >= 0
    assert (answered == (trials.first_ranks(trial, ranks) <= probes)).all()
    (pairs, _), (queries, _) = trials.recalls(trial, ranks, [probes])
    assert pairs == pytest.approx(chosen.mean()) and queries == pytest.approx(answered.mean())


def test_needed_probes():
    assert trials.needed(np.arange(1, 101)) == 95 and trials.needed(np.arange(1, 100)) == 95 and trials.needed(np.ones(3)) == 1


def test_errors_of_shares(rng):
    """Independent hits: the binomial error. Groups of four equal ones: twice that."""
    hits = rng.random(40_000) < 0.9
    share, error = trials.share_error(hits, np.arange(40_000))
    assert share == hits.mean() and error == pytest.approx(np.sqrt(share * (1 - share) / 40_000), rel=0.001)
    share, error = trials.share_error(np.repeat(hits[:10_000], 4), np.repeat(np.arange(10_000), 4))
    assert error == pytest.approx(2 * np.sqrt(share * (1 - share) / 40_000), rel=0.001)


def test_expected_recall_is_that_of_the_model(trial):
    """By standard errors over queries; a recall 1.05 times as large is refused."""
    chosen = np.arange(300)
    expected = trials.expected_found(trial, chosen, 10, 5)[:, -1]
    here = trial.asked < 300
    hits = trials.probe_ranks(trial, 10, 5)[here] <= 5
    apart = np.bincount(trial.asked[here], hits - expected[trial.asked[here]])
    error = np.sqrt((apart**2).sum())
    assert abs(apart.sum()) < 3.5 * error
    assert abs((hits - 1.05 * expected[trial.asked[here]]).sum()) > 2 * error


def test_drawn_others(rng):
    """No change is no near-duplicate; with every probe each one is found; with the query's own prefix those with other bits."""
    margins = rng.normal(0, 1, (50, 64)).astype(np.float32)
    assert not trials.drawn_shares(margins, 0.0, 8, 3, 2).any()
    every = combinations_within(8, 3)
    near, found = trials.drawn_shares(margins, 0.1, 8, every, 20)
    assert 0.2 < near.mean() < 0.9 and (near == found).all()
    near_again, own = trials.drawn_shares(margins, 0.1, 8, 1, 20)
    assert (near_again == near).all() and 0 < own.mean() < near.mean()
    _, none = trials.drawn_shares(margins, 0.1, 24, 1, 20)
    assert none.mean() < own.mean(), "more bits of a longer prefix differ"


def test_real_ones_are_asked_among_random_ones(rng):
    margins = rng.normal(0, 1, (400, 64)).astype(np.float32)
    place = np.uint64(1) << np.arange(64, dtype=np.uint64)
    words = np.unique(((np.repeat(margins[:100], 4, 0) + rng.normal(0, 0.05, (400, 64)) > 0) * place).sum(1, dtype=np.uint64))
    trial = trials.among_random(words, margins[: len(words)], np.arange(len(words)), 5000)
    found = la.search.ExhaustiveHammingIndex(radius=3).add(trial.stored).query(trial.queries)
    assert len(trial.stored) == 5000 and set(found.left.tolist()) == set(range(len(trial.queries)))
    assert sorted(zip(found.left.tolist(), found.right.tolist(), strict=True)) == pairs_of(trial)


def test_counters(tmp_path, trial):
    file = la.search.FingerprintFile(tmp_path / "a.fps")
    for part in np.array_split(trial.stored, 4):
        file.append(part)
    with trials.counting(file) as counts:
        found = file.query(trial.queries, la.search.WeakBitIndex(radius=3, prefix_bits=6, probes=2), trial.margins)
    assert counts["fingerprints"] == len(trial.stored) and counts["bytes"] == 12 * len(trial.stored)
    assert counts["pieces"] == 1 and counts["compared"] > len(found)
    index = la.search.WeakBitIndex(radius=3, prefix_bits=6, probes=2).add(trial.stored)
    index.query(trial.queries, trial.margins)
    assert index.compared == counts["compared"]
    with trials.counting() as counts:
        index.query(trial.queries, trial.margins)
    assert 2 * counts["compared"] == index.compared


def test_arrays_that_an_index_holds_are_counted_once(rng):
    words = rng.integers(0, 1 << 64, 5000, dtype=np.uint64)
    index = la.search.WeakBitIndex(radius=3, prefix_bits=12).add(words)
    index.query(words[:1], rng.normal(size=(1, 64)).astype(np.float32))
    offsets = 4 * (2**12 + 1)
    assert (
        5000 * (8 + 8 + 4) + offsets <= trials.held(index) <= 5000 * (8 + 8 + 4) + offsets + 64
    )  # words, sorted words, their rows
    array = np.zeros(100)
    assert trials.held([array, array[10:], (array,)]) == 800


def test_a_ratio_of_times_has_the_range_of_its_turns():
    one, other = np.array([9.0, 2.0, 3.0]), np.array([1.0, 2.0, 8.0])
    assert trials.turn_ratio(one, other) == {"found": 1.0, "turns": (0.38, 9.0)}
