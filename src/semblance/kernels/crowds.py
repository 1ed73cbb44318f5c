"""Links of documents that meet, the counts of their codes, and the cut of pairs that cannot match.

A group holds the orders of documents, ascending, so that its references, the orders below ``boundary``, come first. A kernel
that writes links into ``left`` and ``right`` stops where these are full; ``at`` then says where to go on. Each writes the links
of one member after the other, a member's links with earlier ones only, so that groups may come in pieces.
"""

from typing import Any, NamedTuple

import numpy as np

from ._compile import compiled, inlined, load64

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_LANE = np.uint64(16)
_LOWEST = np.uint64(0x0001000100010001)
_LOW_LANE = np.uint64(0xFFFF)


class BucketRule(NamedTuple):
    """Groups of more than ``most`` members are crowds, of which the first ``heads`` references and others are linked."""

    most: int
    heads: int
    boundary: int


class Sides(NamedTuple):
    """Bytes of both sides of each pair: a flat array, and where in it those of a pair begin."""

    left: Any
    left_starts: Any
    right: Any
    right_starts: Any


class CutRule(NamedTuple):
    """What a pair must have; ``slots`` and ``width`` are 0 if codes, or the bytes that must be equal, are not compared."""

    slots: int
    least: int
    width: int
    boundary: int


@compiled
def equal_to(keys, key):
    """Number of keys at the beginning that equal ``key``."""
    row = 0
    while row < len(keys) and keys[row] == key:
        row += 1
    return row


@compiled
def last_run(keys):
    """Where the last run of equal keys begins; there is at least one key."""
    row = len(keys) - 1
    while row > 0 and keys[row - 1] == keys[row]:
        row -= 1
    return row


@compiled
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


@compiled
def bucket_links(orders, bounds, rule, at, left, right):
    """Write the links of groups from (group, member, partner) ``at`` on; return how many.

    Of a small group all pairs, of a crowd those with heads, and of each member one with itself.
    """
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


@compiled
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


@compiled
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


@compiled
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


@compiled
def holder_links(orders, within, bounds, heads, boundary, at, left, right):
    """Write the links of holders of one code from (group, member, partner) ``at`` on; return how many.

    A holder is linked with all earlier ones if the code is ``within`` its budget, else with the first ``heads``.
    """
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


@compiled
def count_codes(codes, total):
    """Add the codes (uint16) of each row to the table ``total`` of shape (slots, 65536)."""
    for row in range(len(codes)):
        for slot in range(codes.shape[1]):
            total[slot, codes[row, slot]] += 1


@inlined
def choose(codes, counts, best):
    """Write (count << 20 | slot) of the codes with the smallest counts of at least 2, ascending; return their number."""
    used = 0
    for slot in range(len(codes)):
        count = np.int64(counts[slot, codes[slot]])
        entry = count << 20 | slot
        if count < 2 or (used == len(best) and entry >= best[used - 1]):
            continue
        if used < len(best):
            used += 1
        place = used - 1
        while place > 0 and best[place - 1] > entry:
            best[place] = best[place - 1]
            place -= 1
        best[place] = entry
    return used


@compiled
def choose_codes(codes, orders, counts, budget, best, out_codes, out_orders, out_counts, out_within):
    """Write the codes that each row holds, the smallest counts first; return how many. ``best``: room for those of a row."""
    written = 0
    for row in range(len(codes)):
        used = choose(codes[row], counts, best)
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


@compiled
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
        flat = own[document].ravel()
        spent = 0
        for i in range(choose(codes[document], counts, best)):
            spent += best[i] >> 20
            if spent <= budget:
                flat[best[i] & 0xFFFFF] = True


@inlined
def agreeing(a, i, b, j, slots):
    """Number of slots whose 16-bit codes, from bytes ``i`` and ``j`` on, agree in their lowest four bits."""
    lanes = np.uint64(0)
    words = slots >> 2
    for word in range(words):
        x = load64(a, i + 8 * word) ^ load64(b, j + 8 * word)
        x |= x >> _ONE
        x |= x >> _TWO
        lanes += x & _LOWEST
    same = slots
    for _ in range(4):
        same -= np.int64(lanes & _LOW_LANE)
        lanes >>= _LANE
    for slot in range(4 * words, slots):
        same -= (a[i + 2 * slot] ^ b[j + 2 * slot]) & 15 != 0
    return same


@compiled
def cut_pairs(left, right, previous, codes, withins, rule, out_left, out_right):
    """Write the pairs that stay; return how many. ``previous`` holds the pair before the first, and then the last one."""
    count = 0
    last_left = previous[0]
    last_right = previous[1]
    for pair in range(len(left)):
        repeated = left[pair] == last_left and right[pair] == last_right
        last_left = left[pair]
        last_right = right[pair]
        if repeated or last_left == last_right or last_right < rule.boundary:
            continue
        equal = True
        for byte in range(rule.width):
            if withins.left[withins.left_starts[pair] + byte] != withins.right[withins.right_starts[pair] + byte]:
                equal = False
                break
        if not equal:
            continue
        if rule.slots > 0:
            i = codes.left_starts[pair]
            j = codes.right_starts[pair]
            if agreeing(codes.left, i, codes.right, j, rule.slots) < rule.least:
                continue
        out_left[count] = last_left
        out_right[count] = last_right
        count += 1
    previous[0] = last_left
    previous[1] = last_right
    return count
