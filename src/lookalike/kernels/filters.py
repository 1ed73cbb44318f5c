"""Pairs of sets that can be alike enough, by their rarest members or by short hashes of all. Neither loses a match.

By rarest members: a prefix filter with positions. Let all members be in one order; here, rare ones come first. Two sets of a
and b members with a resemblance of at least t have n >= t (a + b) / (1 + t) members in common. If the first of these is at
place i of one set and at place j of the other, counted from 0, then n <= min(a - i, b - j). This bound decides for every member
that two sets share whether it can be the first one of a pair that reaches the threshold. The smaller set of such a pair has it
among its first a - 2 t a / (1 + t) + 1 members. Members that many sets have are mostly beyond these, and link nobody. No match
is lost, whatever the order is. (Prefixes: Bayardo, Ma & Srikant, WWW 2007; positions: Xiao, Wang, Lin & Yu, WWW 2008.)

Small sets are also told apart by bits. Each member turns one of 256 bits of its set; sets that differ in d bits differ in at
least d members, and those of a match differ in at most a + b - 2 n (Sandes, Teodoro & Melo, Information Systems 88, 2020).

By short hashes: a row is the ascending upper halves of the distinct 64-bit hashes of a set's members, so that it may be shorter
than the set: members can share a hash, but no more of them than there were repeats, of members or of hashes, that the row was
made without.

Let two sets have c members in common, of a and b, and rows of a - x and b - y entries. The rows then have at least
c - min(x, y) entries in common. Where c / (a + b - c) reaches t, c is at least t (a + b) / (1 + t), and so these are at least
t / (1 + t) times the entries of both rows, less (1 - t) / (1 + t) min(x, y). That is no matter of chance: it holds whatever the
hashes are.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, popcount, typed
from .constants import ONE, ZERO
from .hashing import fmix64
from .sorting import sort_range

_LOW32 = 0xFFFFFFFF
_SIXTY_THREE = np.uint64(63)
MARKS = 1 << 10  # words of a map of 16 bits of hashes: 8 KB, which stay in the nearest cache
AT_ONCE = 16  # entries that are looked up before it is asked whether that will do


EXTENT, SET, BEFORE, BITS = 0, 1, 2, 5  # where columns of what is known of a member begin
WORDS = 4  # of bits, where there are any
_BIT = np.uint64(64 * WORDS - 1)
_S6 = np.uint64(6)


@typed
class Prefixes(NamedTuple):
    """Members of sets, those of one group equal: the order of the set, and its size << 32 | the place of the member, a hash of
    the set, the members before it, or 0, and perhaps the bits of the set."""

    orders: Annotated[np.ndarray, "const int64[::1]"]
    facts: Annotated[np.ndarray, "const int64[:, ::1]"]


@inlined("int64(int64, float64)")
def least_common(members, threshold):
    """The fewest members in common of two sets that have ``members`` together; a little less, against roundings."""
    return np.int64(np.ceil(threshold / (1.0 + threshold) * members - 1e-12 * members))


@compiled("void(const uint64[::1], uint64, int32[::1])")
def count_members(values, shift, counts):
    """Add members to a table of counts, by the upper bits of their hashes: 64 less ``shift`` of them."""
    for value in values:
        counts[np.int64(value >> shift)] += 1


@compiled("void(int64[::1], const int64[::1], const int32[::1], uint64, int64[::1])")
def rank_members(values, offsets, counts, shift, entries):
    """Sort each row of ``values``, and write its members' counts << 32 | places in the row, sorted, into ``entries``."""
    for row in range(len(offsets) - 1):
        begin = offsets[row]
        end = offsets[row + 1]
        sort_range(values, begin, end)
        for i in range(begin, end):
            entries[i] = np.int64(counts[np.int64(np.uint64(values[i]) >> shift)]) << 32 | (i - begin)
        sort_range(entries, begin, end)


@compiled(
    "int64(const int64[::1], const int64[::1], const int64[::1], const int64[::1], float64, int64[::1], int64[::1], "
    "int64[::1], int64[::1], int64[:, ::1])"
)
def choose_prefixes(values, offsets, orders, entries, threshold, at, bits, keys, out_orders, facts):
    """Write the rarest members of each set, those that other sets may have, from (row, place) ``at`` on; return how many.

    Members are in the order of ``entries``: see ``rank_members``. They are written until ``keys`` is full; ``at[0]`` is the
    number of rows when all is done. ``at[2]`` and ``bits``, ``WORDS`` long, keep what is known of a row that is not done.
    """
    written = 0
    words = facts.shape[1] - BITS
    row = at[0]
    place = at[1]
    while row < len(offsets) - 1:
        begin = offsets[row]
        size = offsets[row + 1] - begin
        if place == 0:
            total = ZERO
            bits[:] = 0
            for i in range(begin, begin + size):
                total += fmix64(np.uint64(values[i]))
                bit = np.uint64(values[i]) & _BIT
                bits[np.int64(bit >> _S6)] ^= np.int64(ONE << (bit & _SIXTY_THREE))
            at[2] = np.int64(total)
        smallest = np.int64(np.ceil(threshold * size - 1e-12 * size))  # set that can match
        end = min(size, size - least_common(size + smallest, threshold) + 1)
        first = written
        while place < end:
            entry = entries[begin + place]
            place += 1
            if entry >> 32 == 1:
                continue  # nobody else has it; counts that are too large for 32 bits can be any number
            keys[written] = values[begin + (entry & _LOW32)]
            out_orders[written] = orders[row]
            facts[written, EXTENT] = size << 32 | (place - 1)
            facts[written, SET] = at[2]
            for back in range(BITS - BEFORE):
                facts[written, BEFORE + back] = keys[written - back - 1] if written - back > first else 0
            for word in range(words):
                facts[written, BITS + word] = bits[word]
            written += 1
            if written == len(keys):
                at[0] = row
                at[1] = place
                return written
        row += 1
        place = 0
    at[0] = row
    return written


@inlined("boolean(const int64[:, ::1], int64, int64)")
def met_before(facts, a, b):
    """Tell whether one of the members before that of row ``a`` is before that of row ``b``, too."""
    for i in range(BEFORE, BITS):
        for j in range(BEFORE, BITS):
            if facts[a, i] == facts[b, j] and facts[a, i] != 0:
                return True
    return False


@inlined("int64(const int64[:, ::1], int64, int64)")
def unequal_bits(facts, a, b):
    """In how many bits the sets of two rows differ: no more than there are members of one set alone."""
    count = 0
    for i in range(BITS, facts.shape[1]):
        count += popcount(np.uint64(facts[a, i] ^ facts[b, i]))
    return count


@compiled(
    "int64(Prefixes, const int64[:, ::1], const int64[::1], int64, float64, int64[::1], int64[::1], int64[::1])", Prefixes
)
def prefix_links(members, bounds, ends, boundary, threshold, at, left, right):
    """Write the links of sets that share a member, from (group, member, partner) ``at`` on; return how many.

    Members of a group come by the sizes of their sets. Links are written until ``left`` and ``right`` are full; ``at[0]`` is
    ``len(bounds)`` when all is done. Two sets that also share one of the few members before were linked there: otherwise
    near-copies would be linked at every member.

    ``ends``: for each member, where the run ends that it is in. The sets of a run are equal, their orders ascend, and only the
    first of them is linked with sets of higher orders. So n equal sets make n - 1 links. Runs of one set each leave none out.
    """
    orders, facts = members
    count = 0
    group = at[0]
    i = at[1]
    j = at[2]
    while group < len(bounds):
        begin = bounds[group, 0]
        end = bounds[group, 1]
        while begin + i < end:
            smaller = begin + i
            first = smaller == 0 or ends[smaller - 1] == smaller
            size = facts[smaller, EXTENT] >> 32
            rest = size - (facts[smaller, EXTENT] & _LOW32)
            j = max(j, i + 1 if first else ends[smaller] - begin)
            if rest >= least_common(2 * size, threshold):  # else the set is the larger one of its pairs, at this member
                while begin + j < end:
                    larger = begin + j
                    j = j + 1 if first else ends[larger] - begin  # others are linked with firsts alone
                    other = facts[larger, EXTENT] >> 32
                    least = least_common(size + other, threshold)
                    if rest < least:
                        break  # as it is for all that are still larger
                    if other - (facts[larger, EXTENT] & _LOW32) < least:
                        continue
                    if unequal_bits(facts, smaller, larger) > size + other - 2 * least:
                        continue
                    if (orders[larger] < boundary and orders[smaller] < boundary) or met_before(facts, smaller, larger):
                        continue
                    if not (first if orders[smaller] < orders[larger] else ends[larger - 1] == larger):
                        continue
                    left[count] = min(orders[smaller], orders[larger])
                    right[count] = max(orders[smaller], orders[larger])
                    count += 1
                    if count == len(left):
                        at[0] = group
                        at[1] = i
                        at[2] = j
                        return count
            i += 1
            j = 0
        group += 1
        i = 0
    at[0] = group
    return count


@typed
class Halves(NamedTuple):
    """Rows of upper halves: row i is ``values[offsets[i]:offsets[i + 1]]``, made without ``repeats[i]`` more hashes."""

    values: Annotated[np.ndarray, "const uint32[::1]"]
    offsets: Annotated[np.ndarray, "const int64[::1]"]
    repeats: Annotated[np.ndarray, "const int64[::1]"]


@compiled("void(const int64[::1], const int64[::1], Halves, Halves, float64, uint64[::1], bool_[::1])", Halves)
def sift_pairs(left, right, lefts, rights, threshold, marks, out):
    """Tell for each pair of a row of ``lefts`` and one of ``rights`` whether their sets may reach a resemblance.

    ``marks``: ``MARKS`` words of zeros. Pairs of one left row that follow each other share a map of the lowest 16 bits of its
    entries: an entry of a right row that is not in the map has no equal, and most pairs are settled by these. The rest is
    merged.
    """
    share = threshold / (1.0 + threshold)
    lost = (1.0 - threshold) / (1.0 + threshold)
    marked = np.int64(-1)
    for pair in range(len(left)):
        i = np.uint64(lefts.offsets[left[pair]])
        i_end = np.uint64(lefts.offsets[left[pair] + 1])
        j = np.uint64(rights.offsets[right[pair]])
        j_end = np.uint64(rights.offsets[right[pair] + 1])
        total = np.int64(i_end - i) + np.int64(j_end - j)
        hidden = min(lefts.repeats[left[pair]], rights.repeats[right[pair]])
        # The fewest entries in common that will do; a little less, or roundings would leave out pairs exactly at the threshold.
        least = np.int64(np.ceil(share * total - lost * hidden - 1e-12 * total))
        missing = np.int64(i_end - i) - least  # entries of the left row that need no equal
        others = np.int64(j_end - j) - least
        if marked != left[pair] and pair + 1 < len(left) and left[pair + 1] == left[pair]:
            if marked >= 0:
                for place in range(lefts.offsets[marked], lefts.offsets[marked + 1]):
                    marks[np.int64(lefts.values[place] >> np.uint32(6)) & (MARKS - 1)] = np.uint64(0)
            marked = left[pair]
            for place in range(lefts.offsets[marked], lefts.offsets[marked + 1]):
                entry = np.uint64(lefts.values[place])
                marks[np.int64(entry >> np.uint64(6)) & (MARKS - 1)] |= np.uint64(1) << (entry & np.uint64(63))
        if marked == left[pair]:
            spare = others
            place = j
            while place < j_end and spare >= 0:
                for at in range(place, min(place + np.uint64(AT_ONCE), j_end)):
                    entry = np.uint64(rights.values[at])
                    word = marks[np.int64(entry >> np.uint64(6)) & (MARKS - 1)]
                    spare -= np.int64(~(word >> (entry & np.uint64(63))) & np.uint64(1))
                place += np.uint64(AT_ONCE)
            if spare < 0:
                out[pair] = False
                continue
        while i < i_end and j < j_end and missing >= 0 and others >= 0:
            a = lefts.values[i]
            b = rights.values[j]
            i += np.uint64(a <= b)
            j += np.uint64(b <= a)
            missing -= np.int64(a < b)
            others -= np.int64(b < a)
        missing -= np.int64(i_end - i)
        others -= np.int64(j_end - j)
        out[pair] = missing >= 0 and others >= 0


@compiled("void(const uint64[::1], uint64, uint64, uint64[::1])")
def fill_members(values, factor, shift, table):
    """Put values into a table of zeros, by the upper bits of their products with ``factor``: 64 less ``shift`` of them."""
    for value in values:
        place = np.int64(value * factor >> shift)
        while table[place] != np.uint64(0) and table[place] != value:
            place = (place + 1) & (len(table) - 1)
        table[place] = value


@compiled(
    "void(const uint64[::1], const int64[::1], uint64, uint64, const uint64[::1], int64[::1], uint64[::1])",
)
def drop_members(values, offsets, factor, shift, table, out_offsets, out):
    """Write the values of each row that are not in a table of ``fill_members``; ``out`` can be ``values``. 0 is in no table."""
    written = 0
    out_offsets[0] = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            value = values[i]
            place = np.int64(value * factor >> shift)
            while table[place] != np.uint64(0) and table[place] != value:
                place = (place + 1) & (len(table) - 1)
            out[written] = value
            written += np.int64(table[place] == np.uint64(0))
        out_offsets[row + 1] = written


@compiled("void(const int32[::1], const int64[::1], const boolean[::1], int64[::1], int32[::1])")
def drop_marked(numbers, offsets, marked, out_offsets, out):
    """Write the numbers of each row that are not marked; those beyond the end of ``marked`` are not. ``out`` can be
    ``numbers``."""
    written = 0
    out_offsets[0] = 0
    for row in range(len(offsets) - 1):
        for i in range(offsets[row], offsets[row + 1]):
            number = numbers[i]
            out[written] = number
            written += np.int64(number >= len(marked) or not marked[number])
        out_offsets[row + 1] = written
