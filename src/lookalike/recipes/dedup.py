"""Deduplication, as Python calls it."""

from __future__ import annotations

import os
from typing import Any

from ..results.result import Result
from ..settings.option import front_door
from ..settings.settings import RunSettings
from .job import JobOutcome, run
from .outputs import Outputs


@front_door(RunSettings)
def dedup(data: Any, settings: RunSettings) -> Result:
    """Find near-duplicates and decide which documents to keep.

    A greedy walk in keep order removes a document if and only if a document kept before it resembles it by at least the
    threshold; if several do, the most similar of those that it was compared with is named, and of equally similar ones the
    first in keep order; in crowds it is not compared with all. With
    ``measure="containment"`` it has a share of at least the threshold of the document's shingles.
    Documents of identical bytes are represented by the one that the policy prefers. Empty documents never match.

    Parameters
    ----------
    data : path, list of paths, list of str or dict, dict, column, table, frame or data set
        A str is a path: a file, a folder or a glob, or a URL of one (``s3://``, ``gs://``, ``abfss://``, ``hdfs://``,
        ``hf://datasets/``; ``https://`` of a file). A list of str is a list of texts, unless each of them ends in a known
        suffix; a list that could be either is refused. A list of dicts is one of rows. An iterator is read once. Columns,
        tables and frames are those of Arrow, pandas and polars, lazy ones too; data sets those of pyarrow and Hugging Face. A
        dict of id to text has its keys as ids; in a dict of name to table, frame or data set each is an input. On Spark: files
        on storage that the driver and all workers have mounted, or on an object store (``s3://bucket/pages/``), or a data frame
        of Spark with a column of texts and one of unique ids (``id``).

    Returns
    -------
    Result
        On Spark ``SparkResult``, whose tables are data frames.

    Raises
    ------
    ParameterError
        If a setting is out of its range, or workers of Spark do not see the work folder.
    InputDataError
        If a file or row is not as expected, or an override names no document, or one of a file that has changed.
    MissingExtraError
        If Spark is asked for, and pyspark is not installed, or the pandas that it needs.

    Notes
    -----
    Memory: below ``memory``; texts and what is known of them go to a work folder where they need more. Exact: with
    ``verify="exact"`` every removal rests on an exact resemblance. A pair at the threshold is found with
    probability ``recall``; with ``verify="sketch"`` with about half of that, since its estimate is as often below the threshold
    as above. The summary states it. The result is the same for any number of threads and any memory.

    Examples
    --------
    >>> import lookalike as la
    >>> result = la.dedup(["the quick brown fox jumps over the dog", "The quick brown fox: jumps over the dog!", "else"])
    >>> result.keep.tolist()
    [True, False, True]
    >>> result.removed.to_pylist()
    [{'id': 1, 'duplicate_of': 0, 'resemblance': 1.0}]
    """
    output = None if settings.output is None else os.fspath(settings.output)
    result = run_job(data, settings, Outputs(output=output, force=settings.force), known=False).result
    assert result is not None
    return result


def run_job(data: Any, settings: RunSettings, outputs: Outputs, known: bool = True) -> JobOutcome:
    """Do a job, with the history that it names: see ``run``."""
    if settings.history is None:
        return run(data, settings, outputs)
    from .history import History  # here, for what other jobs do not need

    with History(settings.history, trust=settings.trust) as history:
        return history._run(data, settings, outputs, known)
