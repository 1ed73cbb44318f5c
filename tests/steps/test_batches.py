"""Rows cut anew: nothing lost, groups whole, pieces of the weight asked for."""

from itertools import chain, groupby

import numpy as np
import pyarrow as pa
from cut_tables import batches, cuts
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps import batches as pieces

SCHEMA = pa.schema([("key", pa.int64()), ("weight", pa.int64()), ("order", pa.int64())])


def gathered(rows, cut, by, limit):
    old, pieces.PIECE_WEIGHT = pieces.PIECE_WEIGHT, limit
    try:
        columns = (
            dict(zip(SCHEMA.names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {n: [] for n in SCHEMA.names}
        )
        found = list(pieces.gather(batches(columns, SCHEMA, cut), lambda batch: pieces.ints(batch, "weight"), by))
    finally:
        pieces.PIECE_WEIGHT = old
    return [[tuple(row.values()) for row in batch.to_pylist()] for batch in found]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 30)), max_size=30), cuts, st.integers(1, 60), st.booleans())
def test_pieces_hold_all_rows_and_whole_groups(raw, cut, limit, grouped):
    rows = [(key, weight, order) for order, (key, weight) in enumerate(sorted(raw, key=lambda row: row[0]) if grouped else raw)]
    pieces = gathered(rows, cut, "key" if grouped else None, limit)
    assert list(chain.from_iterable(pieces)) == rows and all(pieces)
    for piece in pieces:
        units = [list(group) for _, group in groupby(piece, key=lambda row: row[0] if grouped else row[2])]
        assert sum(row[1] for unit in units[:-1] for row in unit) < limit, "the last group or row is what made it enough"
        if piece is not pieces[-1]:
            assert sum(row[1] for row in piece) >= limit
    if grouped:
        keys = [{row[0] for row in piece} for piece in pieces]
        assert sum(map(len, keys)) == len(set().union(*keys))


def test_starts_of_runs():
    keys = np.array([3, 3, 4, 3])
    assert pieces.starts_of(keys, None).tolist() == [True, False, True, True]
    assert pieces.starts_of(keys, 3).tolist() == [False, False, True, True]
    assert pieces.starts_of(keys[:0], 3).tolist() == []
