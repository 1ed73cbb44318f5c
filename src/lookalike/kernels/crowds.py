"""Links of documents that meet: pairs of small groups, and of crowds each member with the first ones.

A group holds orders, ascending, so that references (below ``boundary``) come first. A kernel stops where ``left`` and ``right``
are full, and ``at`` says where to go on; links of one member follow those of another, each with earlier ones only: groups may
come in pieces.
"""

from typing import Annotated, NamedTuple

from .compiler import compiled, typed


@typed
class BucketRule(NamedTuple):
    """Groups of more than ``most`` members are crowds, of which the first ``heads`` references and others are linked."""

    most: Annotated[int, "int64"]
    heads: Annotated[int, "int64"]
    boundary: Annotated[int, "int64"]


@compiled("int64(const int64[::1], int64)")
def equal_to(keys, key):
    """Number of keys at the beginning that equal ``key``."""
    row = 0
    while row < len(keys) and keys[row] == key:
        row += 1
    return row


@compiled("int64(const int64[::1])")
def last_run(keys):
    """Where the last run of equal keys begins; there is at least one key."""
    row = len(keys) - 1
    while row > 0 and keys[row - 1] == keys[row]:
        row -= 1
    return row


@compiled("int64(const int64[::1], const int64[:, ::1], BucketRule, int64)", BucketRule)
def count_bucket_links(orders, bounds, rule, done):
    """Number of links that ``bucket_links`` writes, without those of the first ``done`` members of the first group."""
    total = 0
    for group in range(len(bounds)):
        begin = bounds[group, 0]
        size = bounds[group, 1] - begin
        references = 0
        while references < size and orders[begin + references] < rule.boundary:
            references += 1
        first = max(references, done)
        if size <= rule.most:
            for member in range(first, size):
                total += member
        else:
            total += size - done
            for member in range(first, size):
                total += min(references, rule.heads) + min(member - references, rule.heads)
        done = 0
    return total


@compiled("int64(const int64[::1], const int64[:, ::1], BucketRule, int64[::1], int64[::1], int64[::1])", BucketRule)
def bucket_links(orders, bounds, rule, at, left, right):
    """Write the links of groups from (group, member, partner) ``at`` on; return how many. Of a small group all pairs, of a
    crowd those with heads, and of each member one with itself."""
    count = 0
    group = at[0]
    member = at[1]
    partner = at[2]
    while group < len(bounds):
        begin = bounds[group, 0]
        size = bounds[group, 1] - begin
        references = 0
        while references < size and orders[begin + references] < rule.boundary:
            references += 1
        crowd = size > rule.most
        near = min(references, rule.heads) if crowd else 0
        skipped = references - near if crowd else 0
        while member < size:
            order = orders[begin + member]
            partners = 0
            if member >= references:
                partners = near + min(member - references, rule.heads) if crowd else member
            end = min(partners, partner + len(left) - count)
            while partner < end:
                left[count] = orders[begin + partner + (skipped if partner >= near else 0)]
                right[count] = order
                count += 1
                partner += 1
            if partner < partners or (crowd and count == len(left)):
                at[0] = group
                at[1] = member
                at[2] = partner
                return count
            if crowd:
                left[count] = order
                right[count] = order
                count += 1
            member += 1
            partner = 0
        group += 1
        member = 0
    return count


@compiled("int64(const int64[::1], const int64[::1], const int64[::1], const int64[::1], int64)")
def count_crossings(orders, offsets, first, second, boundary):
    """Number of links that ``crossings`` writes."""
    total = 0
    for pair in range(len(first)):
        a = first[pair]
        b = second[pair]
        references_a = 0
        while references_a < offsets[a + 1] - offsets[a] and orders[offsets[a] + references_a] < boundary:
            references_a += 1
        references_b = 0
        while references_b < offsets[b + 1] - offsets[b] and orders[offsets[b] + references_b] < boundary:
            references_b += 1
        total += (offsets[a + 1] - offsets[a]) * (offsets[b + 1] - offsets[b]) - references_a * references_b
    return total


@compiled(
    "int64(const int64[::1], const int64[::1], const int64[::1], const int64[::1], int64, int64[::1], int64[::1], int64[::1])"
)
def crossings(orders, offsets, first, second, boundary, at, left, right):
    """Write a link of each member of one group with each of another, for pairs of groups, from ``at`` on; return how many."""
    count = 0
    pair = at[0]
    i = at[1]
    j = at[2]
    while pair < len(first):
        begin = offsets[first[pair]]
        partners = offsets[second[pair]]
        while begin + i < offsets[first[pair] + 1]:
            a = orders[begin + i]
            while partners + j < offsets[second[pair] + 1]:
                b = orders[partners + j]
                if a >= boundary or b >= boundary:
                    if count == len(left):
                        at[0] = pair
                        at[1] = i
                        at[2] = j
                        return count
                    left[count] = min(a, b)
                    right[count] = max(a, b)
                    count += 1
                j += 1
            i += 1
            j = 0
        pair += 1
        i = 0
    return count
