"""Fingerprints of near-duplicates by a model fitted to real ones.

The sums behind a query's bits are normal. Those of its near-duplicate differ by normal amounts, sigma times as large; sigma
is log-normal. With median 0.2 and spread 1.0, pairs that end up 1 to 3 bits apart have sigmas of 0.037, 0.11 and 0.26 at the
quantiles .05, .5 and .95: versions of real policies have 0.034, 0.11 and 0.27 (docs/reproduction.md, Figure 1).
"""

from __future__ import annotations

import numpy as np

SIGMA, SPREAD, RADIUS = 0.2, 1.0, 3
_PLACE = np.uint64(1) << np.arange(64, dtype=np.uint64)


def near_pairs(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (fingerprints, their margins, near-duplicates 1 to 3 bits away) of n pairs."""
    queries, margins, near = [], [], []
    while sum(map(len, queries)) < n:
        sums = rng.normal(0, 1, (20_000, 64))
        sigma = SIGMA * np.exp(SPREAD * rng.normal(0, 1, (len(sums), 1)))
        one, other = (((s > 0) * _PLACE).sum(1, dtype=np.uint64) for s in (sums, sums + sigma * rng.normal(0, 1, sums.shape)))
        distance = np.bitwise_count(one ^ other)
        chosen = (distance >= 1) & (distance <= RADIUS)
        queries.append(one[chosen])
        margins.append(sums[chosen].astype(np.float32))
        near.append(other[chosen])
    return np.concatenate(queries)[:n], np.concatenate(margins)[:n], np.concatenate(near)[:n]


def stored_and_queries(n: int, n_queries: int, seed: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (stored fingerprints, queries, margins of the queries); row i of those stored is 1 to 3 bits from query i."""
    rng = np.random.default_rng(seed)
    queries, margins, near = near_pairs(rng, n_queries)
    return np.concatenate([near, rng.integers(0, 1 << 64, n - n_queries, dtype=np.uint64)]), queries, margins
