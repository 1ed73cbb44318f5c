"""Documents that have sampled shingles of others: samples by the smallest hashes, who holds them, and how many two share.

A *holder* is ``order << SIZE_BITS | WIDE | sampled``: a document that holds a shingle, and, if it is one of its own sample, the
number of shingles in that sample, 0 if it is not. ``WIDE`` is there for the first ones of a sample.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, typed
from .constants import ONE
from .hashing import fmix64
from .sorting import sort_range

SIZE_BITS, WIDE = 8, 1 << 7
_SIZE = WIDE - 1
_S6 = np.uint64(6)
_SIXTY_THREE = np.uint64(63)


@typed
class Sampling(NamedTuple):
    """Shingles are mixed with ``salt`` to 63 bits; a sample has ``sample`` of a document's, of which the first ``wide`` are
    wide; those of orders from ``first`` on are looked for. ``bits``: a map of these, by the upper bits, 63 less ``shift``."""

    salt: Annotated[np.uint64, "uint64"]
    sample: Annotated[int, "int64"]
    wide: Annotated[int, "int64"]
    first: Annotated[int, "int64"]
    shift: Annotated[np.uint64, "uint64"]
    bits: Annotated[np.ndarray, "const uint64[::1]"]


@typed
class CrowdRule(NamedTuple):
    """A document with more than ``most`` earlier holders of a shingle, or ``most_wide`` of a wide one, is linked with the first
    ``heads`` references (orders below ``boundary``) and the first ``heads`` others. ``both``: later holders count, too."""

    most: Annotated[int, "int64"]
    most_wide: Annotated[int, "int64"]
    heads: Annotated[int, "int64"]
    boundary: Annotated[int, "int64"]
    both: Annotated[bool, "boolean"]


@compiled("void(const uint64[::1], const int64[::1], uint64, uint64[:, ::1])")
def sample_rows(values, offsets, salt, out):
    """Write the smallest different hashes of each row, ascending; if there are fewer, the last one again; without any, 0."""
    width = out.shape[1]
    for row in range(len(offsets) - 1):
        count = 0
        for i in range(offsets[row], offsets[row + 1]):
            mixed = fmix64(values[i] ^ salt) >> ONE
            if count == width and mixed >= out[row, width - 1]:
                continue
            place = count
            while place > 0 and out[row, place - 1] > mixed:
                place -= 1
            if place > 0 and out[row, place - 1] == mixed:
                continue
            for later in range(min(count, width - 1), place, -1):
                out[row, later] = out[row, later - 1]
            out[row, place] = mixed
            count = min(count + 1, width)
        for place in range(count, width):
            out[row, place] = out[row, count - 1] if count > 0 else np.uint64(0)


@compiled("void(const uint64[::1], uint64, uint64[::1])")
def mark_keys(keys, shift, bits):
    """Set the bits of keys in a map: see ``Sampling``."""
    for key in keys:
        place = key >> shift
        bits[np.int64(place >> _S6)] |= ONE << (place & _SIXTY_THREE)


@compiled(
    "int64(const uint64[::1], const int64[::1], const uint64[::1], const int64[::1], Sampling, int64[::1], int64[::1], "
    "int64[::1])",
    Sampling,
)
def find_holders(values, offsets, groups, orders, how, hits, keys, holders):
    """Write a key and a holder for each different shingle of each row that may be looked for; return how many.

    ``groups``: 63 bits that enter the keys of a row. ``hits``: scratch, as long as the longest row.
    """
    written = 0
    for row in range(len(offsets) - 1):
        count = 0
        for i in range(offsets[row], offsets[row + 1]):
            mixed = fmix64(values[i] ^ how.salt) >> ONE
            place = (mixed ^ groups[row]) >> how.shift
            if (how.bits[np.int64(place >> _S6)] >> (place & _SIXTY_THREE)) & ONE != 0:
                hits[count] = np.int64(mixed)
                count += 1
        sort_range(hits, 0, count)
        different = 0
        for i in range(count):
            if i == 0 or hits[i] != hits[i - 1]:
                hits[different] = hits[i]
                different += 1
        sampled = min(different, how.sample) if orders[row] >= how.first else 0  # all of its sample are hits
        for i in range(different):
            keys[written] = np.int64(np.uint64(hits[i]) ^ groups[row])
            mark = sampled if i < sampled else 0
            holders[written] = orders[row] << SIZE_BITS | (mark | WIDE if i < min(sampled, how.wide) else mark)
            written += 1
    return written


@inlined("UniTuple(int64, 2)(int64, int64, int64, boolean, CrowdRule)", CrowdRule)
def partners_of(member, size, references, crowded, rule):
    """Return how many holders of a shingle a member is linked with, and how many references are passed over for that."""
    if not crowded:
        return size if rule.both else member, 0
    near = min(references, rule.heads)
    return near + max(0, min(member - references, rule.heads)), references - near


@compiled("int64(const int64[::1], const int64[:, ::1], CrowdRule, int64[::1], int64[::1], int64[::1])", CrowdRule)
def link_holders(holders, bounds, rule, at, looking, held):
    """Write a row for each document that looks for a shingle, and each other one that holds it, from (group, member, partner)
    ``at`` on; return how many. A group has all holders of one shingle, ascending; ``looking`` receives holders, ``held``
    orders: its own where there are too many. Rows are written until ``looking`` is full; ``at[0]`` is ``len(bounds)`` when all
    is done."""
    count = 0
    group = at[0]
    member = at[1]
    partner = at[2]
    while group < len(bounds):
        begin = bounds[group, 0]
        size = bounds[group, 1] - begin
        references = 0
        while references < size and holders[begin + references] >> SIZE_BITS < rule.boundary:
            references += 1
        while member < size:
            one = holders[begin + member]
            if one & _SIZE == 0:
                member += 1
                continue
            others = size - 1 if rule.both else member
            crowded = others > (rule.most_wide if one & WIDE else rule.most)
            partners, passed = partners_of(member, size, references, crowded, rule)
            near = min(references, rule.heads)
            while partner < partners + (1 if crowded else 0):
                if count == len(looking):
                    at[0] = group
                    at[1] = member
                    at[2] = partner
                    return count
                own = partner == partners
                other = member if own else partner + (passed if partner >= near else 0)
                partner += 1
                if rule.both and not own and (other == member or (member < references and other < references)):
                    continue
                looking[count] = one & ~WIDE
                held[count] = holders[begin + other] >> SIZE_BITS
                count += 1
            member += 1
            partner = 0
        group += 1
        member = 0
    at[0] = group
    return count


@compiled("int64(const int64[::1], const int64[::1], const int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def count_shared(looking, held, needed, left, right, sampled, crowded):
    """Count how many shingles of its sample each document shares with each other one; write the pairs that share enough.

    All rows of a document come together, in the order of ``held``. ``needed``: by the number of shingles in the sample. A
    shingle of which the document itself is the holder tells nothing, so that one less is needed, and one at least. A document
    where that leaves none is written as a pair with itself: ``sampled`` shingles, of which ``crowded`` tell nothing.
    """
    count = 0
    begin = 0
    while begin < len(looking):
        end = begin
        own = looking[begin] >> SIZE_BITS
        nothing = 0
        while end < len(looking) and looking[end] == looking[begin]:
            if held[end] == own:
                nothing += 1
            end += 1
        size = looking[begin] & _SIZE
        least = max(1, needed[size] - nothing)
        if nothing >= needed[size]:
            left[count] = own
            right[count] = own
            sampled[count] = size
            crowded[count] = nothing
            count += 1
        run = begin
        while run < end:
            past = run
            while past < end and held[past] == held[run]:
                past += 1
            if held[run] != own and past - run >= least:
                left[count] = min(own, held[run])
                right[count] = max(own, held[run])
                sampled[count] = size
                crowded[count] = 0
                count += 1
            run = past
        begin = end
    return count
