"""One permutation hashing: one hash a shingle, a minimum in each bin; and three ways to fill empty bins for look-ups."""

import numpy as np

from ._compile import compiled
from .hashing import fmix64

EMPTY = np.uint32(0xFFFFFFFF)
_S32 = np.uint64(32)
_LOW31 = np.uint64(0x7FFFFFFF)
_ODD = np.uint64(0xD6E8FEB86659FD93)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled
def sign_rows(values, offsets, seed, out):
    """Write the least value of each bin of each row into ``out`` (rows, bins), uint32; bins without one keep ``EMPTY``."""
    bins = np.uint64(out.shape[1])
    salt = fmix64(seed)
    for row in range(len(offsets) - 1):
        slots = out[row]
        slots[:] = EMPTY
        for i in range(offsets[row], offsets[row + 1]):
            mixed = (values[i] ^ salt) * _ODD
            slot = np.int64((mixed >> _S32) * bins >> _S32)
            slots[slot] = min(slots[slot], np.uint32(mixed & _LOW31))


@compiled
def rotate(slots, out):
    """Fill each empty bin from the next filled one on the circle, mixed with the distance to it."""
    bins = slots.shape[1]
    for row in range(len(slots)):
        for j in range(bins):
            out[row, j] = slots[row, j]
            distance = 0
            while distance < bins and slots[row, (j + distance) % bins] == EMPTY:
                distance += 1
            if 0 < distance < bins:
                value = np.uint64(slots[row, (j + distance) % bins]) | (np.uint64(distance) << _S32)
                out[row, j] = np.uint32(fmix64(value) >> _S32)


@compiled
def fill_optimally(slots, seed, out):
    """Let each empty bin try random bins until it meets a filled one, whose value it copies."""
    bins = slots.shape[1]
    for row in range(len(slots)):
        some = False
        for j in range(bins):
            out[row, j] = slots[row, j]
            some = some or slots[row, j] != EMPTY
        if not some:
            continue
        for j in range(bins):
            attempt = 0
            source = j
            while slots[row, source] == EMPTY:
                attempt += 1
                key = fmix64(seed + (np.uint64(attempt) << _S32) + np.uint64(j) * _GOLDEN)
                source = np.int64((key >> _S32) * np.uint64(bins) >> _S32)
            out[row, j] = slots[row, source]


@compiled
def fill_in_reverse(slots, seed, out):
    """Let filled bins write into random bins, round after round in the order of bins, until none is empty."""
    bins = slots.shape[1]
    for row in range(len(slots)):
        missing = 0
        for j in range(bins):
            out[row, j] = slots[row, j]
            missing += slots[row, j] == EMPTY
        if missing == bins:
            continue
        attempt = 0
        while missing > 0:
            attempt += 1
            for j in range(bins):
                if slots[row, j] != EMPTY and missing > 0:
                    key = fmix64(seed + (np.uint64(attempt) << _S32) + np.uint64(j) * _GOLDEN)
                    target = np.int64((key >> _S32) * np.uint64(bins) >> _S32)
                    if out[row, target] == EMPTY:
                        out[row, target] = slots[row, j]
                        missing -= 1
