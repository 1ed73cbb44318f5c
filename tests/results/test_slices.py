from fractions import Fraction

import pyarrow as pa
import pytest
from raising import assert_raises
from scipy.stats import beta

import lookalike as la
from lookalike.results import summary
from lookalike.results.summary import Slices, lines_of_slices
from lookalike.steps.decide import VALUES


def counted(*rows, columns=("lang",)):
    """Slices of (value, documents, removed), of the first column, or of that in the fourth place."""
    rows = [(*(column or [0]), value, n, removed) for value, n, removed, *column in rows]
    table = pa.Table.from_pylist([dict(zip(VALUES.names, row, strict=True)) for row in rows], VALUES)
    return Slices(columns).add(table.to_batches()).add([]).worst_values()


def test_values_are_added_up_and_have_intervals():
    found = counted(("de", 4, 1), (None, 3, 0), ("de", 6, 4), ("x", 1, 1, 1), columns=("lang", "site"))
    first, second = ([*row.values()] for row in found["lang"])
    assert first[:6] == ["de", 10, 5, 0.5, pytest.approx(beta.ppf(0.025, 5, 6)), pytest.approx(beta.ppf(0.975, 6, 5))]
    assert second[:3] == [None, 3, 0] and [row["value"] for row in found["site"]] == ["x"]
    assert counted() == {"lang": []}


def test_a_value_that_loses_far_more_than_others_is_named():
    """With 99.9 % confidence at least twice what all others lose, and five points more."""

    def far(removed, n, rest):
        low = beta.ppf(0.0005, removed, n - removed + 1) if removed else 0.0
        return bool(low > max(2 * rest, rest + Fraction(1, 20)))

    for removed in range(101):
        one, other = counted(("all", 900, 180), ("one", 100, removed))["lang"]
        assert other["more"] == far(removed, 100, Fraction(180, 900)) and one["more"] == far(180, 900, Fraction(removed, 100))
    assert not counted(("all", 900, 900))["lang"][0]["more"]  # there are no others
    few, some = (counted(("all", 900, 0), ("one", n, n))["lang"][1]["more"] for n in (2, 5))
    assert (few, some) == (far(2, 2, 0), far(5, 5, 0)) == (False, True)


def test_many_values_are_not_all_said(monkeypatch):
    """The most frequent, as many of those with the largest share, and in lines all that lose far more."""
    monkeypatch.setattr(summary, "LISTED", 3)
    monkeypatch.setattr(summary, "SHOWN", 2)
    found = counted(*((name, 1000 - i, 0) for i, name in enumerate("abcdefg")), ("part", 90, 10), ("most", 60, 60))
    assert [row["value"] for row in found["lang"]] == ["a", "b", "c", "most", "part", "d"]
    lines = [line.split() for line in lines_of_slices(found)]
    assert lines[0] == ["removed", "by", "lang:"] and lines[1] == ["a", "0", "of", "1,000", "0.0%"] and lines[2][0] == "b"
    assert (lines[3][0], lines[-1]) == ("most", ["and", "3", "values", "more", "(--json", "has", "some)"])
    few = lines_of_slices(counted(("de", 100, 90), (None, 900, 0), ("x", 1, 0)))
    assert few[2].endswith("far more than others: 82.4% to 95.1%") and "null" in few[1]
    assert few[-1] == "    and 1 value more (--json has all)"


def test_every_value_of_a_column_is_guarded(monkeypatch):
    monkeypatch.setattr(summary, "LISTED", 3)
    rows = [{"text": f"text {i % 18}", "site": f"s{i // 3}"} for i in range(20)]
    assert_raises(
        la.errors.TooManyRemovedError,
        r"2 of 2 documents \(100.0%\) with site s6 would be removed",
        la.dedup,
        rows,
        fail_if_removed="site:0.5",
    )
