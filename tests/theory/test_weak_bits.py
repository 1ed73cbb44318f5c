"""The share of near-duplicates that probes find, against sums of bits that are drawn."""

from math import comb

import numpy as np
import pytest

import lookalike as la
from lookalike.theory import simhash
from lookalike.theory.weak_bits import probed_share


@pytest.mark.parametrize(
    "cosine, prefix, probes, radius", [(0.95, 12, 4, 3), (0.98, 20, 23, 3), (0.9, 16, 8, 6), (0.99, 10, 1, 2)]
)
def test_probes_find_the_share_of_the_model(rng, cosine, prefix, probes, radius):
    """Pairs of sums with that correlation: of those within the radius, what an index of one table finds."""
    n = 100_000
    sums = rng.standard_normal((n, 64))
    others = cosine * sums + (1 - cosine**2) ** 0.5 * rng.standard_normal((n, 64))
    query, stored = (np.packbits(x > 0, axis=1, bitorder="little").view(np.uint64)[:, 0] for x in (sums, others))
    distance = np.bitwise_count(query ^ stored)
    near = np.flatnonzero(distance <= radius)
    within = float(simhash.within_radius(cosine, radius, 64))
    assert abs(len(near) / n - within) < 4 * (within * (1 - within) / n) ** 0.5
    index = la.WeakBitIndex(radius=radius, prefix_bits=prefix, probes=probes).add(stored[near])
    pairs = index.query(query[near], sums[near].astype(np.float32))
    found = (pairs.left == pairs.right).sum() / len(near)
    share = probed_share(cosine, prefix, probes, radius)
    assert 0.3 < share < 0.995
    assert abs(found - share) < 4 * (share * (1 - share) / len(near) + 0.01**2 / 4) ** 0.5


def test_edges_of_the_share():
    """Equal documents, and all probes there are: nothing is missed. More probes find more, longer prefixes less."""
    assert probed_share(1.0, 20, 1, 3) == 1.0
    every = sum(comb(9, i) for i in range(4))
    assert probed_share(0.9, 9, every, 3) == 1.0 > probed_share(0.9, 9, every - 1, 3) > 0.999
    by_probes = [probed_share(0.95, 20, k, 3) for k in (1, 2, 5, 23, 100)]
    by_prefix = [probed_share(0.95, p, 5, 3) for p in (1, 8, 16, 26, 64)]
    assert by_probes == sorted(set(by_probes)) and by_prefix == sorted(set(by_prefix), reverse=True)
    with pytest.raises(la.ParameterError, match="cosine"):
        probed_share(0.0, 20, 5, 3)
