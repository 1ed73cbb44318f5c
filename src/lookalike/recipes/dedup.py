"""From documents to kept documents: the steps in their order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..errors import ParameterError
from ..results.result import Result
from ..settings.settings import MAX_BUCKET, settings_of
from ..text.shingle import Tokenizer
from ..wording import spelled
from .judging import decide
from .opening import open_job
from .progress import Progress, shown


@spelled
def dedup(
    data: Any,
    *,
    threshold: float = 0.8,
    recall: float = 0.99,
    against: Any = None,
    trust: Any = (),
    keep: str = "first",
    within: str | None = None,
    empty: str = "keep",
    verify: str = "exact",
    evidence: str = "keepers",
    work: str | os.PathLike[str] | None = None,
    resume: bool = False,
    annotate: bool = False,
    text: str = "text",
    id: str | None = None,
    html: bool = False,
    glob: str | Sequence[str] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
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
    max_document: int | str | None = None,
    on_error: str = "stop",
    overrides: Any = None,
    seed: int | str = 1,
    threads: int | None = None,
    memory: int | str | None = None,
    engine: Any = None,
    progress: Progress | bool | None = None,
) -> Result:
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
        dict of id to text has its keys as ids; in a dict of name to table, frame or data set each is an input.
    threshold : float in (0, 1], default 0.8
        Minimum resemblance (with "simhash", cosine) of near-duplicates.
    recall : float in (0, 1), default 0.99
        Probability of finding a pair exactly at the threshold; pairs above it are found with higher probability. With
        "simhash", ``radius`` determines it instead.
    against : like data, optional
        Reference documents: first in keep order, never removed, never written. A path can be a folder that
        ``Result.save_sketches`` wrote, or a folder of such folders. These come first; only texts that are compared are read.
    trust : path or list of paths
        Files, folders or URLs. Saved sketches that somebody else made, or you on another machine, name the files that texts are
        read from; only what is in these places is read.
    keep : str, default "first"
        Which of several near-duplicates to keep: first, last, longest, shortest, largest:COLUMN or smallest:COLUMN.
    within : str, optional
        Compare only documents with equal values in this column.
    empty : {"keep", "drop"}, default "keep"
        What to do with documents without any token; they never match.
    verify : {"exact", "sketch"}, default "exact"
        Whether removals rest on exact resemblances or on estimates.
    evidence : {"keepers", "all"}, default "keepers"
        Which verified pairs the result has: those of a kept document and one removed, or all. With all, ``rethreshold`` needs
        no open job, but all candidate pairs are compared, not only those with kept documents.
    work : path, optional
        A folder for a long job's state, so that it can be resumed after a crash.
    resume : bool, default False
        Resume the job in ``work``.
    annotate : bool, default False
        Refuse an input, while it is read, that has a column of a name that ``write(annotate=True)`` would add.
    text, id, html, glob, format, delimiter, encoding_errors
        What is read, and how: see ``Settings``.
    unit, width, normalization, fold_case, tokenizer
        What a shingle is: see ``Shingling``.
    method, radius, permutations, bands, rows, max_bucket, seed
        How pairs are found: see ``Settings``.
    max_document : int or str, optional
        Size of the largest document, such as "30MB". Default, and at most: a tenth of ``memory``.
    on_error : {"stop", "skip"}, default "stop"
        What to do with a larger document: stop with an error that names it, or leave it out of the comparison and the output.
    overrides : path or list of dict, optional
        Documents to keep, or to remove, whatever is found: JSON lines such as a report exports, or what they say, each with
        ``id``, ``action`` ("keep" or "remove") and perhaps ``input`` and ``sha256``. One that is removed by hand stands for
        nobody; one that is kept by hand removes nobody more. References cannot be overridden.
    threads, memory
        What the job can use; the result does not depend on it: see ``Settings``.
    engine : str or Engine, optional
        What runs the job; the result does not depend on it. Default: "local", this machine.
    progress : bool or callable, optional
        True: a line on a terminal, or in a notebook, that says what is being done, how much of it, how quickly, and how long it
        will take. A callable is called with the name of a stage and an amount done since the last call; if it has a method
        ``of``, that is called with the name of a stage, how far it is, its end, and a unit, such as "bytes".

    Returns
    -------
    Result

    Raises
    ------
    ParameterError
        If a setting is out of its range.
    InputDataError
        If a file or row is not as expected, or an override names no document, or one of a file that has changed.

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
    job = settings_of(locals())
    if job.verify == "none":
        raise ParameterError("dedup removes only verified duplicates: verify must be exact or sketch ('none' is for pairs)")
    with shown(progress) as said:
        return decide(open_job(data, against, job, said, engine))
