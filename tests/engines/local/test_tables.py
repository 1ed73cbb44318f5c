"""Tables of the local engine: marks from which rows go on, and stored rows that are masked, placed and cut."""

import itertools
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local import tables as local_tables
from lookalike.engines.local.tables import UNFINISHED, LazyTable, Piece, Stored, arrays_of, union
from lookalike.files.arrays import ArrayFile
from lookalike.files.workspace import Workspace

SCHEMA = pa.schema([("x", pa.int64())])
ORDERED = SCHEMA.append(pa.field("order", pa.int64()))


def batch(values):
    return pa.record_batch({"x": pa.array(values, pa.int64())})


def lazy(groups, threads):
    """A table of one piece for each list, of one batch a number."""

    def pieces(mark):
        for number, values in enumerate(groups[mark:], mark + 1):
            yield Piece(partial(iter, [batch([value]) for value in values]), number)

    return LazyTable(SCHEMA, pieces, threads)


def doubled(rows):
    for one in rows:
        yield batch([2 * value for value in one["x"].to_pylist()])


def told(marked):
    """Rows and marks in one list; marks as strings."""
    return [x for one in marked for x in ([f"mark {one}"] if isinstance(one, int) else one["x"].to_pylist())]


groups = st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=5)


@given(groups, st.integers(0, 5), st.sampled_from([1, 3]))
def test_rows_go_on_after_a_mark(found, mark, threads):
    table = lazy(found, threads)
    wanted = [x for number, values in enumerate(found, 1) if number > mark for x in (*values, f"mark {number}")]
    assert told(table.batches_and_marks(mark)) == wanted
    mapped = table.mapped(doubled, SCHEMA)
    assert told(mapped.batches_and_marks(mark)) == [x if isinstance(x, str) else 2 * x for x in wanted], (
        "a step keeps the marks"
    )
    assert told(mapped.batches()) == [2 * x for values in found for x in values]
    assert told(table.select(["x"]).batches_and_marks(mark)) == wanted


@given(st.lists(groups, min_size=1, max_size=3), st.sampled_from([1, 2]))
def test_a_union_has_all_rows_and_no_marks(tables, threads):
    both = union([lazy(found, threads) for found in tables], threads)
    assert told(both.batches()) == [x for found in tables for values in found for x in values]
    marks = [one for one in both.batches_and_marks(0) if isinstance(one, int)]
    assert marks == [UNFINISHED] * sum(map(len, tables))


def test_one_thread_makes_rows_as_they_are_wanted():
    """Nothing is made ahead; several threads make some pieces ahead, not all."""
    made = []

    def pieces(mark):
        for number in range(1, 1000):
            made.append(number)
            yield Piece(partial(iter, [batch([number])]), number)

    for threads in (1, 2):
        made.clear()
        rows = LazyTable(SCHEMA, pieces, threads).batches_and_marks()
        assert told([next(rows), next(rows)]) == [1, "mark 1"]
        assert len(made) == 1 if threads == 1 else len(made) < 50
    with pytest.raises(TypeError, match="store them first"):
        LazyTable(SCHEMA, pieces, 1).slice(0, 1)


def stored(found, cuts, **more):
    """Rows in some parts."""
    space, starts = Workspace(), [0]
    bounds = [0, *sorted(min(cut, len(found)) for cut in cuts), len(found)]
    for begin, end in itertools.pairwise(bounds):
        space.append("rows", arrays_of(batch(found[begin:end])))
        starts.append(end)
    return Stored(space, space.numbered_names("rows"), np.array(starts), more.pop("schema", SCHEMA), 1, **more)


@given(
    st.lists(st.integers(0, 99), min_size=1, max_size=20),
    st.lists(st.integers(0, 20), max_size=3),
    st.integers(1, 8),
    st.data(),
)
def test_stored_rows(found, cuts, at_a_time, data):
    n = len(found)
    place = np.array(data.draw(st.permutations(range(n)))) if data.draw(st.booleans()) else None
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))) if data.draw(st.booleans()) else None
    begin, end, mark = (data.draw(st.integers(0, n)) for _ in range(3))
    table = stored(found, cuts, schema=ORDERED, place=place, mask=mask, ranked=True)
    orders = range(n) if place is None else place.tolist()
    wanted = [(x, order) for row, (x, order) in enumerate(zip(found, orders, strict=True)) if mask is None or mask[row]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_tables, "ROWS", at_a_time)
        pieces = list(table.pieces())
        assert all(sum(map(len, piece.make())) <= at_a_time for piece in pieces)
        assert [tuple(row.values()) for one in table.batches() for row in one.to_pylist()] == wanted
        assert pieces[-1].mark == n, "marks count rows"
        cut = table.slice(begin, end)
        some = [(found[row], orders[row]) for row in range(begin, end) if mask is None or mask[row]]
        assert [tuple(row.values()) for one in cut.batches() for row in one.to_pylist()] == some
        after = [(found[row], orders[row]) for row in range(mark, n) if mask is None or mask[row]]
        assert [tuple(row.values()) for piece in table.pieces(mark) for one in piece.make() for row in one.to_pylist()] == after
    assert len(table) == n and table.in_one == (len(table.parts) == 1)
    assert table.column("x").tolist() == found
    assert [orders[row] for row in table.rows_in_order()] == sorted(order for _, order in wanted)
    some = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=6)), np.int64)
    at = {order: x for x, order in zip(found, orders, strict=True)}
    assert table.at(some, "x").to_pylist() == [at[order] for order in some.tolist()]
    assert table.take("x", some).to_pylist() == [found[row] for row in some.tolist()]
    assert table.select(["order"]).schema.names == ["order"] and table.having(mask=None).mask is None


@pytest.mark.parametrize("threads", [1, 3])
def test_an_array_of_a_part_is_read_once_for_all_its_pieces(tmp_path, monkeypatch, threads):
    monkeypatch.setattr(local_tables, "ROWS", 10)
    workspace = Workspace(tmp_path / "w")
    for first in (0, 64):
        workspace.append("t", {"x": np.arange(first, first + 64), "y": np.arange(64)})
    stored = Stored(workspace, workspace.numbered_names("t"), np.array([0, 64, 128]), SCHEMA, threads)
    read, get = [], ArrayFile.__getitem__

    def counted(file, name):
        found = get(file, name)
        read.append((file.path.name, name))
        return found

    monkeypatch.setattr(ArrayFile, "__getitem__", counted)
    assert [x for rows in stored.batches() for x in rows["x"].to_pylist()] == list(range(128))
    assert sorted(read) == [("t-000000.part", "x"), ("t-000001.part", "x")]
    workspace.close()
