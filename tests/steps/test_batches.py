"""Columns of batches as arrays, and rows cut anew: nothing lost, groups whole, pieces of the weight asked for."""

from itertools import chain, groupby

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import batches, columns_of, cuts
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps import batches as pieces
from lookalike.steps.batches import as_words, row_starts

SCHEMA = pa.schema([("key", pa.int64()), ("weight", pa.int64()), ("order", pa.int64())])


def gathered(rows, cut, by, limit):
    old, pieces.PIECE_WEIGHT = pieces.PIECE_WEIGHT, limit
    try:
        found = list(
            pieces.gather(batches(columns_of(rows, SCHEMA), SCHEMA, cut), lambda batch: pieces.ints(batch, "weight"), by)
        )
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


WIDTH = 4


KINDS = {
    "fixed": pa.binary(WIDTH), "small": pa.binary(), "large": pa.large_binary(),
    "dictionary of fixed": pa.dictionary(pa.int64(), pa.binary(WIDTH)), "dictionary of small": pa.dictionary(pa.int32(), pa.binary()),
}  # fmt: skip


cells = st.lists(st.binary(min_size=WIDTH, max_size=WIDTH), max_size=9)


def binary_column(rows, kind):
    """A binary_column of some kind."""
    if pa.types.is_dictionary(kind):
        return pa.array(rows, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(rows, kind)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=cells, before=cells, cut=st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_rows_begin_where_they_begin(kind, rows, before, cut):
    """Also those of a slice, and of a slice of a slice."""
    begin, end = sorted(cut)
    whole = binary_column(before + rows, KINDS[kind]).slice(len(before))
    for some, wanted in ((whole, rows), (whole.slice(begin, max(0, end - begin)), rows[begin:end])):
        data, starts = row_starts(some, WIDTH)
        assert [bytes(data[start : start + WIDTH]) for start in starts.tolist()] == wanted
        words = as_words(some, WIDTH, np.uint16)
        assert words.shape == (len(wanted), WIDTH // 2)
        assert words.tolist() == [np.frombuffer(row, "<u2").tolist() for row in wanted]


def test_no_byte_is_copied():
    rows = pa.array([b"abcd", b"efgh", b"ijkl"], pa.binary(WIDTH))
    data, starts = row_starts(rows.slice(1), WIDTH)
    assert data.ctypes.data == rows.buffers()[1].address and starts.tolist() == [4, 8]
    encoded = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2]), rows)
    data, starts = row_starts(encoded, WIDTH)
    assert data.ctypes.data == rows.buffers()[1].address and starts.tolist() == [8, 0, 8]
    assert as_words(rows, WIDTH, np.uint32).ctypes.data == rows.buffers()[1].address
