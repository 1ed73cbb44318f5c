"""Which documents of one corpus contain documents of another: what must leave a training set before a test set judges it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import pyarrow as pa

from ..engines.engine import Engine, Step, Table
from ..engines.memory import FLOOR, Memory
from ..engines.progress import share_of
from ..errors import InputDataError, ParameterError, RowError
from ..files.workspace import Workspace
from ..formats.memory import as_sources, own_id
from ..formats.split import Split
from ..inputs.ids import Labels
from ..inputs.read import Reading, check_documents, file_in_both
from ..results.overlap import Corpus, Matches, OverlapResult
from ..results.rows import collect
from ..search.passages import Passages
from ..settings.limits import check_skipping, limit_of
from ..settings.settings import available_threads
from ..steps.overlap import hash_references, hashed_schema, match_documents, matched_schema
from ..steps.totals import of_inputs
from ..text.shingle import Shingling
from ..text.texts import from_arrow_array
from ..values import Int64Array
from ..values.arrays import number
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import SOURCE_BITS
from ..wording import counted, spelled
from .checks import check_ids
from .opening import engine_of
from .progress import Progress, no_progress, shown

MATCHED = "matched"
MEASURES = ("containment", "resemblance")
SHINGLE_BYTES = 80  # of a reference document, while the table of all is made


@spelled
def overlap(
    data: Any, *, against: Any, against_text: str | None = None, against_id: str | None = None, measure: str = "containment",
    threshold: float = 0.8, passage: int | None = None, text: str = "text", id: str | None = None, unit: str = "word",
    width: int | None = None, normalization: str = "NFC", fold_case: bool = True, encoding_errors: str = "strict",
    glob: str | Sequence[str] | None = None, format: str | None = None, delimiter: str | None = None,
    max_document: int | str | None = None, on_error: str = "stop",
    threads: int | None = None, memory: int | str | None = None, engine: Engine | str = "local", progress: Any = None,
) -> OverlapResult:  # fmt: skip
    """Find the documents of one corpus that contain documents of another, exactly.

    Parameters
    ----------
    data, against
        What ``lookalike.dedup`` takes; ``against`` (the reference documents) is held in memory as shingles, ``data`` is read
        once.
    against_text : str, optional
        Column or field of ``against`` that holds the text; default: ``text``.
    against_id : str, optional
        Column or field of ``against`` that holds a unique id; default: ``id``, or none if ``against`` has no columns (a list
        of texts, text files). The empty string means none: reference documents are then named by file and row.
    measure : {"containment", "resemblance"}
        What must reach the threshold. Containment is the share of the reference document's (or passage's) shingles that the
        document has too, so that a test question inside a long page is found. Resemblance is the number of shingles in common
        divided by the number in the union: it finds only documents of about the same length.
    threshold : float in (0, 1], default 0.8
    passage : int >= 1, optional
        Cut reference documents into passages of this many shingles, each half in the next, and match these.
    text, id, unit, width, normalization, fold_case, encoding_errors, glob, format, delimiter, threads, memory
        As for ``lookalike.dedup``.
    max_document, on_error
        As for ``lookalike.dedup``. With "skip" a larger document of ``data`` is not compared, and not written; one of
        ``against`` is always an error.
    engine : str or Engine, optional
        Where the job runs: "local", or an engine, which is not closed.
    progress : bool or callable, optional
        As for ``lookalike.dedup``.

    Returns
    -------
    OverlapResult

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or the reference documents do not fit the memory: the message says what would do.
    InputDataError
        If a file or row is not as expected, an id appears twice in a corpus, or a file is in both corpora.

    Notes
    -----
    Exact: every shingle of ``data`` is looked up, by a hash under a key that is drawn for the run, so that nobody can write a
    text that seems to contain what it does not (see ``key`` of ``lookalike.shingle``, also for chance). A reference document of
    fewer tokens than ``width`` is one shingle, itself, which no longer document has: the result lists these as
    ``not_searchable``; a smaller width finds them. Memory: up to 80 bytes per shingle of ``against`` (160 with passages), for
    which half of ``memory`` beyond the least is set aside. What grows with ``data``, ids and matches, goes to the disk where it
    does not fit, but for the matches of some 4 MB of text, which are held. Time: linear in both corpora, but a shingle that
    many documents of both have in common costs one step for each pair of them.

    Examples
    --------
    >>> import lookalike as la
    >>> page = "so he asked what is the capital of the old country of France and they laughed"
    >>> found = la.overlap([page, "else"], against=["What is the capital of the old country of France?"])
    >>> found.matches.to_pylist()
    [{'id': 0, 'reference': 0, 'passage': None, 'resemblance': 0.5, 'containment': 1.0}]
    """
    _check(measure, threshold, passage, encoding_errors, threads, text=text, id=id, against_text=against_text,
           against_id=against_id, format=format, delimiter=delimiter)  # fmt: skip
    shingling = Shingling(unit=unit, width=width, normalization=normalization, fold_case=fold_case)
    check_skipping(on_error, max_document)
    cap = Memory.wanted(memory)
    limit = limit_of(max_document, on_error, cap)
    sources, others = (as_sources(d, glob=glob, format=format, delimiter=delimiter) for d in (data, against))
    check_documents([*sources, *others])
    sources = [replace(source, limit=limit) for source in sources]
    others = [replace(source, limit=replace(limit, skip=False)) for source in others]
    against_id = own_id(others) if against_id is None else against_id
    if against_id is None and all(source.form.has_columns for source in others):
        against_id = id
    id = own_id(sources) if id is None else id
    against_text, against_id = text if against_text is None else against_text, against_id or None
    if text == against_text:
        _check_apart(sources, others)
    passage = None if passage is None else int(passage)
    parameters = {"measure": measure, "threshold": float(threshold), "passage": passage, "shingling": shingling.to_dict(),
                  "text": text, "id": id, "against_text": against_text, "against_id": against_id,
                  "encoding_errors": encoding_errors, "against": [source.identity() for source in others]}  # fmt: skip
    how: Any = {"shingling": shingling, "key": os.urandom(16), "strict": encoding_errors == "strict"}
    with shown(progress) as said:
        report = _Matching(said or no_progress)
        runner = engine_of(
            engine, threads=threads or available_threads(), memory=cap, workspace=Workspace(), progress=report
        )  # fmt: skip
        theirs = Reading(text=against_text, id=against_id, encoding_errors=encoding_errors, prefix="against-", once=True)
        hashed, named = _read(runner, others, theirs, partial(hash_references, **how), hashed_schema, "references")
        references, known = _known(hashed, passage, threshold, cap)
        report.begun = True
        ours = Reading(text=text, id=id, encoding_errors=encoding_errors, skip=limit.skip, once=True)
        match = partial(match_documents, passages=known, measure=measure, threshold=threshold, **how)
        matched, documents = _read(runner, sources, ours, match, matched_schema, MATCHED)
    short = references.filter(to_arrow(to_numpy(references["tokens"]) < int(shingling.width or 0)))
    not_searchable = pa.table({"reference": named.ids(short), "tokens": short["tokens"]})
    rows = runner.rank(matched, ("position",), 0)
    counts = _by_order(rows, "n", documents.n)
    skipped = _by_order(rows, "skipped", documents.n) if limit.skip else np.zeros(documents.n, np.bool_)
    listed = Matches(runner, rows, documents, named, references, known, int(counts.sum()), passage is None)
    return OverlapResult(listed, counts > 0, skipped.astype(np.bool_), not_searchable, parameters)


class _Matching:
    """Reports how many documents are matched, and how far their inputs are read."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._share, self.begun = progress, share_of(progress), False

    def __call__(self, stage: str, amount: int) -> None:
        """Report an amount."""
        if stage == MATCHED:
            self._progress("matching", amount)

    def of(self, stage: str, done: int, total: int, unit: str) -> None:
        """Report how far a stage is."""
        if self.begun and self._share is not None and unit == "bytes":
            self._share("matching", done, total, unit)


def _check(measure: Any, threshold: Any, passage: Any, encoding_errors: Any, threads: Any, **names: Any) -> None:
    """Raise ParameterError unless the parameters are in their ranges."""
    for name, value in names.items():
        if value is not None and not isinstance(value, str):
            raise ParameterError(f"{name} must be a str; got {value!r:.60}, of type {type(value).__name__}")
    if measure not in MEASURES:
        raise ParameterError(f"measure must be one of {', '.join(MEASURES)}; got {measure!r}")
    if not 0.0 < number("threshold", threshold, "a number in (0, 1]") <= 1.0:
        raise ParameterError(f"threshold must be a number in (0, 1]; got {threshold!r}")
    for name, value in (("passage", passage), ("threads", threads)):
        if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value < 1):
            raise ParameterError(f"{name} must be an integer of at least 1; got {value!r}")
    if encoding_errors not in ("strict", "replace"):
        raise ParameterError(f'encoding_errors must be "strict" or "replace"; got {encoding_errors!r}')


def _check_apart(sources: list[Split], others: list[Any]) -> None:
    """Raise InputDataError if both corpora have an input in common: its documents would overlap with themselves."""
    twice = file_in_both(sources, others)
    if twice is not None:
        raise InputDataError(
            f"{twice} is in both corpora, so that each of its documents would overlap with itself; leave it out of one of them "
            "(to compare the documents of one corpus with each other, use pairs or dedup)"
        )


def _read(
    engine: Engine,
    splits: Sequence[Split],
    reading: Reading,
    step: Step,
    schema_of: Callable[[pa.Schema], pa.Schema],
    name: str,
) -> tuple[Table, Corpus]:
    """Run a step on the documents of a corpus; return what it makes, stored, and what they are called."""
    documents = engine.source(splits, reading)
    try:
        made = engine.store(engine.map(documents, step, schema_of(documents.schema)), name)
    except RowError as error:
        raise InputDataError(f"{splits[error.position >> SOURCE_BITS].name}, {error}") from None
    for split in splits:
        split.check_unchanged()
    texts = False
    if reading.id is not None:
        check_ids(engine, made, splits, reading)
        texts = any(to_numpy(batch.column(0)).any() for batch in made.select(["id_is_text"]).batches())
    sizes = engine.fold(made.select(["position"]), of_inputs(len(splits)))[0]
    labels = Labels.of(splits, reading.id is not None, not texts)
    return made, Corpus(sources=splits, starts=np.concatenate([[0], np.cumsum(sizes)]), labels=labels)


def _known(hashed: Table, passage: int | None, threshold: float, memory: Memory) -> tuple[pa.Table, Passages]:
    """Return the reference documents in their order, and their passages."""
    each = SHINGLE_BYTES * (1 if passage is None else 2)
    count = sum(int(to_numpy(batch.column(0)).sum()) for batch in hashed.select(["shingles"]).batches())
    if count * each > memory.free // 2:
        raise ParameterError(
            f"the {counted(count, 'shingle')} of the reference documents need {(FLOOR + 2 * count * each) / 1e6:,.0f} MB of "
            f"memory; the cap is {memory.cap / 1e6:,.0f} MB: raise --memory (memory=), or divide the reference documents"
        )
    rows = collect(hashed)
    if (np.diff(to_numpy(rows["position"])) < 0).any():
        rows = rows.sort_by("position")
    texts = from_arrow_array(rows["hashes"].combine_chunks())
    values = texts.data[texts.offsets[0] : texts.offsets[-1]].view(np.uint64)
    return rows.drop_columns(["hashes"]), Passages.of(values, (texts.offsets - texts.offsets[0]) >> 3, passage, threshold)


def _by_order(rows: Table, name: str, n: int) -> Int64Array:
    """Return a column of numbers by order."""
    found = np.zeros(n, np.int64)
    for batch in rows.select(["order", name]).batches():
        found[to_numpy(batch["order"])] = to_numpy(batch[name])
    return found
