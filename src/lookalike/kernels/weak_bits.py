"""Probabilistic SimHash matching: the prefixes that a near-duplicate of a query is likeliest to have, and a search for them."""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, popcount, prefetch, trailing_zeros, typed
from .constants import ONE, ZERO
from .hamming import bits_at
from .scratch import Hits
from .tables import LINES, Block


@typed
class Heap(NamedTuple):
    """Scratch: sets of bits that are to be tried, the cheapest first; their costs, the sets, and the last bit of each."""

    costs: Annotated[np.ndarray, "float64[::1]"]
    flips: Annotated[np.ndarray, "uint64[::1]"]
    last: Annotated[np.ndarray, "int64[::1]"]


@typed
class SortedTable(NamedTuple):
    """Fingerprints in the order of their prefixes, and their rows; prefix ``low + i`` begins at ``offsets[i]``, the last of
    which is the end of all."""

    words: Annotated[np.ndarray, "const uint64[:, ::1]"]  # (n, words)
    rows: Annotated[np.ndarray, "const uint32[::1]"]
    offsets: Annotated[np.ndarray, "const uint32[::1]"]
    low: Annotated[int, "int64"]


@compiled("void(const float32[:, ::1], int64, int64, int64, int64[::1])")
def rank_bits(margins, row, start, count, order):
    """Write the bits [start, start + count) of a row in order of rising absolute margin into ``order``: as many as it holds."""
    kept = len(order)
    for i in range(count):
        bit = start + i
        j = i
        if i >= kept:
            j = kept - 1
            if not abs(margins[row, order[j]]) > abs(margins[row, bit]):
                continue
        while j > 0 and abs(margins[row, order[j - 1]]) > abs(margins[row, bit]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = bit


@compiled(
    "int64(const float64[::1], int64, Heap, uint64[::1])",
    Heap,
)
def likely_flips(costs, size, heap, out):
    """Write the ``len(out)`` cheapest sets of at most ``size`` bits as masks over ``costs`` (ascending); return their number.

    Each set comes once: the empty one first; from a set whose last bit is i come the set with i + 1 in its place and, while it
    has room, the set with i + 1 added. Neither is cheaper.
    """
    heap_cost, heap_flips, heap_last = heap
    most = len(heap_cost)
    n = len(costs)
    out[0] = ZERO
    written = 1
    if n == 0 or size == 0:
        return written
    heap_cost[0] = costs[0]
    heap_flips[0] = ONE
    heap_last[0] = 0
    length = 1
    while written < len(out) and length > 0:
        cost = heap_cost[0]
        flips = heap_flips[0]
        last = heap_last[0]
        out[written] = flips
        written += 1
        length -= 1
        moved_cost = heap_cost[length]
        moved_flips = heap_flips[length]
        moved_last = heap_last[length]
        i = 0
        while 2 * i + 1 < length:
            child = 2 * i + 1
            if child + 1 < length and heap_cost[child + 1] < heap_cost[child]:
                child += 1
            if heap_cost[child] >= moved_cost:
                break
            heap_cost[i] = heap_cost[child]
            heap_flips[i] = heap_flips[child]
            heap_last[i] = heap_last[child]
            i = child
        heap_cost[i] = moved_cost
        heap_flips[i] = moved_flips
        heap_last[i] = moved_last
        if last + 1 < n:
            following = ONE << np.uint64(last + 1)
            for way in range(2):
                if way == 1 and popcount(flips) >= size:
                    continue
                new_cost = cost + costs[last + 1] - (costs[last] if way == 0 else 0.0)
                new_flips = (flips ^ (ONE << np.uint64(last)) if way == 0 else flips) | following
                if length < most:
                    j = length
                    length += 1
                    while j > 0 and heap_cost[(j - 1) // 2] > new_cost:
                        parent = (j - 1) // 2
                        heap_cost[j] = heap_cost[parent]
                        heap_flips[j] = heap_flips[parent]
                        heap_last[j] = heap_last[parent]
                        j = parent
                    heap_cost[j] = new_cost
                    heap_flips[j] = new_flips
                    heap_last[j] = last + 1
    return written


@compiled(
    "int64(const uint64[:, ::1], const float32[:, ::1], int64, int64, int64, int64, int64, int64[::1], float64[::1], "
    "Heap, uint64[::1], uint32[:, ::1])",
    Heap,
)
def weak_prefixes(query, margins, start, stop, first_bit, bits, radius, order, costs, heap, flips, out):
    """Write the prefixes of queries [start, stop) to probe, likeliest first, into ``out`` (rows, probes), uint32.

    A prefix has ``bits`` bits from ``first_bit`` on, of which up to ``radius`` are flipped, those of small margin first;
    ``margins`` may have no row: then bits are flipped in the order of their places. ``order`` and ``costs`` hold the bits that
    can be flipped: fewer probes than bits flip the weakest only, one less than there are probes. Returns the number of probes.
    """
    n = 0
    for q in range(start, stop):
        if len(margins) > 0:
            rank_bits(margins, q, first_bit, bits, order)
            for i in range(len(order)):
                costs[i] = abs(margins[q, order[i]])
        else:
            for i in range(len(order)):
                order[i] = first_bit + bits - 1 - i
                costs[i] = 1.0
        n = likely_flips(costs, radius, heap, flips)
        prefix = bits_at(query, q, first_bit, bits)
        for p in range(n):
            flipped = prefix
            chosen = flips[p]
            while chosen != ZERO:
                flipped ^= ONE << np.uint64(order[trailing_zeros(chosen)] - first_bit)
                chosen &= chosen - ONE
            out[q - start, p] = flipped
    return n


@compiled(
    "int64(const uint64[:, ::1], const uint32[:, ::1], int64, int64, SortedTable, int64, boolean, boolean, Block, Hits, "
    "int64[::1])",
    SortedTable,
    Block,
    Hits,
)
def search_prefixes(query, wanted, start, stop, table, radius, first_only, self_join, block, hits, compared):
    """Find the stored fingerprints within ``radius`` of queries [start, stop) among the prefixes ``wanted`` of each; return the
    number of hits, of which those beyond the room are counted only. ``block.answered`` (an entry a query) is read and written
    with ``first_only``, and may be shared with other searches; the rest of ``block`` is scratch, as long as the queries
    under way. ``compared[0]`` is added to."""
    stored, rows, offsets, low = table
    begins, ends, answered = block
    left, right, found = hits
    count = 0
    words, last = query.shape[1], len(offsets) - 1
    per_line = max(1, 8 // words)
    for first in range(start, stop, len(begins)):
        size = min(len(begins), stop - first)
        for p in range(wanted.shape[1]):
            for b in range(size):
                begins[b] = np.int64(wanted[first - start + b, p]) - low
                if first_only and answered[first + b]:
                    begins[b] = -1
                if 0 <= begins[b] < last:
                    prefetch(offsets, begins[b])
            for b in range(size):
                if 0 <= begins[b] < last:
                    ends[b] = offsets[begins[b] + 1]
                    begins[b] = offsets[begins[b]]
                    for i in range(begins[b], min(ends[b], begins[b] + LINES * per_line), per_line):
                        prefetch(stored, i * words)
                else:
                    begins[b] = 0
                    ends[b] = 0
            for b in range(size):
                q = first + b
                for i in range(begins[b], ends[b]):
                    compared[0] += 1
                    d = 0
                    for w in range(words):
                        d += popcount(query[q, w] ^ stored[i, w])
                    if d > radius or (self_join and rows[i] <= q):
                        continue
                    if first_only:
                        if answered[q]:
                            break
                        answered[q] = True
                    if count < len(left):
                        left[count] = q
                        right[count] = rows[i]
                        found[count] = d
                    count += 1
                    if first_only:
                        break
    return count
