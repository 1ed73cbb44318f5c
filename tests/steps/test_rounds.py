"""The steps of rounds; ``tests/recipes/test_rounds.py`` holds them together against the definition."""

import pyarrow as pa
from cut_tables import cut_rows, run

from lookalike.steps.rounds import classify_pairs, not_verified, resolve
from lookalike.values.tables import KEPT, MATCHES, OPEN, PAIRS, REMOVED

SEEN = pa.schema([*PAIRS, ("left_state", pa.int8()), ("right_state", pa.int8())])
TURNED = pa.schema([*PAIRS, *((f"{side}_{name}", pa.int8()) for side in ("left", "right") for name in ("state", "turn"))])


def test_pairs_are_classified_by_both_states():
    rows = [(0, 1, OPEN, KEPT), (0, 2, OPEN, OPEN), (1, 2, KEPT, OPEN), (1, 3, KEPT, REMOVED), (3, 4, REMOVED, OPEN)]
    assert run(classify_pairs, cut_rows(rows, SEEN, [2])) == [(0, 2, False), (1, 2, True)]


def test_pairs_of_one_round_or_of_an_earlier_removal_are_not_verified_yet():
    rows = [(0, 1, KEPT, 1, REMOVED, 2), (0, 2, KEPT, 2, REMOVED, 2), (0, 3, KEPT, 3, REMOVED, 2), (0, 4, KEPT, 4, REMOVED, 4),
            (0, 5, REMOVED, 1, REMOVED, 1), (0, 6, KEPT, 2, KEPT, 2)]  # fmt: skip
    assert run(not_verified, cut_rows(rows, TURNED, [1, 4]), last=4) == [(0, 2), (0, 3)]


def test_resolve_remembers_orders_of_any_size():
    matches = [(5, 10**6, 0.9), (10**6, 10**6 + 1, 0.9), (6, 10**7, 0.9), (10**6 + 1, 10**7, 0.9), (10**7, 10**7 + 7, 0.9)]
    found = run(resolve, cut_rows(matches, MATCHES, [1, 3]))
    assert [match[:2] for match in found] == [(5, 10**6), (6, 10**7), (10**6 + 1, 10**7)]
