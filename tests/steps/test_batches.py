from itertools import chain, groupby
from unittest.mock import patch

from cut_tables import cut_rows, cuts, rows_of, whole
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps import batches as pieces


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 30)), max_size=30), cuts, st.integers(1, 60), st.booleans())
def test_pieces_hold_all_rows_and_whole_groups(raw, cut, limit, grouped):
    rows = [(key, weight, order) for order, (key, weight) in enumerate(sorted(raw, key=lambda row: row[0]) if grouped else raw)]
    batches = cut_rows(rows, whole("key", "weight", "order"), cut)
    with patch("lookalike.steps.batches.PIECE_WEIGHT", limit):
        made = list(pieces.gather(batches, lambda batch: pieces.ints(batch, "weight"), "key" if grouped else None))
    found = [rows_of([batch]) for batch in made]
    assert list(chain.from_iterable(found)) == rows and all(found)
    for piece in found:
        units = [list(group) for _, group in groupby(piece, key=lambda row: row[0] if grouped else row[2])]
        assert sum(row[1] for unit in units[:-1] for row in unit) < limit, "the last group or row is what made it enough"
        if piece is not found[-1]:
            assert sum(row[1] for row in piece) >= limit
    if grouped:
        keys = [{row[0] for row in piece} for piece in found]
        assert sum(map(len, keys)) == len(set().union(*keys))
