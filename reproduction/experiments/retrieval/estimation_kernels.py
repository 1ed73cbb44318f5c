"""Counting equal samples of many pairs, compiled alike: one loop over pairs and words, one way to compare a word each."""

from __future__ import annotations

from typing import Any

import numpy as np
from instructions import popcount
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
compiled = njit(nogil=True, error_model="numpy", cache=True)
S16, LOW16 = np.uint32(16), np.uint32(0xFFFF)


def lanes(codes: Array, bits: int) -> Array:
    """Pack b-bit codes (rows, k) side by side into words of 32 bits, as section 5.1.2 has them: uint32 (rows, k b / 32)."""
    each = 32 // bits
    apart = codes.astype(np.uint64).reshape(len(codes), -1, each) << (np.arange(each, dtype=np.uint64) * np.uint64(bits))
    return apart.sum(2, dtype=np.uint64).astype(np.uint32)


def zero_lanes(bits: int) -> Array:
    """Return the table of 2^16 entries: how many blocks of so many bits of a number are 0."""
    numbers = np.arange(1 << 16)
    return sum(((numbers >> shift) & ((1 << bits) - 1) == 0).astype(np.uint8) for shift in range(0, 16, bits))


@compiled
def by_table(words, left, right, table, out):
    """Count equal samples by a table of 16 bits: two look-ups a word, whatever the table counts."""
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        total = 0
        for w in range(words.shape[1]):
            v = words[a, w] ^ words[b, w]
            total += table[v & LOW16] + table[v >> S16]
        out[pair] = total


@compiled
def by_popcount_1(words, left, right, samples, out):
    """Count equal samples of 1 bit by the population count of what differs."""
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        total = 0
        for w in range(words.shape[1]):
            total += popcount(words[a, w] ^ words[b, w])
        out[pair] = samples - total


@compiled
def by_popcount_2(words, left, right, samples, out):
    """Count equal samples of 2 bits: a lane differs if either bit does."""
    ones = np.uint64(0x5555555555555555)
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        total = 0
        for w in range(words.shape[1]):
            v = words[a, w] ^ words[b, w]
            total += popcount((v | v >> np.uint64(1)) & ones)
        out[pair] = samples - total


@compiled
def by_popcount_4(words, left, right, samples, out):
    """Count equal samples of 4 bits: a lane differs if any bit does."""
    ones = np.uint64(0x1111111111111111)
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        total = 0
        for w in range(words.shape[1]):
            v = words[a, w] ^ words[b, w]
            v |= v >> np.uint64(2)
            total += popcount((v | v >> np.uint64(1)) & ones)
        out[pair] = samples - total


@compiled
def by_samples(words, left, right, out):
    """Count equal samples that are whole words, of 32 or of 64 bits."""
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        total = 0
        for w in range(words.shape[1]):
            total += words[a, w] == words[b, w]
        out[pair] = total


POPCOUNTS = {1: by_popcount_1, 2: by_popcount_2, 4: by_popcount_4}
