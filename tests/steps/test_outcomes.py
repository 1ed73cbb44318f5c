"""What became of documents is added up the same in any order."""

import pickle

import pyarrow as pa
from cut_tables import batches, cuts
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.decide import REASONS
from lookalike.steps.totals import LEAST_ALIKE, OUTCOMES, add_outcomes
from lookalike.values.arrow import strings

TOLD = pa.schema([("reason", pa.string()), ("resemblance", pa.float64()), ("position", pa.int64())])
rows = st.lists(st.tuples(st.sampled_from(REASONS) | st.just("near"), st.sampled_from([0.8, 0.85, 0.9, 1.0])), max_size=25)


@given(rows, cuts, st.randoms(use_true_random=False))
def test_reasons_are_counted_and_the_lowest_scores_found(found, cut, chance):
    """Of equal scores those of the first documents."""
    told = [(reason, score if reason == "near" else None, place << 40) for place, (reason, score) in enumerate(found)]
    shuffled = chance.sample(told, len(told))
    columns = {name: [row[i] for row in shuffled] for i, name in enumerate(TOLD.names)}
    fold = pickle.loads(pickle.dumps(OUTCOMES))
    totals = [fold.start() for _ in range(3)]
    for batch in batches(columns, TOLD, cut):
        fold.add(chance.choice(totals), batch)
    chance.shuffle(totals)
    total = fold.combine(fold.combine(totals[0], totals[1]), totals[2])
    assert total["reasons"][0].tolist() == [sum(reason == one for reason, _ in found) for one in REASONS]
    lowest = sorted((score, place) for reason, score, place in told if reason == "near")[:LEAST_ALIKE]
    there = total["score"][0] < 2
    assert list(zip(total["score"][0][there], total["place"][0][there], strict=True)) == lowest
    assert total.dtype == fold.start().dtype and total.shape == fold.start().shape


def test_places_may_be_given():
    """Where rows have no positions."""
    total = OUTCOMES.start()
    batch = pa.RecordBatch.from_arrays(
        [strings(["near", "kept"]), pa.array([0.9, None], pa.float64())], ["reason", "resemblance"]
    )
    add_outcomes(total, batch, pa.array([7, 8]).to_numpy())
    assert total["place"][0][0] == 7 and total["score"][0][0] == 0.9
