"""Rows at some positions."""

import pyarrow as pa
from cut_tables import batches, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.ids import at_positions

ROWS = pa.schema([("id", pa.large_string()), ("position", pa.int64())])
positions = st.integers(0, 9) | st.integers(0, (1 << 62) - 1)


@given(st.lists(positions, max_size=20), st.lists(positions, max_size=4), cuts)
def test_rows_at_positions_are_chosen(found, wanted, cut):
    """Also positions that no float tells apart."""
    rows = {"id": [str(position) for position in found], "position": found}
    made = run(at_positions, batches(rows, ROWS, cut), positions=tuple(wanted))
    assert made == [(str(position), position) for position in found if position in wanted]


def test_large_positions_that_differ_by_one_are_told_apart():
    found = [(1 << 60) + i for i in range(3)]
    made = run(at_positions, batches({"id": ["a"] * 3, "position": found}, ROWS), positions=(found[1],))
    assert made == [("a", found[1])]
