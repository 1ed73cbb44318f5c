"""Fingerprints of near-duplicates by a model fitted to real ones.

The sums behind a query's bits are normal. Those of its near-duplicate differ by normal amounts, sigma times as large; sigma
is log-normal. With median 0.2 and spread 1.0, pairs that end up 1 to 3 bits apart have sigmas of 0.037, 0.11 and 0.26 at the
quantiles .05, .5 and .95: versions of real policies have 0.034, 0.11 and 0.27. A query may have several near-duplicates, as
many as versions of policies have that are asked for among other versions of their pages (the section t-real of the experiments).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SIGMA, SPREAD, RADIUS = 0.2, 1.0, 3
SIZES = (0.5, 0.22, 0.15, 0.05, 0.04, 0.02, 0.02)  # shares of the queries with 1, 2, ... near-duplicates
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


@dataclass(frozen=True)
class Trial:
    """Stored fingerprints, queries with their margins, and all pairs of them 1 to 3 bits apart: (query, stored row).

    ``groups`` tells which queries are not independent of each other: those of one page; each query of the model is its own.
    ``special`` are the stored rows that are not uniform random fingerprints.
    """

    name: str
    stored: np.ndarray
    queries: np.ndarray
    margins: np.ndarray
    asked: np.ndarray
    rows: np.ndarray
    groups: np.ndarray
    special: np.ndarray

    @property
    def near(self) -> np.ndarray:
        """The stored fingerprint of each pair."""
        return self.stored[self.rows]

    def among(self, n: int) -> Trial:
        """Return the same queries and pairs among n stored fingerprints: others, which no query is near to, are left out."""
        if n < len(self.special):
            raise ValueError(f"{n} fingerprints cannot hold the {len(self.special)} that queries are near to")
        others = np.ones(len(self.stored), np.bool_)
        others[self.special] = False
        kept = np.sort(np.concatenate([self.special, np.flatnonzero(others)[: n - len(self.special)]]))
        rows, special = np.searchsorted(kept, self.rows), np.searchsorted(kept, self.special)
        return Trial(self.name, self.stored[kept], self.queries, self.margins, self.asked, rows, self.groups, special)


def members(rng: np.random.Generator, margins: np.ndarray) -> np.ndarray:
    """Draw a near-duplicate for each row of sums: sigma and differences are drawn until 1 to 3 bits differ."""
    queries = ((margins > 0) * _PLACE).sum(1, dtype=np.uint64)
    out, left = np.zeros(len(margins), np.uint64), np.arange(len(margins))
    while len(left):
        sigma = SIGMA * np.exp(SPREAD * rng.normal(0, 1, (len(left), 1)))
        other = ((margins[left] + sigma * rng.normal(0, 1, (len(left), 64)) > 0) * _PLACE).sum(1, dtype=np.uint64)
        distance = np.bitwise_count(queries[left] ^ other)
        good = (distance >= 1) & (distance <= RADIUS)
        out[left[good]] = other[good]
        left = left[~good]
    return out


def families(n: int, n_queries: int, seed: int = 7) -> Trial:
    """Return n stored fingerprints in random order with families of near-duplicates of the queries, of the sizes of ``SIZES``.

    Given its sums, the near-duplicates of a query are independent of each other.
    """
    rng = np.random.default_rng(seed)
    queries, margins, near = near_pairs(rng, n_queries)
    more = rng.choice(len(SIZES), n_queries, p=SIZES)
    asked = np.concatenate([np.arange(n_queries), np.repeat(np.arange(n_queries), more)])
    near = np.concatenate([near, members(rng, margins[asked[n_queries:]].astype(np.float64))])
    place = rng.permutation(n)
    stored = np.empty(n, np.uint64)
    stored[place] = np.concatenate([near, rng.integers(0, 1 << 64, n - len(near), dtype=np.uint64)])
    rows = place[: len(near)]
    return Trial("modelled", stored, queries, margins, asked, rows, np.arange(n_queries), rows)
