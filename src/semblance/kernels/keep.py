"""The greedy walk in keep order that decides which documents stay.

Rows are in keep order. Pairs of small buckets come ready, with their resemblance. In a large bucket each document is
compared, when its turn comes, with the documents of the bucket that were kept before it: with all of them while they
are few, else with those nearest to it in ``nearby``, an order in which similar sketches stand close together.
"""

import numpy as np

from ._compile import compiled, inlined
from .cosine import dot
from .resemblance import intersection


@compiled
def nearest_kept(kept_places, place, wanted, size, out):
    """Write up to ``wanted`` kept places of a bucket on either side of ``place``, nearest first; return how many."""
    count = 0
    below = place - 1
    while below >= 0 and count < wanted:
        if kept_places[below] >= 0:
            out[count] = kept_places[below]
            count += 1
        below -= 1
    above = place + 1
    wanted += count
    while above < size and count < wanted:
        if kept_places[above] >= 0:
            out[count] = kept_places[above]
            count += 1
        above += 1
    return count


@inlined
def score(a, b, sizes, block_offsets, blocks, words, weights, threshold, slots):
    """Resemblance or cosine of two rows, as ``walk`` describes them; -1 where the sizes alone rule out the threshold."""
    if len(weights) > 0:
        return dot(a, b, block_offsets, blocks, weights)
    smaller = min(sizes[a], sizes[b])
    larger = max(sizes[a], sizes[b])
    if smaller / larger < threshold:
        return -1.0
    common = intersection(a, b, block_offsets, blocks, words)
    return common / slots if slots > 0 else common / (smaller + larger - common)


@compiled
def outside_matches(
    begin, end, n_reference, earlier, places, shift, member_offsets, member_bucket, member_place, bucket_offsets, compare_all,
    compare_nearest, sizes, block_offsets, blocks, words, weights, threshold, slots, kept_lists, kept_counts, kept_places,
    seen, near, row, found_left, found_right, found_score,
):  # fmt: skip
    """Compare the rows of a slice with kept rows before it, as far as large buckets may ask for it.

    Of the kept rows those in ``earlier`` are there, ascending; ``places`` (int64, a row each, 0 elsewhere) holds one more than
    their place among the sets, in which rows of the slice follow from ``shift`` on. Writes the pairs that reach the
    threshold; returns (next row, pairs found): it is the end, or ``found_*`` is full. ``seen`` (int64, a row each) holds -1.
    """
    n_found = 0
    while row < end:
        if n_found + len(earlier) > len(found_left):
            return row, n_found
        for m in range(member_offsets[row], member_offsets[row + 1]):
            bucket = member_bucket[m]
            base = bucket_offsets[bucket]
            count = kept_counts[bucket]
            if count <= compare_all:
                chosen = kept_lists[base : base + count]
            else:
                size = bucket_offsets[bucket + 1] - base
                n_near = nearest_kept(kept_places[base : base + size], member_place[m], compare_nearest, size, near)
                chosen = near[:n_near]
            for c in range(len(chosen)):
                other = chosen[c]
                if places[other] == 0 or seen[other] == row or (row < n_reference and other < n_reference):
                    continue
                seen[other] = row
                a = row - begin + shift
                resemblance = score(a, places[other] - 1, sizes, block_offsets, blocks, words, weights, threshold, slots)
                if resemblance >= threshold:
                    found_left[n_found] = other
                    found_right[n_found] = row
                    found_score[n_found] = resemblance
                    n_found += 1
        row += 1
    return row, n_found


@compiled
def walk(
    n_reference, begin, pair_offsets, pair_left, pair_resemblance, outside_offsets, outside_left, outside_resemblance,
    member_offsets, member_bucket, member_place, bucket_offsets, compare_all, compare_nearest,
    sizes, block_offsets, blocks, words, weights, threshold, slots,
    kept_lists, kept_counts, kept_places, seen, near, row, found_left, found_right, found_resemblance,
    keeper, keeper_resemblance, skipped, compared,
):  # fmt: skip
    """Walk the rows of a slice from ``row`` on; return (next row, pairs found): it is the end, or ``found_*`` is full.

    The slice begins at ``begin``; for each of its rows ``pair_*`` hold the rows it is known to match, and ``outside_*`` those
    before ``begin``, ascending, that comparisons in large buckets would match. Rows of the slice are sparse bit maps
    (``block_offsets``, ``blocks``, ``words``) of so many ``sizes``, or, where there are ``weights``, unit vectors with those
    weights in the columns ``blocks``.

    Arrays of state: ``kept_lists`` and ``kept_places`` (int64, one entry per bucket member; places start at -1),
    ``kept_counts`` (per bucket, zeros), ``seen`` (per row, -1). ``keeper`` receives the row that stands for each row
    (its own number where it is kept), ``keeper_resemblance`` the resemblance to it, ``skipped`` (rows, 2) the number
    of pairs left uncompared and of buckets in which that happened, ``compared`` (per row, zeros) that of pairs compared here.
    """
    n_found = 0
    end = begin + len(pair_offsets) - 1
    while row < end:
        worst = 0
        for m in range(member_offsets[row], member_offsets[row + 1]):
            count = kept_counts[member_bucket[m]]
            worst += count if count <= compare_all else 2 * compare_nearest
        if n_found + worst > len(found_left):
            return row, n_found
        best = -1
        best_resemblance = -1.0
        for p in range(pair_offsets[row - begin], pair_offsets[row - begin + 1]):
            other = pair_left[p]
            if keeper[other] == other and (
                pair_resemblance[p] > best_resemblance or (pair_resemblance[p] == best_resemblance and other < best)
            ):
                best = other
                best_resemblance = pair_resemblance[p]
        skipped[row, 0] = 0
        skipped[row, 1] = 0
        for m in range(member_offsets[row], member_offsets[row + 1]):
            bucket = member_bucket[m]
            base = bucket_offsets[bucket]
            count = kept_counts[bucket]
            if count <= compare_all:
                chosen = kept_lists[base : base + count]
            else:
                size = bucket_offsets[bucket + 1] - base
                n_near = nearest_kept(kept_places[base : base + size], member_place[m], compare_nearest, size, near)
                chosen = near[:n_near]
                skipped[row, 0] += count - n_near
                skipped[row, 1] += 1
            for c in range(len(chosen)):
                other = chosen[c]
                if seen[other] == row or (row < n_reference and other < n_reference):
                    continue
                seen[other] = row
                compared[row] += 1
                a = row - begin
                b = other - begin
                if b < 0:
                    first = outside_offsets[a]
                    last = outside_offsets[a + 1]
                    p = first + np.searchsorted(outside_left[first:last], other)
                    if p == last or outside_left[p] != other:
                        continue
                    resemblance = outside_resemblance[p]
                else:
                    resemblance = score(a, b, sizes, block_offsets, blocks, words, weights, threshold, slots)
                if resemblance >= threshold:
                    found_left[n_found] = other
                    found_right[n_found] = row
                    found_resemblance[n_found] = resemblance
                    n_found += 1
                    if resemblance > best_resemblance or (resemblance == best_resemblance and other < best):
                        best = other
                        best_resemblance = resemblance
        if best < 0 or row < n_reference:
            keeper[row] = row
            keeper_resemblance[row] = 1.0
            for m in range(member_offsets[row], member_offsets[row + 1]):
                bucket = member_bucket[m]
                kept_lists[bucket_offsets[bucket] + kept_counts[bucket]] = row
                kept_counts[bucket] += 1
                kept_places[bucket_offsets[bucket] + member_place[m]] = row
        else:
            keeper[row] = best
            keeper_resemblance[row] = best_resemblance
        row += 1
    return row, n_found
