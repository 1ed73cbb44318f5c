"""Values for the bins of one permutation hashing that are empty: those of filled ones, mixed or copied."""

import numpy as np

from .compiler import compiled
from .constants import EMPTY, GOLDEN, S32
from .hashing import fmix64


@compiled("void(const uint32[:, ::1], uint32[:, ::1])")
def rotate(slots, out):
    """Fill each empty bin from the next filled one on the circle, mixed with the distance to it: two steps a bin."""
    bins = slots.shape[1]
    for row in range(len(slots)):
        first = 0
        while first < bins and slots[row, first] == EMPTY:
            first += 1
        for j in range(bins):
            out[row, j] = slots[row, j]
        if first == bins:
            continue
        source = first
        distance = 0
        for step in range(bins):
            j = first - step if step <= first else first - step + bins
            distance += 1
            if slots[row, j] != EMPTY:
                source = j
                distance = 0
            else:
                value = np.uint64(slots[row, source]) | (np.uint64(distance) << S32)
                out[row, j] = np.uint32(fmix64(value) >> S32)


@compiled("void(const uint32[:, ::1], uint64, uint32[:, ::1])")
def fill_optimally(slots, seed, out):
    """Let each empty bin try random bins until it meets a filled one, whose value it copies. Time: bins / filled tries for each
    empty bin; with one filled bin there is nothing to try."""
    bins = slots.shape[1]
    for row in range(len(slots)):
        filled = 0
        source = 0
        for j in range(bins):
            out[row, j] = slots[row, j]
            if slots[row, j] != EMPTY:
                filled += 1
                source = j
        if filled == 1:
            out[row] = slots[row, source]
        if filled < 2:
            continue
        for j in range(bins):
            attempt = 0
            source = j
            while slots[row, source] == EMPTY:
                attempt += 1
                key = fmix64(seed + (np.uint64(attempt) << S32) + np.uint64(j) * GOLDEN)
                source = np.int64((key >> S32) * np.uint64(bins) >> S32)
            out[row, j] = slots[row, source]


@compiled("void(const uint32[:, ::1], uint64, int64[::1], uint32[:, ::1])")
def fill_in_reverse(slots, seed, places, out):
    """Let filled bins write into random bins, round after round in the order of bins, until none is empty. ``places`` (int64)
    has room for all bins. Time: about t ln t writes a row of t bins, however many are filled."""
    bins = slots.shape[1]
    for row in range(len(slots)):
        filled = 0
        for j in range(bins):
            out[row, j] = slots[row, j]
            if slots[row, j] != EMPTY:
                places[filled] = j
                filled += 1
        missing = bins - filled
        if filled == 0:
            continue
        attempt = 0
        while missing > 0:
            attempt += 1
            for i in range(filled):
                j = places[i]
                key = fmix64(seed + (np.uint64(attempt) << S32) + np.uint64(j) * GOLDEN)
                target = np.int64((key >> S32) * np.uint64(bins) >> S32)
                if missing > 0 and out[row, target] == EMPTY:
                    out[row, target] = slots[row, j]
                    missing -= 1
