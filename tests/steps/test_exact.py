"""Copies against dictionaries; pairs of firsts become pairs of all documents, each once, whatever the sets."""

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import batches, columns_of, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps import exact as module
from lookalike.steps.exact import Sets, by_key, ends, exact, follow_representatives, not_by_key, without_keys
from lookalike.values.tables import MATCHES, REPRESENTATIVES

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
    assert run(exact, batches(columns_of(rows, DIGESTS), DIGESTS, cut), boundary=boundary, apart=apart) == expected


@given(st.lists(st.tuples(digests, st.booleans()), max_size=30), st.integers(0, 12), st.booleans(), cuts)
def test_documents_follow_the_first_of_their_key(documents, boundary, drop, cut):
    """Zeros are no key; references follow nobody."""
    rows = [(key, order, empty) for order, (key, empty) in enumerate(documents)]
    schema = pa.schema([("document_key", pa.binary(16)), ("order", pa.int64()), ("empty", pa.bool_())])
    none = [o for key, o, empty in rows if not any(key) or (drop and empty and o >= boundary)]
    found = run(without_keys, batches(columns_of(rows, schema), schema, cut), boundary=boundary, drop=drop)
    assert [order for (order,) in found] == none
    some, first, expected = sorted(row[:2] for row in rows if row[1] not in none), {}, []
    for key, order in some:
        if first.setdefault(key, order) != order and order >= boundary:
            expected.append((order, first[key]))
    schema = schema.remove(2)
    assert run(by_key, batches(columns_of(some, schema), schema, cut), boundary=boundary) == expected


def test_documents_of_a_key_follow_the_leader_of_its_first():
    """But a reference that is a copy of another one stands for itself."""
    schema = pa.schema([("order", pa.int64()), ("leader", pa.int64()), ("leader_leader", pa.int64())])
    columns = {"order": [5, 6, 7], "leader": [1, 3, 4], "leader_leader": [0, 2, None]}
    assert run(follow_representatives, batches(columns, schema, [1]), boundary=2) == [(5, 1, True), (6, 2, True), (7, 4, True)]
    assert run(not_by_key, batches({"order": [3], "leader": [2]}, REPRESENTATIVES, [])) == [(3, 2, False)]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_digests_may_come_as_other_binary_columns(kind):
    schema = pa.schema([("digest", kind), ("order", pa.int64())])
    columns = {"digest": [b"a" * 16, b"a" * 16, b"b" * 16], "order": [0, 5, 2]}
    assert run(exact, batches(columns, schema, [1]), boundary=0) == [(5, 0)]


@given(st.lists(st.integers(0, 5), max_size=12), st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5))), st.integers(1, 9))
def test_pairs_of_all_documents(groups, pairs, made):
    """Against plain loops; documents are the places in the list, and those of a number are equal."""
    members = {g: [i for i, other in enumerate(groups) if other == g] for g in set(groups)}
    firsts = {g: some[0] for g, some in members.items()}
    copies = [(i, firsts[g]) for i, g in enumerate(groups) if i != firsts[g]]
    sets = Sets.of(*(np.array([pair[side] for pair in copies], np.int64) for side in (0, 1)))
    known = sorted(
        {(min(firsts[a], firsts[b]), max(firsts[a], firsts[b])) for a, b in pairs if a != b and {a, b} <= set(groups)}
    )
    left, right = (np.array([pair[side] for pair in known], np.int64) for side in (0, 1))
    score = left + right / 100
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MADE", made)
        batch = pa.RecordBatch.from_arrays([pa.array(left), pa.array(right), pa.array(score)], schema=MATCHES)
        rows = [row for some in ends(iter([batch]), sets) for row in some.to_pylist()]
    rows += sets.own(2).to_pylist()
    found = []
    for row in rows:
        first, counts = sets.later(np.array([row["left"]]), np.array([row["right"]]))
        assert counts[0] > 0
        some = sets.members_from(np.array([row["right"]]), first, counts).tolist()
        found += [(row["left"], member, row["score"]) for member in some]
    scores = {pair: float(s) for pair, s in zip(known, score, strict=True)}
    wanted = []
    for i, a in enumerate(groups):
        for j, b in list(enumerate(groups))[i + 1 :]:
            pair = min(firsts[a], firsts[b]), max(firsts[a], firsts[b])
            if a == b and firsts[a] >= 2:
                wanted.append((i, j, 1.0))
            elif a != b and pair in scores:
                wanted.append((i, j, scores[pair]))
    assert sorted(found) == sorted(wanted)
    sizes = sets.size_of(np.array(sorted(firsts.values()), np.int64)).tolist()
    assert sizes == [len(members[groups[first]]) for first in sorted(firsts.values())]
