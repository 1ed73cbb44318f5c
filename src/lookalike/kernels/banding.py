"""Band keys, 16-bit codes of slots, the buckets they form once sorted, and the pairs that share one.

Keys are divided by their upper ``part_bits`` bits into parts that sort in the cache. A sorted *entry* is what follows in the
key, its low ``row_bits`` bits replaced by the row: one array of integers sorts faster than keys with an index. An entry lacks
the lowest ``row_bits - part_bits`` bits of its key, the *unused* bits; rows whose keys differ only there are told apart by the
keys.
"""

import numpy as np

from .compiler import compiled, inlined
from .constants import ONE, ZERO
from .hashing import K0, fmix64, fold_multiply

_S48 = np.uint64(48)


def _band_keys(slots, groups, bands, rows, out):
    """Write a 64-bit key of each band of ``rows`` slots into ``out`` of shape (documents, bands). Documents of different
    ``groups`` (uint64) get different keys."""
    for document in range(len(slots)):
        for band in range(bands):
            state = K0 ^ groups[document]
            for i in range(band * rows, (band + 1) * rows):
                state = fold_multiply(state ^ np.uint64(slots[document, i]), K0 + np.uint64(band))
            out[document, band] = fmix64(state)


band_keys = compiled("void(const uint32[:, ::1], const uint64[::1], int64, int64, uint64[:, ::1])")(_band_keys)
wide_band_keys = compiled("void(const uint64[:, ::1], const uint64[::1], int64, int64, uint64[:, ::1])")(_band_keys)


@compiled("void(const uint64[:, ::1], const int64[:, ::1], int64, int64, uint64[:, ::1])")
def packed_band_keys(words, places, bands, rows, out):
    """Write a 64-bit key of each band of ``rows`` packed slots into ``out`` (documents, bands). ``places`` (slots, 4): word and
    bit of the first plane, planes, and words from one to the next."""
    for document in range(len(words)):
        for band in range(bands):
            state = K0
            code = ZERO
            used = 0
            for i in range(band * rows, (band + 1) * rows):
                shift = np.uint64(places[i, 1])
                if used + places[i, 2] > 64:
                    state = fold_multiply(state ^ code, K0 + np.uint64(band))
                    code = ZERO
                    used = 0
                for b in range(places[i, 2]):
                    code = code << ONE | (words[document, places[i, 0] + b * places[i, 3]] >> shift & ONE)
                used += places[i, 2]
            out[document, band] = fmix64(state ^ code)


@compiled("void(const uint32[:, ::1], const uint64[::1], int64, int64, uint64[:, ::1], uint16[:, ::1])")
def keys_and_codes(slots, groups, bands, rows, keys, codes):
    """Write the keys of ``band_keys``, and a 16-bit code of each slot of the bands into ``codes``; both differ between
    ``groups``. The two products of a slot do not wait for each other, so that the codes cost little beside the keys."""
    for document in range(len(slots)):
        group = groups[document]
        for band in range(bands):
            salt = K0 + np.uint64(band)
            state = K0 ^ group
            for i in range(band * rows, (band + 1) * rows):
                slot = np.uint64(slots[document, i])
                state = fold_multiply(state ^ slot, salt)
                codes[document, i] = np.uint16(fold_multiply(slot ^ group, K0 + np.uint64(i)) >> _S48)
            keys[document, band] = fmix64(state)


@compiled("void(const uint64[:, ::1], int64, uint64, int64[::1])")
def count_parts(keys, band, part_bits, counts):
    """Count the keys of one band in each part."""
    shift = np.uint64(63) - part_bits
    for row in range(len(keys)):
        counts[np.int64((keys[row, band] >> ONE) >> shift)] += 1


@compiled("void(const uint64[:, ::1], int64, uint64, uint64, int64[::1], uint64[::1])")
def make_entries(keys, band, row_bits, part_bits, places, out):
    """Write the entries of one band part by part, unsorted; ``places`` holds where each part begins, and then ends."""
    mask = (ONE << row_bits) - ONE
    shift = np.uint64(63) - part_bits
    for row in range(len(keys)):
        key = keys[row, band]
        part = np.int64((key >> ONE) >> shift)
        out[places[part]] = ((key << part_bits) & ~mask) | np.uint64(row)
        places[part] += 1


@compiled("int64(const uint64[::1], uint64, int64[:, ::1])")
def find_buckets(entries, row_bits, starts):
    """Write the bounds of each run of two or more equal keys into ``starts`` of shape (n, 2); return their number."""
    count = 0
    begin = 0
    for i in range(1, len(entries) + 1):
        if i == len(entries) or (entries[i] ^ entries[begin]) >> row_bits != 0:
            if i - begin > 1:
                starts[count, 0] = begin
                starts[count, 1] = i
                count += 1
            begin = i
    return count


@compiled("void(uint64[::1], uint64, uint64, const uint64[:, ::1], int64, const int64[:, ::1], boolean[::1])")
def mark_mixed(entries, row_bits, unused_bits, keys, band, buckets, mixed):
    """Set ``mixed`` for the buckets whose members' keys differ; their entries get the unused bits in front of the row. Once
    sorted, such entries form buckets again, of the members whose keys are the same in all bits."""
    mask = (ONE << row_bits) - ONE
    unused = (ONE << unused_bits) - ONE
    for bucket in range(len(buckets)):
        begin = buckets[bucket, 0]
        end = buckets[bucket, 1]
        key = keys[np.int64(entries[begin] & mask), band]
        mixed[bucket] = False
        for i in range(begin + 1, end):
            if keys[np.int64(entries[i] & mask), band] != key:
                mixed[bucket] = True
                break
        if mixed[bucket]:
            for i in range(begin, end):
                row = entries[i] & mask
                entries[i] = ((keys[np.int64(row), band] & unused) << row_bits) | row


@inlined("void(int64, int64, int64[::1])")
def link(a, b, parents):
    """Bring two rows into one component; its root is its smallest row."""
    while parents[a] != a:
        parents[a] = parents[parents[a]]
        a = parents[a]
    while parents[b] != b:
        parents[b] = parents[parents[b]]
        b = parents[b]
    if a < b:
        parents[b] = a
    else:
        parents[a] = b


@compiled("void(const int64[::1], const int64[::1], int64[::1])")
def join_pairs(left, right, parents):
    """Link the two rows of each pair."""
    for pair in range(len(left)):
        link(left[pair], right[pair], parents)


@compiled("void(int64[::1])")
def find_roots(parents):
    """Replace each row's parent by the root of its component. Parents are never larger than their row."""
    for row in range(len(parents)):
        parents[row] = parents[parents[row]]


@compiled("int64(const uint64[::1], uint64, const int64[:, ::1], const uint64[:, ::1], int64, int64[::1], int64[::1])")
def bucket_pairs(entries, mask, buckets, keys, band, left, right):
    """Write the pairs of all buckets of a band that no earlier one holds, ``left < right``; return how many. ``mask`` has the
    bits of an entry that hold its row. Without ``left`` pairs are counted."""
    count = 0
    for bucket in range(len(buckets)):
        for i in range(buckets[bucket, 0], buckets[bucket, 1]):
            a = np.int64(entries[i] & mask)
            for j in range(i + 1, buckets[bucket, 1]):
                b = np.int64(entries[j] & mask)
                fresh = True
                for earlier in range(band):
                    if keys[a, earlier] == keys[b, earlier]:
                        fresh = False
                        break
                if fresh:
                    if len(left) > 0:
                        left[count] = a
                        right[count] = b
                    count += 1
    return count
