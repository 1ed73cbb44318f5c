"""Which documents of one corpus contain documents of another: what must leave a training set before a test set judges it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
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
from ..inputs.read import Reading, check_documents, file_in_both, leaves_out
from ..results.overlap import Corpus, Matches, OverlapResult
from ..results.rows import collect
from ..search.passages import Passages
from ..settings.limits import check_on_error, limit_of
from ..settings.option import check_values, front_door
from ..settings.options import OPENING, OverlapOptions
from ..settings.settings import available_threads
from ..steps.overlap import hash_references, hashed_schema, match_documents, matched_schema
from ..steps.totals import of_inputs
from ..text.shingle import Shingling
from ..text.texts import from_arrow_array
from ..values import Int64Array
from ..values.arrays import number
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import SOURCE_BITS
from ..wording import counted
from .checks import check_ids
from .preparation import engine_of, on_spark
from .progress import Progress, no_progress, shown

MATCHED = "matched"
SHINGLE_BYTES = 80  # of a reference document, while the table of all is made


@dataclass(frozen=True, kw_only=True)
class OverlapSettings(OverlapOptions):
    """All that a user can choose about an overlap."""

    def __post_init__(self) -> None:
        """Check every parameter before any work is done."""
        check_values(self)
        if not 0.0 < number("threshold", self.threshold, "a number in (0, 1]") <= 1.0:
            raise ParameterError(f"threshold must be a number in (0, 1]; got {self.threshold!r}")
        check_on_error(self.on_error)
        _ = self.shingling

    @cached_property
    def shingling(self) -> Shingling:
        """What a shingle is."""
        return Shingling(unit=self.unit, width=self.width, normalization=self.normalization, fold_case=self.fold_case)

    def to_dict(self, against: Sequence[Split]) -> dict[str, Any]:
        """Return what a result depends on, for provenance."""
        said = {
            name: getattr(self, name)
            for name in ("measure", "threshold", "passage", "text", "id", "against_text", "against_id")
        }
        more = {"encoding_errors": self.encoding_errors, "against": [source.identity() for source in against]}
        return said | {"threshold": float(self.threshold), "shingling": self.shingling.to_dict()} | more


@front_door(OverlapSettings)
def overlap(data: Any, settings: OverlapSettings) -> OverlapResult:
    """Find the documents of one corpus that contain documents of another, exactly.

    Parameters
    ----------
    data : as for ``lookalike.dedup``

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
    cap = Memory.wanted(settings.memory)
    limit = limit_of(settings.max_document, settings.on_error, cap)
    how: Any = {name: getattr(settings, name) for name in OPENING}
    sources, others = (as_sources(given, **how) for given in (data, settings.against))
    check_documents([*sources, *others])
    cap = cap.reading(any(split.remote_bytes for split in (*sources, *others)))
    threads = settings.threads or available_threads()
    sources = [replace(source, limit=limit, threads=threads) for source in sources]
    others = [replace(source, limit=replace(limit, skip=False, leave=False), threads=threads) for source in others]
    workspace, given = Workspace(), settings
    settings = _named(settings, sources, others)
    if settings.text == settings.against_text:
        _check_apart(sources, others)
    strict = settings.encoding_errors == "strict"
    hashing: Any = {"shingling": settings.shingling, "key": os.urandom(16), "strict": strict}
    ours = Reading(
        text=settings.text, id=settings.id, encoding_errors=settings.encoding_errors, skip=leaves_out(sources), once=True
    )  # fmt: skip
    theirs = replace(ours, text=str(settings.against_text), id=settings.against_id, skip=False, prefix="against-")
    with shown(given.progress) as said:
        report = _Matching(said or no_progress)
        if on_spark(data, given):
            from .spark.job import engine_on_spark, for_workers  # here, for what jobs on one machine do not need

            sources, others = for_workers(sources), for_workers(others)
            engine: Engine = engine_on_spark(given.engine, workspace, report)
        else:
            engine = engine_of(given.engine, threads=threads, memory=cap, workspace=workspace, progress=report)
        hashed, named = _read(engine, others, theirs, partial(hash_references, **hashing), hashed_schema, "references")
        references, known = _known(hashed, settings.passage, settings.threshold, cap)
        report.begun = True
        match = partial(
            match_documents, passages=known, measure=settings.measure, threshold=settings.threshold, **hashing
        )  # fmt: skip
        matched, documents = _read(engine, sources, ours, match, matched_schema, MATCHED)
    short = references.filter(to_arrow(to_numpy(references["tokens"]) < int(settings.shingling.width or 0)))
    not_searchable = pa.table({"reference": named.ids(short), "tokens": short["tokens"]})
    rows = engine.rank(matched, ("position",), 0)
    counts = _by_order(rows, "n", documents.n)
    skipped = _by_order(rows, "skipped", documents.n) if ours.skip else np.zeros(documents.n, np.bool_)
    listed = Matches(engine, rows, documents, named, references, known, int(counts.sum()), settings.passage is None)
    return OverlapResult(listed, counts > 0, skipped.astype(np.bool_), not_searchable, settings.to_dict(others), workspace)


def _named(settings: OverlapSettings, sources: Sequence[Split], others: Sequence[Split]) -> OverlapSettings:
    """Return the settings with the columns that texts and ids of both corpora are in."""
    id, against_id = settings.id, settings.against_id
    against_id = own_id(others) if against_id is None else against_id
    if against_id is None and all(source.form.has_columns for source in others):
        against_id = id
    id = own_id(sources) if id is None else id
    text = settings.text if settings.against_text is None else settings.against_text
    return replace(settings, id=id, against_id=against_id or None, against_text=text, against=None, engine=None, progress=None)


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


def _check_apart(sources: list[Split], others: list[Split]) -> None:
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
