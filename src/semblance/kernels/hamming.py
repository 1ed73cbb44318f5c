"""Search of fingerprints within a Hamming radius.

A table holds the fingerprints sorted by some of their bits, the *prefix*, with an array of offsets for direct access. A
table with flips probes the bucket of the query's prefix and those one (or two) bits away.

Distances are counted in place: a call with arrays would count references with atomic instructions, which cost ten times as
much as the comparison of two fingerprints.
"""

import numpy as np

from ._compile import compiled, inlined, popcount, prefetch, trailing_zeros

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_W = np.uint64(64)
_LINES = 4  # cache lines of a bucket that are asked for in advance; the processor sees the stream of longer ones by itself


@inlined
def bits_at(words, row, start, count):
    """``count`` < 64 bits of a row's fingerprint from bit ``start`` on."""
    word = start // 64
    shift = np.uint64(start % 64)
    value = words[row, word] >> shift
    if start % 64 + count > 64:
        value |= words[row, word + 1] << (_W - shift)
    return value & ((_ONE << np.uint64(count)) - _ONE)


@compiled
def prefixes(words, start, stop, ranges, out):
    """Write the prefixes of rows [start, stop): the bits of some ``ranges`` (ranges, 2), first bit and number, in a row."""
    for row in range(start, stop):
        value = _ZERO
        for r in range(len(ranges)):
            first = ranges[r, 0]
            count = ranges[r, 1]
            word = first // 64
            shift = np.uint64(first % 64)
            part = words[row, word] >> shift
            if first % 64 + count > 64:
                part |= words[row, word + 1] << (_W - shift)
            value = (value << np.uint64(count)) | (part & ((_ONE << np.uint64(count)) - _ONE))
        out[row - start] = value


@compiled
def bucket_offsets(sorted_prefixes, out, low):
    """Write where each prefix from ``low`` on begins among sorted ones; ``out`` has one entry more than there are prefixes."""
    position = 0
    for prefix in range(len(out)):
        while position < len(sorted_prefixes) and sorted_prefixes[position] < np.uint64(prefix + low):
            position += 1
        out[prefix] = position


@compiled
def search(
    query, own, start, stop, tables, rows, offsets, offset_base, masks, flips, flip_base, radius, first_only,
    begins, ends, answered, left, right, found, compared,
):  # fmt: skip
    """Find the stored fingerprints within ``radius`` of queries [start, stop); return the number of hits.

    ``tables`` (tables, n, words) holds the fingerprints in the order of each table's prefixes, ``rows`` (tables, n) their
    rows; ``own`` (tables, stop - start) the queries' prefixes, ``masks`` (tables, words) the bits they are made of.
    ``flips[flip_base[t]:flip_base[t + 1]]`` are the masks that table t tries on a prefix, the last with most bits. Hits
    beyond the room are counted only. With ``first_only`` one hit a query. ``compared[0]`` is added to.

    Queries go in blocks as long as the scratch ``begins``, ``ends`` (int64) and ``answered`` (bool). Each probe is made for
    a whole block in three turns, so that the cache lines of one turn are on their way while the next query is looked at.
    """
    count = 0
    written = 0
    flat = tables.ravel()
    flat_rows = rows.ravel()
    words = query.shape[1]
    per_line = max(1, 8 // words)
    for block in range(start, stop, len(begins)):
        size = min(len(begins), stop - block)
        answered[:] = False
        for table in range(len(tables)):
            stored = tables[table]
            base = offset_base[table]
            for f in range(flip_base[table], flip_base[table + 1]):
                for b in range(size):
                    begins[b] = base + np.int64(own[table, block - start + b] ^ flips[f])
                    prefetch(offsets, begins[b])
                for b in range(size):
                    ends[b] = offsets[begins[b] + 1]
                    begins[b] = offsets[begins[b]]
                    for i in range(begins[b], min(ends[b], begins[b] + _LINES * per_line), per_line):
                        prefetch(flat, (table * stored.shape[0] + i) * words)
                for b in range(size):
                    if first_only and answered[b]:
                        continue
                    q = block + b
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
                            earlier = earlier or differing <= popcount(flips[flip_base[t + 1] - 1])
                        if not earlier:
                            if count < len(left):
                                place = table * stored.shape[0] + i
                                prefetch(flat_rows, place)
                                left[count] = q
                                right[count] = place
                                found[count] = d
                            count += 1
                            if first_only:
                                answered[b] = True
                                break
        for hit in range(min(written, len(left)), min(count, len(left))):
            right[hit] = flat_rows[right[hit]]
        written = count
    return count


@compiled
def search_all(query, start, stop, stored, radius, first_only, self_join, left, right, found):
    """Compare queries [start, stop) with every stored fingerprint; return the number of hits."""
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


@compiled
def block_keys(words, masks, out):
    """Write the bits of each row under a mask of whole words (words,), mixed to one 64-bit key."""
    for row in range(len(words)):
        key = _ZERO
        for w in range(words.shape[1]):
            value = words[row, w] & masks[w]
            value = (value ^ (value >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
            key = (key ^ value ^ (value >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
            key ^= key >> np.uint64(29)
        out[row] = key


@compiled
def search_blocks(
    query, query_keys, start, stop, stored, masks, keys, rows, offsets, shift, binary, radius, first_only, self_join,
    left, right, found, compared,
):  # fmt: skip
    """Find stored fingerprints by tables of equal blocks (Manku, Jain & Das Sarma 2007); return the number of hits.

    ``masks`` (tables, words) are the leading blocks of each table, ``keys`` (tables, n) the sorted keys of them, ``rows``
    (tables, n) their rows, ``offsets`` (tables, 2^(64 - shift) + 1) a direct index on the keys' upper bits. With ``binary``
    the keys are searched by bisection instead. A pair is reported in the first table whose blocks agree.
    """
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
                low = offsets[table, np.int64(key >> shift)]
            while low < keys.shape[1] and keys[table, low] <= key:
                if keys[table, low] == key:
                    compared[0] += 1
                    row = rows[table, low]
                    d = 0
                    for w in range(query.shape[1]):
                        d += popcount(query[q, w] ^ stored[row, w])
                    if d <= radius and not (self_join and row <= q):
                        earlier = False
                        for t in range(table):
                            equal = True
                            for w in range(query.shape[1]):
                                equal = equal and (query[q, w] ^ stored[row, w]) & masks[t, w] == _ZERO
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


@compiled
def rank_bits(margins, row, start, count, order):
    """Write the bits [start, start + count) of a row in order of rising absolute margin into ``order``."""
    for i in range(count):
        bit = start + i
        j = i
        while j > 0 and abs(margins[row, order[j - 1]]) > abs(margins[row, bit]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = bit


@compiled
def likely_flips(costs, most, size, heap_cost, heap_flips, heap_last, out):
    """Write the ``len(out)`` cheapest sets of at most ``size`` bits as masks over ``costs`` (ascending); return their number.

    Each set comes once: the empty one first; from a set whose last bit is i come the set with i + 1 in its place and, while it
    has room, the set with i + 1 added. Neither is cheaper. The heap arrays have room for ``most`` entries.
    """
    n = len(costs)
    out[0] = _ZERO
    written = 1
    if n == 0 or size == 0:
        return written
    heap_cost[0] = costs[0]
    heap_flips[0] = _ONE
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
            following = _ONE << np.uint64(last + 1)
            for way in range(2):
                if way == 1 and popcount(flips) >= size:
                    continue
                new_cost = cost + costs[last + 1] - (costs[last] if way == 0 else 0.0)
                new_flips = (flips ^ (_ONE << np.uint64(last)) if way == 0 else flips) | following
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


@compiled
def weak_prefixes(
    query, margins, start, stop, first_bit, bits, radius, order, costs, heap_cost, heap_flips, heap_last, flips, out
):
    """Write the prefixes of queries [start, stop) to probe, likeliest first, into ``out`` (rows, probes), uint32.

    A prefix has ``bits`` bits from ``first_bit`` on, of which up to ``radius`` are flipped, those of small margin first;
    ``margins`` may have no row: then bits are flipped in the order of their places. Returns the number of probes.
    """
    n = 0
    for q in range(start, stop):
        if len(margins) > 0:
            rank_bits(margins, q, first_bit, bits, order)
            for i in range(bits):
                costs[i] = abs(margins[q, order[i]])
        else:
            for i in range(bits):
                order[i] = first_bit + bits - 1 - i
                costs[i] = 1.0
        n = likely_flips(costs, len(heap_cost), radius, heap_cost, heap_flips, heap_last, flips)
        prefix = bits_at(query, q, first_bit, bits)
        for p in range(n):
            flipped = prefix
            chosen = flips[p]
            while chosen != _ZERO:
                flipped ^= _ONE << np.uint64(order[trailing_zeros(chosen)] - first_bit)
                chosen &= chosen - _ONE
            out[q - start, p] = flipped
    return n


@compiled
def search_prefixes(
    query, wanted, start, stop, stored, rows, offsets, low, radius, first_only, self_join, begins, ends, answered,
    left, right, found, compared,
):  # fmt: skip
    """Find the stored fingerprints within ``radius`` of queries [start, stop) among some prefixes; return the number of hits.

    ``wanted`` (stop - start, probes) holds the prefixes of each query; ``stored`` is sorted by prefix, and prefix ``low + i``
    begins at ``offsets[i]``. ``answered`` (bool, one a query) is read and written with ``first_only``; it may be shared with
    searches of other tables. ``begins`` and ``ends`` (int64) are scratch, as long as the block of queries under way.
    """
    count = 0
    flat = stored.ravel()
    words = stored.shape[1]
    last = len(offsets) - 1
    per_line = max(1, 8 // words)
    for block in range(start, stop, len(begins)):
        size = min(len(begins), stop - block)
        for p in range(wanted.shape[1]):
            for b in range(size):
                begins[b] = np.int64(wanted[block - start + b, p]) - low
                if first_only and answered[block + b]:
                    begins[b] = -1
                if 0 <= begins[b] < last:
                    prefetch(offsets, begins[b])
            for b in range(size):
                if 0 <= begins[b] < last:
                    ends[b] = offsets[begins[b] + 1]
                    begins[b] = offsets[begins[b]]
                    for i in range(begins[b], min(ends[b], begins[b] + _LINES * per_line), per_line):
                        prefetch(flat, i * words)
                else:
                    begins[b] = 0
                    ends[b] = 0
            for b in range(size):
                q = block + b
                for i in range(begins[b], ends[b]):
                    compared[0] += 1
                    d = 0
                    for w in range(query.shape[1]):
                        d += popcount(query[q, w] ^ stored[i, w])
                    if d <= radius and not (self_join and rows[i] <= q):
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
