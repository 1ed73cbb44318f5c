"""What is removed by the values of a column."""

from fractions import Fraction

import pyarrow as pa
import pytest
from scipy.stats import beta

from lookalike.results.summary import LISTED, SHOWN, Slices, lines_of_slices
from lookalike.steps.decide import VALUES


def counted(*rows, columns=("lang",)):
    """Slices of (value, documents, removed), of the first column, or of that in the fourth place."""
    rows = [(*(column or [0]), value, n, removed) for value, n, removed, *column in rows]
    table = pa.Table.from_pylist([dict(zip(VALUES.names, row, strict=True)) for row in rows], VALUES)
    return Slices(columns).add(table.to_batches()).add([]).worst_values()


def test_values_are_added_up_and_have_intervals():
    found = counted(("de", 4, 1), (None, 3, 0), ("de", 6, 4), ("x", 1, 1, 1), columns=("lang", "site"))
    first, second = found["lang"]
    assert [(row["value"], row["documents"], row["removed"]) for row in (first, second)] == [("de", 10, 5), (None, 3, 0)]
    assert [row["value"] for row in found["site"]] == ["x"]
    assert [first[name] for name in ("share", "low", "high")] == pytest.approx(
        [0.5, beta.ppf(0.025, 5, 6), beta.ppf(0.975, 6, 5)]
    )
    assert counted() == {"lang": []}


def far(removed, n, rest):
    """Whether a value loses with 99.9 % confidence at least twice what all others lose, and five points more."""
    low = beta.ppf(0.0005, removed, n - removed + 1) if removed else 0.0
    return bool(low > max(2 * rest, rest + Fraction(1, 20)))


def test_a_value_that_loses_far_more_than_others_is_named():
    for removed in range(101):
        one, other = counted(("all", 900, 180), ("one", 100, removed))["lang"]
        assert other["more"] == far(removed, 100, Fraction(180, 900)) and one["more"] == far(180, 900, Fraction(removed, 100))
    assert not counted(("all", 900, 900))["lang"][0]["more"]  # there are no others
    few, some = (counted(("all", 900, 0), ("one", n, n))["lang"][1]["more"] for n in (2, 5))
    assert (few, some) == (far(2, 2, 0), far(5, 5, 0)) == (False, True)


def test_many_values_are_not_all_said():
    n = 2 * LISTED + 5
    found = counted(*((f"v{i:04}", n - i, 0) for i in range(n)), ("last", 1, 1))
    values = [f"v{i:04}" for i in range(n - 6)]
    assert [row["value"] for row in found["lang"]] == [*values[:LISTED], "last", *values[LISTED:]]
    lines = lines_of_slices(found)
    assert lines[0] == "  removed by lang:" and len(lines) == SHOWN + 2
    assert lines[1].split() == ["v0000", "0", "of", f"{n:,}", "0.0%"]
    assert lines[-1] == f"    and {2 * LISTED - SHOWN:,} values more (--json has some)"
    few = lines_of_slices(counted(("de", 100, 90), (None, 900, 0)))
    assert few[2].endswith("far more than others: 82.4% to 95.1%") and "null" in few[1]


def test_values_beyond_the_listed_are_those_of_the_largest_share():
    found = counted(*((f"v{i:04}", 100, 0) for i in range(LISTED)), ("many", 90, 10), ("most", 2, 2))
    assert [row["value"] for row in found["lang"][LISTED:]] == ["most", "many"]


def test_a_value_that_loses_far_more_is_said_wherever_it_stands():
    lines = lines_of_slices(counted(*((f"v{i:02}", 1000 - i, 0) for i in range(SHOWN + 3)), ("late", 100, 100)))
    assert len(lines) == SHOWN + 3 and lines[-2].split()[0] == "late" and lines[-1] == "    and 3 values more (--json has all)"
