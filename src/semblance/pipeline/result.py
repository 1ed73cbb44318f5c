"""What deduplication found: who is kept, who is removed on whose account, and the evidence for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..errors import ParameterError
from ..io.inputs import Skipped, describe_skipped
from ..io.writers import Selection, write_rows
from ..kernels import banding as banding_kernel
from ..values import Float64Array, Int64Array
from .judge import Decisions, Judge
from .memory import peak_memory
from .wording import counted, text_size

LEAST_ALIKE = 3


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
    least_alike : list of (id, id, float)
        Up to three near-duplicates removed with the lowest scores: the document, the one kept for it, the score.
    score : str
        What was measured: "resemblance" or "cosine".
    found_by : str
        How candidates were found.
    seconds : dict of str to float
        By stage.
    peak_memory : int
        Bytes: largest resident size of the process.
    plan : dict
    skipped : dict
        Files of folders and globs that were not read: ``files`` (int), ``by_reason`` (counts), the first ``names``.
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
    least_alike: list[tuple[Any, Any, float]]
    score: str
    found_by: str
    seconds: dict[str, float] = field(default_factory=dict)
    peak_memory: int = 0
    plan: dict[str, Any] = field(default_factory=dict)
    skipped: dict[str, Any] = field(default_factory=lambda: Skipped().to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """Say it to a person."""
        total = sum(self.seconds.values())
        lines = [
            f"{counted(self.documents, 'document')}, {text_size(self.text_bytes)}"
            + (f", against {self.reference:,} reference documents" if self.reference else ""),
            f"  exact duplicates removed  {self.exact_duplicates:>12,}",
            f"  near-duplicates removed   {self.near_duplicates:>12,}"
            + f"   ({self.score} >= {self.threshold:g}, {'measured' if self.verified_by == 'exact' else 'ESTIMATED'})",
        ]
        if self.skipped["files"]:
            lines.insert(1, f"  files not read: {describe_skipped(self.skipped)}")
        if self.empty:
            what = "dropped" if self.empty_dropped else "no token: kept, never matched; --empty drop removes them"
            lines.append(f"  empty documents           {self.empty:>12,}   ({what})")
        lines.append(f"  kept                      {self.kept:>12,}")
        if self.least_alike:
            lines.append("  the least alike among those removed, the kept document of each:")
            lines += [f"    {score:.4f}  {gone}  ->  {kept}" for gone, kept, score in self.least_alike]
        lines.append(
            f"recall at the threshold: {self.recall_planned:.4f} ({self.found_by}); "
            f"{counted(self.candidate_pairs, 'pair')} compared, {self.verified_pairs:,} verified"
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
        rate = f", {self.text_bytes / 1e6 / total:,.0f} MB/s" if total > 0 and self.text_bytes >= 1e6 else ""
        lines.append(f"{total:.2f} s ({stages}){rate}; peak memory {self.peak_memory / 1e6:,.0f} MB")
        return "\n".join(lines)


class DedupResult:
    """What ``semblance.dedup`` found. Rows are those of the input, reference documents left out.

    Attributes
    ----------
    threshold : float
    settings : Settings
    summary : Summary
        Counts, times and sizes.
    """

    def __init__(self, judge: Judge, threshold: float, decisions: Decisions) -> None:
        self._judge = judge
        self._corpus = corpus = judge.corpus
        self._decisions = decisions
        self.threshold = threshold
        self.settings = replace(corpus.settings, threshold=threshold)
        self.summary = self._summarize()  # now: what it counts may lie in a work folder that will be gone

    def __repr__(self) -> str:
        """Name the counts that matter."""
        s = self.summary
        return f"<DedupResult: {counted(s.documents, 'document')}, {s.kept:,} kept, threshold {self.threshold:g}>"

    def __len__(self) -> int:
        """Return the number of documents judged."""
        return len(self._corpus.documents) - self._first

    def close(self) -> None:
        """Remove the work folder's files, where there are any; rows, pairs and ids cannot be asked for after that."""
        self._corpus.workspace.close()

    @property
    def _first(self) -> int:
        return self._corpus.documents.n_reference

    @cached_property
    def keep(self) -> NDArray[np.bool_]:
        """Whether each row is kept, bool of shape (n_rows,)."""
        keeper = self._decisions.keeper
        return np.equal(keeper[self._first :], np.arange(self._first, len(keeper)))

    def _columns(
        self, left: Int64Array, right: Int64Array, score: Float64Array, missing: NDArray[np.bool_]
    ) -> dict[str, pa.Array]:
        """Return the columns that state the scores of pairs of rows, null where ``missing``."""
        return self.settings.finder.columns(score, self._corpus.distances(left, right), missing)

    @cached_property
    def removed(self) -> pa.Table:
        """Arrow table ``id, duplicate_of, resemblance`` of the removed documents, in input order.

        With ``verify="sketch"`` the last column is replaced by ``estimated_resemblance, standard_error``. Documents
        dropped as empty have nulls.
        """
        rows = self._first + np.flatnonzero(~self.keep)
        keeper = self._decisions.keeper[rows]
        missing = keeper < 0
        ids = self._corpus.documents.ids
        columns = {"id": ids.take(rows), "duplicate_of": ids.take(np.maximum(keeper, 0), missing)}
        return pa.table(columns | self._columns(rows, keeper, self._decisions.keeper_resemblance[rows], missing))

    @cached_property
    def pairs(self) -> pa.Table:
        """Arrow table ``left_id, right_id, resemblance`` of all verified pairs; of equal texts one stands for all."""
        none = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        found = zip(*[none, *self._judge.verified_pairs(self._decisions.stem)], strict=True)
        left, right, score = (np.concatenate(column) for column in found)
        left, right = np.minimum(left, right), np.maximum(left, right)
        order = np.lexsort((right, left))
        left, right, score = left[order], right[order], score[order]
        ids = self._corpus.documents.ids
        columns = {"left_id": ids.take(left), "right_id": ids.take(right)}
        return pa.table(columns | self._columns(left, right, score, np.zeros(len(left), np.bool_)))

    @cached_property
    def clusters(self) -> Int64Array:
        """For each row, the first member, in input order, of the documents it is connected with by verified pairs.

        Rows of reference documents are negative: -1 for the first of them.
        """
        parents = np.arange(len(self._corpus.documents))
        banding_kernel.join_pairs(self._corpus.active.representative, np.arange(len(parents)), parents)
        for left, right, _ in self._judge.verified_pairs(self._decisions.stem):
            banding_kernel.join_pairs(left, right, parents)
        banding_kernel.find_roots(parents)
        member = parents[self._first :] - self._first
        return np.asarray(np.where(member >= 0, member, -1 - (member + self._first)), np.int64)

    def _annotated(self, first: int, begin: int, end: int) -> pa.Table:
        """Return some rows of ``annotations``, counted from ``first``."""
        begin, end = first + begin, first + end
        rows = np.arange(self._first + begin, self._first + end)
        kept = self.keep[begin:end]
        keeper = self._decisions.keeper[rows]
        missing = kept | (keeper < 0)
        ids = self._corpus.documents.ids
        clusters = self.clusters[begin:end]
        cluster_rows = np.where(clusters >= 0, clusters + self._first, -1 - clusters)
        columns = {"keep": pa.array(kept), "duplicate_of": ids.take(np.maximum(keeper, 0), missing)}
        columns |= self._columns(rows, np.maximum(keeper, 0), self._decisions.keeper_resemblance[rows], missing)
        return pa.table(columns | {"cluster": ids.take(cluster_rows)})

    @cached_property
    def annotations(self) -> pa.Table:
        """Arrow table ``keep, duplicate_of, resemblance, cluster``, one row for each input row."""
        return self._annotated(0, 0, len(self))

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
        lowest = self._corpus.settings.threshold
        if not lowest <= threshold <= 1.0:
            raise ParameterError(
                f"rethreshold can go from {lowest} to 1; {threshold} was given: for a lower one run dedup again"
            )
        return DedupResult(self._judge, threshold, self._judge.judge(threshold))

    def _closest_calls(self) -> list[tuple[Any, Any, float]]:
        """Return the removals of lowest score that are no exact duplicates: (id, id of the kept one, score)."""
        keeper = self._decisions.keeper[self._first :]
        near = np.flatnonzero(~self.keep & (keeper >= 0) & (keeper != self._corpus.active.representative[self._first :]))
        score = self._decisions.keeper_resemblance[self._first :]
        if len(near) > LEAST_ALIKE:
            values = score[near]
            last = np.partition(values, LEAST_ALIKE - 1)[LEAST_ALIKE - 1]
            near = np.concatenate([near[values < last], near[values == last][:LEAST_ALIKE]])
        closest = near[np.argsort(score[near], kind="stable")[:LEAST_ALIKE]]
        ids = self._corpus.documents.ids
        gone, kept = ids.take(closest + self._first).to_pylist(), ids.take(keeper[closest]).to_pylist()
        return list(zip(gone, kept, score[closest].tolist(), strict=True))

    def _summarize(self) -> Summary:
        """Count, and take times and sizes."""
        documents, settings = self._corpus.documents, self._corpus.settings
        removed = ~self.keep
        keeper = self._decisions.keeper[self._first :]
        same = keeper == self._corpus.active.representative[self._first :]
        dropped = keeper < 0
        return Summary(
            documents=len(self),
            reference=self._first,
            empty=self._corpus.active.n_empty,
            exact_duplicates=int((removed & same & ~dropped).sum()),
            near_duplicates=int((removed & ~same & ~dropped).sum()),
            empty_dropped=int(dropped.sum()),
            kept=int(self.keep.sum()),
            text_bytes=documents.n_bytes,
            candidate_pairs=self._decisions.n_compared,
            verified_pairs=self._decisions.n_verified,
            uncompared_pairs=self._decisions.n_uncompared,
            recall_planned=settings.finder.recall(self.threshold),
            recall_vouched=self._decisions.recall_vouched,
            verified_by=settings.verify,
            threshold=self.threshold,
            least_alike=self._closest_calls(),
            score=settings.finder.score,
            found_by=settings.finder.describe(),
            seconds=dict(self._corpus.clock.seconds),
            peak_memory=peak_memory(),
            plan=settings.plan.to_dict(),
            skipped=self._corpus.skipped,
        )

    @property
    def provenance(self) -> dict[str, Any]:
        """Version, parameters, seed and inputs, as written with every output."""
        sources = self._corpus.documents.sources
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
        documents, selections = self._corpus.documents, []
        starts = documents.source_starts - self._first
        for number, source in enumerate(documents.sources):
            begin, end = int(starts[number]), int(starts[number + 1])
            if begin < 0 or (begin == end == 0 and documents.source_starts[number] < self._first):
                continue
            mask = np.ones(end - begin, np.bool_) if annotate else self.keep[begin:end]
            if annotate and not self.settings.annotate:  # else reading has checked it, before any work
                source.check_free(["keep", "duplicate_of", *self.settings.finder.added, "cluster"])
            selections.append(Selection(source, mask, partial(self._annotated, begin) if annotate else None))
        write_rows(output, selections, self.provenance, sources=documents.sources, force=force)
