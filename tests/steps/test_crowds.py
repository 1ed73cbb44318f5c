"""Links of crowded documents by rare codes, and what is vouched for them, against the rule in plain Python."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from cut_tables import cut_at, cut_rows, cuts, folded, run
from hypothesis import example, given
from hypothesis import strategies as st
from naive.crowds import Rule, rare_pairs
from steps.made import code_column, columns, grouped, kinds, links_of_bucket, rows_of

from lookalike.steps import crowds as module
from lookalike.steps import pairs as linking
from lookalike.steps.crowds import (
    VOUCHED,
    choose_rare_codes,
    code_counts,
    estimate_recalls,
    link_rare_codes,
    marks,
    pair_codes,
    recall_sums,
    sum_of_recalls,
)
from lookalike.steps.pairs import bucket
from lookalike.theory.banding import crowded_recall
from lookalike.values.tables import CODE_PAIRS, LINKS, RARE_CODE_POSTINGS

SLOTS = 5
CHOSEN, CODE_HEADS = 3, 2


def counted(batches, slots):
    """The table of counts of some documents."""
    fold = code_counts(slots)
    total = fold.start()
    for batch in batches:
        fold.add(total, batch)
    return total


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
    """Buckets, marks, counts, holders and couples; a few rows and links at a time."""
    codes, buckets = [code for code, _ in documents], defaultdict(list)
    for order, (_, keys) in enumerate(documents):
        for key in keys:
            buckets[key].append(order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "AT_A_TIME", room)
        patch.setattr(module, "ROWS_AT_A_TIME", room)
        found, crowded = linked(buckets, codes, boundary, most, budget, heads, kind, cut)
    by_bucket = [link for members in buckets.values() for link in links_of_bucket(members, most, boundary, heads)]
    rule = Rule(most, heads, CHOSEN, budget, CODE_HEADS)
    assert crowded == sorted({order for members in buckets.values() if len(members) > most for order in members})
    by_code = {(a, b) for a, b in rare_pairs(crowded, codes, boundary, rule) if b >= boundary}
    assert {link for link in found if link[0] < link[1]} == {link for link in by_bucket if link[0] < link[1]} | by_code


def linked(buckets, codes, boundary, most, budget, heads, kind, cut):
    """The links of all steps, and the orders of crowded documents."""
    found = run(bucket, iter(cut_at(grouped(buckets), cut)), max_bucket=most, boundary=boundary, heads=heads)
    crowded = sorted({order for (order,) in run(marks, cut_rows(found, LINKS, cut))})
    rows = cut_at(columns(order=crowded, code=code_column([codes[order] for order in crowded], SLOTS, kind)), cut)
    how = {"counts": counted(rows, SLOTS), "chosen": CHOSEN, "budget": budget}
    held = cut_rows(sorted(run(choose_rare_codes, iter(rows), **how)), RARE_CODE_POSTINGS, cut)
    found += rows_of(link_rare_codes(held, boundary, CODE_HEADS, budget), LINKS)
    coupled = cut_rows(sorted(run(pair_codes, iter(rows), **how)), CODE_PAIRS, cut)
    return found + run(bucket, coupled, max_bucket=most, boundary=boundary, heads=CODE_HEADS), crowded


def test_counts_beyond_sixteen_bits_are_in_order():
    """Those of a document add up to its budget, the rarest first."""
    counts = np.zeros((3, 65536), np.int32)
    counts[:, 7] = [2**31 - 1, 70_000, 2**20]
    batch = columns(order=[0], code=code_column([[7, 7, 7]], 3))
    found = rows_of(choose_rare_codes(iter([batch]), counts, budget=70_000 + 2**20), RARE_CODE_POSTINGS)
    assert found == [(1 << 16 | 7, 0, 70_000, True), (2 << 16 | 7, 0, 2**20, True), (7, 0, 2**31 - 1, False)]


def within_budget(code, count, chosen, budget):
    """The slots of the codes within the budget of a document."""
    shared = sorted((count[held], held[0]) for held in enumerate(code) if count[held] > 1)[:chosen]
    return {slot for i, (_, slot) in enumerate(shared) if sum(n for n, _ in shared[: i + 1]) <= budget}


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), max_size=20),
    cuts, st.integers(0, 20), st.integers(1, 6), st.integers(1, 4),
)  # fmt: skip
def test_any_cut_gives_the_formula(codes, cut, budget, most, chosen):
    rows = cut_at(columns(order=2 * np.arange(len(codes)), code=code_column(codes, 6)), cut)
    how = {"bands": 3, "threshold": 0.8, "max_bucket": most, "chosen": chosen, "budget": budget}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "VOUCHED_AT_A_TIME", 7)
        found = rows_of(estimate_recalls(iter(rows), counted(rows, 6), **how), VOUCHED)
    count = Counter(held for code in codes for held in enumerate(code))
    assert [order for order, _ in found] == [2 * i for i in range(len(codes))]
    for code, (_, recall) in zip(codes, found, strict=True):
        within = within_budget(code, count, chosen, budget)
        own = np.array([slot in within or count[slot, c] == 1 for slot, c in enumerate(code)]).reshape(1, 3, 2)
        crowded = np.array([[all(count[slot, code[slot]] > most for slot in (2 * band, 2 * band + 1)) for band in range(3)]])
        assert recall == pytest.approx(crowded_recall(own, crowded, 0.8, chosen)[0], abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=30),
    st.integers(0, 9),
    st.floats(0.5, 1),
    cuts,
    st.randoms(),
)
def test_recalls_are_added_up_the_same_in_any_order(rows, boundary, most, cut, chance):
    """Bit for bit; references are left out, and no recall counts for more than the plan's."""
    total = folded(recall_sums(most, boundary), cut_rows(rows, VOUCHED, cut))
    other = folded(recall_sums(most, boundary), cut_rows(chance.sample(rows, len(rows)), VOUCHED, cut))
    own = [min(recall, most) for order, recall in rows if order >= boundary]
    assert total.tolist() == other.tolist() and total[0] == len(own)
    assert sum_of_recalls(total) == pytest.approx(sum(own), abs=1e-12)
