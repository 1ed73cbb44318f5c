"""tests/jobs/ids.job has the other refusals."""

import random

import pyarrow as pa
import pytest
from engine_kinds import KINDS, prepare
from samples import one_in

import lookalike as la
from lookalike.errors import InputDataError


@pytest.mark.parametrize(("seed", "kind"), one_in(3, [1, 2, 3], KINDS))
def test_the_first_repeat_is_named(kind, seed, monkeypatch):
    rng, seen = random.Random(seed), {}
    ids = rng.choices(range(40), k=30)
    row = next(row for row, number in enumerate(ids) if number in seen or seen.update({number: row}))
    table = pa.table({"text": [f"a b c{i}" for i in range(30)], "id": ids})
    with pytest.raises(
        InputDataError, match=f"the id '{ids[row]}' appears twice: table, row {seen[ids[row]]} and table, row {row};"
    ):
        la.dedup(table, id="id", **prepare(kind, monkeypatch))
