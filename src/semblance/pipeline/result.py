"""What deduplication found: who is kept, who is removed on whose account, and the evidence for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..errors import ParameterError
from ..io.writers import Selection, write_rows
from ..kernels._threads import in_order
from ..values import Float64Array, Int64Array
from .documents import Documents
from .keep import walk_group
from .settings import Settings
from .verify import Group

if TYPE_CHECKING:
    from .deduplicate import Active


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The outcome of a walk, a row for each document: the row kept in its place (-1: dropped as empty), how similar.

    ``left, right, resemblance`` are all verified pairs of documents (equal texts left out); ``n_uncompared`` pairs of
    large buckets were left uncompared; ``n_compared`` were compared, which lets ``recall_vouched`` be stated for the
    documents concerned.
    """

    keeper: Int64Array
    keeper_resemblance: Float64Array
    left: Int64Array
    right: Int64Array
    resemblance: Float64Array
    n_compared: int
    n_uncompared: int
    recall_vouched: float


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Everything a walk needs, so that it can be walked again at a higher threshold."""

    documents: Documents
    active: Active
    order: Int64Array
    groups: list[Group]
    settings: Settings

    def walk(self, threshold: float) -> Decisions:
        """Decide which documents are kept at a threshold not below the one of the evidence."""
        active, n = self.active, len(self.documents)
        keeper, resemblance = np.arange(n), np.ones(n)
        pairs: list[tuple[Int64Array, Int64Array, Float64Array]] = []
        n_compared, n_uncompared, bands_left_out = 0, 0, 0

        def walked(group: Group) -> Any:
            return group, walk_group(group, threshold, active.n_reference)

        for group, walk in in_order(walked, self.groups, self.settings.n_threads):
            rows = active.rows[group.rows]
            keeper[rows] = rows[walk.keeper]
            resemblance[rows] = walk.resemblance
            enough = group.resemblance >= threshold
            pairs.append((rows[group.left[enough]], rows[group.right[enough]], group.resemblance[enough]))
            pairs.append((rows[walk.left], rows[walk.right], walk.found))
            n_compared += group.n_candidates + walk.n_compared
            n_uncompared += int(walk.skipped[:, 0].sum())
            bands_left_out = max(bands_left_out, int(walk.skipped[:, 1].max(initial=0)))
        copies = np.flatnonzero(active.representative != np.arange(n))
        leader = active.representative[copies]
        keeper[copies] = keeper[leader]
        resemblance[copies] = np.where(keeper[leader] == leader, 1.0, resemblance[leader])
        reference = np.arange(self.documents.n_reference)
        keeper[reference], resemblance[reference] = reference, 1.0
        if self.settings.empty == "drop":
            dropped = np.flatnonzero(self.documents.empty)
            keeper[dropped[dropped >= self.documents.n_reference]] = -1
        left, right, found = (np.concatenate(p) for p in zip(*pairs, strict=True)) if pairs else (
            np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))  # fmt: skip
        left, right = np.minimum(left, right), np.maximum(left, right)
        first = np.unique(left * n + right, return_index=True)[1]  # the walk may meet a pair of a small bucket again
        vouched = self.settings.finder.recall(threshold, bands_left_out)
        return Decisions(keeper, resemblance, left[first], right[first], found[first], n_compared, n_uncompared, vouched)


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts, times and sizes of a finished job.

    Parameters
    ----------
    documents, reference, empty, exact_duplicates, near_duplicates, empty_dropped, kept : int
        Documents to be judged; reference documents; documents without a token; removed as copies byte for byte of the
        kept document; removed as near-duplicates; dropped as empty; kept.
    text_bytes : int
        Bytes of text read.
    candidate_pairs, verified_pairs, uncompared_pairs : int
        Pairs compared; found at or above the threshold; left out in large buckets of documents that are not alike (a pair
        counts once for each such bucket it shares).
    recall_planned : float
        Probability that a pair at the threshold is found, by the plan.
    recall_vouched : float
        The same for the documents worst off because of uncompared pairs.
    verified_by : str
        "exact", or "sketch" where removals rest on estimates.
    threshold : float
    score : str
        What was measured: "resemblance" or "cosine".
    found_by : str
        How candidates were found.
    seconds : dict of str to float
        By stage.
    peak_memory : int
        Bytes: largest resident size of the process.
    plan : dict
    """

    documents: int
    reference: int
    empty: int
    exact_duplicates: int
    near_duplicates: int
    empty_dropped: int
    kept: int
    text_bytes: int
    candidate_pairs: int
    verified_pairs: int
    uncompared_pairs: int
    recall_planned: float
    recall_vouched: float
    verified_by: str
    threshold: float
    score: str
    found_by: str
    seconds: dict[str, float] = field(default_factory=dict)
    peak_memory: int = 0
    plan: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Say it to a person."""
        total = sum(self.seconds.values())
        lines = [
            f"{self.documents:,} documents, {self.text_bytes / 1e6:,.1f} MB of text"
            + (f", against {self.reference:,} reference documents" if self.reference else ""),
            f"  exact duplicates removed  {self.exact_duplicates:>12,}",
            f"  near-duplicates removed   {self.near_duplicates:>12,}"
            + f"   ({self.score} >= {self.threshold:g}, {'measured' if self.verified_by == 'exact' else 'ESTIMATED'})",
        ]
        if self.empty:
            what = "dropped" if self.empty_dropped else "kept, never matched"
            lines.append(f"  empty documents           {self.empty:>12,}   ({what})")
        lines.append(f"  kept                      {self.kept:>12,}")
        lines.append(
            f"recall at the threshold: {self.recall_planned:.4f} "
            f"({self.found_by}); "
            f"{self.candidate_pairs:,} pairs compared, {self.verified_pairs:,} verified"
        )
        if self.verified_by != "exact" and self.score == "cosine":
            lines.append("removals rest on cosines estimated from fingerprints; --verify exact measures instead")
        elif self.verified_by != "exact":
            lines.append(
                f"removals rest on estimates from {self.plan['estimation_slots']} slots "
                f"(standard error {self.plan['standard_error']:.3f} at the threshold); --verify exact measures instead"
            )
        if self.uncompared_pairs:
            lines.append(
                f"{self.uncompared_pairs:,} comparisons in crowded buckets of unlike documents were left out: "
                f"for those documents a recall of {self.recall_vouched:.3f} is vouched for"
            )
        stages = ", ".join(f"{name} {s:.2f}" for name, s in self.seconds.items() if s >= 0.005)
        rate = f", {self.text_bytes / 1e6 / total:,.0f} MB/s" if total > 0 else ""
        lines.append(f"{total:.2f} s ({stages}){rate}; peak memory {self.peak_memory / 1e6:,.0f} MB")
        return "\n".join(lines)


class DedupResult:
    """What :func:`semblance.dedup` found. Rows are those of the input, reference documents left out.

    Attributes
    ----------
    threshold : float
    settings : Settings
    """

    def __init__(
        self, evidence: Evidence, threshold: float, decisions: Decisions, seconds: dict[str, float], peak_memory: int
    ) -> None:
        self._evidence = evidence
        self._decisions = decisions
        self._seconds = seconds
        self._peak_memory = peak_memory
        self.threshold = threshold
        self.settings = replace(evidence.settings, threshold=threshold)

    def __repr__(self) -> str:
        """Name the counts that matter."""
        s = self.summary
        return f"<DedupResult: {s.documents} documents, {s.kept} kept, threshold {self.threshold:g}>"

    def __len__(self) -> int:
        """Return the number of documents judged."""
        return len(self._evidence.documents) - self._first

    @property
    def _first(self) -> int:
        return self._evidence.documents.n_reference

    @cached_property
    def keep(self) -> NDArray[np.bool_]:
        """Whether each row is kept, bool of shape (n_rows,)."""
        rows = np.arange(len(self._evidence.documents))
        return np.equal(self._decisions.keeper, rows)[self._first :]

    def _columns(
        self, left: Int64Array, right: Int64Array, score: Float64Array, missing: NDArray[np.bool_]
    ) -> dict[str, pa.Array]:
        """Return the columns that state the scores of pairs of rows, null where ``missing``."""
        keys = self._evidence.documents.keys
        distance = np.bitwise_count(keys[left] ^ keys[right]).sum(1, dtype=np.int64)
        return self.settings.finder.columns(score, distance, missing)

    @cached_property
    def removed(self) -> pa.Table:
        """Arrow table ``id, duplicate_of, resemblance`` of the removed documents, in input order.

        With ``verify="sketch"`` the last column is replaced by ``estimated_resemblance, standard_error``. Documents
        dropped as empty have nulls.
        """
        rows = self._first + np.flatnonzero(~self.keep)
        keeper = self._decisions.keeper[rows]
        missing = keeper < 0
        ids = self._evidence.documents.ids
        columns = {"id": ids.take(rows), "duplicate_of": ids.take(np.maximum(keeper, 0), missing)}
        return pa.table(columns | self._columns(rows, keeper, self._decisions.keeper_resemblance[rows], missing))

    @cached_property
    def pairs(self) -> pa.Table:
        """Arrow table ``left_id, right_id, resemblance`` of all verified pairs; of equal texts one stands for all."""
        found = self._decisions
        ids = self._evidence.documents.ids
        none = np.zeros(len(found.left), np.bool_)
        columns = {"left_id": ids.take(found.left), "right_id": ids.take(found.right)}
        return pa.table(columns | self._columns(found.left, found.right, found.resemblance, none))

    @cached_property
    def clusters(self) -> Int64Array:
        """For each row, the first member, in input order, of the documents it is connected with by verified pairs.

        Rows of reference documents are negative: -1 for the first of them.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = len(self._evidence.documents)
        rows = np.arange(n)
        left = np.concatenate([self._decisions.left, rows])
        right = np.concatenate([self._decisions.right, self._evidence.active.representative])
        graph = coo_array((np.ones(len(left), np.bool_), (left, right)), (n, n))
        labels = connected_components(graph, directed=False)[1]
        first = np.full(n, n, np.int64)
        np.minimum.at(first, labels, rows)
        member = first[labels][self._first :] - self._first
        return np.asarray(np.where(member >= 0, member, -1 - (member + self._first)), np.int64)

    @cached_property
    def annotations(self) -> pa.Table:
        """Arrow table ``keep, duplicate_of, resemblance, cluster``, one row for each input row."""
        rows = self._first + np.arange(len(self))
        keeper = self._decisions.keeper[rows]
        missing = self.keep | (keeper < 0)
        ids = self._evidence.documents.ids
        clusters = self.clusters
        cluster_rows = np.where(clusters >= 0, clusters + self._first, -1 - clusters)
        columns = {"keep": pa.array(self.keep), "duplicate_of": ids.take(np.maximum(keeper, 0), missing)}
        columns |= self._columns(rows, keeper, self._decisions.keeper_resemblance[rows], missing)
        return pa.table(columns | {"cluster": ids.take(cluster_rows)})

    def rethreshold(self, threshold: float) -> DedupResult:
        """Decide anew at a higher threshold, without reading the documents again.

        Parameters
        ----------
        threshold : float
            Not below the threshold of this evidence, at most 1.

        Returns
        -------
        DedupResult
            As ``dedup`` would return it, but for the bands, which were chosen for the lower threshold and find more.

        Raises
        ------
        ParameterError
            If the threshold is lower: pairs below the old one were never kept.
        """
        lowest = self._evidence.settings.threshold
        if not lowest <= threshold <= 1.0:
            raise ParameterError(
                f"rethreshold can go from {lowest} to 1; {threshold} was given: for a lower one run dedup again"
            )
        return DedupResult(self._evidence, threshold, self._evidence.walk(threshold), self._seconds, self._peak_memory)

    @cached_property
    def summary(self) -> Summary:
        """Counts, times and sizes."""
        documents, settings = self._evidence.documents, self._evidence.settings
        removed = ~self.keep
        keeper = self._decisions.keeper[self._first :]
        same = (documents.digests[self._first :] == documents.digests[np.maximum(keeper, 0)]).all(1)
        dropped = keeper < 0
        plan = settings.plan
        return Summary(
            documents=len(self),
            reference=self._first,
            empty=int(documents.empty[self._first :].sum()),
            exact_duplicates=int((removed & same & ~dropped).sum()),
            near_duplicates=int((removed & ~same & ~dropped).sum()),
            empty_dropped=int(dropped.sum()),
            kept=int(self.keep.sum()),
            text_bytes=documents.n_bytes,
            candidate_pairs=self._decisions.n_compared,
            verified_pairs=len(self._decisions.left),
            uncompared_pairs=self._decisions.n_uncompared,
            recall_planned=settings.finder.recall(self.threshold),
            recall_vouched=self._decisions.recall_vouched,
            verified_by=settings.verify,
            threshold=self.threshold,
            score=settings.finder.score,
            found_by=settings.finder.describe(),
            seconds=self._seconds,
            peak_memory=self._peak_memory,
            plan=plan.to_dict(),
        )

    @property
    def provenance(self) -> dict[str, Any]:
        """Version, parameters, seed and inputs, as written with every output."""
        sources = self._evidence.documents.sources
        return {
            "semblance": __version__,
            "parameters": self.settings.to_dict(),
            "inputs": [source.identity() for source in sources],
        }

    def write(self, output: str | Path, *, annotate: bool = False, force: bool = False) -> None:
        """Write the kept rows, or with ``annotate`` all rows with what was decided about them.

        Parameters
        ----------
        output : str or path
            A name ending in .jsonl, .jsonl.gz, .jsonl.zst, .parquet or .csv is one file for all inputs; any other is a
            directory that receives one file per input, of the same relative name and format.
        annotate : bool
            Write every row, with ``keep, duplicate_of, resemblance, cluster`` added.
        force : bool
            Replace an existing output.

        Raises
        ------
        OutputError
            If the output exists, or cannot be written; nothing half written is left.
        InputDataError
            If an input changed in the meantime.
        """
        documents = self._evidence.documents
        starts = documents.source_starts - self._first
        selections = []
        for number, source in enumerate(documents.sources):
            begin, end = int(starts[number]), int(starts[number + 1])
            if begin < 0 or (begin == end == 0 and documents.source_starts[number] < self._first):
                continue
            mask = np.ones(end - begin, np.bool_) if annotate else self.keep[begin:end]
            if annotate and not self.settings.annotate:  # else reading has checked it, before any work
                source.check_free(self.annotations.column_names)
            selections.append(Selection(source, mask, self.annotations.slice(begin, end - begin) if annotate else None))
        write_rows(output, selections, self.provenance, force=force)
