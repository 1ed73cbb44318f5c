"""Links become pairs, each once, and parts of them: against their definitions."""

import pickle
import tracemalloc
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import batches, columns_of, cuts, run
from hypothesis import example, given
from hypothesis import strategies as st
from steps import naive_crowds as naive
from steps.made import code_column, columns, cut_at, nibble_column, places, rows_of

from lookalike.steps import pairs as module
from lookalike.steps.pairs import (
    MEMBERS,
    across,
    between,
    cut,
    distinct,
    each_once,
    nibbles_schema,
    pack_codes,
    packed_width,
    sides,
)
from lookalike.values.tables import LINKS, PAIRS


@given(st.data(), st.integers(1, 35), st.sampled_from(["fixed", "small", "large", "dictionary"]), places)
def test_any_cut_packs_the_lowest_four_bits_of_each_code(data, slots, kind, places):
    code = st.lists(st.sampled_from([0, 1, 15, 16, 0x8421, 0xFFF0, 0xFFFF]), min_size=slots, max_size=slots)
    codes = data.draw(st.lists(code, max_size=8))
    batch = columns(order=np.arange(len(codes)) + 7, code=code_column(codes, slots, kind))
    step = pickle.loads(pickle.dumps(partial(pack_codes, slots=slots)))
    found = list(step(iter(cut_at(batch, places))))
    assert all(some.schema == nibbles_schema(batch.schema, slots) for some in found)
    rows = [tuple(row.values()) for some in found for row in some.to_pylist()]
    assert rows == list(zip(batch["order"].to_pylist(), nibble_column(codes, slots).to_pylist(), strict=True))


@pytest.mark.parametrize("slots, width", [(1, 8), (16, 8), (17, 16), (96, 48), (300, 152)])
def test_nibbles_fill_whole_words(slots, width):
    assert packed_width(slots) == width


sorted_links = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda p: (min(p), max(p))), max_size=50).map(
    sorted
)


kinds = st.sampled_from(["fixed", "small", "large", "dictionary"])


def both_sides(name, rows, sorted_links, make):
    """The columns of both documents of each link, out of those of all documents."""
    return {f"{side}_{name}": make([rows[link[i]] for link in sorted_links]) for i, side in enumerate(("left", "right"))}


@given(sorted_links, kinds, places, st.randoms())
def test_any_cut_drops_pairs_of_an_equal_value_across(sorted_links, kind, places, random):
    values = [bytes(8) + bytes([random.randrange(3)]) * 8 for _ in range(10)]
    named = both_sides("across", values, sorted_links, lambda rows: column_of(rows, kind))
    batch = columns(left=[a for a, _ in sorted_links], right=[b for _, b in sorted_links], **named)
    found = [tuple(row.values())[:2] for some in across(iter(cut_at(batch, places))) for row in some.to_pylist()]
    assert found == [(a, b) for a, b in sorted_links if values[a] != values[b] or not any(values[a])]


def column_of(rows, kind):
    """Values of 16 bytes as engines have them."""
    types = {"small": pa.binary(), "large": pa.large_binary()}
    column = pa.array(rows, types.get(kind, pa.binary(16)))
    return column.dictionary_encode() if kind == "dictionary" else column


def naively(sorted_links, codes, groups, least, boundary):
    return [
        (a, b)
        for a, b in sorted(set(sorted_links))
        if a != b and b >= boundary and groups[a] == groups[b] and naive.agreeing(codes[a], codes[b]) >= least
    ]


@given(
    sorted_links, st.integers(1, 11), st.integers(0, 9), st.sampled_from([0, 0, 4]), kinds, st.booleans(), places, st.randoms()
)
@example([(0, 1)] * 5, 4, 0, 0, "fixed", False, [1, 2, 2], None)
def test_any_cut_gives_the_pairs_of_the_definition(sorted_links, slots, least, boundary, kind, grouped, places, random):
    draw = random.choice if random else max
    codes = [[draw([0, 1, 2, 16, 0x1111, 0x8000, 0xFFFF]) for _ in range(slots)] for _ in range(10)]
    groups = [draw([b"a" * 15 + b"a", b"a" * 15 + b"b"]) if grouped else b"" for _ in range(10)]
    named = both_sides("code", codes, sorted_links, lambda rows: nibble_column(rows, slots, kind))
    if grouped:
        named |= both_sides("within", groups, sorted_links, lambda rows: pa.array(rows, pa.binary(16)))
    batch = columns(left=[a for a, _ in sorted_links], right=[b for _, b in sorted_links], **named)
    step = pickle.loads(pickle.dumps(partial(cut, slots=slots, least=least, boundary=boundary)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CUT_AT_A_TIME", 1 + slots)
        found = rows_of(step(iter(cut_at(batch, places))), PAIRS)
    assert found == naively(sorted_links, codes, groups, least, boundary)


@given(sorted_links, st.sampled_from([0, 4]), places)
def test_without_codes_marks_repeats_and_references_fall(sorted_links, boundary, places):
    batch = columns(left=[a for a, _ in sorted_links], right=[b for _, b in sorted_links])
    found = rows_of(cut(iter(cut_at(batch, places)), slots=96, least=65, boundary=boundary), PAIRS)
    assert found == naively(sorted_links, [[]] * 10, [b""] * 10, 0, boundary)


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
    """Not the arrays of all sorted_links of their batch, of which they would be views."""
    rows = columns(left=[0] * 2000, right=range(1, 2001))
    tracemalloc.start()
    held = [batch for _ in range(100) for batch in cut(iter([rows]), slots=0, least=0, boundary=1999)]
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(map(len, held)) == 200 and size < 100 * 2000 * 8


some_pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)


@given(some_pairs, cuts)
def test_both_documents_of_a_pair_come(found, cut):
    made = run(sides, batches(columns_of(found, PAIRS), PAIRS, cut))
    assert sorted(made) == sorted((order,) for pair in found for order in pair)


@given(st.lists(st.integers(0, 5), max_size=30), cuts)
def test_of_each_document_one_row_is_left(orders, cut):
    """Repeats lie beside each other, perhaps in several batches."""
    made = run(distinct, batches({"order": sorted(orders)}, MEMBERS, cut))
    assert made == [(order,) for order in sorted(set(orders))]


@given(some_pairs, cuts)
def test_of_equal_links_one_is_left(found, cut):
    made = run(each_once, batches(columns_of(sorted(found), LINKS), LINKS, cut))
    assert made == sorted(set(found))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30), st.integers(0, 10), st.integers(0, 10), cuts)
def test_pairs_between_two_orders(pairs, begin, end, cut):
    """Those whose later document is in the part; parts that follow each other share no pair and lack none."""
    made = columns_of(pairs, PAIRS)
    found = run(between, batches(made, PAIRS, cut), begin=begin, end=end)
    assert found == [pair for pair in pairs if begin <= pair[1] < end]
    begin, end = sorted((begin, end))
    parts = [run(between, batches(made, PAIRS, cut), begin=a, end=b) for a, b in ((0, begin), (begin, end), (end, 10))]
    assert sorted(pair for part in parts for pair in part) == sorted(pairs)
