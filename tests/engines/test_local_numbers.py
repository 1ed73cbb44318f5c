"""Rows of equal numbers meet in the local engine; of repeats one is enough where the caller says so."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from engine_kinds import make
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semblance.engines import local_numbers

LINKS = pa.schema([("left", pa.int64()), ("right", pa.int64())])
links = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=60)


def met(engine, found, cut, once):
    """The rows that meet, as they come."""
    batches = [
        pa.RecordBatch.from_pylist([{"left": a, "right": b} for a, b in found[i : i + cut]], LINKS)
        for i in range(0, len(found), cut)
    ]
    table = engine.rows(pa.Table.from_batches(batches, LINKS))
    rows = pa.Table.from_batches(engine.meet(table, "left", "right", once=once).batches(), LINKS)
    return list(zip(rows["left"].to_pylist(), rows["right"].to_pylist(), strict=True))


@pytest.mark.parametrize("few", [1, 1 << 20])
@pytest.mark.parametrize("kind", ["local", "threads", "spilled"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(found=links, cut=st.integers(1, 20))
def test_repeats_go_and_nothing_else_does(kind, few, tmp_path_factory, found, cut):
    with pytest.MonkeyPatch.context() as patch:
        engine = make(kind, tmp_path_factory.mktemp("work"), patch)
        patch.setattr(local_numbers, "DISTINCT_BYTES", few)
        every, some = met(engine, found, cut, False), met(engine, found, cut, True)
        engine.close()
    assert sorted(every) == sorted(found)
    assert sorted(some) == sorted(set(found))
    for rows in (every, some):
        groups = [left for left, before in zip(rows, [None, *rows], strict=False) if before is None or left[0] != before[0]]
        assert len(groups) == len({left for left, _ in rows})
        assert all(a[0] != b[0] or a[1] <= b[1] for a, b in itertools.pairwise(rows))


def test_a_table_without_repeats_is_not_sorted_again_and_again(monkeypatch, tmp_path):
    """Else its cost would grow with the square of its rows."""
    counted, distinct = [], local_numbers._distinct
    monkeypatch.setattr(local_numbers, "_distinct", lambda arrays: counted.append(1) or distinct(arrays))
    monkeypatch.setattr(local_numbers, "DISTINCT_BYTES", 800)
    found = [(int(a), int(b)) for a, b in np.ndindex(80, 80)]
    assert len(met(make("local", tmp_path, monkeypatch), found, 10, True)) == 6400
    assert len(counted) <= 1 + np.log2(6400 * 8 / 800) + 2
