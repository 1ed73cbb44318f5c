"""Bits of fingerprints, searches that compare all, and all pairs within a radius by sorting under masks.

Distances are counted in place: a call with arrays would count references atomically, at ten times the cost of comparing two
fingerprints. For all pairs of rows a block of columns is turned on its side: word w of all its rows lies together, so that the
processor compares one row with several at once; where all have too many mismatches, the rest of their words is left out.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, popcount, prefetch, typed
from .constants import ONE, ZERO
from .hashing import M1, M2
from .scratch import Hits

BLOCK = 256  # columns that are turned at a time
_AHEAD = 16
_W = np.uint64(64)


@inlined("uint64(const uint64[:, ::1], int64, int64, int64)")
def bits_at(words, row, start, count):
    """``count`` < 64 bits of a row's fingerprint from bit ``start`` on."""
    word = start // 64
    shift = np.uint64(start % 64)
    value = words[row, word] >> shift
    if start % 64 + count > 64:
        value |= words[row, word + 1] << (_W - shift)
    return value & ((ONE << np.uint64(count)) - ONE)


@compiled("void(const uint64[:, ::1], int64, int64, const int64[:, ::1], uint64[::1])")
def prefixes(words, start, stop, ranges, out):
    """Write the prefixes of rows [start, stop): the bits of some ``ranges`` (ranges, 2), first bit and number, in a row. A call
    of ``bits_at`` for each would take seven times as long."""
    for row in range(start, stop):
        value = ZERO
        for r in range(len(ranges)):
            first = ranges[r, 0]
            count = ranges[r, 1]
            word = first // 64
            shift = np.uint64(first % 64)
            part = words[row, word] >> shift
            if first % 64 + count > 64:
                part |= words[row, word + 1] << (_W - shift)
            value = (value << np.uint64(count)) | (part & ((ONE << np.uint64(count)) - ONE))
        out[row - start] = value


@compiled("void(const uint64[::1], uint32[::1], int64)")
def bucket_offsets(sorted_prefixes, out, low):
    """Write where each prefix from ``low`` on begins among sorted ones; ``out`` has one entry more than there are prefixes."""
    position = 0
    for prefix in range(len(out)):
        while position < len(sorted_prefixes) and sorted_prefixes[position] < np.uint64(prefix + low):
            position += 1
        out[prefix] = position


@compiled(
    "int64(const uint64[:, ::1], int64, int64, const uint64[:, ::1], int64, boolean, boolean, Hits)",
    Hits,
)
def search_all(query, start, stop, stored, radius, first_only, self_join, hits):
    """Compare queries [start, stop) with every stored fingerprint; return the number of hits."""
    left, right, found = hits
    count = 0
    for q in range(start, stop):
        for s in range(q + 1 if self_join else 0, len(stored)):
            d = 0
            for w in range(query.shape[1]):
                d += popcount(query[q, w] ^ stored[s, w])
            if d <= radius:
                if count < len(left):
                    left[count] = q
                    right[count] = s
                    found[count] = d
                count += 1
                if first_only:
                    break
    return count


@compiled("void(const uint64[:, ::1], int64, int64, uint64[:, ::1])")
def turn_block(words, begin, size, columns):
    """Write the words of rows [begin, begin + size) into ``columns`` (words, BLOCK), zeros behind them."""
    columns[:] = ZERO
    for j in range(size):
        for w in range(len(columns)):
            columns[w, j] = words[begin + j, w]


@typed
class Reach(NamedTuple):
    """What a pair must have: ``most`` slots that differ, or, where rows have densities, what follows from theirs. ``layout``:
    first word, slots and bits of each part; ``combined``: how many slots each of its bits is the XOR of; ``chances``: A of each
    row and part (Theorem 1). ``early``: words before which hardly a pair is decided."""

    layout: Annotated[np.ndarray, "const int64[:, ::1]"]
    combined: Annotated[np.ndarray, "const int64[::1]"]
    most: Annotated[int, "int64"]
    early: Annotated[float, "float64"]
    threshold: Annotated[float, "float64"]
    densities: Annotated[np.ndarray, "const float64[::1]"]
    chances: Annotated[np.ndarray, "const float64[:, ::1]"]


@inlined("void(Reach, int64, int64, int64, int64[::1])", Reach)
def allow(reach, row, begin, size, allowed):
    """Write how many slots of ``row`` and of each row of a block may differ: slots less those that must match, C1 + (1 - C2) R
    of whole ones. Combined ones tell nothing where single bits match in half of all cases or fewer: all of them may differ."""
    for j in range(size):
        left = reach.densities[row]
        right = reach.densities[begin + j]
        share = left / (left + right) if left + right > 0.0 else 0.5
        more = 0.0
        for p in range(len(reach.layout)):
            a = reach.chances[row, p]
            b = reach.chances[begin + j, p]
            matching = a * (1.0 - share) + b * share + (1.0 - a * share - b * (1.0 - share)) * reach.threshold
            if reach.combined[p] > 1:
                rho = 2.0 * matching - 1.0
                power = 1.0
                for _ in range(reach.combined[p]):
                    power *= rho
                matching = (1.0 + power) / 2.0
                if rho < 1e-9:
                    matching = -1e18
            more += reach.layout[p, 1] * (1.0 - matching)
        allowed[j] = np.int64(min(more + 1e-6, 1e9))


@compiled(
    "UniTuple(int64, 2)(const uint64[:, ::1], int64, const uint64[:, ::1], int64, int64, Reach, int64[:, ::1], uint64[::1], "
    "Hits)",
    Reach,
    Hits,
)
def pairs_with_block(words, first_row, columns, begin, size, reach, counts, differ, hits):
    """Find the pairs of rows i from ``first_row`` on with rows j > i of a block, [begin, begin + size) turned on their side in
    ``columns``, of which no more slots differ than may. ``counts`` (2, BLOCK) and ``differ`` (BLOCK) are scratch. Returns (row,
    pairs written): where to go on if the room may not suffice for the next row, else the end of the block."""
    left, right, matches = hits
    layout = reach.layout
    totals = counts[0]
    allowed = counts[1]
    all_slots = 0
    for p in range(len(layout)):
        all_slots += layout[p, 1]
    step = max(1, all_slots // 512)
    for j in range(BLOCK):
        allowed[j] = reach.most if j < size else -1
    found = 0
    for i in range(first_row, begin + size):
        if found + BLOCK > len(left):
            return i, found
        if len(reach.densities) > 0:
            allow(reach, i, begin, size, allowed)
        for j in range(BLOCK):
            totals[j] = 0
        done = 0
        beyond = False
        for p in range(len(layout)):
            first_word = layout[p, 0]
            width = (layout[p, 1] + 63) // 64
            bits = layout[p, 2]
            begun = 0
            while begun < width and not beyond:
                stop = min(width, begun + step)
                for w in range(first_word + begun, first_word + stop):
                    own = words[i, w]
                    if bits == 1:
                        for j in range(BLOCK):
                            totals[j] += popcount(own ^ columns[w, j])
                    else:
                        for j in range(BLOCK):
                            differ[j] = own ^ columns[w, j]
                        for b in range(1, bits):
                            own = words[i, w + b * width]
                            for j in range(BLOCK):
                                differ[j] |= own ^ columns[w + b * width, j]
                        for j in range(BLOCK):
                            totals[j] += popcount(differ[j])
                done += stop - begun
                begun = stop
                if reach.early < done:
                    fewest = totals[0] - allowed[0]
                    for j in range(BLOCK):
                        fewest = min(fewest, totals[j] - allowed[j])
                    beyond = fewest > 0
        if not beyond:
            for j in range(max(0, i + 1 - begin), size):
                if totals[j] <= allowed[j]:
                    left[found] = i
                    right[found] = begin + j
                    matches[found] = all_slots - totals[j]
                    found += 1
    return begin + size, found


@compiled("UniTuple(int64, 2)(const uint64[:, ::1], int64, int64, int64, int64, int64, float64, Hits)", Hits)
def filled_pairs(words, first_row, begin, size, slots, bits, threshold, hits):
    """``pairs_with_block`` where slots may be empty, which a last plane tells: of N slots filled in a pair, M of them in both,
    M / 2^b + (1 - 2^-b) R N must match."""
    left, right, matches = hits
    width = (slots + 63) // 64
    chance = 0.5**bits
    found = 0
    for i in range(first_row, begin + size):
        if found + BLOCK > len(left):
            return i, found
        for j in range(max(i + 1, begin), begin + size):
            equal = 0
            both = 0
            one = 0
            for w in range(width):
                differ = words[i, w] ^ words[j, w]
                for b in range(1, bits):
                    differ |= words[i, w + b * width] ^ words[j, w + b * width]
                own = words[i, w + bits * width]
                other = words[j, w + bits * width]
                equal += popcount(own & other & ~differ)
                both += popcount(own & other)
                one += popcount(own ^ other)
            if equal + 1e-6 >= both * chance + threshold * (1.0 - chance) * (both + one):
                left[found] = i
                right[found] = j
                matches[found] = equal
                found += 1
    return begin + size, found


@compiled("void(const uint64[:, ::1], const uint64[::1], uint64, uint64[::1])")
def make_entries(words, mask, row_bits, out):
    """Write for each row the upper bits of a mix of its masked words, over its number in the lower ``row_bits``."""
    for row in range(len(words)):
        key = ZERO
        for w in range(words.shape[1]):
            key = (key ^ (words[row, w] & mask[w])) * M1
            key = (key ^ (key >> np.uint64(33))) * M2
            key ^= key >> np.uint64(29)
        out[row] = ((key >> row_bits) << row_bits) | np.uint64(row)


@compiled(
    "UniTuple(int64, 3)(const uint64[:, ::1], const uint64[::1], uint64, const uint64[:, ::1], int64, int64, int64, "
    "int64, Hits, int64[::1])",
    Hits,
)
def join_runs(words, entries, row_bits, masks, table, radius, start, partner, hits, compared):
    """Write the pairs of equal keys within ``radius`` from sorted ``entries``; return (start, partner, number of pairs):
    ``start`` is the number of entries, or where the room is full goes on with its ``partner``. A pair is written for the first
    of the ``masks`` (tables, words) under which it agrees: all tables write it once. ``compared[0]`` is added to."""
    left, right, distance = hits
    count = 0
    low = (ONE << row_bits) - ONE
    n = len(entries)
    while start < n:
        if start + _AHEAD < n - 1 and (entries[start + _AHEAD] ^ entries[start + _AHEAD + 1]) <= low:
            prefetch(words, np.int64(entries[start + _AHEAD] & low) * words.shape[1])
            prefetch(words, np.int64(entries[start + _AHEAD + 1] & low) * words.shape[1])
        a = np.int64(entries[start] & low)
        while partner < n and (entries[start] ^ entries[partner]) <= low:
            b = np.int64(entries[partner] & low)
            compared[0] += 1
            d = 0
            for w in range(words.shape[1]):
                d += popcount(words[a, w] ^ words[b, w])
            if d <= radius:
                agree = False
                for t in range(table + 1):
                    agree = True
                    for w in range(words.shape[1]):
                        agree = agree and (words[a, w] ^ words[b, w]) & masks[t, w] == ZERO
                    if agree:
                        agree = t == table
                        break
                if agree:
                    if count == len(left):
                        compared[0] -= 1
                        return start, partner, count
                    left[count] = min(a, b)
                    right[count] = max(a, b)
                    distance[count] = d
                    count += 1
            partner += 1
        start += 1
        partner = start + 1
    return start, partner, count
