"""Search of fingerprints by several tables, with flipped bits (Norouzi et al. 2012) or by equal blocks (Manku et al. 2007).

A table with flips probes the bucket of the query's prefix and those one (or two) bits away. Distances are counted in place: see
``hamming``.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, popcount, prefetch, typed
from .constants import ZERO
from .hashing import M1, M2
from .scratch import Hits

LINES = 4  # cache lines of a bucket that are asked for in advance; the processor sees the stream of longer ones by itself


@typed
class Tables(NamedTuple):
    """The fingerprints in the order of each table's prefixes; their rows; the bits that prefixes are made of. The bucket of a
    prefix of table t begins at ``offsets[bases[t] + prefix]``."""

    words: Annotated[np.ndarray, "const uint64[:, :, ::1]"]  # (tables, n, words)
    rows: Annotated[np.ndarray, "const uint32[:, ::1]"]  # (tables, n)
    offsets: Annotated[np.ndarray, "const uint32[::1]"]
    bases: Annotated[np.ndarray, "const int64[::1]"]
    prefix_masks: Annotated[np.ndarray, "const uint64[:, ::1]"]  # (tables, words)


@typed
class Flips(NamedTuple):
    """Table t tries ``masks[bases[t]:bases[t + 1]]`` on a prefix, the last with most bits."""

    masks: Annotated[np.ndarray, "const uint64[::1]"]
    bases: Annotated[np.ndarray, "const int64[::1]"]


@typed
class Block(NamedTuple):
    """Scratch for a block of queries: where their buckets begin and end, and which have an answer."""

    begins: Annotated[np.ndarray, "int64[::1]"]
    ends: Annotated[np.ndarray, "int64[::1]"]
    answered: Annotated[np.ndarray, "boolean[::1]"]


@typed
class BlockTables(NamedTuple):
    """The fingerprints; the leading blocks of each table, its sorted keys, their rows, and an index on the keys' upper bits."""

    stored: Annotated[np.ndarray, "const uint64[:, ::1]"]
    masks: Annotated[np.ndarray, "const uint64[:, ::1]"]  # (tables, words)
    keys: Annotated[np.ndarray, "const uint64[:, ::1]"]  # (tables, n)
    rows: Annotated[np.ndarray, "const uint32[:, ::1]"]
    offsets: Annotated[np.ndarray, "const uint32[:, ::1]"]  # (tables, 2^(64 - shift) + 1)
    shift: Annotated[np.uint64, "uint64"]


@compiled(
    "int64(const uint64[:, ::1], const uint64[:, ::1], int64, int64, Tables, Flips, int64, boolean, Block, Hits, int64[::1])",
    Tables,
    Flips,
    Block,
    Hits,
)
def search(query, own, start, stop, tables, flips, radius, first_only, block, hits, compared):
    """Find the stored fingerprints within ``radius`` of queries [start, stop), whose prefixes are ``own`` (tables, stop -
    start); return the number of hits, of which those beyond the room are counted only; with ``first_only`` one a query. Queries
    go in blocks as long as the scratch ``block``, each probe in three turns: the cache lines of one are on their way while the
    next query is looked at. ``compared[0]`` is added to."""
    words_of, rows, offsets, offset_base, masks = tables
    begins, ends, answered = block
    left, right, found = hits
    count = 0
    written = 0
    words, stored_rows = query.shape[1], words_of.shape[1]
    per_line = max(1, 8 // words)
    for first in range(start, stop, len(begins)):
        size = min(len(begins), stop - first)
        answered[:] = False
        for table in range(len(words_of)):
            stored = words_of[table]
            base = offset_base[table]
            for f in range(flips.bases[table], flips.bases[table + 1]):
                for b in range(size):
                    begins[b] = base + np.int64(own[table, first - start + b] ^ flips.masks[f])
                    prefetch(offsets, begins[b])
                for b in range(size):
                    ends[b] = offsets[begins[b] + 1]
                    begins[b] = offsets[begins[b]]
                    for i in range(begins[b], min(ends[b], begins[b] + LINES * per_line), per_line):
                        prefetch(words_of, (table * stored_rows + i) * words)
                for b in range(size):
                    if first_only and answered[b]:
                        continue
                    q = first + b
                    compared[0] += ends[b] - begins[b]
                    for i in range(begins[b], ends[b]):
                        d = 0
                        for w in range(query.shape[1]):
                            d += popcount(query[q, w] ^ stored[i, w])
                        if d > radius:
                            continue
                        earlier = False  # another table reports the pair
                        for t in range(table):
                            differing = 0
                            for w in range(query.shape[1]):
                                differing += popcount((query[q, w] ^ stored[i, w]) & masks[t, w])
                            earlier = earlier or differing <= popcount(flips.masks[flips.bases[t + 1] - 1])
                        if not earlier:
                            if count < len(left):
                                place = table * stored_rows + i
                                prefetch(rows, place)
                                left[count] = q
                                right[count] = place
                                found[count] = d
                            count += 1
                            if first_only:
                                answered[b] = True
                                break
        for hit in range(min(written, len(left)), min(count, len(left))):
            right[hit] = rows[right[hit] // stored_rows, right[hit] % stored_rows]
        written = count
    return count


@compiled("void(const uint64[:, ::1], const uint64[::1], uint64[::1])")
def block_keys(words, masks, out):
    """Write the bits of each row under a mask of whole words (words,), mixed to one 64-bit key."""
    for row in range(len(words)):
        key = ZERO
        for w in range(words.shape[1]):
            value = words[row, w] & masks[w]
            value = (value ^ (value >> np.uint64(33))) * M1
            key = (key ^ value ^ (value >> np.uint64(33))) * M2
            key ^= key >> np.uint64(29)
        out[row] = key


@compiled(
    "int64(const uint64[:, ::1], const uint64[:, ::1], int64, int64, BlockTables, boolean, int64, boolean, boolean, Hits, "
    "int64[::1])",
    BlockTables,
    Hits,
)
def search_blocks(query, query_keys, start, stop, tables, binary, radius, first_only, self_join, hits, compared):
    """Find stored fingerprints by tables of equal blocks (Manku, Jain & Das Sarma 2007); return the number of hits.

    With ``binary`` the keys are searched by bisection, else by the offsets. A pair is reported in the first table whose blocks
    agree. Hits beyond the room are counted only. ``compared[0]`` is added to.
    """
    stored, masks, keys, rows, offsets, shift = tables
    left, right, found = hits
    count = 0
    for q in range(start, stop):
        before = count
        for table in range(len(masks)):
            key = query_keys[table, q]
            if binary:
                low = 0
                high = keys.shape[1]
                while low < high:
                    middle = (low + high) // 2
                    if keys[table, middle] < key:
                        low = middle + 1
                    else:
                        high = middle
            else:
                low = np.int64(offsets[table, np.int64(key >> shift)])
            while low < keys.shape[1] and keys[table, low] <= key:
                if keys[table, low] == key:
                    compared[0] += 1
                    row = np.int64(rows[table, low])
                    d = 0
                    for w in range(query.shape[1]):
                        d += popcount(query[q, w] ^ stored[row, w])
                    if d <= radius and not (self_join and row <= q):
                        earlier = False
                        for t in range(table):
                            equal = True
                            for w in range(query.shape[1]):
                                equal = equal and (query[q, w] ^ stored[row, w]) & masks[t, w] == ZERO
                            earlier = earlier or equal
                        if not earlier:
                            if count < len(left):
                                left[count] = q
                                right[count] = row
                                found[count] = d
                            count += 1
                            if first_only:
                                break
                low += 1
            if first_only and count > before:
                break
    return count
