"""The cut against its definition."""

import pickle
import tracemalloc
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from steps import naive_crowds as naive
from steps.made import columns, cut_at, nibble_column, places, rows_of

from lookalike.steps import pairs as cutting
from lookalike.steps.pairs import cut
from lookalike.values.tables import PAIRS

links = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda p: (min(p), max(p))), max_size=50).map(sorted)
kinds = st.sampled_from(["fixed", "small", "large", "dictionary"])


def sides(name, rows, links, make):
    """The columns of both documents of each link, out of those of all documents."""
    return {f"{side}_{name}": make([rows[link[i]] for link in links]) for i, side in enumerate(("left", "right"))}


def naively(links, codes, groups, least, boundary):
    return [
        (a, b)
        for a, b in sorted(set(links))
        if a != b and b >= boundary and groups[a] == groups[b] and naive.agreeing(codes[a], codes[b]) >= least
    ]


@given(links, st.integers(1, 11), st.integers(0, 9), st.sampled_from([0, 0, 4]), kinds, st.booleans(), places, st.randoms())
@example([(0, 1)] * 5, 4, 0, 0, "fixed", False, [1, 2, 2], None)
def test_any_cut_gives_the_pairs_of_the_definition(links, slots, least, boundary, kind, grouped, places, random):
    draw = random.choice if random else max
    codes = [[draw([0, 1, 2, 16, 0x1111, 0x8000, 0xFFFF]) for _ in range(slots)] for _ in range(10)]
    groups = [draw([b"a" * 15 + b"a", b"a" * 15 + b"b"]) if grouped else b"" for _ in range(10)]
    named = sides("code", codes, links, lambda rows: nibble_column(rows, slots, kind))
    if grouped:
        named |= sides("within", groups, links, lambda rows: pa.array(rows, pa.binary(16)))
    batch = columns(left=[a for a, _ in links], right=[b for _, b in links], **named)
    step = pickle.loads(pickle.dumps(partial(cut, slots=slots, least=least, boundary=boundary)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "AT_A_TIME", 1 + slots)
        found = rows_of(step(iter(cut_at(batch, places))), PAIRS)
    assert found == naively(links, codes, groups, least, boundary)


@given(links, st.sampled_from([0, 4]), places)
def test_without_codes_marks_repeats_and_references_fall(links, boundary, places):
    batch = columns(left=[a for a, _ in links], right=[b for _, b in links])
    found = rows_of(cut(iter(cut_at(batch, places)), slots=96, least=65, boundary=boundary), PAIRS)
    assert found == naively(links, [[]] * 10, [b""] * 10, 0, boundary)


@pytest.mark.parametrize("slots", [1, 3, 4, 5, 63, 64, 65, 300])
def test_the_number_of_agreeing_codes_is_exact(rng, slots):
    left, right = rng.integers(0, 1 << 16, (2, 40, slots))
    same = rng.random((40, slots)) < rng.random((40, 1))
    right = np.where(same, right & 0xFFF0 | left & 15, right)
    counts = [naive.agreeing(a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    batch = columns(
        left=np.arange(40),
        right=np.arange(40) + 40,
        left_code=nibble_column(left, slots),
        right_code=nibble_column(right, slots),
    )
    for least in (1, slots // 2, max(counts), slots):
        found = rows_of(cut(iter([batch]), slots=slots, least=least, boundary=0))
        assert found == [(i, i + 40) for i in range(40) if counts[i] >= least]


def test_few_pairs_that_stay_hold_little():
    """Not the arrays of all links of their batch, of which they would be views."""
    rows = columns(left=[0] * 2000, right=range(1, 2001))
    tracemalloc.start()
    held = [batch for _ in range(100) for batch in cut(iter([rows]), slots=0, least=0, boundary=1999)]
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(map(len, held)) == 200 and size < 100 * 2000 * 8
