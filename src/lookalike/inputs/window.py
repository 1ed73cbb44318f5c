"""How far back earlier documents count: the newest value of a column in each input, and the oldest that counts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from math import isfinite
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputDataError, ParameterError
from ..formats.split import Columns, Names, Split

_SECONDS = {"h": 3600, "d": 86400, "w": 604800}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([hdw]?)")


@dataclass(frozen=True, slots=True)
class Window:
    """A column of numbers or times, and how far below its newest value others count: in its numbers, or in seconds."""

    column: str
    span: float
    timed: bool

    @classmethod
    def of(cls, given: str) -> Window:
        """Read a window as it is given: ``dump:90d``, ``year:2``."""
        column, _, length = given.rpartition(":")
        found = _SPAN.fullmatch(length)
        if not column or found is None:
            raise ParameterError(
                "a window must be a column and a span, in days (date:90d), weeks (w) or hours (h), or in the numbers of the "
                f"column (year:2); got {given!r:.60}"
            )
        return cls(column, float(found[1]) * _SECONDS.get(found[2], 1), bool(found[2]))

    def newest(self, splits: Sequence[Split], text: Names, encoding_errors: str) -> list[float | None]:
        """Return the newest value of each input, None where there is none; values are read in a pass of their own."""
        columns = Columns(text, None, (self.column,), encoding_errors=encoding_errors, later=True)
        found: list[float | None] = []
        for split in splits:
            newest: float | None = None
            for batch in split.batches(columns):
                values = batch.others[self.column]
                try:
                    known = pc.unique(values).to_pylist() if isinstance(values, pa.Array) else set(_hashable(values))
                except (pa.ArrowException, ValueError, OverflowError):  # of lists; of times that Python does not know
                    what = f"values of type {getattr(values, 'type', 'unknown')}, or beyond the year 9999"
                    raise self._refusal(split, what) from None
                some = [self._number(value, split) for value in known if value is not None]
                newest = max(some if newest is None else [newest, *some], default=None)
                del batch
            found.append(newest)
        return found

    def oldest(self, newest: Iterable[float | None]) -> float | None:
        """Return the oldest value that counts where these are the newest ones; None: all do."""
        known = [value for value in newest if value is not None]
        return max(known) - self.span if known else None

    def _number(self, value: Any, split: Split) -> float:
        """Return a number, or the seconds of a time, which is in UTC without a zone; texts, as in CSV, are read as either."""
        try:
            when = datetime.fromisoformat(value) if isinstance(value, str) and self.timed else value
            if isinstance(when, date) and not isinstance(when, datetime):
                when = datetime.combine(when, time())
            timed = isinstance(when, datetime)
            if isinstance(when, datetime):
                number = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
            else:
                number = float(when)
            if timed == self.timed and isfinite(number) and not isinstance(value, bool):
                return number
        except (TypeError, ValueError, OverflowError):
            pass
        raise self._refusal(split, f"{value!r:.60}")

    def _refusal(self, split: Split, found: str) -> InputDataError:
        wanted = "a date or time such as 2026-11-25" if self.timed else "a number"
        return InputDataError(f"{split.name}, column {self.column!r}: a window counts from {wanted}; found {found}")


def _hashable(values: Iterable[Any]) -> Iterable[Any]:
    return (value if isinstance(value, str | int | float | date | None) else repr(value) for value in values)
