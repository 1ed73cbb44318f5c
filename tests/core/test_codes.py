"""Codes and keyed digests equal twins written from their formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import hashing as naive
from naive import sketches
from packed_codes import unpack

from lookalike.core import band_keys, keys_and_codes
from lookalike.search import BandingIndex
from lookalike.sketches import BBit, MinHash, Signatures

EDGES = [0, 1, 63, 64, 65, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
words = st.integers(0, (1 << 64) - 1)


def made(slots, groups, bands, rows):
    """Keys and codes of some signatures."""
    return keys_and_codes(np.array(slots, np.uint32), np.array(groups, np.uint64), bands, rows)


def code(slot, group, i):
    """The upper 16 bits of the folded product of the slot, its group and its place."""
    return naive.fold_multiply(slot ^ group, naive.K0 + i) >> 48


@settings(max_examples=100)
@given(st.data(), st.integers(1, 5), st.integers(1, 4), st.integers(0, 3))
def test_keys_and_codes_equal_their_twins(data, bands, rows, beyond):
    slot = st.sampled_from(EDGES) | st.integers(0, (1 << 32) - 1)
    width = bands * rows + beyond
    documents = data.draw(st.lists(st.tuples(words, st.lists(slot, min_size=width, max_size=width)), min_size=1, max_size=5))
    groups, slots = zip(*documents, strict=True)
    keys, codes = made(slots, groups, bands, rows)
    for row, (group, some) in enumerate(documents):
        assert keys[row].tolist() == sketches.band_keys(some, group, bands, rows)
        assert codes[row].tolist() == [code(s, group, i) for i, s in enumerate(some[: bands * rows])]


def test_codes_of_other_groups_and_slots_agree_by_chance_only(rng):
    """Unequal ones agree with probability 2^-16: of 40,000 pairs less than one, at most 4 (5 standard errors)."""
    n = 400
    slots = rng.integers(0, 1 << 32, (2, n, 100), dtype=np.uint32)
    _, ours = made(slots[0], np.zeros(n), 50, 2)
    _, others = made(slots[0], rng.integers(0, 1 << 63, n), 50, 2)
    assert (ours == others).sum() <= 4
    _, others = made(slots[1], np.zeros(n), 50, 2)
    assert (ours == others).sum() <= 4
    _, others = made(slots[0] ^ np.uint32(1), np.zeros(n), 50, 2)
    assert (ours == others).sum() <= 4


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_band_keys_equal_twin(rng, dtype):
    slots = rng.integers(0, 1 << (8 * np.dtype(dtype).itemsize), (7, 13), dtype=dtype)
    groups = np.array([0, 1, 2, 3, 0, 1, (1 << 64) - 1], np.uint64)
    keys = band_keys(slots, groups, 3, 4)
    for row in range(7):
        assert keys[row].tolist() == sketches.band_keys(slots[row].tolist(), int(groups[row]), 3, 4)


def test_keys_of_packed_slots_equal_twin(rng):
    """Bits of a band fill words of 64, no slot in two of them."""
    for bits, rows in [(1, 3), (1, 70), (3, 21), (3, 22), (32, 2)]:
        values = rng.integers(0, 1 << 32, (3, 2 * rows), dtype=np.uint32)
        packed = BBit(bits=bits).pack(Signatures(values, MinHash(permutations=2 * rows)))
        keys, _ = BandingIndex(bands=2, rows=rows)._keys_of(packed, adds=False)
        for row, own in enumerate(unpack(packed)[0].tolist()):
            for band in range(2):
                state, code, used = naive.K0, 0, 0
                for value in own[band * rows : (band + 1) * rows]:
                    if used + bits > 64:
                        state, code, used = naive.fold_multiply(state ^ code, naive.K0 + band), 0, 0
                    for bit in range(bits):  # the planes come from the lowest bit on
                        code = code << 1 | value >> bit & 1
                    used += bits
                assert int(keys[row, band]) == naive.fmix64(state ^ code)
