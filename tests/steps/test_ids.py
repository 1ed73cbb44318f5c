from cut_tables import cut_rows, cuts, run, whole
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike.steps.ids import at_positions

positions = st.integers(0, 9) | st.integers(0, (1 << 62) - 1)


@given(st.lists(positions, max_size=20), st.lists(positions, max_size=4), cuts)
@example([(1 << 60) + i for i in range(3)], [(1 << 60) + 1], [])
def test_rows_at_positions_are_chosen(found, wanted, cut):
    """Also positions that no float tells apart."""
    made = run(at_positions, cut_rows([(place,) for place in found], whole("position"), cut), positions=tuple(wanted))
    assert made == [(place,) for place in found if place in wanted]
