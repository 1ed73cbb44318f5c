"""Candidate pairs and the rule for crowds (docs/definition.md).

A document is its place in keep order; those below ``boundary`` are references.
"""

from collections import Counter, defaultdict
from itertools import combinations, product
from typing import NamedTuple

from naive.hashing import K0, fold_multiply


class Rule(NamedTuple):
    max_bucket: int = 128
    heads: int = 8
    codes: int = 16
    budget: int = 384
    code_heads: int = 4
    coupled: int = 4


def heads_of(crowd, boundary, heads):
    return [d for d in crowd if d < boundary][:heads] + [d for d in crowd if d >= boundary][:heads]


def bucket_pairs(bucket, boundary, rule):
    if len(bucket) <= rule.max_bucket:
        return set(combinations(bucket, 2))
    return {(a, b) for a in heads_of(bucket, boundary, rule.heads) for b in bucket if a < b}


def couple_key(one, other):
    return fold_multiply(one[0] << 48 | one[1] << 32 | other[0] << 16 | other[1], K0) >> 32


def rare_pairs(crowded, codes, boundary, rule):
    count = Counter((slot, code) for d in crowded for slot, code in enumerate(codes[d]))
    holders, couples, pairs = defaultdict(list), defaultdict(list), set()
    for d in crowded:
        shared = sorted((count[held], *held) for held in enumerate(codes[d]) if count[held] > 1)
        spent = within = 0
        for n, slot, code in shared[: rule.codes]:
            spent += n
            within += spent <= rule.budget
            earlier = holders[slot, code]
            pairs |= {(a, d) for a in (earlier if spent <= rule.budget else earlier[: rule.code_heads])}
            earlier.append(d)
        coupled = [held for n, *held in shared[within:] if 4 * n <= len(crowded)][: rule.coupled]
        for one, other in combinations(sorted(coupled), 2):
            couples[couple_key(one, other)].append(d)
    for bucket in couples.values():
        pairs |= bucket_pairs(bucket, boundary, rule._replace(heads=rule.code_heads))
    return pairs


def by_buckets(keys, codes, boundary, rule):
    buckets = defaultdict(list)
    for d in sorted(keys):
        for band, key in enumerate(keys[d]):
            buckets[band, key].append(d)
    pairs, crowded = set(), set()
    for bucket in buckets.values():
        pairs |= bucket_pairs(bucket, boundary, rule)
        if len(bucket) > rule.max_bucket:
            crowded |= set(bucket)
    return pairs | rare_pairs(sorted(crowded), codes, boundary, rule)


def by_fingerprints(prints, groups, radius, boundary, rule):
    alike = defaultdict(list)
    for d in sorted(prints):
        alike[prints[d], groups[d]].append(d)
    pairs, speaks = set(), {}
    for both, members in alike.items():
        pairs |= bucket_pairs(members, boundary, rule)
        is_crowd = len(members) > rule.max_bucket
        speaks[both] = heads_of(members, boundary, rule.heads) if is_crowd else members
    for (one, group), (other, other_group) in combinations(alike, 2):
        if group == other_group and (one ^ other).bit_count() <= radius:
            pairs |= {(min(p), max(p)) for p in product(speaks[one, group], speaks[other, other_group])}
    return pairs


def by_samples(held, samples, needed, wide, boundary, rule):
    """Pairs of a document and an earlier one that has enough of its sample, but for shingles that too many have.

    Of the first ``wide`` shingles of each sample, four times as many are not too many.
    """
    holders = defaultdict(list)
    for d in sorted(held):
        for shingle in held[d]:
            holders[shingle].append(d)
    pairs = set()
    for d in held:
        if d < boundary:
            continue
        shared, nothing = Counter(), 0
        for i, shingle in enumerate(samples[d]):
            earlier = [other for other in holders[shingle] if other < d]
            if len(earlier) > rule.max_bucket * (4 if i < wide else 1):
                nothing += 1
                earlier = heads_of(earlier, boundary, rule.heads)
            shared.update(earlier)
        pairs |= {(other, d) for other, n in shared.items() if n >= max(1, needed[d] - nothing)}
    return pairs
