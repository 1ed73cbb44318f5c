"""Exact intersections of shingle sets.

The shingles of a group of documents are numbered in order of first appearance. A document is then a set of small
numbers, held as a sparse bit map: ascending block numbers and, for each, a word of 64 bits. Near-duplicates number
their common shingles alike and densely, so that a pair costs one AND and one population count per 64 shingles.
"""

import numpy as np

from ._compile import compiled, inlined, popcount
from .hashing import K0

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@compiled
def number_values(values, begin, table, table_numbers, after, used, out):
    """Number ``values[begin:]`` by first appearance until done or the table is half full; return (position, used).

    ``table`` (uint64, a power of two long, zeros when empty) holds the values met, ``table_numbers`` their numbers. What
    followed a value where it was met last mostly follows it again, in near-duplicates: it is looked at before the table.
    ``after`` (int32, half as long as the table) holds for each number the place in ``values`` that follows its last one, or 0.
    """
    mask = np.uint64(len(table) - 1)
    limit = len(table) // 2
    expected = 0
    for i in range(begin, len(values)):
        value = values[i]
        if 0 < expected < i and values[expected] == value:
            number = out[expected]
            expected += 1
        else:
            if value == _ZERO:
                value = K0
            place = np.int64(value & mask)
            while table[place] != value and table[place] != _ZERO:
                place = np.int64(np.uint64(place + 1) & mask)
            if table[place] == _ZERO:
                if used == limit:
                    return i, used
                table[place] = value
                table_numbers[place] = used
                used += 1
            number = table_numbers[place]
            expected = after[number]
        after[number] = i + 1
        out[i] = number
    return len(values), used


@compiled
def move_table(table, table_numbers, new_table, new_numbers):
    """Insert all entries of one table into a larger, empty one."""
    mask = np.uint64(len(new_table) - 1)
    for i in range(len(table)):
        value = table[i]
        if value != _ZERO:
            place = np.int64(value & mask)
            while new_table[place] != _ZERO:
                place = np.int64(np.uint64(place + 1) & mask)
            new_table[place] = value
            new_numbers[place] = table_numbers[i]


@compiled
def pack_rows(numbers, offsets, scratch, touched, sizes, block_offsets, blocks, words):
    """Write each row's numbers as a sparse bit map; ``sizes`` receives the number of distinct ones.

    ``scratch`` holds zeros, a word for each block; ``touched`` (int64) has room for the longest row.
    """
    written = 0
    block_offsets[0] = 0
    for row in range(len(offsets) - 1):
        count = 0
        ascending = True
        for i in range(offsets[row], offsets[row + 1]):
            block = np.int64(numbers[i]) >> 6
            if scratch[block] == _ZERO:
                ascending = ascending and (count == 0 or touched[count - 1] < block)
                touched[count] = block
                count += 1
            scratch[block] |= _ONE << np.uint64(numbers[i] & 63)
        if not ascending:
            touched[:count].sort()
        size = 0
        for i in range(count):
            block = touched[i]
            blocks[written] = block
            words[written] = scratch[block]
            size += popcount(scratch[block])
            scratch[block] = _ZERO
            written += 1
        sizes[row] = size
        block_offsets[row + 1] = written


@inlined
def intersection(a, b, block_offsets, blocks, words):
    """Number of members that rows ``a`` and ``b`` have in common."""
    i = block_offsets[a]
    j = block_offsets[b]
    i_end = block_offsets[a + 1]
    j_end = block_offsets[b + 1]
    common = 0
    while i < i_end and j < j_end:
        if blocks[i] == blocks[j]:
            common += popcount(words[i] & words[j])
            i += 1
            j += 1
        elif blocks[i] < blocks[j]:
            i += 1
        else:
            j += 1
    return common


@compiled
def compare_pairs(left, right, sizes, block_offsets, blocks, words, threshold, slots, out):
    """Write the resemblance of each pair into ``out`` (float64); -1 where the sizes alone rule out the threshold.

    With ``slots`` > 0 the rows are signatures of that many slots, and the share of equal slots is written.
    """
    for pair in range(len(left)):
        a = left[pair]
        b = right[pair]
        smaller = min(sizes[a], sizes[b])
        larger = max(sizes[a], sizes[b])
        if larger == 0 or smaller / larger < threshold:
            out[pair] = -1.0
        else:
            common = intersection(a, b, block_offsets, blocks, words)
            out[pair] = common / slots if slots > 0 else common / (smaller + larger - common)
