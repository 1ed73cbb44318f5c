"""The steps of rounds; ``tests/recipes/test_rounds.py`` holds them together against the definition."""

import pyarrow as pa
from cut_tables import batches, columns_of, cuts, folded, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.rounds import OPEN_DOCUMENTS, classify_pairs, first_states, not_verified, resolve
from lookalike.values.tables import KEPT, MATCHES, OPEN, PAIRS, REMOVED, STATES

SEEN = pa.schema([*PAIRS, ("left_state", pa.int8()), ("right_state", pa.int8())])
TURNED = pa.schema([*PAIRS, *((f"{side}_{name}", pa.int8()) for side in ("left", "right") for name in ("state", "turn"))])


def step(function, rows, schema, cut, **arguments):
    return run(function, batches(columns_of(rows, schema), schema, cut), **arguments)


def test_faces_are_chosen_by_both_states():
    rows = [(0, 1, OPEN, KEPT), (0, 2, OPEN, OPEN), (1, 2, KEPT, OPEN), (1, 3, KEPT, REMOVED), (3, 4, REMOVED, OPEN)]
    assert step(classify_pairs, rows, SEEN, [2]) == [(0, 2, False), (1, 2, True)]


def test_pairs_of_one_round_or_of_an_earlier_removal_are_not_verified_yet():
    rows = [(0, 1, KEPT, 1, REMOVED, 2), (0, 2, KEPT, 2, REMOVED, 2), (0, 3, KEPT, 3, REMOVED, 2), (0, 4, KEPT, 4, REMOVED, 4),
            (0, 5, REMOVED, 1, REMOVED, 1), (0, 6, KEPT, 2, KEPT, 2)]  # fmt: skip
    assert step(not_verified, rows, TURNED, [1, 4], last=4) == [(0, 2), (0, 3)]


def test_resolve_remembers_orders_of_any_size():
    matches = [(5, 10**6, 0.9), (10**6, 10**6 + 1, 0.9), (6, 10**7, 0.9), (10**6 + 1, 10**7, 0.9), (10**7, 10**7 + 7, 0.9)]
    found = step(resolve, matches, MATCHES, [1, 3])
    assert [match[:2] for match in found] == [(5, 10**6), (6, 10**7), (10**6 + 1, 10**7)]


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 10), cuts)
def test_references_are_kept_and_the_rest_open(orders, boundary, cut):
    schema = pa.schema([("order", pa.int64())])
    found = run(first_states, batches({"order": orders}, schema, cut), boundary=boundary)
    assert found == [(order, KEPT if order < boundary else OPEN, 0) for order in orders]


@given(st.lists(st.sampled_from([OPEN, KEPT, REMOVED]), max_size=30), cuts)
def test_open_documents_are_counted(states, cut):
    rows = {"order": list(range(len(states))), "state": states, "turn": [1] * len(states)}
    assert folded(OPEN_DOCUMENTS, batches(rows, STATES, cut)).tolist() == [states.count(OPEN)]
