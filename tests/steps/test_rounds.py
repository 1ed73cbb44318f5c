"""``tests/recipes/test_rounds.py`` holds the steps of rounds together."""

from cut_tables import cut_rows, run

from lookalike.steps.rounds import resolve
from lookalike.values.tables import MATCHES


def test_resolve_remembers_orders_of_any_size():
    matches = [(5, 10**6, 0.9), (10**6, 10**6 + 1, 0.9), (6, 10**7, 0.9), (10**6 + 1, 10**7, 0.9), (10**7, 10**7 + 7, 0.9)]
    found = run(resolve, cut_rows(matches, MATCHES, [1, 3]))
    assert [match[:2] for match in found] == [(5, 10**6), (6, 10**7), (10**6 + 1, 10**7)]
