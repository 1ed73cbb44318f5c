"""``tests/recipes/test_vouching.py`` holds the recall of links by rare codes."""

from collections import defaultdict
from unittest.mock import patch

import numpy as np
from cut_tables import cut_at, cut_rows, cuts, run
from hypothesis import example, given
from hypothesis import strategies as st
from naive.crowds import Rule, rare_pairs
from steps.made import code_column, columns, counted, grouped, kinds, links_of_bucket, rows_of

from lookalike.steps.crowds import (
    choose_rare_codes,
    code_counts,
    link_rare_codes,
    marks,
    pair_codes,
)
from lookalike.steps.pairs import bucket
from lookalike.values.tables import CODE_PAIRS, LINKS, RARE_CODE_POSTINGS

SLOTS = 5
CHOSEN, CODE_HEADS = 3, 2


documents = st.lists(
    st.tuples(
        st.lists(st.sampled_from([0, 1, 2, 255, 256, 65535]), min_size=SLOTS, max_size=SLOTS),
        st.tuples(st.integers(0, 3), st.integers(4, 7)),
    ),
    max_size=40,
)
COUPLED = [([0, 1, 2, 0, 1], (0, 4))] * 2 + [([0, 0, 1, 2, 65535], (0, 4))] * 9


@given(
    documents,
    st.sampled_from([0, 8]),
    st.integers(1, 12),
    st.integers(0, 40),
    st.integers(0, 3),
    kinds,
    cuts,
    st.integers(1, 9),
)
@example(COUPLED, 0, 4, 0, 2, "fixed", [], 3)
@example(COUPLED, 0, 4, 4, 2, "fixed", [5], 9)
@example([([0] * 5, (0, 4))] * 12, 0, 4, 40, 2, "large", [1, 2, 3, 4, 5, 8], 1)
def test_any_cut_gives_the_links_of_the_rule(documents, boundary, most, budget, heads, kind, cut, room):
    codes, buckets = [code for code, _ in documents], defaultdict(list)
    for order, (_, keys) in enumerate(documents):
        for key in keys:
            buckets[key].append(order)
    with patch("lookalike.steps.pairs.AT_A_TIME", room), patch("lookalike.steps.crowds.ROWS_AT_A_TIME", room):
        found, crowded = linked(buckets, codes, boundary, most, budget, heads, kind, cut)
    by_bucket = [link for members in buckets.values() for link in links_of_bucket(members, most, boundary, heads)]
    rule = Rule(most, heads, CHOSEN, budget, CODE_HEADS)
    assert crowded == sorted({order for members in buckets.values() if len(members) > most for order in members})
    by_code = {(a, b) for a, b in rare_pairs(crowded, codes, boundary, rule) if b >= boundary}
    assert {link for link in found if link[0] < link[1]} == {link for link in by_bucket if link[0] < link[1]} | by_code


def linked(buckets, codes, boundary, most, budget, heads, kind, cut):
    found = run(bucket, iter(cut_at(grouped(buckets), cut)), max_bucket=most, boundary=boundary, heads=heads)
    crowded = sorted({order for (order,) in run(marks, cut_rows(found, LINKS, cut))})
    rows = cut_at(columns(order=crowded, code=code_column([codes[order] for order in crowded], SLOTS, kind)), cut)
    how = {"counts": counted(code_counts(SLOTS), rows), "chosen": CHOSEN, "budget": budget}
    held = cut_rows(sorted(run(choose_rare_codes, iter(rows), **how)), RARE_CODE_POSTINGS, cut)
    found += rows_of(link_rare_codes(held, boundary, CODE_HEADS, budget), LINKS)
    coupled = cut_rows(sorted(run(pair_codes, iter(rows), **how)), CODE_PAIRS, cut)
    return found + run(bucket, coupled, max_bucket=most, boundary=boundary, heads=CODE_HEADS), crowded


def test_counts_beyond_sixteen_bits_are_in_order():
    """Those of a document add up to its budget, the rarest first."""
    counts = np.zeros((3, 65536), "int32")
    counts[:, 7] = [2**31 - 1, 70_000, 2**20]
    batch = columns(order=[0], code=code_column([[7, 7, 7]], 3))
    found = rows_of(choose_rare_codes(iter([batch]), counts, budget=70_000 + 2**20), RARE_CODE_POSTINGS)
    assert found == [(1 << 16 | 7, 0, 70_000, True), (2 << 16 | 7, 0, 2**20, True), (7, 0, 2**31 - 1, False)]
