"""Codes are packed as their definition says."""

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps.made import code_column, columns, cut_at, nibble_column, places

from lookalike.steps.pairs import nibbles, nibbles_schema, packed_width


@given(st.data(), st.integers(1, 35), st.sampled_from(["fixed", "small", "large", "dictionary"]), places)
def test_any_cut_packs_the_lowest_four_bits_of_each_code(data, slots, kind, places):
    code = st.lists(st.sampled_from([0, 1, 15, 16, 0x8421, 0xFFF0, 0xFFFF]), min_size=slots, max_size=slots)
    codes = data.draw(st.lists(code, max_size=8))
    batch = columns(order=np.arange(len(codes)) + 7, code=code_column(codes, slots, kind))
    step = pickle.loads(pickle.dumps(partial(nibbles, slots=slots)))
    found = list(step(iter(cut_at(batch, places))))
    assert all(some.schema == nibbles_schema(batch.schema, slots) for some in found)
    rows = [tuple(row.values()) for some in found for row in some.to_pylist()]
    assert rows == list(zip(batch["order"].to_pylist(), nibble_column(codes, slots).to_pylist(), strict=True))


@pytest.mark.parametrize("slots, width", [(1, 8), (16, 8), (17, 16), (96, 48), (300, 152)])
def test_nibbles_fill_whole_words(slots, width):
    assert packed_width(slots) == width
