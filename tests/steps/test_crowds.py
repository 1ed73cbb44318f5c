"""Links of crowded documents by rare codes, and what is vouched for them, against the rule in plain Python."""

import pickle
from collections import defaultdict
from functools import partial, reduce

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import batches, columns_of, cuts, run
from hypothesis import example, given
from hypothesis import strategies as st
from steps import naive_crowds as naive
from steps.made import code_column, columns, cut_at, places, rows_of

from lookalike.steps import crowds as module
from lookalike.steps import pairs as linking
from lookalike.steps.crowds import (
    MARKS,
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


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30), cuts)
def test_marks_are_links_of_a_document_with_itself(links, cut):
    assert run(marks, batches(columns_of(links, LINKS), LINKS, cut)) == [(a,) for a, b in links if a == b]
    assert next(marks(batches(columns_of([], LINKS), LINKS))).schema == MARKS


SLOTS = 5


codes_of_documents = st.lists(
    st.lists(st.sampled_from([0, 1, 2, 3, 16, 255, 256, 65535]), min_size=SLOTS, max_size=SLOTS), max_size=25
)


kinds = st.sampled_from(["fixed", "small", "large", "dictionary"])


def counted(codes, kind="fixed", cuts=()):
    """The table of counts of some documents."""
    fold, parts = code_counts(SLOTS), []
    for batch in cut_at(columns(code=code_column(codes, SLOTS, kind)), cuts):
        parts.append(fold.start())
        fold.add(parts[-1], batch)
    return reduce(fold.combine, parts)


@given(codes_of_documents, kinds, places)
def test_codes_are_counted(codes, kind, places):
    table = counted(codes, kind, places)
    assert table.shape == (SLOTS, 65536) and table.dtype == np.int32
    naively = naive.count_codes(codes, range(len(codes)))
    assert {
        (slot, code): table[slot, code] for slot, code in zip(*(x.tolist() for x in table.nonzero()), strict=True)
    } == naively


@given(codes_of_documents, kinds, places, st.integers(1, 6), st.integers(0, 40), st.integers(1, 9))
def test_documents_hold_their_rarest_codes(codes, kind, places, chosen, budget, rows):
    batch = columns(order=np.arange(len(codes)) * 3, code=code_column(codes, SLOTS, kind))
    counts = counted(codes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS_AT_A_TIME", rows)
        found = rows_of(choose_rare_codes(iter(cut_at(batch, places)), counts, chosen, budget), RARE_CODE_POSTINGS)
    count = naive.count_codes(codes, range(len(codes)))
    assert found == [
        (slot << 16 | code, 3 * order, n, within)
        for order in range(len(codes))
        for slot, code, n, within in naive.held(codes[order], count, chosen, budget)
    ]


def test_counts_beyond_sixteen_bits_are_in_order(rng):
    counts = np.zeros((3, 65536), np.int32)
    counts[:, 7] = [2**31 - 1, 70_000, 2**20]
    batch = columns(order=[0], code=code_column([[7, 7, 7]], 3))
    found = rows_of(choose_rare_codes(iter([batch]), counts, budget=70_000 + 2**20))
    assert found == [(1 << 16 | 7, 0, 70_000, True), (2 << 16 | 7, 0, 2**20, True), (7, 0, 2**31 - 1, False)]


@given(
    st.lists(st.lists(st.sampled_from([0, 1, 2, 65535]), min_size=SLOTS, max_size=SLOTS), max_size=40),
    kinds, places, st.integers(1, 6), st.integers(0, 40), st.integers(0, 5), st.integers(1, 9),
)  # fmt: skip
@example([[0, 1, 2, 0, 1]] * 2 + [[0, 0, 1, 2, 65535]] * 9, "fixed", [], 2, 0, 4, 3)
@example([[0, 1, 2, 0, 1]] * 2 + [[0, 0, 1, 2, 65535]] * 9, "fixed", [5], 3, 4, 3, 9)
def test_couples_are_of_codes_beyond_the_budget(codes, kind, places, chosen, budget, taken, rows):
    batch = columns(order=np.arange(len(codes)) * 3, code=code_column(codes, SLOTS, kind))
    step = partial(pair_codes, chosen=chosen, budget=budget, taken=taken)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROWS_AT_A_TIME", rows)
        found = rows_of(pickle.loads(pickle.dumps(step))(iter(cut_at(batch, places)), counts=counted(codes)), CODE_PAIRS)
    count = naive.count_codes(codes, range(len(codes)))
    wanted = [
        (key, 3 * order)
        for order in range(len(codes))
        for key in naive.couples(codes[order], count, chosen, budget, len(codes), taken)
    ]
    assert sorted(found) == sorted(wanted)
    assert [order for _, order in found] == [order for _, order in wanted]


holders = st.dictionaries(
    st.integers(0, 2**40),
    st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=12, unique_by=lambda h: h[0]).map(sorted),
    max_size=6,
)


@given(holders, places, st.sampled_from([0, 0, 10, 99]), st.integers(0, 5), st.integers(1, 20))
@example({1: [(i, i == 2) for i in range(9)]}, [1, 2, 3, 4, 5, 8], 0, 2, 1)
def test_any_cut_gives_the_links_of_holders(groups, places, boundary, heads, room):
    # no code within a budget has more holders than that
    groups = {code: [(order, within and len(some) <= 6) for order, within in some] for code, some in groups.items()}
    flat = [(code, *holder) for code, some in groups.items() for holder in some]
    batch = columns(
        code=[code for code, _, _ in flat],
        order=[order for _, order, _ in flat],
        count=np.zeros(len(flat)),
        within_budget=pa.array([within for _, _, within in flat], pa.bool_()),
    )
    step = pickle.loads(pickle.dumps(partial(link_rare_codes, boundary=boundary, heads=heads, budget=6)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "AT_A_TIME", room)
        found = rows_of(step(iter(cut_at(batch, places))), LINKS)
    assert found == [link for some in groups.values() for link in naive.rare_links(some, boundary, heads)]


@given(st.data())
def test_the_steps_together_are_the_rule(data):
    """Buckets, marks, counts, holders and links of random documents against the rule as it is stated."""
    n, boundary = data.draw(st.integers(1, 30)), data.draw(st.sampled_from([0, 8]))
    codes = data.draw(st.lists(st.lists(st.integers(0, 3), min_size=SLOTS, max_size=SLOTS), min_size=n, max_size=n))
    bands = [data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) for _ in range(2)]
    most, budget, heads = data.draw(st.integers(1, 12)), data.draw(st.integers(0, 30)), data.draw(st.integers(0, 3))
    buckets = defaultdict(list)
    for order in range(n):
        for band, keys in enumerate(bands):
            buckets[10 * band + keys[order]].append(order)
    found, crowded = linked(buckets, codes, boundary, most, heads, budget)
    naively = naive.links(buckets.values(), codes, boundary, most, heads, chosen=3, budget=budget, code_heads=2)
    assert sorted(found) == sorted(naively)
    assert crowded == sorted({order for members in buckets.values() if len(members) > most for order in members})


def linked(buckets, codes, boundary, most, heads, budget):
    """The links of all steps, without marks, and the orders of crowded documents."""
    keyed = columns(key=[k for k, m in buckets.items() for _ in m], order=[o for m in buckets.values() for o in m])
    found = rows_of(bucket(iter([keyed]), max_bucket=most, boundary=boundary, heads=heads))
    crowded = sorted({a for a, b in found if a == b})
    rows = columns(order=crowded, code=code_column([codes[order] for order in crowded], SLOTS))
    counts = counted([codes[order] for order in crowded])
    held = rows_of(choose_rare_codes(iter([rows]), counts, chosen=3, budget=budget))
    by_code = pa.RecordBatch.from_pylist(
        [dict(zip(RARE_CODE_POSTINGS.names, row, strict=True)) for row in sorted(held)], schema=RARE_CODE_POSTINGS
    )
    found += rows_of(link_rare_codes(iter([by_code]), boundary=boundary, heads=2, budget=budget))
    coupled = sorted(rows_of(pair_codes(iter([rows]), counts, chosen=3, budget=budget)))
    by_key = columns(key=[key for key, _ in coupled], order=[order for _, order in coupled])
    found += rows_of(bucket(iter([by_key]), max_bucket=most, boundary=boundary, heads=2))
    return [link for link in found if link[0] < link[1]], crowded


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
    step = partial(estimate_recalls, counts=counts, bands=3, threshold=0.8, max_bucket=most, chosen=chosen, budget=budget)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "VOUCHED_AT_A_TIME", 7)
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
