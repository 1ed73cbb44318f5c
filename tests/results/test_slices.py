"""What is removed by the values of a column."""

from fractions import Fraction

import pyarrow as pa
from scipy.stats import beta

from lookalike.results.summary import LISTED, SHOWN, Slices, lines_of_slices
from lookalike.steps.decide import VALUES


def counted(rows, columns=("lang",)):
    """Slices of (column, value, documents, removed)."""
    table = pa.Table.from_pylist([dict(zip(VALUES.names, row, strict=True)) for row in rows], VALUES)
    return Slices(columns).add(table.to_batches()).add([]).worst_values()


def test_values_are_added_up_and_have_intervals():
    found = counted([(0, "de", 4, 1), (0, None, 3, 0), (0, "de", 6, 4), (1, "x", 1, 1)], ("lang", "site"))
    assert [(row["value"], row["documents"], row["removed"]) for row in found["lang"]] == [("de", 10, 5), (None, 3, 0)]
    assert [row["value"] for row in found["site"]] == ["x"]
    first = found["lang"][0]
    assert first["share"] == 0.5
    assert abs(first["low"] - beta.ppf(0.025, 5, 6)) < 1e-9 and abs(first["high"] - beta.ppf(0.975, 6, 5)) < 1e-9
    assert counted([]) == {"lang": []}


def test_a_value_that_loses_far_more_than_others_is_named():
    """With 99.9 % confidence at least twice what all others lose, and five points more."""

    def far(removed, n, rest):
        low = beta.ppf(0.0005, removed, n - removed + 1) if removed else 0.0
        return bool(low > max(2 * rest, rest + Fraction(1, 20)))

    for removed in range(101):
        one, other = counted([(0, "all", 900, 180), (0, "one", 100, removed)])["lang"]
        assert other["more"] == far(removed, 100, Fraction(180, 900)) and one["more"] == far(180, 900, Fraction(removed, 100))
    assert not counted([(0, "all", 900, 900)])["lang"][0]["more"]  # there are no others
    few, some = (counted([(0, "all", 900, 0), (0, "one", n, n)])["lang"][1]["more"] for n in (2, 5))
    assert (few, some) == (far(2, 2, 0), far(5, 5, 0)) == (False, True)


def test_many_values_are_not_all_said():
    n = 2 * LISTED + 5
    found = counted([(0, f"v{i:04}", n - i, 0) for i in range(n)] + [(0, "last", 1, 1)])
    assert [row["value"] for row in found["lang"]] == [
        *(f"v{i:04}" for i in range(LISTED)),
        "last",
        *(f"v{i:04}" for i in range(LISTED, n - 6)),
    ]
    lines = lines_of_slices(found)
    assert lines[0] == "  removed by lang:" and len(lines) == SHOWN + 2
    assert lines[1].split() == ["v0000", "0", "of", f"{n:,}", "0.0%"]
    assert lines[-1] == f"    and {2 * LISTED - SHOWN:,} values more (--json has some)"
    few = counted([(0, "de", 100, 90), (0, None, 900, 0)])
    assert lines_of_slices(few)[2].endswith("far more than others: 82.4% to 95.1%") and "null" in lines_of_slices(few)[1]


def test_values_beyond_the_listed_are_those_of_the_largest_share():
    rows = [(0, f"v{i:04}", 100, 0) for i in range(LISTED)] + [(0, "many", 90, 10), (0, "most", 2, 2)]
    assert [row["value"] for row in counted(rows)["lang"][LISTED:]] == ["most", "many"]


def test_a_value_that_loses_far_more_is_said_wherever_it_stands():
    rows = [(0, f"v{i:02}", 1000 - i, 0) for i in range(SHOWN + 3)] + [(0, "late", 100, 100)]
    lines = lines_of_slices(counted(rows))
    assert len(lines) == SHOWN + 3 and lines[-2].split()[0] == "late" and lines[-1] == "    and 3 values more (--json has all)"
