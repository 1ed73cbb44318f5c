"""Copies, and documents of equal keys, against dictionaries; ``tests/recipes`` holds pairs of copies against the definition."""

import pyarrow as pa
from cut_tables import cut_rows, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.exact import by_key, exact, without_keys

DIGESTS = pa.schema([("digest", pa.binary(16)), ("order", pa.int64()), ("empty", pa.bool_())])
# Digests that differ in one half only, too.
digests = st.sampled_from([bytes(16), bytes(15) + b"\1", b"\1" + bytes(15), b"\1" * 16])


@given(st.lists(st.tuples(digests, st.booleans()), max_size=30), st.integers(0, 12), st.booleans(), cuts)
def test_copies_follow_the_first_of_their_text(documents, boundary, apart, cut):
    """Where no column tells which are empty, those of zeros are."""
    empty_of = dict(documents)  # equal texts are empty alike
    for schema in (DIGESTS, DIGESTS.remove(2)):
        empty_of = empty_of if schema is DIGESTS else {digest: not any(digest) for digest in empty_of}
        rows = sorted((digest, order, empty_of[digest]) for order, (digest, _) in enumerate(documents))
        expected, first = [], {}
        for digest, order, empty in rows:
            leader = first.setdefault((digest, apart and order < boundary), order)
            if leader != order and not empty:
                expected.append((order, leader))
        assert run(exact, cut_rows(rows, schema, cut), boundary=boundary, apart=apart) == expected


@given(st.lists(st.tuples(digests, st.booleans()), max_size=30), st.integers(0, 12), st.booleans(), cuts)
def test_documents_follow_the_first_of_their_key(documents, boundary, drop, cut):
    """Zeros are no key; references follow nobody, and those that are empty have keys all the same."""
    rows = [(key, order, empty) for order, (key, empty) in enumerate(documents)]
    schema = pa.schema([("document_key", pa.binary(16)), ("order", pa.int64()), ("empty", pa.bool_())])
    none = [o for key, o, empty in rows if not any(key) or (drop and empty and o >= boundary)]
    assert run(without_keys, cut_rows(rows, schema, cut), boundary=boundary, drop=drop) == [(order,) for order in none]
    some, first, expected = sorted(row[:2] for row in rows if row[1] not in none), {}, []
    for key, order in some:
        if first.setdefault(key, order) != order and order >= boundary:
            expected.append((order, first[key]))
    assert run(by_key, cut_rows(some, schema.remove(2), cut), boundary=boundary) == expected
