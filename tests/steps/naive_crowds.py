"""The crowd rule from its definition, slowly: standard library only."""

from collections import Counter, defaultdict
from itertools import combinations

from naive.crowds import couple_key


def bucket_links(members, max_bucket, boundary, heads):
    """Links of one bucket, marks of a crowd included; members ascend."""
    if max_bucket is None or len(members) <= max_bucket:
        return [(a, b) for a, b in combinations(members, 2) if b >= boundary]
    first = [a for a in members if a < boundary][:heads] + [a for a in members if a >= boundary][:heads]
    return [(a, b) for a in first for b in members if a < b and b >= boundary] + [(a, a) for a in members]


def count_codes(codes, crowded):
    """How many crowded documents have a (slot, code)."""
    return Counter((slot, code) for order in crowded for slot, code in enumerate(codes[order]))


def held(codes, count, chosen, budget):
    """(slot, code, count, within budget) of the codes that one document holds, the rarest first."""
    shared = sorted((count[slot, code], slot, code) for slot, code in enumerate(codes) if count[slot, code] >= 2)[:chosen]
    return [(slot, code, n, sum(x[0] for x in shared[: i + 1]) <= budget) for i, (n, slot, code) in enumerate(shared)]


def couples(codes, count, chosen, budget, crowd, taken):
    """Keys of the couples of codes that one document has, of those beyond its budget that few of a crowd have."""
    within = sum(flag for *_, flag in held(codes, count, chosen, budget))
    beyond = [(slot, code) for slot, code, n, _ in held(codes, count, None, budget)[within:] if n <= crowd / 4]
    return [couple_key(one, other) for one, other in combinations(sorted(beyond[:taken]), 2)]


def rare_links(holders, boundary, heads):
    """Links of the holders of one code: (order, within budget), ascending."""
    return [
        (holders[i][0], order)
        for j, (order, within) in enumerate(holders)
        for i in range(j if within else min(j, heads))
        if order >= boundary
    ]


def links(buckets, codes, boundary, most=128, heads=8, chosen=16, budget=384, code_heads=4, taken=4):
    """All links by the whole rule, with repeats, without marks; buckets: ascending members of each; codes: by order."""
    found = [link for members in buckets for link in bucket_links(members, most, boundary, heads)]
    crowded = sorted({a for a, b in found if a == b})
    count = count_codes(codes, crowded)
    holders, alike = defaultdict(list), defaultdict(list)
    for order in crowded:
        for key in couples(codes[order], count, chosen, budget, len(crowded), taken):
            alike[key].append(order)
        for slot, code, _, within in held(codes[order], count, chosen, budget):
            holders[slot, code].append((order, within))
    found += [link for some in holders.values() for link in rare_links(some, boundary, code_heads)]
    found += [link for some in alike.values() for link in bucket_links(some, most, boundary, code_heads)]
    return [(a, b) for a, b in found if a != b]


def agreeing(left, right):
    """Slots whose codes agree in the lowest four bits."""
    return sum(a % 16 == b % 16 for a, b in zip(left, right, strict=True))
