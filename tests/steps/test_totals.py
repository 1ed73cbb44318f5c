"""What is added up over rows is the same in any order."""

import pickle

import numpy as np
import pyarrow as pa
from cut_tables import batches, columns_of, cuts, folded
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.decide import REASONS
from lookalike.steps.totals import LEAST_ALIKE, N_ROWS, OUTCOMES, add_outcomes, kinds, of_inputs
from lookalike.steps.totals import documents as document_counts
from lookalike.values.arrow import strings

counted = st.tuples(st.integers(0, 50), st.booleans(), st.integers(0, 9), st.booleans(), st.booleans())


@given(st.lists(counted, max_size=30), st.integers(0, 50), st.booleans(), cuts)
def test_totals(rows, boundary, named, cut):
    types = {"position": pa.int64(), "empty": pa.bool_(), "bytes": pa.int64()}
    schema = pa.schema((types | (dict.fromkeys(("id_is_text", "skipped"), pa.bool_()) if named else {})).items())
    rows = [(*row[:4], row[4] and named) for row in rows]
    own = [row for row in rows if row[0] >= boundary]
    left = sum(row[4] for row in own)
    expected = [len(rows), len(rows) - len(own), sum(row[1] and not row[4] for row in own), sum(row[2] for row in rows),
                sum(row[3] for row in rows) if named else 0, 0, 0, 0, left, sum(row[4] for row in rows) - left]  # fmt: skip
    assert folded(document_counts(boundary), batches(columns_of(rows, schema), schema, cut)).tolist() == expected


@given(st.lists(st.sampled_from([None, b"", b"\1", b"\1ab", b"\2", b"\xff"]), max_size=30), cuts)
def test_the_first_of_each_kind_of_priority(priorities, cut):
    schema = pa.schema([("position", pa.int64()), ("priority_1", pa.large_binary())])
    rows = [(100 + place, priority) for place, priority in enumerate(priorities)]
    found = folded(kinds("priority_1"), batches(columns_of(rows, schema), schema, cut))
    expected = np.full(256, np.iinfo(np.int64).max)
    for place, priority in reversed(rows):
        if priority:
            expected[priority[0]] = place
    assert found.tolist() == expected.tolist()


@given(st.lists(st.integers(0, 5), max_size=20), cuts)
def test_rows_are_counted(orders, cut):
    schema = pa.schema([("order", pa.int64())])
    assert folded(N_ROWS, batches({"order": orders}, schema, cut)).tolist() == [len(orders)]


TOLD = pa.schema([("position", pa.int64()), ("kept", pa.bool_())])


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=15), cuts)
def test_documents_by_source(rows, cut):
    columns = {"position": [(s << 40) + i for i, (s, _) in enumerate(rows)], "kept": [kept for _, kept in rows]}
    everyone, kept = folded(of_inputs(4, kept=True), batches(columns, TOLD, cut)).tolist()
    assert everyone == [sum(s == i for s, _ in rows) for i in range(4)]
    assert kept == [sum(s == i and stays for s, stays in rows) for i in range(4)]


def test_rows_are_counted_by_input():
    rows = pa.record_batch({"position": pa.array([5, 6, (2 << 40) + 1])})
    total = folded(of_inputs(4), [rows, rows.slice(2)])
    assert total.tolist() == [[2, 0, 2, 0]] and total.dtype == np.int64


DECIDED = pa.schema([("reason", pa.string()), ("resemblance", pa.float64()), ("position", pa.int64())])


decided = st.lists(st.tuples(st.sampled_from(REASONS) | st.just("near"), st.sampled_from([0.8, 0.85, 0.9, 1.0])), max_size=25)


@given(decided, cuts, st.randoms(use_true_random=False))
def test_reasons_are_counted_and_the_lowest_scores_found(found, cut, chance):
    """Of equal scores those of the first documents."""
    told = [(reason, score if reason == "near" else None, place << 40) for place, (reason, score) in enumerate(found)]
    shuffled = chance.sample(told, len(told))
    columns = {name: [row[i] for row in shuffled] for i, name in enumerate(DECIDED.names)}
    fold = pickle.loads(pickle.dumps(OUTCOMES))
    totals = [fold.start() for _ in range(3)]
    for batch in batches(columns, DECIDED, cut):
        fold.add(chance.choice(totals), batch)
    chance.shuffle(totals)
    total = fold.combine(fold.combine(totals[0], totals[1]), totals[2])
    assert total["reasons"][0].tolist() == [sum(reason == one for reason, _ in found) for one in REASONS]
    lowest = sorted((score, place) for reason, score, place in told if reason == "near")[:LEAST_ALIKE]
    there = total["score"][0] < 2
    assert list(zip(total["score"][0][there], total["place"][0][there], strict=True)) == lowest
    assert total.dtype == fold.start().dtype and total.shape == fold.start().shape


def test_places_may_be_given():
    """Where decided have no positions."""
    total = OUTCOMES.start()
    batch = pa.RecordBatch.from_arrays(
        [strings(["near", "kept"]), pa.array([0.9, None], pa.float64())], ["reason", "resemblance"]
    )
    add_outcomes(total, batch, pa.array([7, 8]).to_numpy())
    assert total["place"][0][0] == 7 and total["score"][0][0] == 0.9
