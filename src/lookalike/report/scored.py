"""Numbers and samples out of the pairs that a job lists, in one pass over them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs.texts import read_again
from ..results.rows import Draw, Lowest
from ..results.scored import Scored
from ..values import Int64Array
from .facts import ABOVE, BINS, IN_MATRIX, binned, score_bins
from .samples import MOST_TEXT, Document, Pair, Samples, short

IN_GROUP = 4  # pairs of a document that are shown


@dataclass(slots=True)
class PairFacts:
    """What is known of the pairs of a job.

    Parameters
    ----------
    bins, scores : ndarray
        Bounds of classes of scores, and how many pairs are in each.
    thresholds, still : ndarray
        The threshold and those up to 0.05 above it, and how many pairs reach each.
    in_pairs : ndarray of int32, shape (n_rows,)
        In how many pairs each document is.
    matrix : ndarray of int64, shape (n_sources, n_sources)
        Pairs by the sources of their left and of their right document; empty where there are very many sources.
    least, drawn : ndarray of int64, shape (n, 2)
        The least alike pairs, and some drawn at random: rows.
    scores_of : dict of (int, int) to float
        Of the chosen pairs.
    """

    bins: NDArray[np.float64]
    scores: Int64Array
    thresholds: NDArray[np.float64]
    still: Int64Array
    in_pairs: NDArray[np.int32]
    matrix: Int64Array
    least: Int64Array = field(default_factory=lambda: np.empty((0, 2), np.int64))
    drawn: Int64Array = field(default_factory=lambda: np.empty((0, 2), np.int64))
    grouped: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    scores_of: dict[tuple[int, int], float] = field(default_factory=dict)


class _Choice:
    """Pairs that are chosen by their place in the list."""

    def __init__(self) -> None:
        self.pairs = np.empty((0, 2), np.int64)
        self.places = np.empty(0, np.int64)
        self.scores = np.empty(0)

    def keep(self, wanted: Int64Array, left: Int64Array, right: Int64Array, score: NDArray[np.float64], first: int) -> None:
        """Take those of a batch that are wanted, and let go those held that are not wanted any more."""
        held = np.isin(self.places, wanted)
        new = wanted[wanted >= first] - first
        self.pairs = np.concatenate([self.pairs[held], np.column_stack([left[new], right[new]])])
        self.places = np.concatenate([self.places[held], wanted[wanted >= first]])
        self.scores = np.concatenate([self.scores[held], score[new]])

    def ordered(self, places: Int64Array) -> tuple[Int64Array, NDArray[np.float64]]:
        """Return the pairs at some places, in their order, and their scores."""
        at = np.argsort(self.places)[np.searchsorted(np.sort(self.places), places)]
        return self.pairs[at], self.scores[at]


def gather_pairs(scored: Scored, *, n_least: int, n_audit: int, n_groups: int, seed: int) -> PairFacts:
    """Count the pairs of a job, and choose some; they are read twice."""
    thresholds = np.round(scored.threshold + np.arange(ABOVE + 1) / 100, 10)
    thresholds[0] = scored.threshold
    thresholds = thresholds[thresholds <= 1.0]
    n_sources = len(scored.sources)
    sides = n_sources if n_sources <= 1000 else 0
    facts = PairFacts(
        score_bins(scored.threshold), np.zeros(BINS, np.int64), thresholds, np.zeros(len(thresholds), np.int64),
        np.zeros(int(scored.starts[-1]), np.int32), np.zeros((sides, sides), np.int64),
    )  # fmt: skip
    lowest, draw, first = Lowest(n_least), Draw(n_audit, seed, "report"), 0
    by_score, by_chance = _Choice(), _Choice()
    for left, right, score in scored.pairs():
        places = first + np.arange(len(left))
        facts.scores += binned(score, facts.bins)
        facts.still += (score[:, None] >= facts.thresholds).sum(axis=0)
        np.add.at(facts.in_pairs, left, 1)
        np.add.at(facts.in_pairs, right, 1)
        if sides:
            np.add.at(facts.matrix, (scored.source_of(left), scored.source_of(right)), 1)
        lowest.add(score, places)
        draw.add(places)
        by_score.keep(lowest.rows, left, right, score, first)
        by_chance.keep(draw.rows, left, right, score, first)
        first += len(left)
    facts.least, least_scores = by_score.ordered(lowest.rows)
    facts.drawn, drawn_scores = by_chance.ordered(draw.rows)
    for pairs, values in ((facts.least, least_scores), (facts.drawn, drawn_scores)):
        facts.scores_of.update(zip(map(tuple, pairs.tolist()), values.tolist(), strict=True))
    _choose_groups(scored, facts, n_groups)
    return facts


def _choose_groups(scored: Scored, facts: PairFacts, n: int) -> None:
    """Choose the documents in most pairs, and the first pairs of each."""
    order = np.argsort(-facts.in_pairs, kind="stable")[:n]
    order = order[facts.in_pairs[order] > 1]
    facts.grouped = {row: [] for row in order.tolist()}
    for left, right, score in scored.pairs():
        for row in order.tolist():
            some = facts.grouped[row]
            for i in np.flatnonzero((left == row) | (right == row))[: IN_GROUP - len(some)].tolist():
                pair = int(left[i]), int(right[i])
                some.append(pair)
                facts.scores_of[pair] = float(score[i])


def chosen_sources(facts: PairFacts) -> list[int]:
    """Return the sources of most pairs."""
    counted = facts.matrix.sum(axis=0) + facts.matrix.sum(axis=1)
    order = np.argsort(-counted, kind="stable")[:IN_MATRIX]
    return sorted(order[counted[order] > 0].tolist()) if len(counted) else []


def samples_of_pairs(scored: Scored, facts: PairFacts) -> tuple[Samples, dict[int, Document]]:
    """Look up the documents of the chosen pairs; return the samples, and the documents by row."""
    rows = np.unique(np.array([row for pair in facts.scores_of for row in pair] + list(facts.grouped), np.int64))
    positions, sources = scored.positions(rows), scored.source_of(rows)
    known = {}
    for row, position, source, name in zip(rows.tolist(), positions.tolist(), sources.tolist(), scored.ids(rows), strict=True):
        file = short(scored.sources[source].identity()["name"])
        known[row] = Document(short(name), name, file, source, row, 0, position, int(facts.in_pairs[row]))

    def pair(rows: tuple[int, int]) -> Pair:
        return Pair(known[rows[0]], known[rows[1]], facts.scores_of[rows])

    least, drawn = ([pair((a, b)) for a, b in pairs.tolist()] for pairs in (facts.least, facts.drawn))
    groups = [[pair(one) for one in some] for some in facts.grouped.values()]
    return Samples(least, drawn, groups, [], [known[row] for row in facts.grouped]), known


def texts_of_pairs(scored: Scored, samples: Samples) -> dict[int, bytes]:
    """Read the texts of the samples again, by their positions."""
    documents = [document for pair in samples.pairs() for document in (pair.left, pair.right)]
    texts: dict[int, bytes] = {}
    for reading, of_references in zip(scored.readings, (True, False), strict=True):
        some: list[Any] = [d.position for d in documents if (d.source < scored.n_references) == of_references]
        texts |= read_again(scored.sources, reading, np.array(some, np.int64), MOST_TEXT)[0]
    return texts
