from functools import partial
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import cuts, rows_of, whole
from engines.local.stored_rows import stored
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

from lookalike.engines.local.tables import UNFINISHED, LazyTable, Piece, Stored, union
from lookalike.files.arrays import ArrayFile
from lookalike.files.workspace import Workspace

SCHEMA = whole("x")


def batch(values):
    return pa.record_batch({"x": pa.array(values, "int64")})


def lazy(groups, threads, made=None):
    """One piece for each list, of one batch a number."""

    def pieces(mark):
        for number, values in enumerate(groups[mark:], mark + 1):
            if made is not None:
                made.append(number)
            yield Piece(partial(iter, [batch([value]) for value in values]), number)

    return LazyTable(SCHEMA, pieces, threads)


def doubled(rows):
    for one in rows:
        yield batch([2 * value for value in one["x"].to_pylist()])


def told(marked):
    return [x for one in marked for x in ([f"mark {one}"] if isinstance(one, int) else one["x"].to_pylist())]


groups = st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=5)


@given(groups, st.integers(0, 5), st.sampled_from([1, 3]))
def test_rows_go_on_after_a_mark(found, mark, threads):
    """A step keeps the marks; a union has all rows, and none."""
    table = lazy(found, threads)
    mapped, rows = table.mapped(doubled, SCHEMA), [x for values in found for x in values]
    wanted = [x for number, values in enumerate(found, 1) if number > mark for x in (*values, f"mark {number}")]
    assert told(table.batches_and_marks(mark)) == told(table.select(["x"]).batches_and_marks(mark)) == wanted
    assert told(mapped.batches_and_marks(mark)) == [x if isinstance(x, str) else 2 * x for x in wanted]
    assert told(mapped.batches()) == [2 * x for x in rows]
    both = union([table, mapped], threads)
    assert told(both.batches()) == rows + [2 * x for x in rows]
    assert [one for one in both.batches_and_marks(0) if isinstance(one, int)] == 2 * [UNFINISHED] * len(found)


def test_one_thread_makes_rows_as_they_are_wanted():
    """Several threads make some pieces ahead, not all."""
    for threads, most in ((1, 1), (2, 49)):
        made = []
        rows = lazy([[number] for number in range(1000)], threads, made).batches_and_marks()
        assert told([next(rows), next(rows)]) == [0, "mark 1"] and len(made) <= most
    assert_raises(TypeError, "store them first", lazy([], 1).slice, 0, 1)


@given(st.lists(st.tuples(st.integers(0, 99), st.booleans()), min_size=1, max_size=20), cuts, st.integers(1, 8), st.data())
def test_stored_rows(found, cut, at_a_time, data):
    """Some of which a mask leaves out, in places of their own; marks count rows."""
    n, mask = len(found), np.array([there for _, there in found])
    place = np.array(data.draw(st.permutations(range(n))))
    begin, end, mark = (data.draw(st.integers(0, n)) for _ in range(3))
    table = stored([{"x": x} for x, _ in found], whole("x", "order"), cut, place=place, mask=mask)

    def there(first, last):
        return [(found[row][0], place[row]) for row in range(first, last) if mask[row]]

    with patch("lookalike.engines.local.tables.ROWS", at_a_time):
        pieces = list(table.pieces())
        assert all(sum(map(len, piece.make())) <= at_a_time for piece in pieces) and pieces[-1].mark == n
        assert rows_of(table.batches()) == there(0, n) and rows_of(table.slice(begin, end).batches()) == there(begin, end)
        assert [row for piece in table.pieces(mark) for row in rows_of(piece.make())] == there(mark, n)
    assert [place[row] for row in table.rows_in_order()] == sorted(order for _, order in there(0, n))
    assert table.at(place, "x").to_pylist() == [x for x, _ in found] and len(rows_of(table.having(mask=None).batches())) == n


@pytest.mark.parametrize("threads", [1, 3])
def test_an_array_of_a_part_is_read_once_for_all_its_pieces(tmp_path, monkeypatch, threads):
    monkeypatch.setattr("lookalike.engines.local.tables.ROWS", 10)
    workspace = Workspace(tmp_path / "w")
    for first in (0, 64):
        workspace.append("t", {"x": np.arange(first, first + 64), "y": np.arange(64)})
    table = Stored(workspace, workspace.numbered_names("t"), np.array([0, 64, 128]), SCHEMA, threads)
    read, get = [], ArrayFile.__getitem__
    monkeypatch.setattr(ArrayFile, "__getitem__", lambda file, name: (get(file, name), read.append((file.path.name, name)))[0])
    assert rows_of(table.batches()) == [(x,) for x in range(128)]
    assert sorted(read) == [("t-000000.part", "x"), ("t-000001.part", "x")]
    workspace.close()
