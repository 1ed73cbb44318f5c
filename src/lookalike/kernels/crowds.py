"""Links of documents that meet: pairs of small groups; of crowds each member with the first ones, and holders of rare codes.

A group holds orders, ascending, so that references (below ``boundary``) come first. A kernel stops where ``left`` and ``right``
are full, and ``at`` says where to go on; links of one member follow those of another, each with earlier ones only: groups may
come in pieces. Of a crowd, documents that hold the same rare code, or couple of codes, are linked too.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, typed
from .constants import S32
from .hashing import K0, fold_multiply

ANY = (1 << 63) - 1


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


@compiled("int64(const int64[::1], const boolean[::1], const int64[:, ::1], int64, int64, int64)")
def count_holder_links(orders, within, bounds, heads, boundary, done):
    """Number of links that ``holder_links`` writes, without those of the first ``done`` members of the first group."""
    total = 0
    for group in range(len(bounds)):
        for row in range(bounds[group, 0] + done, bounds[group, 1]):
            if orders[row] >= boundary:
                member = row - bounds[group, 0]
                total += member if within[row] else min(member, heads)
        done = 0
    return total


@compiled("int64(const int64[::1], const boolean[::1], const int64[:, ::1], int64, int64, int64[::1], int64[::1], int64[::1])")
def holder_links(orders, within, bounds, heads, boundary, at, left, right):
    """Write the links of holders of one code from (group, member, partner) ``at`` on; return how many. A holder is linked with
    all earlier ones if the code is ``within`` its budget, else with the first ``heads``."""
    count = 0
    group = at[0]
    member = at[1]
    partner = at[2]
    while group < len(bounds):
        begin = bounds[group, 0]
        while begin + member < bounds[group, 1]:
            order = orders[begin + member]
            partners = member if within[begin + member] else min(member, heads)
            if order < boundary:
                partners = 0
            end = min(partners, partner + len(left) - count)
            while partner < end:
                left[count] = orders[begin + partner]
                right[count] = order
                count += 1
                partner += 1
            if partner < partners:
                at[0] = group
                at[1] = member
                at[2] = partner
                return count
            member += 1
            partner = 0
        group += 1
        member = 0
    return count


@compiled("void(const uint16[:, ::1], int32[:, ::1])")
def count_codes(codes, total):
    """Add the codes (uint16) of each row to the table ``total`` of shape (slots, 65536)."""
    for slot in range(codes.shape[1]):  # one row of the table, which stays in a cache, after the other
        for row in range(len(codes)):
            total[slot, codes[row, slot]] += 1


@inlined("int64(const uint16[::1], const int32[:, ::1], int64, int64[::1])")
def choose(codes, counts, most, best):
    """Write (count << 20 | slot) of the codes with the smallest counts from 2 to ``most``, ascending; return their number."""
    used = 0
    for slot in range(len(codes)):
        count = np.int64(counts[slot, codes[slot]])
        entry = count << 20 | slot
        if count < 2 or count > most or (used == len(best) and entry >= best[used - 1]):
            continue
        if used < len(best):
            used += 1
        place = used - 1
        while place > 0 and best[place - 1] > entry:
            best[place] = best[place - 1]
            place -= 1
        best[place] = entry
    return used


@compiled(
    "int64(const uint16[:, ::1], const int64[::1], const int32[:, ::1], int64, int64[::1], "
    "int64[::1], int64[::1], int64[::1], boolean[::1])"
)
def choose_codes(codes, orders, counts, budget, best, out_codes, out_orders, out_counts, out_within):
    """Write the codes that each row holds, the smallest counts first; return how many. ``best``: room for those of a row."""
    written = 0
    for row in range(len(codes)):
        used = choose(codes[row], counts, ANY, best)
        spent = 0
        for i in range(used):
            slot = best[i] & 0xFFFFF
            count = best[i] >> 20
            spent += count
            out_codes[written] = slot << 16 | np.int64(codes[row, slot])
            out_orders[written] = orders[row]
            out_counts[written] = count
            out_within[written] = spent <= budget
            written += 1
    return written


@compiled(
    "int64(const uint16[:, ::1], const int64[::1], const int32[:, ::1], int64, int64, int64, int64[::1], "
    "int64[::1], int64[::1])"
)
def choose_couples(codes, orders, counts, chosen, budget, most, best, out_keys, out_orders):
    """Write 32 bits of a hash of each couple of codes of each row; return how many.

    Those of the first ``chosen`` codes that are within the budget enter none, nor does one of a count above ``most``. ``best``
    has room for ``chosen`` codes of a row, and for those that make couples.
    """
    written = 0
    taken = len(best) - chosen
    for row in range(len(codes)):
        used = choose(codes[row], counts, max(most, budget), best)  # no other code matters
        begin = 0
        spent = 0
        while begin < min(used, chosen) and spent + (best[begin] >> 20) <= budget:
            spent += best[begin] >> 20
            begin += 1
        end = begin
        while end < min(used, begin + taken) and best[end] >> 20 <= most:
            end += 1
        for i in range(begin, end):
            for j in range(begin, end):
                first = best[i] & 0xFFFFF
                second = best[j] & 0xFFFFF
                if first < second:
                    couple = (first << 16 | np.int64(codes[row, first])) << 32 | second << 16 | np.int64(codes[row, second])
                    out_keys[written] = np.int64(fold_multiply(np.uint64(couple), K0) >> S32)
                    out_orders[written] = orders[row]
                    written += 1
    return written


@compiled("void(const uint16[:, ::1], const int32[:, ::1], int64, int64, int64[::1], boolean[:, :, ::1], boolean[:, ::1])")
def mark_own(codes, counts, budget, most, best, own, crowded):
    """Mark the codes of each row that are single or within its budget, and the bands that may be crowds.

    ``own`` is of shape (documents, bands, rows), ``crowded`` (documents, bands). A crowd has more than ``most`` members, and
    each code of its band at least as high a count.
    """
    bands, rows = own.shape[1:]
    for document in range(len(codes)):
        for band in range(bands):
            crowded[document, band] = True
            for row in range(rows):
                slot = band * rows + row
                count = counts[slot, codes[document, slot]]
                own[document, band, row] = count < 2
                if count <= most:
                    crowded[document, band] = False
        spent = 0
        for i in range(choose(codes[document], counts, budget, best)):
            spent += best[i] >> 20
            if spent <= budget:
                slot = best[i] & 0xFFFFF
                own[document, slot // rows, slot % rows] = True
