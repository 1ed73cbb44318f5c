"""The removals of a result, some at a time: in several orders, and those only that are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import ParameterError
from ..report.samples import short
from ..results.members import Numbers
from ..results.rows import Draw, Rows, rows_at
from ..steps.decide import REASONS
from ..values import Int64Array
from ..values.tables import SOURCE_BITS

ORDERS = ("least alike", "most alike", "random", "source", "group")
KINDS = ("all", "near", "exact")
JUDGED = ("any", "none", "duplicate", "keep", "unsure")
MOST_ROWS = 200
SEARCHES = 8  # masks of searches that are remembered
MOST_SOUGHT = 300  # characters of a search
_TOLD = ["position", "source", "number", "id", "bytes", "reason", "resemblance", "duplicate_of"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which removals are asked for, and in which order.

    Parameters
    ----------
    order : {"least alike", "most alike", "random", "source", "group"}
        "random": by the seed of the job, as the report draws; "source": as in the input; "group": those together that were
        removed because of the same document.
    source : int, optional
        The number of an input.
    judged : {"any", "none", "duplicate", "keep", "unsure"}
        What was judged of them so far.
    find : str
        Part of the id of either document.
    """

    order: str = "least alike"
    kind: str = "all"
    source: int | None = None
    judged: str = "any"
    find: str = ""

    def __post_init__(self) -> None:
        """Check the values."""
        for name, value, known in (("order", self.order, ORDERS), ("kind", self.kind, KINDS), ("judged", self.judged, JUDGED)):
            if value not in known:
                raise ParameterError(f"{name} must be one of {', '.join(known)}; got {value[:40]!r}")
        if len(self.find) > MOST_SOUGHT:
            raise ParameterError(f"a search has at most {MOST_SOUGHT} characters; got {len(self.find):,}")


class Removals:
    """The removed documents of a result, exact and near; about 60 bytes for each are held.

    Parameters
    ----------
    seed : int
        Of the job.

    Attributes
    ----------
    rows : ndarray of int64
        Their places in ``decisions``, ascending.
    keepers : ndarray of int64
        The places of the documents that they were removed for.
    """

    def __init__(self, decisions: Rows, seed: int) -> None:
        self._decisions, numbers = decisions, Numbers(decisions)
        self.rows = numbers.where("near", "exact")
        self.keepers: Int64Array = numbers.keeper[self.rows].astype(np.int64)
        self.near: Mask = numbers.reason[self.rows] == REASONS.index("near")
        self._scores, self._sources = numbers.score[self.rows], numbers.source[self.rows]
        self._orders = self._sorted(seed)
        self._drawn = self._orders["random"][self.near[self._orders["random"]]]
        self._ids = self._column_of_ids()
        self._matching = lru_cache(SEARCHES)(self._search)

    def __len__(self) -> int:
        """Return the number of removals."""
        return len(self.rows)

    def _sorted(self, seed: int) -> dict[str, NDArray[np.int32]]:
        """Return each order of the removals; the first near-duplicates of "random" are those that the report draws."""
        n = len(self.rows)
        least = np.argsort(self._scores, kind="stable")
        draw = Draw(n, seed, "report")
        draw.add(self.rows)
        number = np.zeros(int(self.rows[-1]) + 1 if n else 0, np.int32)  # of each row that is a removal
        number[self.rows] = np.arange(n)
        found: dict[str, NDArray[Any]] = {
            "least alike": least,
            "most alike": np.argsort(-self._scores, kind="stable"),
            "random": number[draw.in_turn],
            "source": np.arange(n),
            "group": np.lexsort((self.rows, self.keepers)),
        }
        return {name: order.astype(np.int32) for name, order in found.items()}

    def _column_of_ids(self) -> pa.ChunkedArray:
        """Return the ids of all documents, as text."""
        kind = self._decisions.schema.field("id").type
        column = pa.chunked_array([batch.column(0) for batch in self._decisions.select(["id"]).batches()], kind)
        return column if pa.types.is_string(kind) or pa.types.is_large_string(kind) else column.cast(pa.string())

    def _search(self, find: str) -> Mask:
        """Return which removals have a text in an id: their own, or that of the document that they were removed for."""
        matches = pc.fill_null(pc.match_substring(self._ids, find), False).to_numpy()
        return np.asarray(matches[self.rows] | matches[self.keepers])

    def index_of(self, row: int) -> int:
        """Return the number of a removal by its place in decisions."""
        i = int(np.searchsorted(self.rows, row))
        if i == len(self.rows) or self.rows[i] != row:
            raise ParameterError(f"the document in row {row} of decisions was not removed as a duplicate")
        return i

    def drawn(self) -> Iterator[int]:
        """Yield the rows of all near-duplicates in random order: those that come first are a random sample."""
        return (int(self.rows[i]) for i in self._drawn)

    def sources(self) -> Int64Array:
        """Return how many removals each input has."""
        return np.bincount(self._sources)

    def find(self, wanted: Wanted, judged: NDArray[np.int8]) -> NDArray[np.int32]:
        """Return the numbers of the removals that are asked for, in their order."""
        order = self._orders[wanted.order]
        masks = []
        if wanted.kind != "all":
            masks.append(self.near if wanted.kind == "near" else ~self.near)
        if wanted.source is not None:
            masks.append(self._sources == wanted.source)
        if wanted.judged != "any":
            masks.append(judged == JUDGED.index(wanted.judged))
        if wanted.find:
            masks.append(self._matching(wanted.find))
        return order[np.logical_and.reduce(masks)[order]] if masks else order

    def documents(self, rows: Int64Array) -> list[Mapping[str, Any]]:
        """Return what is known of the documents at some places in decisions: names as they are shown, and what they are."""
        told = rows_at(self._decisions.select(_TOLD), rows).to_pylist()
        return [
            {
                "row": row, "name": short(of["id"]), "id": of["id"], "file": short(of["source"] or "in memory"),
                "source": of["position"] >> SOURCE_BITS, "number": of["number"], "bytes": of["bytes"], "reason": of["reason"],
                "score": of["resemblance"], "position": of["position"], "kept": short(of["duplicate_of"]),
                "duplicate_of": of["duplicate_of"],
            }
            for row, of in zip(rows.tolist(), told, strict=True)
        ]  # fmt: skip
