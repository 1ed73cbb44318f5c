"""Twins of fingerprints and their search."""

from itertools import combinations

from naive.hashing import MASK, derive, fmix64

GOLDEN = 0x9E3779B97F4A7C15


def simhash(values, weights, bits, seed):
    """(fingerprint, margins) of weighted features."""
    salt = derive(seed, "simhash", 1)[0]
    ties = derive(seed, "simhash ties", (bits + 63) // 64)
    out, margins = 0, []
    for j in range(bits):
        if j % 64 == 0:
            mask = fmix64((salt + (j // 64) * GOLDEN) & MASK)
            mixed = [(fmix64(value ^ mask), weight) for value, weight in zip(values, weights, strict=True)]
        total = 0.0
        for bits_of, weight in mixed:
            total += weight if bits_of >> (j % 64) & 1 else -weight
        margins.append(total)
        out |= (1 if total > 0 else 0 if total < 0 else ties[j // 64] >> (j % 64) & 1) << j
    return out, margins


def within(queries, stored, radius):
    """{(query, stored): distance} of all pairs within a radius; fingerprints are integers."""
    return {
        (i, j): (a ^ b).bit_count()
        for i, a in enumerate(queries) for j, b in enumerate(stored) if (a ^ b).bit_count() <= radius
    }  # fmt: skip


def flips_by_cost(costs, size):
    """All sets of at most ``size`` places, cheapest first: [(cost, set)]."""
    sets = [c for n in range(size + 1) for c in combinations(range(len(costs)), n)]
    return sorted((sum(costs[i] for i in c), c) for c in sets)
