import pickle
from collections import Counter

import pyarrow as pa
from cut_tables import cut_rows, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.decide import REASONS, count_by_value
from lookalike.steps.totals import LEAST_ALIKE, OUTCOMES

DECIDED = pa.schema([("reason", "string"), ("resemblance", "float64"), ("position", "int64")])
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
    schema = pa.schema([("reason", "string"), ("column_l", "large_string"), ("kept", "bool")])
    told = Counter()
    for _, value, n, removed in run(count_by_value, cut_rows(found, schema, cut), columns=["column_l"]):
        told += Counter({(value, True): n - removed, (value, False): removed})
    assert told == Counter((value, kept) for reason, value, kept in found if reason not in ("reference", "skipped"))
