"""``tests/recipes/test_twin.py`` holds documents of equal keys against the definition."""

import pyarrow as pa
from cut_tables import cut_rows, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.exact import exact

DIGESTS = pa.schema([("digest", pa.binary(16)), ("order", "int64"), ("empty", "bool")])
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
