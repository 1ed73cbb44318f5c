"""A table on its way into parts goes on, wherever it was stopped, with the rows that no part has."""

from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local import tables as local_tables
from lookalike.engines.local.engine import LocalEngine
from lookalike.engines.local.tables import LazyTable, Piece
from lookalike.engines.memory import Memory
from lookalike.files.workspace import Workspace

SCHEMA = pa.schema([("x", pa.int64()), ("keys", pa.list_(pa.int64(), 2)), ("text", pa.large_binary())])


def row(i):
    return {"x": i, "keys": None if i % 5 == 0 else [i, -i], "text": b"t" * (i % 4)}


class StoppedError(Exception):
    """The job is killed."""


class Made:
    """Rows in pieces of some batches, which may be stopped after some batches; notes which pieces it began."""

    def __init__(self, pieces, stop=None):
        self.sizes, self.left, self.begun = pieces, stop, []

    def table(self):
        return LazyTable(SCHEMA, self.pieces, 1)

    def pieces(self, mark):
        for number in range(mark, len(self.sizes)):
            yield Piece(lambda number=number: self.make(number), number + 1)

    def make(self, number):
        self.begun.append(number)
        first = sum(map(sum, self.sizes[:number]))
        for size in self.sizes[number]:
            if self.left is not None:
                self.left -= 1
                if self.left < 0:
                    raise StoppedError
            yield pa.RecordBatch.from_pylist([row(i) for i in range(first, first + size)], SCHEMA)
            first += size


def engine(folder):
    workspace = Workspace(folder, {}) if folder else Workspace()
    return LocalEngine(threads=1, memory=Memory(1 << 30), workspace=workspace, progress=lambda name, amount: None)


def released(running):
    """Another run may open the folder."""
    running.workspace._unlock()


def rows_of(stored):
    return [one for batch in stored.batches() for one in batch.to_pylist()]


pieces = st.lists(st.lists(st.integers(0, 6), max_size=4), max_size=5)


@given(pieces, st.integers(0, 12), st.integers(0, 12), st.sampled_from([1, 150, 1 << 20]))
def test_rows_that_no_part_has_are_made_again(tmp_path_factory, sizes, first, second, part_bytes):
    """Stopped twice; whole pieces that are in parts are not made again."""
    folder = tmp_path_factory.mktemp("x") / "work"
    wanted = [row(i) for i in range(sum(map(sum, sizes)))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_tables, "PART_BYTES", part_bytes)
        for stop in (first, second, None):
            running, made = engine(folder), Made(sizes, stop)
            marks = [int(running.workspace.get(name)["mark"][0]) for name in running.workspace.numbered_names("rows")]
            with suppress(StoppedError):
                assert rows_of(running.materialize(made.table(), "rows")) == wanted
            if made.begun:
                done = max([0, *marks])  # pieces; a part that ends within one has no mark
                assert made.begun == list(range(done, made.begun[-1] + 1))
            released(running)
        again = Made(sizes)
        found = engine(folder).materialize(again.table(), "rows")
        assert rows_of(found) == wanted and not again.begun, "what is complete is not made again"


@given(pieces, st.sampled_from([1, 150, 1 << 20]))
def test_in_memory_too_parts_end_with_pieces(sizes, part_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_tables, "PART_BYTES", part_bytes)
        running = engine(None)
        stored = running.materialize(Made(sizes).table(), "rows")
        assert rows_of(stored) == [row(i) for i in range(sum(map(sum, sizes)))]
        ends = np.cumsum([0, *map(sum, sizes)]).tolist()
        assert set(stored.starts.tolist()) <= {*ends, 0}
        if part_bytes > 1000 or not any(map(sum, sizes)):
            assert stored.in_one
        assert stored.schema == SCHEMA and stored.column("keys-00").dtype == np.int64


def test_a_piece_larger_than_a_part_is_cut_on_the_disk_only(tmp_path, monkeypatch):
    """The rest of it comes with its mark; a run that was stopped inside of it makes all of it again."""
    monkeypatch.setattr(local_tables, "PART_BYTES", 100)
    running, made = engine(tmp_path / "work"), Made([[3], [4] * 6], stop=6)
    with pytest.raises(StoppedError):
        running.materialize(made.table(), "rows")
    marks = [int(running.workspace.get(name)["mark"][0]) for name in running.workspace.numbered_names("rows")]
    assert marks[0] == 1 and set(marks[1:]) == {-1} and len(marks) > 2
    released(running)
    running, made = engine(tmp_path / "work"), Made([[3], [4] * 6])
    assert rows_of(running.materialize(made.table(), "rows")) == [row(i) for i in range(27)] and made.begun == [1]
    assert len(engine(None).materialize(Made([[3], [4] * 6]).table(), "rows").parts) == 2


def test_names_do_not_meet(tmp_path):
    """Tables of which one name begins with another."""
    running = engine(tmp_path / "work")
    one = running.materialize(Made([[2]]).table(), "rows")
    other = running.materialize(Made([[5]]).table(), "rows-at-0.9")
    assert len(one) == 2 and len(other) == 5 and running.materialize(one, "other") is one
    assert rows_of(running.materialize(Made([[9]]).table(), "rows")) == rows_of(one), "a name stands for the same rows"
