"""From documents to kept documents: the steps in their order."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterError
from .corpus import Corpus
from .documents import Progress
from .judge import Judge
from .result import DedupResult
from .settings import settings_from


def no_progress(stage: str, amount: int) -> None:
    """Report nothing."""


def dedup(data: Any, *, against: Any = None, progress: Progress | None = None, **settings: Any) -> DedupResult:
    """Find near-duplicates and decide which documents to keep.

    A greedy walk in keep order removes a document if and only if a document kept before it resembles it by at least the
    threshold; of several such the one of highest resemblance is named, ties going to the earlier in keep order.
    Documents of identical bytes are represented by the one that the policy prefers. Empty documents never match.

    Parameters
    ----------
    data : path, list of paths, list of str, Arrow, pandas or polars column, table or frame
        A str is a path: a file, a folder or a glob. A list of str is a list of texts, unless each of them ends in a known
        suffix; a list that could be either is refused. An iterator is read once.
    against : like data, optional
        Reference documents: first in keep order, never removed, never written.
    progress : callable, optional
        Called with the name of a stage and an amount done since the last call.
    **settings
        ``threshold``, ``recall``, ``text``, ``id``, ``keep`` and all others of ``Settings``.

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
    Memory: below ``memory``; texts and what is known of them go to a work folder where they need more. Exact: with
    ``verify="exact"`` every removal rests on a measured resemblance. A pair at the threshold is found with
    probability ``recall``; with ``verify="sketch"`` with about half of that, since its estimate is as often below the threshold
    as above. The summary states it. The result is the same for any number of threads and any memory.

    Examples
    --------
    >>> import semblance as sb
    >>> result = sb.dedup(["the quick brown fox jumps over the dog", "The quick brown fox: jumps over the dog!", "else"])
    >>> result.keep.tolist()
    [True, False, True]
    >>> result.removed.to_pylist()
    [{'id': 1, 'duplicate_of': 0, 'resemblance': 1.0}]
    """
    job = settings_from(settings)
    if job.verify == "none":
        raise ParameterError("dedup removes nothing unverified: verify must be exact or sketch ('none' is for pairs)")
    if job.max_pairs is not None:
        raise ParameterError("max_pairs is for pairs; dedup compares whatever its buckets hold")
    corpus = Corpus(data, against, job, progress or no_progress)
    corpus.find(every_pair=False)
    judge = Judge(corpus)
    return DedupResult(judge, job.threshold, judge.judge())
