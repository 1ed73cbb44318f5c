"""Who belongs to whom: what decisions say in numbers, the groups that follow, and the documents of a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from heapq import nlargest

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..steps.decide import REASONS
from ..values import Float64Array, Int64Array
from ..values.arrow import string, strings, to_numpy
from ..values.tables import SOURCE_BITS
from .rows import Rows

RESEMBLING = 3  # ids that are suggested for one that is not there
COMPARED = 2000  # ids that are compared with it, letter by letter
LONGEST = 300  # letters of an id that are
_READ = ["order", "position", "bytes", "reason", "keeper", "resemblance", "n_duplicates"]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """A kept document, and those that are removed for it."""

    row: int  # of the kept document, in decisions
    rows: Int64Array  # near-duplicates first, the least alike before others, then copies byte for byte
    scores: Float64Array  # of the near-duplicates among ``rows``, ascending

    @property
    def size(self) -> int:
        """Documents, the kept one included."""
        return len(self.rows) + 1

    @property
    def n_exact(self) -> int:
        """Copies byte for byte."""
        return len(self.rows) - len(self.scores)

    @property
    def near(self) -> Int64Array:
        """The rows of the near-duplicates, the least alike first."""
        return self.rows[: len(self.scores)]

    @property
    def spread(self) -> tuple[float, float, float] | None:
        """The least, the median and the greatest resemblance of near-duplicates; None if there are none."""
        if not len(self.scores):
            return None
        return float(self.scores[0]), float(np.median(self.scores)), float(self.scores[-1])


class Numbers:
    """What decisions say in numbers, by row: 34 bytes a document, held whole. Ids and names stay where they are.

    ``row_of`` is by order. ``keeper``: the row of the kept document that stands for each, its own if kept, -1 if there is none;
    ``reason``: places in ``REASONS``; ``n_duplicates``: removed ones it stands for; ``by_hand``: an override names it.
    """

    def __init__(self, decisions: Rows) -> None:
        overridden = "override" in decisions.schema.names
        kinds = {"order": np.int32, "source": np.int32, "bytes": np.int64, "reason": np.int8, "keeper": np.int32,
                 "resemblance": np.float64, "n_duplicates": np.int32, "by_hand": np.bool_}  # fmt: skip
        parts: dict[str, list[NDArray[np.generic]]] = {name: [np.empty(0, kind)] for name, kind in kinds.items()}
        for batch in decisions.select([*_READ, *(["override"] if overridden else [])]).batches():
            columns = {name: to_numpy(batch[name]) for name in ("order", "bytes", "resemblance", "n_duplicates")}
            columns["source"] = to_numpy(batch["position"]) >> SOURCE_BITS
            columns["reason"] = to_numpy(pc.index_in(batch["reason"], strings(REASONS)))
            columns["keeper"] = to_numpy(batch["keeper"], -1)
            columns["by_hand"] = to_numpy(batch["override"].is_valid()) if overridden else np.zeros(len(batch), np.bool_)
            for name, values in columns.items():
                parts[name].append(values.astype(kinds[name]))
        whole = {name: np.concatenate(parts.pop(name)) for name in kinds}
        self.row_of = np.empty(len(whole["order"]), np.int32)
        self.row_of[whole["order"]] = np.arange(len(self.row_of))
        self.keeper = np.where(whole["keeper"] >= 0, self.row_of[whole["keeper"]], np.int32(-1)) if len(self) else self.row_of
        self.reason, self.score, self.n_bytes = whole["reason"], whole["resemblance"], whole["bytes"]
        self.n_duplicates, self.source, self.by_hand = whole["n_duplicates"], whole["source"], whole["by_hand"]

    def __len__(self) -> int:
        """Return the number of documents, references included."""
        return len(self.row_of)

    def where(self, *reasons: str) -> Int64Array:
        """Return the rows whose reason is one of some."""
        return np.flatnonzero(np.array([reason in reasons for reason in REASONS])[self.reason])

    @cached_property
    def _removed(self) -> tuple[Int64Array, NDArray[np.int32]]:
        """The rows of removed documents and of their keepers: those of a keeper together, in the order of ``Members.rows``."""
        rows = self.where("exact", "near")
        score = np.where(self.reason[rows] == REASONS.index("exact"), np.inf, self.score[rows])
        rows = rows[np.lexsort((rows, score, self.keeper[rows]))]
        return rows, self.keeper[rows]

    def members(self, row: int) -> Members:
        """Return a kept document with those that are removed for it."""
        removed, keepers = self._removed
        begin, end = np.searchsorted(keepers, [row, row + 1]).tolist()
        rows = removed[begin:end]
        near = rows[self.reason[rows] == REASONS.index("near")]
        return Members(row, rows, self.score[near])

    def largest_groups(self, n: int, least: int = 2) -> tuple[int, list[Members]]:
        """Return how many groups have so many documents at ``least``, and the largest of them."""
        some = np.flatnonzero(self.n_duplicates >= max(1, least - 1))
        largest = some[np.argsort(-self.n_duplicates[some], kind="stable")[:n]]
        return len(some), [self.members(row) for row in largest.tolist()]


def rows_named(decisions: Rows, name: str) -> list[int]:
    """Return the rows whose id reads like a name: of an input, and of a reference, where both have it."""
    found: list[int] = []
    for first, batch in _numbered(decisions, ["id"]):
        found += (first + np.flatnonzero(to_numpy(pc.equal(_named(batch), string(name)), 0))).tolist()
    return found


def names_like(decisions: Rows, name: str) -> list[str]:
    """Return some ids that contain a name no document has, or else share the longest beginning or end, most similar first."""
    some: dict[str, None] = {}
    lengths = [len(name), 3 * len(name) // 4, len(name) // 2, 2]
    for length in [length for length in lengths if length]:
        for _, batch in _numbered(decisions, ["id"]):
            names = _named(batch)
            if length == len(name):
                alike = pc.match_substring(names, name)
            else:
                alike = pc.or_(pc.starts_with(names, name[:length]), pc.ends_with(names, name[-length:]))
            some |= dict.fromkeys(names.filter(alike).slice(0, COMPARED - len(some)).to_pylist())
        if some:
            break
    matcher = SequenceMatcher(b=name, autojunk=False)

    def likeness(other: str) -> float:
        matcher.set_seq1(other[:LONGEST])
        return matcher.ratio()

    return nlargest(RESEMBLING, some, key=likeness)


def _named(batch: pa.RecordBatch) -> pa.Array:
    """Return the ids of a batch as texts; those that are numbers as they are written."""
    return batch.column("id").cast(pa.large_string())


def _numbered(rows: Rows, names: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the batches of some columns, each with the number of its first row."""
    first = 0
    for batch in rows.select(names).batches():
        yield first, batch
        first += len(batch)
