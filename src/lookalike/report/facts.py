"""Numbers out of the decisions of a job, in two passes over them: nothing here grows with the texts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..results.rows import Draw, Lowest, Rows, of_reason
from ..values import Int64Array
from ..values.arrow import to_numpy
from ..values.tables import SOURCE_BITS

BINS = 40  # of resemblances, from the threshold to 1
LENGTHS = 36  # classes of lengths: 0, 1, 2-3, 4-7, ... bytes
ABOVE = 5  # hundredths above the threshold
IN_MATRIX = 12
OUTCOMES = ("kept", "exact", "near", "empty", "override", "skipped")
REMOVED = slice(OUTCOMES.index("exact"), OUTCOMES.index("skipped"))
_PASSED = ["order", "position", "bytes", "reason", "keeper", "resemblance", "n_duplicates"]
_AGAIN = ["order", "reason", "keeper", "resemblance"]

Counts = NDArray[np.int64]


@dataclass(slots=True)
class Group:
    """A kept document and those that are removed for it.

    Parameters
    ----------
    row, order : int
        Of the kept document, in decisions.
    size : int
        Documents, itself included.
    scores : ndarray of int64, shape (BINS,)
        How many near-duplicates have which resemblance.
    exact : int
        Copies byte for byte.
    least : Lowest
        The least alike.
    draw : Draw
        A sample.
    """

    row: int
    order: int
    size: int
    scores: Counts
    least: Lowest
    draw: Draw
    exact: int = 0


@dataclass(slots=True)
class Facts:
    """What is known of a job's decisions.

    Parameters
    ----------
    bins : ndarray of float64, shape (BINS + 1,)
        Bounds of the classes of resemblance.
    scores : ndarray of int64, shape (BINS,)
        Near-duplicates by resemblance.
    thresholds : ndarray of float64
        The threshold, and those up to 0.05 above it.
    still : ndarray of int64
        Near-duplicates that resemble the document they name by each of these thresholds.
    supported : ndarray of int64
        A bound: at least this many near-duplicates are removed at each.
    lengths : ndarray of int64, shape (6, LENGTHS)
        Documents by outcome (``OUTCOMES``) and class of length.
    n_bytes : ndarray of int64, shape (6,)
        Bytes of text by outcome.
    sources : ndarray of int64, shape (7, n_sources)
        By outcome, and bytes of removed documents; references are not counted.
    stands_for : ndarray of int64, shape (n_sources,)
        For how many removed documents the kept ones of each source stand.
    matrix : ndarray of int64, shape (n + 1, n + 1)
        Removed documents by their source and their kept document's, of the sources ``shown`` and of all others.
    """

    threshold: float
    bins: NDArray[np.float64]
    scores: Counts
    thresholds: NDArray[np.float64]
    still: Counts
    supported: Counts
    lengths: Counts
    n_bytes: Counts
    sources: Counts
    stands_for: Counts
    shown: list[int] = field(default_factory=list)
    matrix: Counts = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    groups: list[Group] = field(default_factory=list)
    least: Lowest = field(default_factory=lambda: Lowest(0))
    audit: Draw = field(default_factory=lambda: Draw(0, 0, ""))
    rows_of: dict[int, int] = field(default_factory=dict)
    """The rows in decisions of the orders that were asked for."""

    @property
    def vanished(self) -> list[int]:
        """The sources of which every document was removed."""
        removed = self.sources[REMOVED].sum(axis=0)
        return np.flatnonzero((removed > 0) & (self.sources[0] == 0)).tolist()


def score_bins(threshold: float) -> NDArray[np.float64]:
    """Return the bounds of the classes of resemblance."""
    return np.linspace(min(threshold, 0.99), 1.0, BINS + 1)


def binned(scores: NDArray[np.float64], bins: NDArray[np.float64]) -> Counts:
    """Count scores by class; those below the first bound count in the first class."""
    return np.bincount(np.clip(np.searchsorted(bins, scores, side="right") - 1, 0, BINS - 1), minlength=BINS)[:BINS]


def gather(
    decisions: Rows,
    threshold: float,
    *,
    boundary: int,
    n_sources: int,
    n_least: int,
    n_audit: int,
    n_groups: int,
    seed: int,
    orders: Int64Array,
) -> Facts:
    """Read the decisions, and count.

    Notes
    -----
    Memory: 6 bytes per document.
    """
    thresholds = threshold + np.arange(ABOVE + 1) / 100
    thresholds = np.round(thresholds[thresholds <= 1.0], 10)
    thresholds[0] = threshold
    none = np.zeros(len(thresholds), np.int64)
    facts = Facts(
        threshold, score_bins(threshold), np.zeros(BINS, np.int64), thresholds, none, none.copy(),
        lengths=np.zeros((len(OUTCOMES), LENGTHS), np.int64), n_bytes=np.zeros(len(OUTCOMES), np.int64),
        sources=np.zeros((len(OUTCOMES) + 1, n_sources), np.int64), stands_for=np.zeros(n_sources, np.int64),
        least=Lowest(n_least), audit=Draw(n_audit, seed, "report"),
    )  # fmt: skip
    largest = Lowest(n_groups)
    source_of, first = [np.empty(0, np.int32)], 0
    reached = _Reached(facts, boundary)
    overrides = [name for name in ("override",) if name in decisions.schema.names]
    for batch in decisions.select([*_PASSED, *overrides]).batches():
        rows = np.arange(first, first + len(batch))
        _count(facts, batch, rows, largest)
        reached.add(batch)
        source_of.append((to_numpy(batch.column("position")) >> SOURCE_BITS).astype(np.int32))
        first += len(batch)
    facts.supported = reached.bound()
    sources = np.concatenate(source_of)
    _choose_sources(facts)
    _look_again(facts, decisions, sources, largest.rows, (seed, orders))
    return facts


def _count(facts: Facts, batch: pa.RecordBatch, rows: Int64Array, largest: Lowest) -> None:
    """Count the rows of a batch by what became of them."""
    size, source = to_numpy(batch.column("bytes")), to_numpy(batch.column("position")) >> SOURCE_BITS
    length = np.where(size > 0, np.frexp(size.astype(np.float64))[1], 0).clip(0, LENGTHS - 1)
    n_sources = facts.sources.shape[1]
    for number, outcome in enumerate(OUTCOMES):
        chosen = of_reason(batch, outcome)
        facts.lengths[number] += np.bincount(length[chosen], minlength=LENGTHS)
        facts.n_bytes[number] += size[chosen].sum()
        facts.sources[number] += np.bincount(source[chosen], minlength=n_sources)
        if outcome in OUTCOMES[REMOVED]:
            facts.sources[-1] += np.bincount(source[chosen], size[chosen], n_sources).astype(np.int64)
    near = np.flatnonzero(of_reason(batch, "near"))
    scores = to_numpy(batch.column("resemblance"))[near]
    facts.scores += binned(scores, facts.bins)
    facts.still += (scores[:, None] >= facts.thresholds).sum(axis=0)
    facts.least.add(scores, rows[near])
    facts.audit.add(rows[near])
    stands_for = to_numpy(batch.column("n_duplicates"))
    some = np.flatnonzero(stands_for)
    facts.stands_for += np.bincount(source[some], stands_for[some], n_sources).astype(np.int64)
    largest.add(-stands_for[some], rows[some])


class _Reached:
    """Which thresholds the best near-duplicate of each kept document reaches: a byte for each document.

    At a higher threshold a kept document and those that still match it cannot all stay: of each such set at least one is
    removed, and of the set of a reference all others are. Those that overrides keep may stay whatever they match.
    """

    def __init__(self, facts: Facts, boundary: int) -> None:
        self._facts, self._boundary = facts, boundary
        self._levels = np.zeros(0, np.uint8)
        self._of_references = np.zeros(len(facts.thresholds), np.int64)
        self._by_hand = [np.empty(0, np.int64)]

    def add(self, batch: pa.RecordBatch) -> None:
        """Take the near-duplicates of a batch into account."""
        if "override" in batch.schema.names:
            self._by_hand.append(to_numpy(batch.column("order"))[to_numpy(batch.column("override").is_valid())])
        near = np.flatnonzero(of_reason(batch, "near"))
        if not len(near):
            return
        keeper = to_numpy(batch.column("keeper"))[near].astype(np.int64)
        level = np.searchsorted(self._facts.thresholds, to_numpy(batch.column("resemblance"))[near], side="right")
        if keeper.max() >= len(self._levels):
            more = max(int(keeper.max()) + 1, 2 * len(self._levels)) - len(self._levels)
            self._levels = np.concatenate([self._levels, np.zeros(more, np.uint8)])
        reference = keeper < self._boundary
        np.maximum.at(self._levels, keeper[~reference], level[~reference].astype(np.uint8))
        counted = np.bincount(level[reference], minlength=len(self._of_references) + 1)
        self._of_references += counted[::-1].cumsum()[::-1][1:]

    def bound(self) -> Counts:
        """Return how many near-duplicates are removed at least, at each threshold."""
        n = len(self._of_references)
        by_hand = np.concatenate(self._by_hand)
        self._levels[by_hand[by_hand < len(self._levels)]] = 0
        counted = np.bincount(self._levels, minlength=n + 1)[: n + 1]
        return np.asarray(self._of_references + counted[::-1].cumsum()[::-1][1:])


def _choose_sources(facts: Facts) -> None:
    """Choose the sources of most removed documents, and of the kept ones that stand for them, for the matrix."""
    counted = facts.sources[1:3].sum(axis=0) + facts.stands_for
    order = np.argsort(-counted, kind="stable")[:IN_MATRIX]
    facts.shown = sorted(order[counted[order] > 0].tolist())


def _look_again(
    facts: Facts, decisions: Rows, sources: NDArray[np.int32], largest: Int64Array, wished: tuple[int, Int64Array]
) -> None:
    """Pass over the decisions again, for what needs to know the kept documents."""
    seed, more = wished
    wanted: dict[int, int] = {}
    orders = np.empty(len(sources), np.uint8) if len(facts.shown) else None
    place = np.full(facts.sources.shape[1] + 1, len(facts.shown))
    place[facts.shown] = np.arange(len(facts.shown))
    first = 0
    chosen = np.unique(np.concatenate([facts.least.rows, facts.audit.rows]))
    keepers: list[int] = []
    groups: dict[int, Group] = {}
    for batch in decisions.select(["order", "keeper"]).batches():
        order = to_numpy(batch.column("order"))
        if orders is not None:
            orders[order] = place[sources[first : first + len(batch)]]
        for row in largest[(largest >= first) & (largest < first + len(batch))].tolist():
            groups[int(order[row - first])] = Group(
                row, int(order[row - first]), 1, np.zeros(BINS, np.int64), Lowest(1), Draw(3, seed, f"group {row}")
            )
        inside = chosen[(chosen >= first) & (chosen < first + len(batch))] - first
        keepers += to_numpy(batch.column("keeper"))[inside].astype(np.int64).tolist()
        first += len(batch)
    targets = np.unique(np.concatenate([np.array([*keepers, *groups], np.int64), more]))
    facts.matrix = np.zeros((len(facts.shown) + 1, len(facts.shown) + 1), np.int64)
    first = 0
    for batch in decisions.select(_AGAIN).batches():
        order = to_numpy(batch.column("order"))
        found = np.flatnonzero(np.isin(order, targets))
        wanted.update(zip(order[found].tolist(), (first + found).tolist(), strict=True))
        removed = np.flatnonzero(of_reason(batch, "exact", "near"))
        keeper = to_numpy(batch.column("keeper"))[removed].astype(np.int64)
        if orders is not None:
            np.add.at(facts.matrix, (orders[order[removed]], orders[keeper]), 1)
        _add_to_groups(facts, groups, batch, (removed, keeper), first)
        first += len(batch)
    facts.rows_of = wanted
    facts.groups = sorted(groups.values(), key=lambda group: (-group.size, group.row))


def _add_to_groups(
    facts: Facts, groups: dict[int, Group], batch: pa.RecordBatch, removed: tuple[Int64Array, Int64Array], first: int
) -> None:
    """Count those removed documents of a batch that belong to one of the largest groups."""
    rows, keeper = removed
    scores, exact = to_numpy(batch.column("resemblance")), of_reason(batch, "exact")
    for order, group in groups.items():
        own = rows[keeper == order]
        if not len(own):
            continue
        near = own[~exact[own]]
        group.size += len(own)
        group.exact += len(own) - len(near)
        group.scores += binned(scores[near], facts.bins)
        group.least.add(scores[near], first + near)
        group.draw.add(first + near)


def share_between(counts: Counts, bins: NDArray[np.float64]) -> tuple[float, float, float] | None:
    """Return the least, the middle and the greatest resemblance of a histogram, as the bounds of its classes tell them."""
    found = np.flatnonzero(counts)
    if not len(found):
        return None
    middle = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2))
    return float(bins[found[0]]), float((bins[middle] + bins[middle + 1]) / 2), float(bins[found[-1] + 1])
