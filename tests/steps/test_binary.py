"""Binary columns as arrays of bytes, and links in batches of bounded size, against plain Python."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps import links as linking
from lookalike.steps.batches import as_words, row_starts
from lookalike.steps.links import at_most, head_places, written
from lookalike.values.tables import LINKS

WIDTH = 4
KINDS = {
    "fixed": pa.binary(WIDTH), "small": pa.binary(), "large": pa.large_binary(),
    "dictionary of fixed": pa.dictionary(pa.int64(), pa.binary(WIDTH)), "dictionary of small": pa.dictionary(pa.int32(), pa.binary()),
}  # fmt: skip
cells = st.lists(st.binary(min_size=WIDTH, max_size=WIDTH), max_size=9)


def column(rows, kind):
    """A column of some kind."""
    if pa.types.is_dictionary(kind):
        return pa.array(rows, kind.value_type).dictionary_encode().cast(kind)
    return pa.array(rows, kind)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=cells, before=cells, cut=st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_rows_begin_where_they_begin(kind, rows, before, cut):
    """Also those of a slice, and of a slice of a slice."""
    begin, end = sorted(cut)
    whole = column(before + rows, KINDS[kind]).slice(len(before))
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


def links_of(batches):
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@given(st.integers(0, 40), st.integers(1, 12), st.integers(0, 3))
def test_links_come_in_batches_of_bounded_size(total, most, done):
    """What writes them is told where it was, and where the first group begins."""
    seen = []

    def write(at, left, right):
        seen.append(at.tolist())
        left[:] = np.arange(at[0], at[0] + len(left))
        right[:] = at[1]
        at[0] += len(left)
        return len(left)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linking, "AT_A_TIME", most)
        batches = list(written(total, write, done))
    assert links_of(batches) == [(number, done) for number in range(total)]
    assert all(batch.schema == LINKS and 0 < len(batch) <= most for batch in batches)
    assert seen == [[first, done, 0] for first in range(0, total, most)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=25), st.lists(st.integers(0, 25), max_size=4),
       st.none() | st.integers(0, 12))  # fmt: skip
def test_links_end_with_the_last_that_is_wanted(links, cuts, limit):
    """Marks of crowds, links of a document with itself, do not count; nothing is asked for beyond the end."""
    bounds = [0, *sorted(min(cut, len(links)) for cut in cuts), len(links)]
    made = []

    def batches():
        for begin, end in itertools.pairwise(bounds):
            if end > begin:
                made.append(end)
                some = links[begin:end]
                yield pa.record_batch(
                    [pa.array([a for a, _ in some], pa.int64()), pa.array([b for _, b in some], pa.int64())], schema=LINKS
                )

    found = links_of(at_most(batches(), limit))
    if limit is None:
        assert found == links
        return
    ends = [place for place, (a, b) in enumerate(links) if a != b]
    last = 0 if not limit else ends[limit - 1] + 1 if len(ends) >= limit else len(links)
    assert found == links[:last]
    assert all(end - last < max(b - a for a, b in itertools.pairwise(bounds)) for end in made[-1:])


@given(st.sets(st.integers(0, 20)), st.integers(0, 6), st.integers(0, 20))
def test_the_heads_of_a_crowd(orders, heads, boundary):
    """Its first references and its first others."""
    orders = sorted(orders)
    wanted = [o for o in orders if o < boundary][:heads] + [o for o in orders if o >= boundary][:heads]
    places = head_places(np.array(orders, np.int64), heads, boundary)
    assert [orders[place] for place in places.tolist()] == wanted
