"""Text that a corpus repeats: which lines, or windows of words, occur more than once, and which of these are removed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.engine import Engine, Table
from ..engines.memory import Memory
from ..errors import ParameterError, RowError
from ..formats.cuts import check_one_column
from ..formats.memory import own_id
from ..formats.split import Split, unread_files
from ..formats.writers import check_editing
from ..inputs.read import ReadOptions, leaves_out
from ..results.decontamination import Corpus
from ..results.repeats import Repeats, RepeatsResult
from ..settings.option import check_values, front_door, recorded, repeating
from ..settings.repeats import LINES, PASSAGES, RepeatsOptions, check_unit
from ..steps import repeats as steps
from ..text.shingle import Shingling
from ..text.units import KEY_BYTES, Blocks, Hashing, Lines, Units, Windows
from ..values import Int64Array, UInt64Array
from ..values.arrow import to_numpy
from .checks import named_row
from .corpus import by_order, job_engine, open_corpora, read_corpus
from .outputs import Outputs
from .preparation import expected_of
from .progress import Following, no_progress, show_progress

LEAST_WORDS, CELLS_PER_UNIT, CELLS_PER_WORD = 1 << 10, 16, 32
"""The smallest table of what may come twice; what it has of cells for each unit expected, and in a word."""
UNKNOWN = 1 << 22
"""Units for which there is room where nobody knows how many there are; the system gives only what is used."""
MANY = 1 << 20
"""Units that may be repeated, from which on those are looked for that come very often."""
FREQUENT = 1 << 12
"""How many keys are looked for that come very often."""
_BYTES = {"line": 80, "paragraph": 300}  # of one, about


@dataclass(frozen=True, eq=False)
class RepeatOptions:
    """A corpus in which repeated units are looked for, and what does so."""

    engine: Engine
    sources: list[Split]
    reading: ReadOptions
    memory: Memory
    report: Following
    key: bytes
    """The secret that units are known by."""
    unread: Sequence[str]
    """The errors of files that could not be opened."""

    def expected(self, unit_bytes: int) -> int:
        """Return about how many units there are, of about so many bytes; of values in memory nobody knows."""
        return expected_of(self.sources, self.reading.text)[1] // unit_bytes or UNKNOWN

    def count(self, units: Units, n: int) -> UInt64Array:
        """Read the corpus; return which keys of units, about ``n``, may come twice."""
        self.report.name = "counting"
        step = partial(steps.hash_units, units=units, strict=self._strict, most=self._most)
        keys = self.engine.map(self.engine.source(self.sources, self.reading), step, steps.KEYS)
        wanted, room = n * CELLS_PER_UNIT // CELLS_PER_WORD, self.memory.free // 64  # an eighth of it
        n_words = max(LEAST_WORDS, min(1 << wanted.bit_length(), 1 << room.bit_length() >> 1))
        try:
            return self.engine.aggregate(keys, steps.key_counts(n_words))
        except RowError as error:
            raise named_row(self.sources, error) from None

    def propose(self, units: Units, table: UInt64Array, name: str, named: bool = True) -> Proposed:
        """Read the corpus; return its documents with the units that may come twice, and with ids if they are ``named``."""
        self.report.name = "finding repeats"
        step = partial(steps.propose, units=units, table=table, strict=self._strict, most=self._most)
        reading = self.reading if named else replace(self.reading, id=None)
        stored, corpus = read_corpus(self.engine, self.sources, reading, step, steps.proposed_schema, name, self.unread)
        rows = self.engine.rank(stored, ("position",), 0)
        bounds = np.concatenate([[0], np.cumsum(by_order(rows, "n", corpus.n))])
        n = int(bounds[-1])
        if n // 8 > self.memory.free // 4:
            raise ParameterError(
                f"{n:,} lines or words may be repeated, and a bit for each takes {n / 8e6:,.0f} MB: more than a quarter of the "
                "memory that is free; raise --memory (memory=), or divide the inputs"
            )
        return Proposed(rows, corpus, bounds[:-1], n)

    def judge(self, found: Proposed, over: int | None, name: str) -> tuple[Table, NDArray[np.uint8]]:
        """Return a row for each set of equal units, and a bit for each unit: is it removed?"""
        rule, engine = steps.Rule(over, found.starts), self.engine
        documents = found.rows.select(["order", "n", "units"])
        rows = engine.map(documents, partial(steps.list_units, starts=rule.starts), steps.ROWS)
        told: list[Table] = []
        keys = engine.aggregate(rows, steps.frequent(FREQUENT)) if found.n > MANY else np.empty(0, steps.HEAVY)
        if (keys["n"] > 0).any():
            frequent = steps.Frequent(np.sort(keys[keys["n"] > 0]), rule)
            totals = engine.aggregate(documents, frequent.totals)
            rows = engine.map(rows, frequent.others, steps.ROWS)
            told.append(engine.map(documents, partial(frequent.judge, totals=totals), steps.REPEATED))
            told.append(engine.rows(frequent.repeated_units(totals)))
        judged: Table = engine.map(engine.group_by(rows, "key", "unit"), partial(steps.judge, rule=rule), steps.REPEATED)
        for more in told:
            judged = engine.union(judged, more)
        repeated = engine.materialize(judged, name)
        return repeated, engine.aggregate(repeated.select(["removed"]), steps.marks(found.n))

    @property
    def _strict(self) -> bool:
        return self.reading.encoding_errors == "strict"

    @property
    def _most(self) -> int:
        """How many lines a text may have."""
        return min((source.limit.tokens for source in self.sources), default=1 << 60)


@dataclass(frozen=True, slots=True)
class Proposed:
    """Documents with units that may be repeated (ranked), the number of the first of each document, and of all."""

    rows: Table
    corpus: Corpus
    starts: Int64Array
    n: int


@dataclass(frozen=True, kw_only=True)
class RepeatsSettings(RepeatsOptions):
    """All that a user can choose about repeated text."""

    def __post_init__(self) -> None:
        """Check every parameter before any work is done, and fill in what is usual for the unit."""
        check_values(self)
        check_one_column(self.text, "removing what is repeated")
        check_unit(self.unit, {name: getattr(self, name) for name in (*LINES, *PASSAGES)})
        for name, usual in (PASSAGES if self.unit == "passage" else LINES).items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, usual)


@front_door(RepeatsSettings)
def repeats(data: Any, settings: RepeatsSettings) -> RepeatsResult:
    """Find lines, paragraphs or passages that occur more than once in a corpus, and remove them.

    Parameters
    ----------
    data : as for ``lookalike.dedup``

    Returns
    -------
    RepeatsResult

    Raises
    ------
    ParameterError
        If a parameter is out of its range or for another unit, or the memory cannot hold a bit for each line, or word, that is
        repeated.
    InputDataError
        If a file or row is not as expected, or an id appears twice.

    Notes
    -----
    A line ends with a line feed. Two lines are equal if their bytes are, but for blanks, tabs, form feeds and carriage returns
    at both ends. They are compared by 122 bits of a digest under a secret that is drawn for the run, so that nobody can write
    lines that only seem to be equal.

    A word of a passage is repeated if it is in a window of ``length`` words that is equal to one that begins earlier: in an
    earlier document, or earlier in the same one. Runs of repeated words are removed, from the first byte of the first word to
    the last of the last. Windows are compared by two 64-bit hashes under such secrets.

    Time: linear; the inputs are read twice, and once more to be written. Memory: 8 bytes per document and a bit per line, or
    word, that may be repeated; what does not fit otherwise goes to the disk.

    References
    ----------
    Wenzek et al., "CCNet: extracting high quality monolingual datasets from web crawl data", 2020, section 3.1.
    Penedo et al., "The RefinedWeb dataset for Falcon LLM", 2023.
    Lee et al., "Deduplicating training data makes language models better", 2022, section 4.1: there, of bytes that a suffix
    array finds, and all but one occurrence, or all, of each.

    Examples
    --------
    >>> import lookalike as la
    >>> pages = ["We use cookies on this site\\nApples are red.", "We use cookies on this site\\nPears are green."]
    >>> found = la.repeats(pages)
    >>> found.removed.to_pylist()
    [{'id': 1, 'begin': 0, 'end': 28, 'lines': 1}]
    >>> found.top(1).to_pylist()
    [{'text': 'We use cookies on this site', 'count': 2, 'documents': 2, 'id': 0, 'begin': 0}]
    >>> pages = ["We use cookies to improve this site. Apples are red.", "Hello! We use cookies to improve this site, too."]
    >>> la.repeats(pages, unit="passage", length=5).removed.to_pylist()
    [{'id': 1, 'begin': 7, 'end': 42, 'words': 7}]
    """
    return find_repeats(data, settings, Outputs())


def find_repeats(data: Any, settings: RepeatsSettings, outputs: Outputs) -> RepeatsResult:
    """Find what a corpus repeats, and write what is wanted: what ``repeats`` does."""
    check_unit(settings.unit, {"mask": outputs.mask})
    sources, _, cap = open_corpora(data, [], settings, outputs)
    if outputs.output is not None:
        check_editing(outputs.output, sources)
    unread = unread_files(sources)
    id = settings.id or own_id(sources)
    reading = ReadOptions(
        text=settings.text, id=id, encoding_errors=settings.encoding_errors, skip=leaves_out(sources), once=True
    )  # fmt: skip
    with show_progress(settings.progress) as said:
        report = Following(said or no_progress, "counting", "proposed")
        report.begun = True
        engine, workspace = job_engine(settings.threads, cap, report)
        find = _find_passages if settings.unit == "passage" else _find_lines
        searching = RepeatOptions(engine, sources, reading, cap, report, os.urandom(KEY_BYTES), unread)
        found, repeated, bits = find(searching, settings)
    n = found.corpus.n
    skipped = by_order(found.rows, "skipped", n).astype(np.bool_) if reading.skip else np.zeros(n, np.bool_)
    said_of = {"parameters": recorded(replace(settings, id=id, progress=None)), "config": repeating(settings)}
    marks = steps.Marks(bits, found.starts)
    result = RepeatsResult(Repeats(engine, found.rows, repeated, found.corpus, reading, marks, skipped, said_of, workspace))
    if outputs.output is not None:
        result.write(outputs.output, mask=outputs.mask, force=outputs.force)
    if outputs.table is not None:
        result.write_list(outputs.table, force=outputs.force)
    return result


def _find_lines(searching: RepeatOptions, settings: RepeatsSettings) -> tuple[Proposed, Table, NDArray[np.uint8]]:
    """Count the keys of all lines; those that may be repeated meet."""
    assert settings.min_words is not None
    units = Lines(settings.unit == "paragraph", settings.min_words, searching.key)
    found = searching.propose(units, searching.count(units, searching.expected(_BYTES[settings.unit])), "proposed")
    return found, *searching.judge(found, settings.drop_over, "repeated")


def _find_passages(searching: RepeatOptions, settings: RepeatsSettings) -> tuple[Proposed, Table, NDArray[np.uint8]]:
    """Let blocks of windows meet, so that few rows stand for text that comes once more; then all other windows.

    That is enough: a window in a later block equals one in the first of these, which is not left out.
    """
    assert settings.length is not None and settings.normalization is not None and settings.fold_case is not None
    shingling = Shingling(width=settings.length, normalization=settings.normalization, fold_case=settings.fold_case)
    hashing = Hashing(shingling, settings.length, searching.key)
    blocks = searching.propose(Blocks(hashing), np.empty(0, np.uint64), "blocks", named=False)
    _, bits = searching.judge(blocks, None, "repeated-blocks")
    windows = Windows(hashing, bits, blocks.starts, blocks.corpus.starts)
    words = sum(int(to_numpy(batch.column(0)).sum()) for batch in blocks.rows.select(["whole"]).batches())
    found = searching.propose(windows, searching.count(windows, words), "proposed")
    return found, *searching.judge(found, None, "repeated")
