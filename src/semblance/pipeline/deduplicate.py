"""From documents to kept documents: the steps in their order."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..hashing import derive
from ..io.memory import as_sources
from ..search.banding import Candidates
from ..sketches import FastSimilarity
from ..text.texts import Texts
from ..values import Int64Array, UInt32Array
from .documents import PIECE_BYTES, Documents, Progress, read_documents
from .methods import Comparable
from .result import DedupResult, Evidence
from .settings import Settings
from .verify import Group, verify_groups


class Clock:
    """Seconds spent in each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Give the time since the last lap to a stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def peak_memory() -> int:
    """Largest resident size of this process so far, in bytes."""
    try:  # the kernel's own high-water mark; ru_maxrss would start from that of the parent process
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def keep_order(documents: Documents, policy: str) -> Int64Array:
    """Return all rows in keep order: reference documents, then by policy, then by input."""
    n = len(documents)
    rows = np.arange(n)
    later = rows >= documents.n_reference
    if policy == "first":
        return rows
    name = policy.partition(":")[0]
    if name == "last":
        value = -rows
    elif name in ("longest", "shortest"):
        value = documents.sizes if name == "shortest" else -documents.sizes
    else:
        assert documents.order_values is not None
        ranks = documents.order_values
        value = np.where(ranks < 0, np.iinfo(np.int64).max, ranks if name == "smallest" else -ranks)
    return np.lexsort((rows, np.where(later, value, rows), later))


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """The documents that enter the search: one of each set of equal texts, none empty, in keep order.

    Parameters
    ----------
    rows : ndarray of int64, shape (n_active,)
        Their rows among all documents.
    n_reference : int
        How many of them, at the front, are reference documents.
    representative : ndarray of int64, shape (n,)
        For each document the row that stands for its set of equal texts; its own row where it is alone or empty.
    """

    rows: Int64Array
    n_reference: int
    representative: Int64Array


def collapse(documents: Documents, order: Int64Array) -> Active:
    """Group documents whose bytes are equal; the first in keep order stands for its group."""
    n = len(documents)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    full = np.flatnonzero(~documents.empty)
    full = full[np.argsort(rank[full], kind="stable")]
    digests, groups = documents.digests[full], documents.groups[full]
    by_text = np.lexsort((groups, digests[:, 1], digests[:, 0]))
    same = np.zeros(len(full), np.bool_)
    a, b = by_text[:-1], by_text[1:]
    same[1:] = (digests[a] == digests[b]).all(1) & (groups[a] == groups[b])
    leader_place = np.maximum.accumulate(np.where(same, 0, np.arange(len(full))))
    representative = np.arange(n)
    representative[full[by_text]] = full[by_text[leader_place]]
    active = full[representative[full] == full]
    return Active(active, int((active < documents.n_reference).sum()), representative)


class Corpus:
    """Documents read and sketched, with the ways to compare them: what ``dedup`` and ``pairs`` share."""

    def __init__(self, data: Any, against: Any, settings: Settings, progress: Progress) -> None:
        self.settings = settings
        self.progress = progress
        self.clock = Clock()
        options = {"glob": settings.glob, "file_format": settings.format}
        sources = as_sources(data, **options)
        references = [] if against is None else as_sources(against, **options)
        self.clock.lap("opening")
        self.documents = read_documents(sources, references, settings, progress)
        self.clock.lap("reading and sketching")
        self.order = keep_order(self.documents, settings.keep)
        self.active = collapse(self.documents, self.order)
        self.clock.lap("exact duplicates")

    def candidates(self, *, every_pair: bool, max_pairs: int | None = None) -> Candidates:
        """Find candidate pairs among the active documents, numbered in keep order."""
        self.progress("finding candidates", 0)
        rows = self.active.rows
        keys, groups = self.documents.keys[rows], self.documents.groups[rows]
        threads, n_reference = self.settings.n_threads, self.active.n_reference
        found = self.settings.finder.candidates(keys, groups, n_reference, every_pair, max_pairs, threads)
        self.clock.lap("candidates")
        return found

    def load_sets(self, positions: Int64Array) -> Comparable:
        """Make ready for comparison the texts (or the sketches) of some active documents."""
        rows = self.active.rows[positions]
        if self.settings.verify == "sketch":
            return self.settings.finder.estimable(self.documents.slots[rows], self.documents.keys[rows])
        return self.settings.finder.comparable(map(self.settings.shingling.hashes, self._texts(rows)))

    def load_signatures(self, positions: Int64Array) -> UInt32Array:
        """Sketch some active documents anew, with slots that no band was cut from."""
        scheme = FastSimilarity(permutations=64, seed=int(derive(self.settings.seed, "nearby order", 1)[0]))
        texts = self._texts(self.active.rows[positions])
        return np.concatenate([scheme.sign_values(*self.settings.shingling.hashes(piece)) for piece in texts])

    def _texts(self, rows: Int64Array) -> Iterator[Texts]:
        """Copy the texts of some rows together, a megabyte or a text at a time."""
        before = np.cumsum(self.documents.sizes[rows])
        for piece in np.split(rows, np.flatnonzero(np.diff(before // PIECE_BYTES)) + 1):
            yield self.documents.texts(piece)

    def groups(self, candidates: Candidates) -> list[Group]:
        """Compare all candidate pairs."""
        groups = []
        sizes = self.documents.sizes[self.active.rows]
        for group in verify_groups(
            candidates, sizes, self.load_sets, self.load_signatures, self.settings.threshold, self.settings.n_threads
        ):
            groups.append(group)
            self.progress("verifying", group.n_candidates)
        self.clock.lap("verification")
        return groups


def _no_progress(stage: str, amount: int) -> None:
    """Report nothing."""


def dedup(data: Any, *, against: Any = None, progress: Progress | None = None, **settings: Any) -> DedupResult:
    """Find near-duplicates and decide which documents to keep.

    A greedy walk in keep order removes a document if and only if a document kept before it resembles it by at least the
    threshold; of several such the one of highest resemblance is named, ties going to the earlier in keep order.
    Documents of identical bytes are represented by the one that the policy prefers. Empty documents never match.

    Parameters
    ----------
    data : path, list of paths, list of str, Arrow, pandas or polars column, table or frame
        A str is a path: a file, a folder or a glob. A list of str is a list of texts, unless all of them name existing
        files of a known suffix.
    against : like ``data``, optional
        Reference documents: first in keep order, never removed, never written.
    progress : callable, optional
        Called with the name of a stage and an amount done since the last call.
    **settings
        ``threshold``, ``recall``, ``text``, ``id``, ``keep`` and all others of :class:`Settings`.

    Returns
    -------
    DedupResult

    Raises
    ------
    ParameterError
        If a setting is out of its range.
    InputDataError
        If a file or row is not as expected.

    Notes
    -----
    Exact: with ``verify="exact"`` every removal rests on a measured resemblance. A pair at the threshold is found with
    probability ``recall``. The result is the same for any number of threads.

    Examples
    --------
    >>> import semblance as sb
    >>> result = sb.dedup(["the quick brown fox jumps over the dog", "The quick brown fox: jumps over the dog!", "else"])
    >>> result.keep.tolist()
    [True, False, True]
    >>> result.removed.to_pylist()
    [{'id': 1, 'duplicate_of': 0, 'resemblance': 1.0}]
    """
    job = Settings(**settings)
    if job.verify == "none":
        raise ParameterError("dedup removes nothing unverified: verify must be exact or sketch ('none' is for pairs)")
    if job.max_pairs is not None:
        raise ParameterError("max_pairs is for pairs; dedup compares whatever its buckets hold")
    corpus = Corpus(data, against, job, progress or _no_progress)
    found = corpus.candidates(every_pair=False)
    groups = corpus.groups(found)
    evidence = Evidence(corpus.documents, corpus.active, corpus.order, groups, job)
    walked = evidence.walk(job.threshold)
    corpus.clock.lap("keeping")
    return DedupResult(evidence, job.threshold, walked, corpus.clock.seconds, peak_memory())
