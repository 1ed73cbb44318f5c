"""Bits of fingerprints, tables sorted by some of them (the *prefix*) with offsets for direct access, and the search that
compares all. Distances are counted in place: a call with arrays would count references atomically, at ten times the cost of
comparing two fingerprints."""

import numpy as np

from .compiler import compiled, inlined, popcount
from .constants import ONE, ZERO
from .hits import Hits

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
    """Write the prefixes of rows [start, stop): the bits of some ``ranges`` (ranges, 2), first bit and number, in a row."""
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
