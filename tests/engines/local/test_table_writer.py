from contextlib import suppress
from unittest.mock import patch

import pyarrow as pa
from cut_tables import rows_of
from engines.local.stored_rows import local_engine
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local.tables import LazyTable, Piece

SCHEMA = pa.schema([("x", "int64"), ("keys", pa.list_(pa.int64(), 2)), ("text", "large_binary")])


def rows(begin, end):
    return [(i, None if i % 5 == 0 else [i, -i], b"t" * (i % 4)) for i in range(begin, end)]


class StoppedError(Exception):
    pass


class Made:
    """Rows in pieces of some batches, which may be stopped after some batches."""

    def __init__(self, pieces, stop=1 << 30):
        self.sizes, self.left, self.begun = pieces, stop, []

    def pieces(self, mark):
        for number in range(mark, len(self.sizes)):
            yield Piece(lambda number=number: self.make(number), number + 1)

    def make(self, number):
        self.begun.append(number)
        first = sum(map(sum, self.sizes[:number]))
        for size in self.sizes[number]:
            self.left -= 1
            if self.left < 0:
                raise StoppedError
            made = [dict(zip(SCHEMA.names, row, strict=True)) for row in rows(first, first + size)]
            yield pa.RecordBatch.from_pylist(made, SCHEMA)
            first += size

    def kept_in(self, engine):
        return engine.materialize(LazyTable(SCHEMA, self.pieces, 1), "rows")


def marks_in(engine):
    return [int(engine.workspace.get(name)["mark"][0]) for name in engine.workspace.numbered_names("rows")]


pieces = st.lists(st.lists(st.integers(0, 6), max_size=4), max_size=5)
part_sizes = st.sampled_from([1, 150, 1 << 20])


@given(pieces, st.integers(0, 12), st.integers(0, 12), part_sizes)
def test_rows_that_no_part_has_are_made_again(tmp_path_factory, sizes, first, second, part_bytes):
    """Stopped twice; whole pieces that are in parts are not made again, and nothing of what is complete."""
    folder, wanted = tmp_path_factory.mktemp("x") / "work", rows(0, sum(map(sum, sizes)))
    with patch("lookalike.engines.local.tables.PART_BYTES", part_bytes):
        for stop in (first, second, 1 << 30):
            running, made = local_engine(folder), Made(sizes, stop)
            done = max([0, *marks_in(running)])  # pieces; a part that ends within one has no mark
            with suppress(StoppedError):
                assert rows_of(made.kept_in(running).batches()) == wanted
            assert made.begun == list(range(done, done + len(made.begun)))
            running.workspace._unlock()
        again = Made(sizes)
        assert rows_of(again.kept_in(local_engine(folder)).batches()) == wanted and not again.begun
