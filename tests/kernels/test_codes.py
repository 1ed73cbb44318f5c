"""Codes and keyed digests equal twins written from their formulas."""

import numpy as np
import pytest
from conftest import JIT_OFF
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import hashing as naive
from naive.sketches import band_keys

from lookalike.kernels.banding import keys_and_codes

EDGES = [0, 1, 63, 64, 65, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
words = st.integers(0, (1 << 64) - 1)


def made(slots, groups, bands, rows):
    """Keys and codes of some signatures."""
    keys, codes = np.empty((len(slots), bands), np.uint64), np.empty((len(slots), bands * rows), np.uint16)
    keys_and_codes(np.array(slots, np.uint32), np.array(groups, np.uint64), bands, rows, keys, codes)
    return keys, codes


def code(slot, group, i):
    """The upper 16 bits of the folded product of the slot, its group and its place."""
    return naive.fold_multiply(slot ^ group, naive.K0 + i) >> 48


@settings(max_examples=20 if JIT_OFF else 100)
@given(st.data(), st.integers(1, 5), st.integers(1, 4), st.integers(0, 3))
def test_keys_and_codes_equal_their_twins(data, bands, rows, beyond):
    slot = st.sampled_from(EDGES) | st.integers(0, (1 << 32) - 1)
    width = bands * rows + beyond
    documents = data.draw(st.lists(st.tuples(words, st.lists(slot, min_size=width, max_size=width)), min_size=1, max_size=5))
    groups, slots = zip(*documents, strict=True)
    keys, codes = made(slots, groups, bands, rows)
    for row, (group, some) in enumerate(documents):
        assert keys[row].tolist() == band_keys(some, group, bands, rows)
        assert codes[row].tolist() == [code(s, group, i) for i, s in enumerate(some[: bands * rows])]


def test_codes_of_other_groups_and_slots_agree_by_chance_only(rng):
    """Unequal ones agree with probability 2^-16: of 40,000 pairs less than one, at most 4 (5 standard errors)."""
    n = 20 if JIT_OFF else 400
    slots = rng.integers(0, 1 << 32, (2, n, 100), dtype=np.uint32)
    _, ours = made(slots[0], np.zeros(n), 50, 2)
    _, others = made(slots[0], rng.integers(0, 1 << 63, n), 50, 2)
    assert (ours == others).sum() <= 4
    _, others = made(slots[1], np.zeros(n), 50, 2)
    assert (ours == others).sum() <= 4
    _, others = made(slots[0] ^ np.uint32(1), np.zeros(n), 50, 2)
    assert (ours == others).sum() <= 4


@pytest.mark.parametrize("n", [0, 1])
def test_no_or_one_document(n):
    keys, codes = made(np.zeros((n, 6)), np.zeros(n), 3, 2)
    assert keys.shape == (n, 3) and codes.shape == (n, 6)
