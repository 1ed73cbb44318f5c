"""All pairs of packed rows within a number of mismatches, a block of columns at a time.

A block is turned on its side: word w of all its rows lies together, so that the processor compares one row with several at
once; where all have too many mismatches, the rest of their words is left out.
"""

from .compiler import compiled, popcount
from .constants import ZERO
from .hits import Hits

BLOCK = 256


@compiled("void(const uint64[:, ::1], int64, int64, int64, uint64[:, ::1])")
def turn_block(words, begin, size, first_word, columns):
    """Write the words of rows [begin, begin + size) into ``columns`` (words, BLOCK), zeros behind them."""
    columns[:] = ZERO
    for j in range(size):
        for w in range(len(columns)):
            columns[w, j] = words[begin + j, first_word + w]


@compiled(
    "UniTuple(int64, 2)(const uint64[:, ::1], int64, const uint64[:, ::1], int64, int64, int64, int64, int64, int64, "
    "int64[::1], uint64[::1], Hits)",
    Hits,
)
def pairs_with_block(words, first_row, columns, begin, size, first_word, slots, bits, most, totals, differ, hits):
    """Find the pairs of rows i from ``first_row`` on with rows j > i of a block, [begin, begin + size) turned on their side in
    ``columns``, with at most ``most`` slots that differ. ``totals`` and ``differ`` (BLOCK entries) are scratch. Returns (row,
    pairs written): where to go on if the room may not suffice for the next row, else the end of the block."""
    left, right, matches = hits
    width = (slots + 63) // 64
    step = max(1, width // 8)
    # Unlike rows differ in all but 2^-bits of their slots: before so many words few of them have too many mismatches.
    early = most / (64.0 * (1.0 - 0.5**bits))
    found = 0
    for i in range(first_row, begin + size):
        if found + BLOCK > len(left):
            return i, found
        for j in range(BLOCK):
            totals[j] = 0
        done = 0
        while done < width:
            stop = min(width, done + step)
            for w in range(done, stop):
                own = words[i, first_word + w]
                if bits == 1:
                    for j in range(BLOCK):
                        totals[j] += popcount(own ^ columns[w, j])
                else:
                    for j in range(BLOCK):
                        differ[j] = own ^ columns[w, j]
                    for b in range(1, bits):
                        own = words[i, first_word + w + b * width]
                        for j in range(BLOCK):
                            differ[j] |= own ^ columns[w + b * width, j]
                    for j in range(BLOCK):
                        totals[j] += popcount(differ[j])
            done = stop
            if early < done < width:
                fewest = totals[0]
                for j in range(BLOCK):
                    fewest = min(fewest, totals[j])
                if fewest > most:
                    break
        if done == width:
            for j in range(max(0, i + 1 - begin), size):
                if totals[j] <= most:
                    left[found] = i
                    right[found] = begin + j
                    matches[found] = slots - totals[j]
                    found += 1
    return begin + size, found
