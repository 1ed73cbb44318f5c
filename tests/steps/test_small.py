"""The steps of a few lines: marks, parts of the keep order, first states, repeated ids, totals."""

import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
from cut_tables import batches, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.crowds import MARKS, marks
from lookalike.steps.ids import EARLIEST, REPEATED, repeated
from lookalike.steps.pairs import between
from lookalike.steps.rounds import OPEN_DOCUMENTS, first_states
from lookalike.steps.totals import KINDS, N_ROWS
from lookalike.steps.totals import documents as document_counts
from lookalike.values.tables import KEPT, LINKS, OPEN, PAIRS, REMOVED, STATES

integer = pa.int64()


def columns(rows, schema):
    """Rows as columns."""
    return {name: [row[i] for row in rows] for i, name in enumerate(schema.names)}


def folded(fold, made):
    """Add batches up in two tasks, in either order."""
    fold = pickle.loads(pickle.dumps(fold))
    totals = [fold.start(), fold.start()]
    for number, batch in enumerate(made):
        fold.add(totals[number % 2], batch)
    assert fold.combine(*totals).tolist() == fold.combine(*totals[::-1]).tolist()
    return fold.combine(*totals)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30), cuts)
def test_marks_are_links_of_a_document_with_itself(links, cut):
    assert run(marks, batches(columns(links, LINKS), LINKS, cut)) == [(a,) for a, b in links if a == b]
    assert next(marks(batches(columns([], LINKS), LINKS))).schema == MARKS


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 10), cuts)
def test_references_are_kept_and_the_rest_open(orders, boundary, cut):
    schema = pa.schema([("order", integer)])
    found = run(first_states, batches({"order": orders}, schema, cut), boundary=boundary)
    assert found == [(order, KEPT if order < boundary else OPEN, 0) for order in orders]


@given(st.lists(st.sampled_from([OPEN, KEPT, REMOVED]), max_size=30), cuts)
def test_open_documents_are_counted(states, cut):
    rows = {"order": list(range(len(states))), "state": states, "turn": [1] * len(states)}
    assert folded(OPEN_DOCUMENTS, batches(rows, STATES, cut)).tolist() == [states.count(OPEN)]


@given(st.lists(st.tuples(st.sampled_from(["", "1", "a", "é"]), st.integers(0, 40)), max_size=25, unique_by=lambda r: r[1]),
       st.integers(0, 40), st.tuples(st.booleans(), st.booleans()), cuts)  # fmt: skip
def test_each_repeat_of_an_id_is_named(rows, boundary, unnamed, cut):
    """References and other documents may have an id in common, and default ids may repeat."""
    rows.sort()
    schema = pa.schema([("id", pa.large_string()), ("position", integer)])
    expected = [
        (before, again)
        for (one, before), (other, again) in pairwise(rows)
        if one == other and (before < boundary) == (again < boundary) and not unnamed[again >= boundary]
    ]
    assert run(repeated, batches(columns(rows, schema), schema, cut), boundary=boundary, unnamed=unnamed) == expected


counted = st.tuples(st.integers(0, 50), st.booleans(), st.integers(0, 9), st.booleans())


@given(st.lists(counted, max_size=30), st.integers(0, 50), st.booleans(), cuts)
def test_totals(rows, boundary, named, cut):
    kinds = {"position": integer, "empty": pa.bool_(), "bytes": integer} | ({"id_is_text": pa.bool_()} if named else {})
    schema = pa.schema(kinds.items())
    own = [row for row in rows if row[0] >= boundary]
    expected = [len(rows), len(rows) - len(own), sum(row[1] for row in own), sum(row[2] for row in rows),
                sum(row[3] for row in rows) if named else 0]  # fmt: skip
    assert folded(document_counts(boundary), batches(columns(rows, schema), schema, cut)).tolist() == expected


@given(st.lists(st.sampled_from([None, b"", b"\1", b"\1ab", b"\2", b"\xff"]), max_size=30), cuts)
def test_the_first_of_each_kind_of_priority(priorities, cut):
    schema = pa.schema([("position", integer), ("priority", pa.large_binary())])
    rows = [(100 + place, priority) for place, priority in enumerate(priorities)]
    found = folded(KINDS, batches(columns(rows, schema), schema, cut))
    expected = np.full(256, np.iinfo(np.int64).max)
    for place, priority in reversed(rows):
        if priority:
            expected[priority[0]] = place
    assert found.tolist() == expected.tolist()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30), st.integers(0, 10), st.integers(0, 10), cuts)
def test_pairs_between_two_orders(pairs, begin, end, cut):
    """Those whose later document is in the part; parts that follow each other share no pair and lack none."""
    made = columns(pairs, PAIRS)
    found = run(between, batches(made, PAIRS, cut), begin=begin, end=end)
    assert found == [pair for pair in pairs if begin <= pair[1] < end]
    begin, end = sorted((begin, end))
    parts = [run(between, batches(made, PAIRS, cut), begin=a, end=b) for a, b in ((0, begin), (begin, end), (end, 10))]
    assert sorted(pair for part in parts for pair in part) == sorted(pairs)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=20, unique_by=lambda row: row[1]), cuts)
def test_the_earliest_repeat_is_found(rows, cut):
    """The one whose own position is the smallest; the largest integers if there is none."""
    none = np.iinfo(np.int64).max
    found = folded(EARLIEST, batches(columns(rows, REPEATED), REPEATED, cut)).tolist()
    assert found == list(min(rows, key=lambda row: row[1], default=(none, none)))


@given(st.lists(st.integers(0, 5), max_size=20), cuts)
def test_rows_are_counted(orders, cut):
    schema = pa.schema([("order", integer)])
    assert folded(N_ROWS, batches({"order": orders}, schema, cut)).tolist() == [len(orders)]
