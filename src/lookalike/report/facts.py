"""Numbers out of the decisions of a job, or out of the pairs that it lists: nothing here grows with the texts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..results.members import FOR_ANOTHER, Members, Numbers
from ..results.rows import RandomSample, Rows, SmallestN
from ..results.scored_pairs import ScoredPairs
from ..steps.decide import REASONS
from ..values import Int64Array
from ..values.arrow import to_numpy

BINS = 40  # of resemblances, from the threshold to 1
LENGTHS = 36  # classes of lengths: 0, 1, 2-3, 4-7, ... bytes
IN_MATRIX = 12
OUTCOMES = ("kept", "exact", "near", "empty", "override", "key", "skipped")
REMOVED = slice(OUTCOMES.index("exact"), OUTCOMES.index("skipped"))

_COUNTED_AS = {"spared": "kept"}
_OUTCOME_OF = np.array([(*OUTCOMES, "reference").index(_COUNTED_AS.get(reason, reason)) for reason in REASONS])
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Group:
    """A kept document and those that are removed for it."""

    members: Members
    scores: Counts  # near-duplicates by class of resemblance
    shown: Int64Array  # rows that a page shows


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a job's decisions; ``OUTCOMES`` are the rows of lengths, n_bytes and sources."""

    threshold: float
    bins: NDArray[np.float64]  # bounds of the BINS classes of resemblance
    scores: Counts  # near-duplicates by resemblance
    lengths: Counts  # (len(OUTCOMES), LENGTHS): documents by outcome and length
    n_bytes: Counts  # (len(OUTCOMES),): of text by outcome
    sources: Counts  # (len(OUTCOMES) + 1, n_sources): by outcome, and bytes of removed documents; no references
    shown: list[int]
    matrix: Counts  # removed by their source and their kept one's: ``shown``, and all others last
    groups: list[Group]
    least: Int64Array  # rows of the least alike near-duplicates
    audit: Int64Array  # rows of some drawn at random

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
    decisions: Rows, numbers: Numbers, threshold: float, *, n_sources: int, n_least: int, n_audit: int, n_groups: int, seed: int
) -> Facts:
    """Count what became of the documents, and choose those that a page shows."""
    lengths = np.zeros((len(OUTCOMES) + 1, LENGTHS), np.int64)  # the last outcome: references
    sources, n_bytes = np.zeros((len(OUTCOMES) + 1, n_sources), np.int64), np.zeros(len(OUTCOMES) + 1, np.int64)
    removed_bytes, first = np.zeros(n_sources, np.int64), 0
    for batch in decisions.select(["bytes"]).batches():
        some, size = slice(first, first + len(batch)), to_numpy(batch["bytes"])
        outcome, source = _OUTCOME_OF[numbers.reason[some]], numbers.source[some]
        length = np.where(size > 0, np.frexp(size.astype(np.float64))[1], 0).clip(0, LENGTHS - 1)
        lengths += _count_pairs(outcome, length, lengths.shape)
        sources += _count_pairs(outcome, source, sources.shape)
        n_bytes += np.bincount(outcome, size, len(n_bytes)).astype(np.int64)
        gone = (outcome >= REMOVED.start) & (outcome < REMOVED.stop)
        removed_bytes += np.bincount(source[gone], size[gone], n_sources).astype(np.int64)
        first = some.stop
    sources[-1] = removed_bytes
    bins, scores = score_bins(threshold), np.zeros(BINS, np.int64)
    lowest, draw = SmallestN(n_least), RandomSample(n_audit, seed, "report")
    for near in numbers.parts("near"):
        found = numbers.score[near]
        scores += binned(found, bins)
        lowest.add(found, near)
        draw.add(near)
    stands_for = np.zeros(n_sources, np.int64)
    for removed in numbers.parts(*FOR_ANOTHER):
        stands_for += np.bincount(numbers.source[numbers.keeper[removed]], minlength=n_sources)
    shown = chosen_sources(sources[[OUTCOMES.index(reason) for reason in FOR_ANOTHER]].sum(axis=0) + stands_for)
    return Facts(
        threshold, bins, scores, lengths=lengths[:-1], n_bytes=n_bytes[:-1], sources=sources, shown=shown,
        matrix=_matrix(numbers, shown, n_sources),
        groups=[_group(members, bins, seed) for members in numbers.largest_groups(n_groups)[1]],
        least=lowest.rows, audit=draw.rows,
    )  # fmt: skip


def _count_pairs(rows: Counts, columns: Counts, shape: tuple[int, int]) -> Counts:
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def chosen_sources(counted: Counts) -> list[int]:
    """Choose the sources with the highest counts."""
    order = np.argsort(-counted, kind="stable")[:IN_MATRIX]
    return sorted(order[counted[order] > 0].tolist())


def _matrix(numbers: Numbers, shown: list[int], n_sources: int) -> Counts:
    """Count removed documents by their source and that of their kept document."""
    n = len(shown)
    place, matrix = np.full(n_sources, n), np.zeros((n + 1, n + 1), np.int64)
    place[shown] = np.arange(n)
    for removed in numbers.parts(*FOR_ANOTHER):
        of_removed, of_kept = (place[numbers.source[rows]] for rows in (removed, numbers.keeper[removed]))
        matrix += _count_pairs(of_removed, of_kept, matrix.shape)
    return matrix


def _group(members: Members, bins: NDArray[np.float64], seed: int) -> Group:
    """Choose the near-duplicates of a group that are shown: the least alike, then some drawn at random."""
    draw, least = RandomSample(3, seed, f"group {members.row}"), members.near[:1]
    draw.add(np.sort(members.near))
    return Group(members, binned(members.scores, bins), np.concatenate([least, draw.rows[~np.isin(draw.rows, least)]]))


def share_between(counts: Counts, bins: NDArray[np.float64]) -> tuple[float, float, float] | None:
    """Return the least, the middle and the greatest resemblance of a histogram, as the bounds of its classes tell them."""
    found = np.flatnonzero(counts)
    if not len(found):
        return None
    middle = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2))
    return float(bins[found[0]]), float((bins[middle] + bins[middle + 1]) / 2), float(bins[found[-1] + 1])


IN_GROUP = 4  # pairs of a document that are shown
Ends = tuple[int, int]  # the rows of a pair


@dataclass(slots=True)
class PairFacts:
    """What is known of the pairs of a job."""

    bins: NDArray[np.float64]  # bounds of classes of scores
    scores: Int64Array  # pairs by class
    in_pairs: NDArray[np.int32]  # in how many pairs each row is
    matrix: Int64Array  # by source of left and of right; empty if very many sources
    least: list[Ends] = field(default_factory=list)
    drawn: list[Ends] = field(default_factory=list)  # at random
    grouped: dict[int, list[Ends]] = field(default_factory=dict)
    scores_of: dict[Ends, float] = field(default_factory=dict)  # of the chosen pairs


def gather_pairs(scored: ScoredPairs, *, n_least: int, n_audit: int, n_groups: int, seed: int) -> PairFacts:
    """Count the pairs of a job, and choose some; they are read twice."""
    n_sources = len(scored.sources)
    sides = n_sources if n_sources <= 1000 else 0
    facts = PairFacts(
        score_bins(scored.threshold), np.zeros(BINS, np.int64),
        np.zeros(int(scored.starts[-1]), np.int32), np.zeros((sides, sides), np.int64),
    )  # fmt: skip
    lowest, draw, first = SmallestN(n_least), RandomSample(n_audit, seed, "report"), 0
    for left, right, score in scored.pairs():
        places = first + np.arange(len(left))
        facts.scores += binned(score, facts.bins)
        np.add.at(facts.in_pairs, left, 1)
        np.add.at(facts.in_pairs, right, 1)
        if sides:
            np.add.at(facts.matrix, (scored.source_of(left), scored.source_of(right)), 1)
        lowest.add(score, places)
        draw.add(places)
        first += len(left)
    _choose(scored, facts, lowest.rows, draw.rows, n_groups)
    return facts


def _choose(scored: ScoredPairs, facts: PairFacts, least: Int64Array, drawn: Int64Array, n_groups: int) -> None:
    """Look up the pairs at some places of the list, and the first pairs of the documents in most."""
    order = np.argsort(-facts.in_pairs, kind="stable")[:n_groups]
    order = order[facts.in_pairs[order] > 1]
    facts.grouped = {row: [] for row in order.tolist()}
    at_place, wanted, first = dict[int, Ends](), np.unique(np.concatenate([least, drawn])), 0
    for left, right, score in scored.pairs():
        here = wanted[(wanted >= first) & (wanted < first + len(left))] - first
        chosen: list[int] = here.tolist()
        for row, some in facts.grouped.items():
            its = np.flatnonzero((left == row) | (right == row))[: IN_GROUP - len(some)].tolist()
            some += [(int(left[i]), int(right[i])) for i in its]
            chosen += its
        facts.scores_of |= {(int(left[i]), int(right[i])): float(score[i]) for i in chosen}
        at_place |= {first + i: (int(left[i]), int(right[i])) for i in here.tolist()}
        first += len(left)
    facts.least, facts.drawn = ([at_place[place] for place in places.tolist()] for places in (least, drawn))
