"""What is added up over rows is the same in any order."""

import pickle
from collections import Counter

import pyarrow as pa
from cut_tables import cut_rows, cuts, folded, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.decide import REASONS, count_by_value
from lookalike.steps.totals import LEAST_ALIKE, OUTCOMES, documents


@given(st.lists(st.tuples(st.integers(0, 50), *[st.booleans()] * 3, st.integers(0, 9)), max_size=30), st.integers(0, 50), cuts)
def test_documents_are_counted(rows, boundary, cut):
    """References apart; with and without columns of what is left out and of ids."""
    flags = [(name, pa.bool_()) for name in ("empty", "skipped", "id_is_text")]
    schema = pa.schema([("position", pa.int64()), *flags, ("bytes", pa.int64())])
    own = [row for row in rows if row[0] >= boundary]
    n_bytes, left = sum(row[4] for row in rows), sum(row[2] for row in own)
    named = [len(rows), len(rows) - len(own), sum(row[1] and not row[2] for row in own), n_bytes, sum(row[3] for row in rows)]
    named += [0, 0, 0, left, sum(row[2] for row in rows) - left]
    plain = [*named[:2], sum(row[1] for row in own), n_bytes, *[0] * 6]
    assert folded(documents(boundary), cut_rows(rows, schema, cut)).tolist() == named
    rows, schema = [(*row[:2], row[4]) for row in rows], schema.remove(3).remove(2)
    assert folded(documents(boundary), cut_rows(rows, schema, cut)).tolist() == plain


DECIDED = pa.schema([("reason", pa.string()), ("resemblance", pa.float64()), ("position", pa.int64())])
decided = st.lists(st.tuples(st.sampled_from(REASONS) | st.just("near"), st.sampled_from([0.8, 0.85, 0.9, 1.0])), max_size=25)


@given(decided, cuts, st.randoms(use_true_random=False))
def test_reasons_are_counted_and_the_lowest_scores_found(found, cut, chance):
    """Of equal scores those of the first documents."""
    told = [(reason, score if reason == "near" else None, place << 40) for place, (reason, score) in enumerate(found)]
    fold = pickle.loads(pickle.dumps(OUTCOMES))
    totals = [fold.start() for _ in range(3)]
    for batch in cut_rows(chance.sample(told, len(told)), DECIDED, cut):
        fold.add(chance.choice(totals), batch)
    total = fold.combine(fold.combine(totals[0], totals[1]), totals[2])
    assert total["reasons"][0].tolist() == [sum(reason == one for reason, _ in found) for one in REASONS]
    lowest = sorted((score, place) for reason, score, place in told if reason == "near")[:LEAST_ALIKE]
    there = total["score"][0] < 2
    assert list(zip(total["score"][0][there], total["place"][0][there], strict=True)) == lowest
    assert total.dtype == fold.start().dtype and total.shape == fold.start().shape


@given(st.lists(st.tuples(st.sampled_from(REASONS), st.sampled_from(["de", "en", None]), st.booleans()), max_size=30), cuts)
def test_documents_are_counted_by_value(found, cut):
    """But for references, and those left out."""
    schema = pa.schema([("reason", pa.string()), ("column_l", pa.large_string()), ("kept", pa.bool_())])
    told = Counter()
    for _, value, n, removed in run(count_by_value, cut_rows(found, schema, cut), columns=["column_l"]):
        told += Counter({(value, True): n - removed, (value, False): removed})
    assert told == Counter((value, kept) for reason, value, kept in found if reason not in ("reference", "skipped"))
