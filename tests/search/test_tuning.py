import inspect
import re

import numpy as np
import pytest
from fingerprint_words import of_margins

from lookalike.errors import ParameterError
from lookalike.search import WeakBitIndex, tuning
from lookalike.theory import hamming_costs
from lookalike.theory.hamming_costs import DEFAULT


def drawn_pairs(rng, n, sigma):
    """Queries, their margins and near-duplicates 1 to 3 bits away; sigmas are log-normal, with a spread of 1."""
    parts = []
    while sum(len(part[0]) for part in parts) < n:
        sums = rng.normal(0, 1, (20_000, 64)).astype(np.float32)
        each = (sigma * np.exp(rng.normal(0, 1, (20_000, 1)))).astype(np.float32)
        others = sums + each * rng.standard_normal(sums.shape, np.float32)
        query, stored = of_margins(sums), of_margins(others)
        distance = np.bitwise_count(query ^ stored)
        near = (distance >= 1) & (distance <= 3)
        parts.append((query[near], sums[near], stored[near]))
    return tuple(np.concatenate(part)[:n] for part in zip(*parts, strict=True))


def weak_bits(choices):
    return [choice for choice in choices if choice.method.startswith("WeakBitIndex")]


def numbers(choice):
    found = re.fullmatch(r"WeakBitIndex\(radius=\d+, prefix_bits=(\d+), probes=(\d+)\)", choice.method)
    return int(found[1]), int(found[2])


@pytest.mark.parametrize(("sigma", "recall"), [(None, 0.95), (0.05, 0.9)])
def test_stated_recall_is_that_of_the_index(rng, sigma, recall):
    """Both errors are counted. Probes are the fewest whose recall is sure, prefixes about as long as number the fingerprints."""
    n = 40_000
    queries, margins, stored = drawn_pairs(rng, n, sigma or 0.2)
    found = weak_bits(tuning.choices(1 << 20, recall=recall, **({} if sigma is None else {"sigma": sigma})))
    assert {prefix for prefix, _ in map(numbers, found)} == {18, 19, 20}
    for choice in found:
        prefix, probes = numbers(choice)
        pairs = WeakBitIndex(radius=3, prefix_bits=prefix, probes=probes).add(stored).query(queries, margins)
        share = (pairs.left == pairs.right).sum() / n
        assert 0.0 < choice.error < 0.004 and choice.recall >= recall
        error = (choice.recall * (1 - choice.recall) / n + choice.error**2) ** 0.5
        assert abs(share - choice.recall) < 3.5 * error
        assert share > recall - 2 * (recall * (1 - recall) / n) ** 0.5
        shares, errors = tuning.recalls(sigma or 0.2, prefix, 3)
        assert (choice.recall, choice.error) == (shares[probes - 1], errors[probes - 1])
        assert shares[probes - 1] - 2 * errors[probes - 1] >= recall and shares[probes - 2] - 2 * errors[probes - 2] < recall
        assert choice.memory == hamming_costs.weak_bits_memory(1 << 20, 1, prefix)
        assert choice.nanoseconds == hamming_costs.weak_bits_query(1 << 20, prefix, probes, 3, DEFAULT)


def test_standard_error_is_the_spread_over_draws():
    """By 60 seeds: the ratio of a standard deviation to the true one is within 3 / sqrt(2 * 59) of 1."""
    drawn = [tuning.recalls(0.2, 12, 3, 150, seed) for seed in range(60)]
    shares, errors = (np.array(part)[:, [2, 5, 9]] for part in zip(*drawn, strict=True))
    assert (np.abs(shares.std(0, ddof=1) / errors.mean(0) - 1) < 3 / (2 * 59) ** 0.5).all()
    one, other = (tuning.recalls(0.2, 12, 3, draws)[1][5] for draws in (150, 600))
    assert one / other == pytest.approx(2, rel=0.3)


def test_defaults_and_edges():
    assert inspect.signature(tuning.choices).parameters["sigma"].default == 0.2
    for n, prefixes in ((2, {1}), (3, {1, 2}), (1 << 30, {24, 25, 26})):
        exact = weak_bits(tuning.choices(n, radius=1, recall=1.0))
        assert {numbers(choice) for choice in exact} == {(p, 1 + p) for p in prefixes} and {c.error for c in exact} == {0.0}
    assert not weak_bits(tuning.choices(100, recall=0.5, sigma=1e-300)), "of no pair near nothing is known"


def test_what_is_refused():
    outside = {"n": [0, 10**24], "sigma": [0, np.inf], "recall": [0, 1.5, np.nan, "x"], "memory": [0.0], "radius": [64]}
    for name, wrong in ((name, value) for name, values in outside.items() for value in values):
        with pytest.raises(ParameterError) as error:
            tuning.choices(**{"n": 1000} | {name: wrong})
        assert error.value.name == name
