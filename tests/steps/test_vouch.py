"""What is vouched for crowded documents: own codes and possible crowds, naively, put into the formula."""

from functools import partial

import numpy as np
import pytest
from cut_tables import batches, cuts
from hypothesis import given
from hypothesis import strategies as st
from steps import naive_crowds as naive
from steps.made import code_column, columns, cut_at, places, rows_of

from lookalike.steps import crowds as vouching
from lookalike.steps.crowds import VOUCHED, code_counts, recall_sums, sum_of_recalls, vouch
from lookalike.theory.agreement import crowded_recall


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), max_size=20),
    places,
    st.integers(0, 20),
    st.integers(1, 6),
    st.integers(1, 4),
)
def test_any_cut_gives_the_formula(codes, places, budget, most, chosen):
    batch = columns(order=2 * np.arange(len(codes)), code=code_column(codes, 6))
    counts = code_counts(6).start()
    code_counts(6).add(counts, batch)
    step = partial(vouch, counts=counts, bands=3, threshold=0.8, max_bucket=most, chosen=chosen, budget=budget)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vouching, "VOUCHED_AT_A_TIME", 7)
        found = rows_of(step(iter(cut_at(batch, places))), VOUCHED)
    count = naive.count_codes(codes, range(len(codes)))
    assert [order for order, _ in found] == [2 * i for i in range(len(codes))]
    for code, (_, recall) in zip(codes, found, strict=True):
        within = {slot for slot, _, _, within in naive.held(code, count, chosen, budget) if within}
        own = np.array([slot in within or count[slot, c] == 1 for slot, c in enumerate(code)]).reshape(1, 3, 2)
        crowded = np.array([[all(count[slot, code[slot]] > most for slot in (2 * band, 2 * band + 1)) for band in range(3)]])
        assert recall == pytest.approx(crowded_recall(own, crowded, 0.8, chosen)[0], abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=30), st.integers(0, 9), st.floats(0.5, 1), cuts,
       st.randoms(use_true_random=False))  # fmt: skip
def test_recalls_are_added_up_the_same_in_any_order(rows, boundary, most, cut, chance):
    """Bit for bit; references are left out, and no recall counts for more than the plan's."""
    sums = set()
    for _ in range(3):
        chance.shuffle(rows)
        fold = recall_sums(most, boundary)
        total = fold.start()
        told = {"order": [order for order, _ in rows], "recall": [recall for _, recall in rows]}
        for batch in batches(told, VOUCHED, cut):
            fold.add(total, batch)
        sums.add((int(total[0]), sum_of_recalls(total)))
    ((n, found),) = sums
    own = [min(recall, most) for order, recall in rows if order >= boundary]
    assert n == len(own) and found == pytest.approx(sum(own), abs=1e-12)
