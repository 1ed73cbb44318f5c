"""From documents to kept documents: the steps in their order."""

from __future__ import annotations

from typing import Any, cast

from ..errors import ParameterError
from ..results.result import Result
from ..settings.option import front_door
from ..settings.settings import Settings
from .judging import decide
from .opening import on_spark, open_job
from .progress import no_progress, shown


@front_door(Settings)
def dedup(data: Any, settings: Settings) -> Result:
    """Find near-duplicates and decide which documents to keep.

    A greedy walk in keep order removes a document if and only if a document kept before it resembles it by at least the
    threshold; if several do, the most similar is named, and of equally similar ones the first in keep order.
    Documents of identical bytes are represented by the one that the policy prefers. Empty documents never match.

    Parameters
    ----------
    data : path, list of paths, list of str or dict, dict, column, table, frame or data set
        A str is a path: a file, a folder or a glob. A list of str is a list of texts, unless each of them ends in a known
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
    if settings.verify == "none":
        raise ParameterError("dedup removes only verified duplicates: verify must be exact or sketch ('none' is for pairs)")
    with shown(settings.progress) as said:
        if on_spark(data, settings):
            from .spark.job import dedup_on_spark  # here, for what jobs on one machine do not need

            return cast(Result, dedup_on_spark(data, settings, said or no_progress))
        return decide(open_job(data, settings, said))
