"""All pairs of fingerprints within a Hamming radius, by sorting: those that agree under a mask lie side by side."""

import numpy as np

from .compiler import compiled, popcount, prefetch
from .constants import ONE, ZERO
from .hashing import M1, M2
from .hits import Hits

_AHEAD = 16


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
