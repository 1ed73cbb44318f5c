"""The steps that find copies, make bundles and name keepers, against dictionaries."""

from itertools import groupby

import pyarrow as pa
import pytest
from cut_tables import batches, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.exact import exact
from lookalike.steps.verify import bundle
from lookalike.steps.walk import name
from lookalike.values.tables import MATCHES, PAIRS, SOURCE_BITS

DIGESTS = pa.schema([("digest", pa.binary(16)), ("order", pa.int64()), ("empty", pa.bool_())])
# Digests that differ in one half only, too.
digests = st.sampled_from([bytes(16), bytes(15) + b"\1", b"\1" + bytes(15), b"\1" * 16])


@given(st.lists(st.tuples(digests, st.booleans()), max_size=30), st.integers(0, 12), st.booleans(), cuts)
def test_copies_follow_the_first_of_their_text(documents, boundary, apart, cut):
    empty_of = dict(documents)  # equal texts are empty alike
    rows = sorted((digest, order, empty_of[digest]) for order, (digest, _) in enumerate(documents))
    expected, first = [], {}
    for digest, order, empty in rows:
        leader = first.setdefault((digest, apart and order < boundary), order)
        if leader != order and not empty:
            expected.append((order, leader))
    columns = dict(zip(DIGESTS.names, zip(*rows, strict=True), strict=True)) if rows else {n: [] for n in DIGESTS.names}
    assert run(exact, batches(columns, DIGESTS, cut), boundary=boundary, apart=apart) == expected


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_digests_may_come_as_other_binary_columns(kind):
    schema = pa.schema([("digest", kind), ("order", pa.int64())])
    columns = {"digest": [b"a" * 16, b"a" * 16, b"b" * 16], "order": [0, 5, 2]}
    assert run(exact, batches(columns, schema, [1]), boundary=0) == [(5, 0)]


@given(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda p: p[0] < p[1])),
       st.none() | st.integers(1, 4), cuts)  # fmt: skip
def test_a_bundle_is_a_pivot_and_its_partners(pairs, most, cut):
    """One with many partners has several bundles."""
    ordered = sorted(pairs)
    expected = []
    for left, group in groupby(ordered, key=lambda pair: pair[0]):
        partners = [right for _, right in group]
        for number, begin in enumerate(range(0, len(partners), most or 99)):
            own = left + (number << SOURCE_BITS)
            expected += [(own, left), *((own, right) for right in partners[begin : begin + (most or 99)])]
    columns = {"left": [p[0] for p in ordered], "right": [p[1] for p in ordered]}
    assert run(bundle, batches(columns, PAIRS, cut), most=most) == expected


scores = st.sampled_from([0.5, 0.75, 0.8, 1.0])


@given(st.dictionaries(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda p: p[0] < p[1]), scores), cuts)
def test_the_best_match_is_named_the_first_of_equal_ones(matches, cut):
    rows = sorted((right, left, score) for (left, right), score in matches.items())
    expected = []
    for right, group in groupby(rows, key=lambda row: row[0]):
        best = min(group, key=lambda row: (-row[2], row[1]))
        expected.append((right, best[1], best[2]))
    columns = {"left": [r[1] for r in rows], "right": [r[0] for r in rows], "score": [r[2] for r in rows]}
    assert run(name, batches(columns, MATCHES, cut)) == expected
