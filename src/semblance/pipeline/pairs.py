"""All pairs of near-duplicates, none removed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from .. import __version__
from ..formats.writers import write_table
from ..search.self_join import spread_pairs
from ..text.shingle import Tokenizer
from ..values import Float64Array, Int64Array
from .active import Active
from .corpus import Corpus
from .deduplicate import no_progress
from .documents import Progress
from .judge import Judge
from ..engines.memory import peak_memory
from .settings import MAX_BUCKET, settings_of


@dataclass(frozen=True, slots=True, eq=False)
class PairsResult:
    """The pairs found, and how.

    Parameters
    ----------
    table : pyarrow.Table
        ``left_id, right_id, resemblance``; with ``verify="sketch"`` ``estimated_resemblance, standard_error`` in place of
        the last, with "none" nothing; with reference documents ``left_is_reference`` after ``right_id``.
    summary : dict
        documents (without reference documents), reference documents, pairs, candidate pairs, whether ``max_pairs`` cut the
        list, text bytes, seconds, peak memory, plan.
    provenance : dict
    sources : tuple of Source
        What was read; nothing of it is written over.
    """

    table: pa.Table
    summary: dict[str, Any]
    provenance: dict[str, Any]
    sources: tuple[Any, ...] = ()

    def write(self, output: str | Path, *, force: bool = False) -> None:
        """Write the table as parquet, JSON lines or CSV, by the suffix."""
        write_table(output, self.table, self.provenance, sources=self.sources, force=force)
        self.summary["peak_memory"] = peak_memory()


def _spread(
    active: Active, n_reference: int, left: Int64Array, right: Int64Array, resemblance: Float64Array, limit: int | None
) -> tuple[Int64Array, Int64Array, Float64Array, bool]:
    """Turn pairs of active documents into pairs of all documents with the same texts, equal texts among themselves.

    Reference documents are not paired with each other.
    """
    representative = active.representative
    order = np.argsort(representative, kind="stable")
    leaders = representative[order]
    starts = np.flatnonzero(np.diff(leaders, prepend=-1))
    groups, bounds = leaders[starts], np.append(starts, len(order))
    at_most = None if limit is None else limit + 1  # one more than wanted tells that there are more
    left, right = np.searchsorted(groups, left), np.searchsorted(groups, right)
    left, right, source = spread_pairs(order, bounds, left, right, at_most, apart=groups < n_reference)
    cut = limit is not None and len(left) > limit
    return left[:limit], right[:limit], np.append(resemblance, 1.0)[source][:limit], cut


def find_pairs(
    data: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.99,
    against: Any = None,
    within: str | None = None,
    verify: str = "exact",
    max_pairs: int | None = None,
    text: str = "text",
    id: str | None = None,
    html: bool = False,
    glob: str | None = None,
    format: str | None = None,
    encoding_errors: str = "strict",
    unit: str = "word",
    width: int | None = None,
    normalization: str = "NFC",
    fold_case: bool = True,
    tokenizer: Tokenizer | None = None,
    method: str = "minhash",
    radius: int = 3,
    permutations: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    max_bucket: int = MAX_BUCKET,
    seed: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress | None = None,
) -> PairsResult:
    """Find all pairs of near-duplicates and say how: what ``pairs`` does, with summary and provenance.

    Parameters, errors and exactness are those of ``pairs``.
    """
    job = settings_of(locals())
    corpus = Corpus(data, against, job, progress or no_progress, apart=True)
    documents, active = corpus.documents, corpus.active
    found = corpus.find(every_pair=True, max_pairs=job.max_pairs)
    none = np.empty(0, np.int64)
    if job.verify == "none":
        assert found is not None
        left, right, resemblance = active.rows[found.left], active.rows[found.right], np.ones(len(found.left))
        n_candidates = len(left)
    else:
        judge = Judge(corpus)
        decisions = judge.judge()
        columns = zip((none, none, np.empty(0)), *judge.verified_pairs(decisions.stem), strict=True)
        left, right, resemblance = (np.concatenate(column) for column in columns)
        n_candidates = decisions.n_compared
    left, right, resemblance, cut = _spread(active, documents.n_reference, left, right, resemblance, job.max_pairs)
    order = np.lexsort((right, left))
    left, right, resemblance = left[order], right[order], resemblance[order]
    table: dict[str, Any] = {"left_id": documents.ids.take(left), "right_id": documents.ids.take(right)}
    if documents.n_reference_sources:
        table["left_is_reference"] = pa.array(left < documents.n_reference)
    if job.verify != "none":
        table |= job.finder.columns(resemblance, corpus.distances(left, right), np.zeros(len(left), np.bool_))
    corpus.clock.lap("listing")
    summary = {
        "documents": len(documents) - documents.n_reference,
        "reference": documents.n_reference,
        "empty": active.n_empty,
        "pairs": len(left),
        "candidate_pairs": n_candidates,
        "cut_by_max_pairs": bool(cut or (found is not None and found.cut)),
        "verified_by": job.verify,
        "threshold": job.threshold,
        "score": job.finder.score,
        "recall_planned": job.finder.recall(job.threshold),
        "text_bytes": documents.n_bytes,
        "seconds": corpus.clock.seconds,
        "peak_memory": peak_memory(),
        "plan": job.finder.plan_dict(),
    }
    provenance = {
        "semblance": __version__,
        "parameters": job.to_dict() | {"max_pairs": job.max_pairs},
        "inputs": [source.identity() for source in documents.sources],
    }
    return PairsResult(pa.table(table), summary, provenance, tuple(documents.sources))


def pairs(
    data: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.99,
    against: Any = None,
    within: str | None = None,
    verify: str = "exact",
    max_pairs: int | None = None,
    text: str = "text",
    id: str | None = None,
    html: bool = False,
    glob: str | None = None,
    format: str | None = None,
    encoding_errors: str = "strict",
    unit: str = "word",
    width: int | None = None,
    normalization: str = "NFC",
    fold_case: bool = True,
    tokenizer: Tokenizer | None = None,
    method: str = "minhash",
    radius: int = 3,
    permutations: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    max_bucket: int = MAX_BUCKET,
    seed: int = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """List all pairs of near-duplicates, exact duplicates too.

    Parameters
    ----------
    data, against
        As for ``semblance.dedup``. With ``against`` pairs of two reference documents are left out.
    threshold : float in (0, 1], default 0.8
        Resemblance (with "simhash" the cosine) from which two documents are near-duplicates.
    recall : float in (0, 1), default 0.99
        Probability with which a pair at the threshold is found; pairs above it are found with higher ones.
    within : str, optional
        Compare only documents with equal values in this column.
    verify : {"exact", "sketch", "none"}, default "exact"
        Whether resemblances are exact, estimated, or left out: then the pairs are unverified candidates.
    max_pairs : int >= 1, optional
        Compare, and list, at most this many pairs.
    text, id, html, glob, format, encoding_errors
        What is read, and how: see ``Settings``.
    unit, width, normalization, fold_case, tokenizer
        What a shingle is: see ``Shingling``.
    method, radius, permutations, bands, rows, max_bucket, seed
        How pairs are found: see ``Settings``.
    threads, memory
        What the job may use; the result does not depend on it: see ``Settings``.
    progress : callable, optional
        Called with the name of a stage and an amount done since the last call.

    Returns
    -------
    pyarrow.Table
        ``left_id, right_id, resemblance`` (float64), left before right in input order, ascending. With
        ``verify="sketch"``: ``estimated_resemblance, standard_error`` in place of the last; with "none": neither. With
        ``against``, ``left_is_reference`` (bool) after ``right_id``; ``right_id`` is always the id of an input document.

    Raises
    ------
    ParameterError
        If a setting is out of its range.
    InputDataError
        If a file or row is not as expected.

    Notes
    -----
    Memory: 24 bytes a candidate pair; a corpus of n equal documents has n (n - 1) / 2 pairs, all of which are listed
    unless ``max_pairs`` is given. A list of exactly ``max_pairs`` was probably cut.

    Examples
    --------
    >>> import semblance as sb
    >>> sb.pairs(["one two three", "One, two: three.", "four"]).to_pylist()
    [{'left_id': 0, 'right_id': 1, 'resemblance': 1.0}]
    """
    return find_pairs(**locals()).table
