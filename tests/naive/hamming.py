from itertools import combinations
from math import prod

from naive.hashing import GOLDEN, MASK, derive, fmix64


def simhash(values, weights, bits, seed):
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
    """{(query, stored): distance}."""
    return {
        (i, j): (a ^ b).bit_count()
        for i, a in enumerate(queries) for j, b in enumerate(stored) if (a ^ b).bit_count() <= radius
    }  # fmt: skip


def flips_by_cost(costs, size):
    """[(cost, set)] of all sets of at most ``size`` places, cheapest first."""
    sets = [c for n in range(size + 1) for c in combinations(range(len(costs)), n)]
    return sorted((sum(costs[i] for i in c), c) for c in sets)


def sets_probed(margins, prefix, radius, probes):
    """The places flipped, as masks of the whole fingerprint."""
    first = len(margins) - prefix
    sets = flips_by_cost([abs(w) for w in margins[first:]], radius)[:probes]
    return [sum(1 << first + place for place in places) for _, places in sets]


def within_probed(queries, margins, stored, bits, prefix, radius, probes):
    """{(query, stored): distance}."""
    flipped, first = [sets_probed(some, prefix, radius, probes) for some in margins], bits - prefix
    near = within(queries, stored, radius)
    return {(i, j): near[i, j] for i, j in near if (queries[i] ^ stored[j]) >> first << first in flipped[i]}


def chance_probed(differs, margins, prefix, radius, probes):
    """(Probability that 1 to ``radius`` bits differ, and that weak bits lead there as well)."""
    bits, near, found = len(margins), 0.0, 0.0
    flipped = sets_probed(margins, prefix, radius, probes)
    for difference in range(1, 1 << bits):
        if difference.bit_count() <= radius:
            chance = prod(q if difference >> j & 1 else 1.0 - q for j, q in enumerate(differs))
            near += chance
            found += chance * (difference >> bits - prefix << bits - prefix in flipped)
    return near, found
