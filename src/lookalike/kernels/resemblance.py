"""Rows of a group of documents in the form in which they are compared, and their exact scores.

Shingles are numbered by first appearance, so that near-duplicates number common ones alike and densely. A set is a sparse bit
map (ascending block numbers, 64 bits each: a pair costs one AND and one population count a block), a vector ascending numbers
and their counts.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, popcount, typed
from .hashing import K0, shift_of
from .sorting import sort_range

_ZERO = np.uint64(0)
_ONE = np.uint64(1)

SETS, VECTORS, FINGERPRINTS, CONTAINED, EITHER = 0, -1, -2, -3, -4


@typed
class Rows(NamedTuple):
    """Rows of a group: row i has the places ``[offsets[i], offsets[i + 1])`` of ``blocks`` and ``words``.

    ============  ========================  =================  ==================  ==========================================
    kind          sizes (int64)             blocks (int32)     words (uint64)      score
    ============  ========================  =================  ==================  ==========================================
    SETS          members                   ascending blocks   64 members each     common members / members of both
    CONTAINED     members                   ascending blocks   64 members each     common members / members of the second row
    EITHER        members                   ascending blocks   64 members each     common members / members of the smaller row
    slots > 0     slots                     ascending blocks   64 members each     equal slots / slots; members: (place, slot)
    VECTORS       sum of squared counts, p  ascending numbers  counts              dot product / sqrt(p q)
    FINGERPRINTS  1                         none               the bits            ``scores[differing bits]``
    ============  ========================  =================  ==================  ==========================================

    Rows of CONTAINED and EITHER have a score only if common members / members of both are at least ``scores[0]``.
    """

    sizes: Annotated[np.ndarray, "const int64[::1]"]
    offsets: Annotated[np.ndarray, "const int64[::1]"]
    blocks: Annotated[np.ndarray, "const int32[::1]"]
    words: Annotated[np.ndarray, "const uint64[::1]"]
    scores: Annotated[np.ndarray, "const float64[::1]"]
    kind: Annotated[int, "int64"]


@compiled("Tuple((int64, int64))(const uint64[::1], int64, uint64, uint64[::1], int32[::1], int32[::1], int64, int32[::1])")
def number_values(values, begin, spread, table, table_numbers, after, used, out):
    """Number ``values[begin:]`` by first appearance until done or the table is half full; return (position, used).

    ``table`` (a power of two, zeros when empty) holds the values met, ``table_numbers`` their numbers. In near-duplicates the
    same value mostly follows again: ``after`` (half as long as the table), looked at first, holds for each number the place in
    ``values`` behind its last one, or 0. ``spread``: see ``hashing.is_new``.
    """
    mask = np.uint64(len(table) - 1)
    shift = shift_of(len(table))
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
            place = (value * spread) >> shift
            while table[place] != value and table[place] != _ZERO:
                place = (place + _ONE) & mask
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


@compiled("void(const uint64[::1], const int32[::1], uint64, uint64[::1], int32[::1])")
def move_table(table, table_numbers, spread, new_table, new_numbers):
    """Insert all entries of one table into a larger, empty one."""
    mask = np.uint64(len(new_table) - 1)
    shift = shift_of(len(new_table))
    for i in range(len(table)):
        value = table[i]
        if value != _ZERO:
            place = (value * spread) >> shift
            while new_table[place] != _ZERO:
                place = (place + _ONE) & mask
            new_table[place] = value
            new_numbers[place] = table_numbers[i]


@compiled("void(const int32[::1], const int64[::1], uint64[::1], int64[::1], int64[::1], int64[::1], int32[::1], uint64[::1])")
def pack_rows(numbers, offsets, scratch, touched, sizes, block_offsets, blocks, words):
    """Write each row's numbers as a sparse bit map; ``sizes`` receives the number of distinct ones. ``scratch`` holds zeros, a
    word for each block; ``touched`` (int64) has room for the longest row."""
    written = 0
    block_offsets[0] = 0
    for row in range(len(offsets) - 1):
        count = 0
        ascending = True
        current = -1  # numbers mostly follow each other: a block is kept at hand while they are in it
        word = _ZERO
        for i in range(offsets[row], offsets[row + 1]):
            block = np.int64(numbers[i]) >> 6
            if block != current:
                if current >= 0:
                    scratch[current] = word
                word = scratch[block]
                current = block
                if word == _ZERO:
                    ascending = ascending and (count == 0 or touched[count - 1] < block)
                    touched[count] = block
                    count += 1
            word |= _ONE << np.uint64(numbers[i] & 63)
        if current >= 0:
            scratch[current] = word
        if not ascending:
            sort_range(touched, 0, count)
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


@compiled("void(const int32[::1], const int64[::1], uint64[::1], int64[::1], int64[::1], int64[::1], int32[::1], uint64[::1])")
def count_rows(numbers, offsets, scratch, touched, sizes, row_offsets, columns, counts):
    """Write each row's numbers as a vector of counts; ``sizes`` receives the sum of their squares.

    ``scratch`` (uint64) holds zeros, one for each number; ``touched`` (int64) has room for the longest row. Sums are exact up
    to 3 * 10^9 numbers in a row.
    """
    written = 0
    row_offsets[0] = 0
    for row in range(len(offsets) - 1):
        count = 0
        ascending = True
        for i in range(offsets[row], offsets[row + 1]):
            number = np.int64(numbers[i])
            if scratch[number] == _ZERO:
                ascending = ascending and (count == 0 or touched[count - 1] < number)
                touched[count] = number
                count += 1
            scratch[number] += _ONE
        if not ascending:
            sort_range(touched, 0, count)
        size = _ZERO
        for i in range(count):
            number = touched[i]
            columns[written] = number
            counts[written] = scratch[number]
            size += scratch[number] * scratch[number]
            scratch[number] = _ZERO
            written += 1
        sizes[row] = np.int64(size)
        row_offsets[row + 1] = written


@inlined("int64(int64, int64, const int64[::1], const int32[::1], const uint64[::1])")
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


@inlined("uint64(int64, int64, Rows)", Rows)
def dot_product(a, b, rows):
    """Sum over the numbers that rows ``a`` and ``b`` have in common of the product of their counts, uint64."""
    i = rows.offsets[a]
    j = rows.offsets[b]
    i_end = rows.offsets[a + 1]
    j_end = rows.offsets[b + 1]
    total = _ZERO
    while i < i_end and j < j_end:
        if rows.blocks[i] == rows.blocks[j]:
            total += rows.words[i] * rows.words[j]
            i += 1
            j += 1
        elif rows.blocks[i] < rows.blocks[j]:
            i += 1
        else:
            j += 1
    return total


@inlined("float64(int64, int64, Rows, float64)", Rows)
def score(a, b, rows, threshold):
    """Score of rows ``a`` and ``b`` (see ``Rows``); -1 if a row is empty or the sizes alone rule out ``threshold``.

    The root of a cosine is taken of one product in float64. So parallel vectors have a cosine of 1 and no cosine is above it,
    as long as sums of squares are below 2^53 (each is rounded once beyond).
    """
    if rows.kind == VECTORS:
        if rows.sizes[a] == 0 or rows.sizes[b] == 0:
            return -1.0
        return np.float64(dot_product(a, b, rows)) / np.sqrt(np.float64(rows.sizes[a]) * np.float64(rows.sizes[b]))
    if rows.kind == FINGERPRINTS:
        differing = 0
        for i in range(rows.offsets[a + 1] - rows.offsets[a]):
            differing += popcount(rows.words[rows.offsets[a] + i] ^ rows.words[rows.offsets[b] + i])
        return rows.scores[differing]
    smaller = min(rows.sizes[a], rows.sizes[b])
    larger = max(rows.sizes[a], rows.sizes[b])
    if rows.kind <= CONTAINED:
        whole = rows.sizes[b] if rows.kind == CONTAINED else smaller
        if smaller == 0 or smaller / whole < threshold or smaller / larger < rows.scores[0]:
            return -1.0
        common = intersection(a, b, rows.offsets, rows.blocks, rows.words)
        return common / whole if common / (smaller + larger - common) >= rows.scores[0] else -1.0
    if larger == 0 or smaller / larger < threshold:
        return -1.0
    common = intersection(a, b, rows.offsets, rows.blocks, rows.words)
    return common / rows.kind if rows.kind > 0 else common / (smaller + larger - common)


@compiled("void(const int64[::1], const int64[::1], Rows, float64, float64[::1])", Rows)
def compare_pairs(left, right, rows, threshold, out):
    """Write the score of each pair into ``out`` (float64); -1 where the sizes alone rule out the threshold."""
    for pair in range(len(left)):
        out[pair] = score(left[pair], right[pair], rows, threshold)
