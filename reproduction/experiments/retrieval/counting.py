"""Matching slots of many pairs among the first k slots, for several k and numbers of bits at once, and what they retrieve."""

from __future__ import annotations

from typing import Any

import numpy as np
from instructions import popcount
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
compiled = njit(nogil=True, error_model="numpy", cache=True)
DEPTHS = np.array([1, 2, 3, 4, 32])


def segments(cuts: Array) -> tuple[Array, Array, Array]:
    """Cut the slots below the last of some ascending cuts at each cut and at each 64th slot.

    Returns (first segment of each word, with one more at the end; the mask of each segment; the cut at its end, or -1).
    """
    ends = np.union1d(cuts, np.arange(64, int(cuts[-1]), 64))
    begins = np.concatenate([[0], ends[:-1]])
    words = begins // 64
    masks = [((1 << int(e - b)) - 1) << int(b % 64) for b, e in zip(begins, ends, strict=True)]
    place = np.searchsorted(cuts, ends)
    at = np.where(cuts[np.minimum(place, len(cuts) - 1)] == ends, place, -1)
    return np.searchsorted(words, np.arange(words[-1] + 2)), np.array(masks, np.uint64), at


@compiled
def count_matches(words, slots, left, right, pieces, out):
    """Write the matching slots below each cut for each number of bits into ``out`` (pairs, cuts, depths), int16.

    ``words``: 32 bit planes of ``slots`` slots a row, the lowest bits first; ``pieces``: what ``segments`` returned.
    """
    first, masks, at = pieces
    width = (slots + 63) // 64
    differ = np.empty(len(DEPTHS), np.uint64)
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        equal = np.zeros(len(DEPTHS), np.int64)
        for w in range(len(first) - 1):
            d = np.uint64(0)
            plane = 0
            for i in range(len(DEPTHS)):
                while plane < DEPTHS[i]:
                    d |= words[a, w + plane * width] ^ words[b, w + plane * width]
                    plane += 1
                differ[i] = d
            for s in range(first[w], first[w + 1]):
                for i in range(len(DEPTHS)):
                    equal[i] += popcount(~differ[i] & masks[s])
                    if at[s] >= 0:
                        out[pair, at[s], i] = equal[i]


@compiled
def classify(counts, rows, bounds, exact_class, out):
    """Add pairs to ``out`` (schemes, sizes, classes of exact, thresholds passed + 1), int64.

    ``rows`` (schemes, sizes, 4): cut and depth where the first part ends, cut and depth at the end; a first cut of -1 is
    nothing. ``bounds`` (schemes, sizes, thresholds): the least number of matches that passes each threshold, ascending.
    """
    for pair in range(len(counts)):
        for scheme in range(rows.shape[0]):
            for size in range(rows.shape[1]):
                cut, depth, end, last = rows[scheme, size]
                m = counts[pair, end, last]
                if cut >= 0:
                    m += counts[pair, cut, depth] - counts[pair, cut, last]
                passed = 0
                for t in range(bounds.shape[2]):
                    passed += m >= bounds[scheme, size, t]
                out[scheme, size, exact_class[pair], passed] += 1
