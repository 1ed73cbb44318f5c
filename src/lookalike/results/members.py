"""Who belongs to whom: what decisions say in numbers, the groups that follow, and the documents of a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..steps.decide import REASONS
from ..values import Float64Array, Int64Array
from ..values.arrow import string, strings, to_arrow, to_numpy
from ..values.tables import COLUMN, SOURCE_BITS
from .rows import BATCH_ROWS, Rows, numbered_batches

RESEMBLING = 3  # ids that are suggested for one that is not there
COMPARED = 2000  # ids that are compared with it, letter by letter
LONGEST = 300  # letters of an id that are
FOR_ANOTHER = ("exact", "near", "key")  # why a document is removed for a kept one
_COPY = 2.0  # above every score
_READ = ["order", "position", "reason", "keeper", "resemblance"]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """A kept document, and those that are removed for it."""

    row: int  # of the kept document, in decisions
    rows: Int64Array  # near-duplicates first, the least alike before others, then copies byte for byte, then others of its key
    scores: Float64Array  # of the near-duplicates among ``rows``, ascending
    n_keys: int  # removed by their keys

    @property
    def size(self) -> int:
        """Documents, the kept one included."""
        return len(self.rows) + 1

    @property
    def n_exact(self) -> int:
        """Copies byte for byte."""
        return len(self.rows) - len(self.scores) - self.n_keys

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
    """What decisions say in numbers, by row: 21 bytes a document, held whole. Ids and names stay where they are.

    ``row_of`` is by order. ``source`` is the input of each or, with ``column``, the place in ``names`` of the value that it has
    there. ``keeper``: the row of the kept document that stands for each, its own if kept, -1 if there is none;
    ``reason``: places in ``REASONS``.
    """

    def __init__(self, decisions: Rows, column: str | None = None) -> None:
        self.names: dict[str | None, int] = {}
        by = [] if column is None else [COLUMN + column]
        kinds = {"order": np.int32, "source": np.int32, "reason": np.int8, "keeper": np.int32, "resemblance": np.float64}
        parts: dict[str, list[NDArray[np.generic]]] = {name: [np.empty(0, kind)] for name, kind in kinds.items()}
        for batch in decisions.select([*_READ, *by]).batches():
            columns = {name: to_numpy(batch[name]) for name in ("order", "resemblance")}
            columns["source"] = to_numpy(batch["position"]) >> SOURCE_BITS if column is None else self._places(batch[by[0]])
            columns["reason"] = to_numpy(pc.index_in(batch["reason"], strings(REASONS)))
            columns["keeper"] = to_numpy(batch["keeper"], -1)
            for name, values in columns.items():
                parts[name].append(values.astype(kinds[name]))
        whole = {name: np.concatenate(parts.pop(name)) for name in kinds}
        self.row_of = np.empty(len(whole["order"]), np.int32)
        self.row_of[whole.pop("order")] = np.arange(len(self.row_of), dtype=np.int32)
        self.keeper = np.where(whole["keeper"] >= 0, self.row_of[whole["keeper"]], np.int32(-1)) if len(self) else self.row_of
        self.reason, self.score, self.source = whole["reason"], whole["resemblance"], whole["source"]

    def _places(self, values: pa.Array) -> Int64Array:
        """Return the places of values in ``names``."""
        found = values.dictionary_encode("encode")
        places = [self.names.setdefault(value, len(self.names)) for value in found.dictionary.to_pylist()]
        return np.asarray(np.array(places, np.int64)[to_numpy(found.indices)], np.int64)

    def __len__(self) -> int:
        """Return the number of documents, references included."""
        return len(self.row_of)

    def shared(self) -> list[tuple[int, int, int]]:
        """Return (source of removed documents, source of the kept ones, how many documents), most first."""
        total = Counter[tuple[int, int]]()
        for part in self.parts(*FOR_ANOTHER):
            total.update(zip(self.source[part].tolist(), self.source[self.keeper[part]].tolist(), strict=True))
        return [(*ends, n) for ends, n in sorted(total.items(), key=lambda found: (-found[1], found[0]))]

    def parts(self, *reasons: str) -> Iterator[Int64Array]:
        """Yield the rows whose reason is one of some, of as many documents at a time as a batch has."""
        wanted = np.array([reason in reasons for reason in REASONS])
        for begin in range(0, len(self), BATCH_ROWS):
            yield begin + np.flatnonzero(wanted[self.reason[begin : begin + BATCH_ROWS]])

    def where(self, *reasons: str) -> Int64Array:
        """Return the rows whose reason is one of some."""
        return np.concatenate([np.empty(0, np.int64), *self.parts(*reasons)])

    def members(self, rows: Sequence[int]) -> list[Members]:
        """Return some kept documents, each with those that are removed for it."""
        wanted = np.zeros(len(self), np.bool_)
        wanted[rows] = True
        parts = (part[wanted[self.keeper[part]]] for part in self.parts(*FOR_ANOTHER))
        removed = np.concatenate([np.empty(0, np.int64), *parts])
        is_near, by_key = (self.reason[removed] == REASONS.index(name) for name in ("near", "key"))
        score = np.where(is_near, self.score[removed], np.where(by_key, np.inf, _COPY))
        order = np.lexsort((removed, score, self.keeper[removed]))
        removed, is_near, by_key = removed[order], is_near[order], by_key[order]
        begins, ends = (np.searchsorted(self.keeper[removed], rows, side) for side in ("left", "right"))
        return [
            Members(row, removed[begin:end], self.score[removed[begin:end][is_near[begin:end]]], int(by_key[begin:end].sum()))
            for row, begin, end in zip(rows, begins.tolist(), ends.tolist(), strict=True)
        ]

    def largest_groups(self, n: int, least: int = 2) -> tuple[int, list[Members]]:
        """Return how many groups have so many documents at ``least``, and the largest of them."""
        keepers = np.concatenate([self.keeper[:0], *(self.keeper[removed] for removed in self.parts(*FOR_ANOTHER))])
        rows, sizes = np.unique(keepers, return_counts=True)
        rows, sizes = rows[sizes >= least - 1], sizes[sizes >= least - 1]
        return len(rows), self.members(rows[np.argsort(-sizes, kind="stable")[:n]].tolist())


def shared_by(decisions: Rows, column: str | None, inputs: list[str]) -> pa.Table:
    """Return ``removed_from, kept_in, documents``: sources are values of a column, or the inputs."""
    numbers = Numbers(decisions, column)
    names, found = inputs if column is None else list(numbers.names), numbers.shared()
    ends = [strings([names[pair[side]] for pair in found]) for side in (0, 1)]
    return pa.table([*ends, to_arrow(np.array([n for *_, n in found], np.int64))], ["removed_from", "kept_in", "documents"])


def rows_named(decisions: Rows, name: str) -> list[int]:
    """Return the rows whose id reads like a name: of an input, and of a reference, where both have it."""
    found: list[int] = []
    for first, batch in numbered_batches(decisions, ["id"]):
        found += (first + np.flatnonzero(to_numpy(pc.equal(_ids_of(batch), string(name)), 0))).tolist()
    return found


def names_like(decisions: Rows, name: str) -> list[str]:
    """Return some ids that contain a name no document has, or else share the longest beginning or end, most similar first."""
    some: dict[str, None] = {}
    lengths = [len(name), 3 * len(name) // 4, len(name) // 2, 2]
    for length in [length for length in lengths if length]:
        for batch in decisions.select(["id"]).batches():
            names = _ids_of(batch)
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


def _ids_of(batch: pa.RecordBatch) -> pa.Array:
    """Return the ids of a batch as texts; those that are numbers as they are written."""
    return batch.column("id").cast(pa.large_string())
