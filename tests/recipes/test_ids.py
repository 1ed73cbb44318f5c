"""Ids of columns of Arrow that are none, and repeats that any engine finds; tests/jobs/ids.job has the other refusals."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_kinds import KINDS, prepare
from samples import one_in

import lookalike as la
from lookalike.errors import InputDataError

BROKEN = pa.StringArray.from_buffers(2, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff"))


def test_what_is_no_id_is_refused(tmp_path):
    path = tmp_path / "x.parquet"
    for ids, said in (
        (pa.array(["a", ""]), "row 2: .*empty"),
        (pa.array([["a"], ["b"]]), "list<"),
        (pa.array(["a", "a"]).dictionary_encode(), "'a' appears twice: .*row 1 and .*row 2"),
        (BROKEN, "row 2: .*UTF-8"),
    ):
        pq.write_table(pa.table({"text": ["a", "b"], "id": ids}), path)
        with pytest.raises(InputDataError, match=said) as told:
            la.dedup(path, id="id", encoding_errors="replace")
        assert str(path) in str(told.value)


@pytest.mark.parametrize(("seed", "kind"), one_in(3, [1, 2, 3], KINDS))
def test_the_first_repeat_and_the_first_value_of_another_kind_are_named(kind, seed, monkeypatch):
    rng, seen = random.Random(seed), {}
    ids = rng.choices(range(40), k=30)
    row = next(row for row, number in enumerate(ids) if number in seen or seen.update({number: row}))
    table = pa.table({"text": [f"a b c{i}" for i in range(30)], "id": ids})
    with pytest.raises(
        InputDataError, match=f"the id '{ids[row]}' appears twice: table, row {seen[ids[row]]} and table, row {row};"
    ):
        la.dedup(table, id="id", **prepare(kind, monkeypatch))
    rows = [{"text": f"a b c{i}", "v": value} for i, value in enumerate([None, "x", "y", 3, 4])]
    with pytest.raises(InputDataError, match=r"keep: column 'v' holds .*row 1\) and .*row 3\)"):
        la.dedup(rows, keep="largest:v", **prepare(kind, monkeypatch))
