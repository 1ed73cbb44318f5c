"""Which documents are kept: candidates compared and walked, a partition at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..values import Float64Array, Int64Array
from .corpus import VERIFIED, Corpus
from .keep import Scored, Walk
from .partitions import Partition
from .verify import Group, Material, decide_groups, divide


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The outcome of a walk, a row for each document: the row kept in its place (-1: dropped as empty), how similar.

    The verified pairs lie in the workspace, in parts named by ``stem``; there are ``n_verified`` of them (equal texts left
    out). ``n_uncompared`` pairs of large buckets were left uncompared; ``n_compared`` were compared, which lets
    ``recall_vouched`` be stated for the documents concerned.
    """

    keeper: Int64Array
    keeper_resemblance: Float64Array
    stem: str
    n_verified: int
    n_compared: int
    n_uncompared: int
    recall_vouched: float


class Judge:
    """Judges the documents of a corpus whose candidates have been found, at one threshold after the other.

    Parameters
    ----------
    corpus : Corpus
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def _decide(self, threshold: float | None = None) -> str:
        """Compare and walk all partitions; return the stem of the parts that hold what was found.

        A part holds, in positions: ``rows`` of all candidate documents, ``keeper``, ``keeper_resemblance`` and ``large``
        (whether their component has large buckets) for each; the verified pairs ``left, right, resemblance``; and ``counts``
        of candidate pairs outside components with large buckets, of all pairs compared, of those left out, and of the bands
        left out for the document worst off. Pairs of a component too large for the memory lie in parts of their own.

        At another ``threshold`` than that of the settings, not below it, pairs that are known are not compared again.
        """
        base = threshold is None or threshold == self.corpus.settings.threshold
        stem = VERIFIED if base else f"{VERIFIED}-at-{threshold!r}"
        known = None if base else self.corpus.workspace.numbered(VERIFIED)
        done = self.corpus.workspace.numbered(stem)
        for i, (partition, material) in enumerate(self.corpus.partitions()):
            if i >= len(done):
                earlier = None if known is None else (self.corpus.workspace.get(known[i]), self._pairs_of(VERIFIED, i))
                self.corpus.workspace.append(stem, self._decide_partition(stem, partition, material, threshold, earlier))
        self.corpus.clock.lap("verification")
        return stem

    def _decide_partition(
        self, stem: str, partition: Partition, material: Material, threshold: float | None, earlier: Any
    ) -> dict[str, NDArray[Any]]:
        threshold = self.corpus.settings.threshold if threshold is None else threshold
        n_reference = int(np.searchsorted(partition.positions, self.corpus.active.n_reference))
        counts = np.zeros(4, np.int64)
        parts: list[tuple[NDArray[Any], ...]] = []
        pairs: list[tuple[NDArray[Any], ...]] = []
        groups = self._groups(stem, partition, material)
        if earlier is not None:
            plain, plain_pairs = self._walk_again(earlier[0], earlier[1], threshold)
            parts.append(plain)
            pairs.append(plain_pairs)
            counts[:2] = earlier[0]["counts"][0]
            groups = (group for group in groups if group.large)
        for decided in decide_groups(groups, material, threshold, n_reference, self.corpus.settings.n_threads):
            self.corpus.progress("verifying", decided.n_candidates)
            rows, walked, found = partition.positions[decided.rows], decided.walked, decided.pairs
            parts.append((rows, rows[walked.keeper], walked.resemblance, np.full(len(rows), decided.has_large)))
            pairs.append((rows[found.left], rows[found.right], found.score))
            counts[0] += 0 if decided.has_large else decided.n_candidates
            counts[1:3] += decided.n_candidates + walked.n_compared, walked.skipped[:, 0].sum()
            counts[3] = max(counts[3], walked.skipped[:, 1].max(initial=0))
        none = np.empty(0, np.int64)
        rows, keeper, resemblance, large = _joined(parts, (none, none, np.empty(0), np.empty(0, np.bool_)))
        left, right, score = _joined(pairs, (none, none, np.empty(0)))
        return {"rows": rows, "keeper": keeper, "keeper_resemblance": resemblance, "large": large, "left": left,
                "right": right, "resemblance": score, "counts": counts}  # fmt: skip

    def _groups(self, stem: str, partition: Partition, material: Material) -> Iterator[Group]:
        """Yield what is compared together: groups of components, or the one that is larger than the memory."""
        if partition.slices is None:
            return divide(partition.candidates, material.sizes)
        found = _pairs_stem(stem, partition.number)
        self.corpus.workspace.discard(f"{found}-")

        def emit(pairs: Scored) -> None:
            left, right = partition.positions[pairs.left], partition.positions[pairs.right]
            self.corpus.workspace.append(found, {"left": left, "right": right, "resemblance": pairs.score})

        none, c = np.empty(0, np.int64), partition.candidates
        large = [(c.bucket_members[c.bucket_offsets[i] : c.bucket_offsets[i + 1]], band) for i, band in
                 enumerate(c.bucket_bands.tolist())]  # fmt: skip
        rows = np.arange(len(partition.positions))
        return iter([Group(rows, none, none, large, partition.slices, partition.load_pairs, emit)])

    def _pairs_of(self, stem: str, number: int) -> tuple[Int64Array, Int64Array, Float64Array]:
        """Return all verified pairs of a partition."""
        names = [f"{stem}-{number:06}", *self.corpus.workspace.numbered(_pairs_stem(stem, number))]
        columns = zip(*(self._pairs_in(name) for name in names), strict=True)
        left, right, score = (np.concatenate(column) for column in columns)
        return left, right, score

    def _pairs_in(self, name: str) -> tuple[Int64Array, Int64Array, Float64Array]:
        part = self.corpus.workspace.get(name)
        return part["left"], part["right"], part["resemblance"]

    def _walk_again(
        self, earlier: Any, pairs: tuple[Int64Array, Int64Array, Float64Array], threshold: float
    ) -> tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]:
        """Walk what has no large bucket by the pairs that are known."""
        rows = np.sort(earlier["rows"][~earlier["large"]])
        left, right, found = pairs
        places = np.searchsorted(rows, left)
        plain = (places < len(rows)) & (found >= threshold)
        plain[plain] = rows[places[plain]] == left[plain]
        left, right, found = left[plain], right[plain], found[plain]
        walk = Walk(len(rows), int(np.searchsorted(rows, self.corpus.active.n_reference)), threshold)
        walk.advance(0, len(rows), Scored(np.searchsorted(rows, left), np.searchsorted(rows, right), found))
        walked = walk.finish()
        return (rows, rows[walked.keeper], walked.resemblance, np.zeros(len(rows), np.bool_)), (left, right, found)

    def judge(self, threshold: float | None = None) -> Decisions:
        """Decide which documents are kept, at a threshold not below the one of the settings."""
        self.corpus.clock.restart()
        stem = self._decide(threshold)
        active, n = self.corpus.active, len(self.corpus.documents)
        keeper, resemblance = np.arange(n), np.ones(n)
        counts = np.zeros(4, np.int64)
        for name in self.corpus.workspace.numbered(stem):
            part = self.corpus.workspace.get(name)
            rows = active.rows[part["rows"]]
            keeper[rows] = active.rows[part["keeper"]]
            resemblance[rows] = part["keeper_resemblance"]
            counts = np.append(counts[:3] + part["counts"][:3], max(counts[3], part["counts"][3]))
        representative = active.representative
        n_verified = sum(len(left) for left, _, _ in self.verified_pairs(stem))
        copies = np.flatnonzero(representative != np.arange(n))
        leader = representative[copies]
        del representative
        keeper[copies] = keeper[leader]
        resemblance[copies] = np.where(keeper[leader] == leader, 1.0, resemblance[leader])
        reference = np.arange(self.corpus.documents.n_reference)
        keeper[reference], resemblance[reference] = reference, 1.0
        if self.corpus.settings.empty == "drop":
            for first, (empty,) in self.corpus.documents.columns("empty"):
                dropped = first + np.flatnonzero(empty)
                keeper[dropped[dropped >= self.corpus.documents.n_reference]] = -1
        vouched = self.corpus.settings.finder.recall(threshold or self.corpus.settings.threshold, int(counts[3]))
        self.corpus.clock.lap("keeping")
        return Decisions(keeper, resemblance, stem, n_verified, int(counts[1]), int(counts[2]), vouched)

    def verified_pairs(self, stem: str) -> Iterator[tuple[Int64Array, Int64Array, Float64Array]]:
        """Yield (rows, rows, scores) of the verified pairs, a partition, or a slice of one, at a time."""
        for number, name in enumerate(self.corpus.workspace.numbered(stem)):
            for part in [name, *self.corpus.workspace.numbered(_pairs_stem(stem, number))]:
                left, right, score = self._pairs_in(part)
                yield self.corpus.active.rows[left], self.corpus.active.rows[right], score


def _pairs_stem(stem: str, partition: int) -> str:
    return f"{stem}-pairs-{partition}"


def _joined(parts: list[tuple[NDArray[Any], ...]], none: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
    """Join arrays side by side; none make empty ones."""
    return tuple(np.concatenate(column) for column in zip(none, *parts, strict=True))
