"""All pairs of fingerprints within a Hamming radius of each other: tables sorted one after the other, none kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..core import join_entries, join_runs
from ..core.threads import in_order
from ..theory import blocks as theory
from ..values import Int64Array, UInt64Array
from ..values.arrays import expand_counts
from .fingerprints import Found, Hits, concatenate_found

# Nanoseconds to make and sort an entry, to compare two fingerprints anywhere in memory, and two of neighbouring rows.
NS_PER_ENTRY, NS_PER_COMPARISON, NS_PER_SCANNED = 40.0, 12.0, 2.0
MOST = 2**63 - 1


def block_masks(bits: int, blocks: int | Sequence[int], choices: tuple[tuple[int, ...], ...]) -> UInt64Array:
    """Return the bits of each choice of blocks, uint64 of shape (choices, words)."""
    starts = np.cumsum([0, *theory.block_sizes(bits, blocks)])
    masks = np.zeros((len(choices), (bits + 63) // 64), np.uint64)
    for table, chosen in enumerate(choices):
        for block in chosen:
            for bit in range(starts[block], starts[block + 1]):
                masks[table, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    return masks


def sort_rows(words: UInt64Array) -> Int64Array:
    """Return the order in which fingerprints ascend as numbers, the last word the most significant; equal ones by row."""
    return np.lexsort(words.T) if words.shape[1] > 1 else np.argsort(words[:, 0], kind="stable")


def equal_rows(words: UInt64Array) -> tuple[Int64Array, Int64Array]:
    """Group equal rows: return (rows with equal ones together, ascending among themselves; bounds of the groups)."""
    order = sort_rows(words)
    new = np.ones(len(words), np.bool_)
    new[1:] = (words[order[1:]] != words[order[:-1]]).any(1)
    return order, np.append(np.flatnonzero(new), len(words))


def _join_table(words: UInt64Array, masks: UInt64Array, radius: int, limit: int, table: int) -> Found:
    """Return (left, right, distance, pairs compared) of the pairs that are first found under one mask, at most so many."""
    row_bits = max(1, (len(words) - 1).bit_length())
    entries = join_entries(words, masks[table], row_bits)
    entries.sort()
    found: Found = join_runs(words, entries, row_bits, masks, table, radius, limit)
    return found


def near_pairs(words: UInt64Array, bits: int, radius: int, *, limit: int | None = None, threads: int = 1) -> Found:
    """Find all pairs of *different* fingerprints within the radius, each once, in 8 bytes a fingerprint and thread, and the
    pairs. Up to radius 3 and for many the tables are the 14 of a Steiner system: under three differing bits one stays
    untouched."""
    if len(words) < 2:
        return concatenate_found([])
    n = float(len(words))

    def cost(design: theory.Design) -> float:
        each = NS_PER_COMPARISON if design[1][0] else NS_PER_SCANNED
        return NS_PER_ENTRY * n * len(design[1]) + each * theory.join_candidates(n, bits, *design)

    masks = block_masks(bits, *min(theory.join_designs(bits, radius), key=cost))
    masks = np.pad(masks, ((0, 0), (0, words.shape[1] - masks.shape[1])), constant_values=np.iinfo(np.uint64).max)
    most = MOST if limit is None else limit + 1
    work = partial(_join_table, words, masks, radius, most)
    parts, found = [], 0
    for part in in_order(work, range(len(masks)), threads):
        parts.append(part)
        found += len(part[0])
        if found >= most:
            break
    return concatenate_found(parts)


def spread_pairs(order: Int64Array, bounds: Int64Array, left: Int64Array, right: Int64Array, limit: int | None = None) -> Hits:
    """Turn pairs of groups of equal rows into pairs of rows."""
    budget = MOST if limit is None else limit
    sizes = np.diff(bounds)
    later = np.repeat(bounds[1:], sizes) - np.arange(len(order)) - 1  # in the same group
    place, number = _places(later, budget)
    first, second = order[place], order[place + 1 + number]
    pair, place = _places(sizes[left] * sizes[right], budget - len(first))
    width = sizes[right[pair]]
    a = np.concatenate([first, order[bounds[left[pair]] + place // width]])
    b = np.concatenate([second, order[bounds[right[pair]] + place % width]])
    return np.minimum(a, b), np.maximum(a, b), np.concatenate([np.full(len(first), -1), pair])


def _places(counts: Int64Array, limit: int) -> tuple[Int64Array, Int64Array]:
    """Number things of which there are ``counts``: return (which, number among its like) of at most the first ``limit``."""
    counts = counts[: int(np.searchsorted(counts.cumsum(), limit)) + 1]
    which, number = expand_counts(counts)
    return which[:limit], number[:limit]
