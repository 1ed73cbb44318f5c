"""Codes and keys of bands equal twins written from their formulas."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import hashing as naive
from naive import sketches

from lookalike.core import band_keys, keys_and_codes

EDGES = [0, 1, 63, 64, 65, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
words = st.integers(0, (1 << 64) - 1)


@settings(max_examples=100)
@given(st.data(), st.integers(1, 5), st.integers(1, 4), st.integers(0, 3))
def test_keys_and_codes_equal_their_twins(data, bands, rows, beyond):
    """A code is the upper 16 bits of the folded product of the slot, its group and its place."""
    slot = st.sampled_from(EDGES) | st.integers(0, (1 << 32) - 1)
    width = bands * rows + beyond
    documents = data.draw(st.lists(st.tuples(words, st.lists(slot, min_size=width, max_size=width)), min_size=1, max_size=5))
    groups, slots = (np.array(column, np.uint64) for column in zip(*documents, strict=True))
    keys, codes = keys_and_codes(slots.astype(np.uint32), groups, bands, rows)
    wide = slots * np.uint64(1 << 32 | 1)  # slots of 64 bits have keys and no codes
    for row, (group, some) in enumerate(documents):
        assert keys[row].tolist() == sketches.band_keys(some, group, bands, rows)
        assert codes[row].tolist() == [
            naive.fold_multiply(s ^ group, naive.K0 + i) >> 48 for i, s in enumerate(some[: bands * rows])
        ]
        of_wide = band_keys(wide, groups, bands, rows)[row]
        assert of_wide.tolist() == sketches.band_keys(wide[row].tolist(), group, bands, rows)
