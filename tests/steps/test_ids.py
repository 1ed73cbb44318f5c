"""Ids that repeat, and rows at some positions."""

from itertools import pairwise

import pyarrow as pa
from cut_tables import cut_rows, cuts, run
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike.steps.ids import at_positions, repeated

PLACED = pa.schema([("id", pa.large_string()), ("position", pa.int64())])
positions = st.integers(0, 9) | st.integers(0, (1 << 62) - 1)


@given(st.lists(positions, max_size=20), st.lists(positions, max_size=4), cuts)
@example([(1 << 60) + i for i in range(3)], [(1 << 60) + 1], [])
def test_rows_at_positions_are_chosen(found, wanted, cut):
    """Also positions that no float tells apart."""
    rows = [(str(position), position) for position in found]
    made = run(at_positions, cut_rows(rows, PLACED, cut), positions=tuple(wanted))
    assert made == [row for row in rows if row[1] in wanted]


@given(st.lists(st.tuples(st.sampled_from(["", "1", "a", "é"]), st.integers(0, 40)), max_size=25, unique_by=lambda r: r[1]),
       st.integers(0, 40), st.tuples(st.booleans(), st.booleans()), cuts)  # fmt: skip
def test_each_repeat_of_an_id_is_named(rows, boundary, unnamed, cut):
    """References and other documents may have an id in common, and default ids may repeat."""
    rows.sort()
    expected = [
        (before, again)
        for (one, before), (other, again) in pairwise(rows)
        if one == other and (before < boundary) == (again < boundary) and not unnamed[again >= boundary]
    ]
    assert run(repeated, cut_rows(rows, PLACED, cut), boundary=boundary, unnamed=unnamed) == expected
