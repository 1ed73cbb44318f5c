"""What is removed by the values of a column, and which values lose far more than others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..theory.minhash import exact_interval
from ..values.tables import COLUMN
from ..wording import counted, printable

LISTED = 1000  # values of a column, those of most documents; as many of the others, those of which most is removed
SHOWN = 8  # values that the summary names
TIMES, BEYOND = 2.0, 0.05
"""A value is named that loses at least so many times what all others lose, and so much more, with 99.9 % confidence."""


class Slices:
    """Counts documents, and those removed, by the values of some columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.needed = [COLUMN + name for name in columns]
        """The columns of decisions that are counted by, beside reason and kept."""
        self._counts = [(Counter[str | None](), Counter[str | None]()) for _ in columns]

    def add(self, counted: Iterable[pa.RecordBatch]) -> Slices:
        """Add what ``steps.groups.by_value`` counted."""
        for batch in counted:
            for column, value, documents, removed in zip(*(some.to_pylist() for some in batch.columns), strict=True):
                for count, n in zip(self._counts[column], (documents, removed), strict=True):
                    count[value] += n
        return self

    def found(self) -> dict[str, list[dict[str, Any]]]:
        """Return what was counted, by column: see ``Summary``."""
        return {name.removeprefix(COLUMN): _told(*some) for name, some in zip(self.needed, self._counts, strict=True)}


def _told(documents: Counter[str | None], removed: Counter[str | None]) -> list[dict[str, Any]]:
    """Return the values of a column with most documents, then those that lose the largest share, and how much."""
    order = sorted(documents, key=lambda value: (-documents[value], value is None, value or ""))
    others = sorted(order[LISTED:], key=lambda value: -removed[value] / documents[value])
    all_documents, all_removed = documents.total(), removed.total()
    rows = []
    for value in [*order[:LISTED], *others[:LISTED]]:
        n, gone = documents[value], removed[value]
        low, high = exact_interval(gone, n)
        rest = (all_removed - gone) / max(1, all_documents - n)
        far = max(TIMES * rest, rest + BEYOND)
        more = n < all_documents and low > far and exact_interval(gone, n, 0.999)[0] > far
        rows.append(
            {"value": value, "documents": n, "removed": gone, "share": gone / n, "low": low, "high": high, "more": more}
        )
    return rows


def lines_of_slices(slices: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Say what is removed by value, in lines of a summary: those with most documents, and all that lose far more."""
    lines = []
    for column, rows in slices.items():
        shown = [row for place, row in enumerate(rows) if place < SHOWN or row["more"]]
        more = len(rows) - len(shown)
        lines.append(f"  removed by {printable(column)}:")
        for row in shown:
            name = "null" if row["value"] is None else printable(row["value"])[:40]
            warning = f"   far more than others: {row['low']:.1%} to {row['high']:.1%}" if row["more"] else ""
            lines.append(f"    {name:<24}  {row['removed']:>10,} of {row['documents']:>10,}   {row['share']:6.1%}{warning}")
        if more:
            lines.append(f"    and {counted(more, 'value')} more (--json has {'all' if len(rows) < 2 * LISTED else 'some'})")
    return lines
