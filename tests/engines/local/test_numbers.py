"""Rows of equal numbers meet in the local engine; of repeats one is enough where the caller says so."""

import itertools
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from engine_kinds import make
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lookalike.engines.local import sort as local_sort
from lookalike.files.workspace import Workspace

LINKS = pa.schema([("left", pa.int64()), ("right", pa.int64())])
links = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=60)


def met(engine, found, cut, once):
    """The rows that meet, as they come."""
    batches = [
        pa.RecordBatch.from_pylist([{"left": a, "right": b} for a, b in found[i : i + cut]], LINKS)
        for i in range(0, len(found), cut)
    ]
    table = engine.rows(pa.Table.from_batches(batches, LINKS))
    rows = pa.Table.from_batches(engine.group_by(table, "left", "right", once=once).batches(), LINKS)
    return list(zip(rows["left"].to_pylist(), rows["right"].to_pylist(), strict=True))


@pytest.mark.parametrize("few", [1, 1 << 20])
@pytest.mark.parametrize("kind", ["local", "threads", "spilled"])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(found=links, cut=st.integers(1, 20))
def test_repeats_go_and_nothing_else_does(kind, few, tmp_path_factory, found, cut):
    with pytest.MonkeyPatch.context() as patch:
        engine = make(kind, tmp_path_factory.mktemp("work"), patch)
        patch.setattr(local_sort, "DISTINCT_BYTES", few)
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
    counted, distinct = [], local_sort._distinct
    monkeypatch.setattr(local_sort, "_distinct", lambda arrays: counted.append(1) or distinct(arrays))
    monkeypatch.setattr(local_sort, "DISTINCT_BYTES", 800)
    found = [(int(a), int(b)) for a, b in np.ndindex(80, 80)]
    assert len(met(make("local", tmp_path, monkeypatch), found, 10, True)) == 6400
    assert len(counted) <= 1 + np.log2(6400 * 8 / 800) + 2


@pytest.mark.parametrize("memory", [500, 1 << 30])
@pytest.mark.parametrize("bound", [None, 200])
def test_a_job_goes_on_after_the_mark_of_each_piece(tmp_path, memory, bound):
    """Spread over the parts of a workspace or held: the pieces after a mark are those that came after it."""
    found = pa.table({"left": np.arange(200), "right": np.arange(200)[::-1]}, LINKS)
    rows = SimpleNamespace(schema=LINKS, batches=lambda: iter(found.to_batches(30)))
    space = Workspace(tmp_path / "work", {"a": "job"})
    table = local_sort.by_number(rows, "left", "right", space, memory, 1, lambda size: None, bound=bound)

    def after(mark):
        made = ((piece.mark, list(piece.make())) for piece in table.pieces(mark))
        return [(mark, [row for batch in batches for row in batch.to_pylist()]) for mark, batches in made]

    pieces = after(0)
    assert sorted((row["left"], row["right"]) for _, rows in pieces for row in rows) == [(n, 199 - n) for n in range(200)]
    assert len(pieces) > 30
    for place, (mark, _) in enumerate(pieces):
        assert after(mark) == pieces[place + 1 :]


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("kind", ["local", "spilled"])
def test_large_numbers_meet_small_ones(kind, once, tmp_path, monkeypatch):
    """Small numbers are packed in pairs; batches of them are taken apart where others have numbers of 33 bits and more."""
    found = [(1, 5), (3, 2), (1, 4), (1, 1 << 40), (1 << 33, 1), (3, 7), (3, 1), (1, 6)]
    engine = make(kind, tmp_path, monkeypatch)
    rows = met(engine, found, 2, once)
    engine.close()
    assert sorted(rows) == sorted(found)
    assert [right for left, right in rows if left == 1] == [4, 5, 6, 1 << 40]
    assert [right for left, right in rows if left == 3] == [1, 2, 7]


@pytest.mark.parametrize("beyond", [0, 1 << 33])
@pytest.mark.parametrize("kind", ["local", "spilled"])
def test_numbers_of_32_bits_meet_like_others(kind, beyond, tmp_path, monkeypatch):
    """Keys of couples have 32 bits: packed, the upper half of them are negative, and the last of the others has no next one."""
    edges = [0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
    found = [(key, order) for order in range(3) for key in edges] + [(beyond, 7)] * bool(beyond)
    for last in range(1, len(edges) + 1):
        some = [row for row in found if row[0] in (*edges[:last], beyond)]
        engine = make(kind, tmp_path / str(last), monkeypatch)
        monkeypatch.setattr(local_sort, "MEMBERS", 2)
        rows = met(engine, some, 4, False)
        engine.close()
        assert sorted(rows) == sorted(some)
        groups = [key for key, _ in itertools.groupby(rows, key=lambda row: row[0])]
        assert len(groups) == len(set(groups))


@pytest.mark.parametrize("kind", ["local", "spilled"])
def test_a_large_group_comes_in_several_batches(kind, tmp_path, monkeypatch):
    """Joins add to each row what is wide: of the first document of a crowd there are millions."""
    engine = make(kind, tmp_path, monkeypatch)
    monkeypatch.setattr(local_sort, "BLOCK", 10)
    monkeypatch.setattr(local_sort, "JOINED", 1 << 40)
    found = [(left, right) for left in range(3) for right in range(97)]
    batches = list(
        engine.group_by(engine.rows(pa.table(list(zip(*found, strict=True)), LINKS.names)), "left", "right").batches()
    )
    assert max(map(len, batches)) <= 10 and len(batches) >= 30
    rows = pa.Table.from_batches(batches).to_pydict()
    for left in range(3):  # together, and in order
        places = [i for i, value in enumerate(rows["left"]) if value == left]
        assert places == list(range(places[0], places[0] + 97))
        assert [rows["right"][i] for i in places] == list(range(97))
    engine.close()


def test_repeats_in_many_parts_are_dropped_as_they_are_read(tmp_path, monkeypatch):
    """A pair that every band repeats is not held once for each band."""
    engine = make("spilled", tmp_path, monkeypatch)
    monkeypatch.setattr(local_sort, "DISTINCT_BYTES", 800)
    once, joined, most = [(0, right) for right in range(100)], local_sort.NumberSort.join_parts, []

    def joining(self, parts):
        together = joined(self, parts)
        most.append(sum(array.nbytes for array in together.values()))
        return together

    monkeypatch.setattr(local_sort.NumberSort, "join_parts", joining)
    assert met(engine, once * 60, 50, True) == once
    assert sum(most) > 0 and max(most) < 60 * 800 / 3
    engine.close()
