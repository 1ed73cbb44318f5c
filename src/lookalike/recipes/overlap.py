"""Which documents of one corpus contain documents of another: what must leave a training set before a test set judges it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..engines.memory import FLOOR, Memory
from ..engines.progress import share_of
from ..errors import InputDataError, ParameterError
from ..formats.memory import as_sources, own_id
from ..formats.split import Columns
from ..formats.writers import Selection, write_rows, write_table
from ..inputs.amounts import Amounts
from ..inputs.read import check_documents, file_in_both
from ..kernels._threads import in_order
from ..settings.limits import check_skipping, limit_of
from ..settings.settings import available_threads
from ..text.keyed import KeyedHashes
from ..text.shingle import Shingling
from ..text.texts import Texts
from ..values import Int64Array
from ..values.arrays import number
from ..values.arrow import to_arrow, to_numpy
from ..wording import Brief, counted, spelled
from .overlapping import Found, MatchTable, taken
from .passages import Passages, Rows, count_tokens
from .progress import no_progress, shown
from .scored_matches import scored_matches

MEASURES = ("containment", "resemblance")
ADDED = ("overlap_with", "overlap_passage", "resemblance", "containment")
SHINGLE_BYTES = 80  # of a reference document, while the table of all is made


class OverlapResult(Brief):
    """The result of ``overlap``.

    Attributes
    ----------
    matches : pyarrow.Table
        ``id, reference`` (int64 if all ids of that corpus are integers, otherwise strings), ``passage`` (int64; the first
        shingle of the passage in the reference document, from 0; null without ``passage``), ``resemblance, containment``
        (float64): the best passage of each pair of documents, in input order, best first.
    not_searchable : pyarrow.Table
        ``reference, tokens``: the reference documents that no longer document can contain, since they have fewer tokens than
        the width. One without tokens matches nothing; one with some matches only documents of exactly these tokens.
    overlaps : ndarray of bool, shape (n_documents,)
        Which documents overlap with a reference document.
    n_documents, n_references : int
        Documents of the two corpora.
    """

    def __init__(
        self, documents: Rows, overlaps: NDArray[np.bool_], listed: MatchTable, n_references: int, not_searchable: pa.Table,
        parameters: Any, references: Rows,
    ) -> None:  # fmt: skip
        self._sources, self._starts, self._skipped = documents.sources, documents.starts, documents.skipped
        self.overlaps = overlaps
        self._listed = listed
        self._references, self._reference_starts = references.sources, references.starts
        self._parameters = parameters
        self.not_searchable = not_searchable
        self.n_documents = documents.starts[-1]
        self.n_references = n_references

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        s = self.summary
        of = f"{s['overlapping']:,} of {counted(s['documents'], 'document')}"
        references = f"overlap with {counted(s['references'], 'reference')}"
        return {"documents": of, "references": references, "matches": counted(s["matches"], "match", "matches")}

    @cached_property
    def matches(self) -> pa.Table:
        """All matches."""
        return self._listed.table()

    @property
    def summary(self) -> dict[str, int]:
        """Counts: documents, references, empty_references, short_references, overlapping, matches, skipped (too large)."""
        short = int((to_numpy(self.not_searchable["tokens"]) > 0).sum())
        return {
            "documents": self.n_documents,
            "references": self.n_references,
            "empty_references": len(self.not_searchable) - short,
            "short_references": short,
            "overlapping": int(self.overlaps.sum()),
            "matches": len(self._listed),
            "skipped": len(self._skipped),
        }

    @property
    def provenance(self) -> dict[str, Any]:
        """Version, parameters, inputs and counts, as written with every output."""
        inputs = [source.identity() for source in self._sources]
        return {"lookalike": __version__, "parameters": self._parameters, "inputs": inputs, "summary": self.summary}

    def write_matches(self, output: str | Path, *, force: bool = False) -> None:
        """Write all matches as parquet, JSON lines or CSV, by the suffix; no more than some are held at a time."""
        write_table(output, self._listed, self.provenance, sources=[*self._sources, *self._references], force=force)

    def report(
        self, output: str | Path, *, texts: str = "full", force: bool = False, title: str | None = None,
        command: str | None = None,
    ) -> None:  # fmt: skip
        """Write a page that shows the matches: one HTML file that needs no network."""
        page = import_module("lookalike.report.page")  # by its name: the page is made a layer above the jobs
        scored = scored_matches(self, self._listed, (self._references, self._reference_starts), (self._sources, self._starts))
        page.write_scored(scored, output, texts=texts, force=force, title=title, command=command)

    def write(self, output: str | Path, *, annotate: bool = False, force: bool = False) -> None:
        """Write the documents that overlap with none; with ``annotate`` all, with the best match of each.

        Files, formats and errors are those of ``Result.write``. Documents that were skipped are not written.
        """
        selections, clean = [], ~self.overlaps
        clean[self._skipped] = False
        compared = np.ones(self.n_documents, np.bool_)
        compared[self._skipped] = False
        for source, begin, end in zip(self._sources, self._starts[:-1], self._starts[1:], strict=True):
            mask = (compared if annotate else clean)[begin:end]

            def added(first: int, last: int, begin: int = begin) -> pa.Table:
                rows, best = self._listed.best(begin + first, begin + last)
                place = np.full(last - first, -1, np.int64)
                place[rows - begin - first] = np.arange(len(rows))
                return best.drop_columns(["id"]).rename_columns(list(ADDED)).take(to_arrow(place, place < 0))

            if annotate:
                source.check_free(list(ADDED))
            errors = self._parameters["encoding_errors"]
            selections.append(Selection(source, mask, added if annotate else None, errors))
        read = [*self._sources, *self._references]
        write_rows(output, selections, self.provenance, sources=read, force=force)


@spelled
def overlap(
    data: Any, *, against: Any, against_text: str | None = None, against_id: str | None = None, measure: str = "containment",
    threshold: float = 0.8, passage: int | None = None, text: str = "text", id: str | None = None, unit: str = "word",
    width: int | None = None, normalization: str = "NFC", fold_case: bool = True, encoding_errors: str = "strict",
    glob: str | Sequence[str] | None = None, format: str | None = None, delimiter: str | None = None,
    max_document: int | str | None = None, on_error: str = "stop",
    threads: int | None = None, memory: int | str | None = None, progress: Any = None,
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
    theirs = Columns(
        text if against_text is None else against_text, against_id or None, encoding_errors=encoding_errors, prefix="against-"
    )
    if text == theirs.text:
        _check_apart(sources, others)
    amounts = Amounts(sources)
    documents = Rows(amounts.splits, Columns(text, id, encoding_errors=encoding_errors), cap.held // 4)
    references = Rows(others, theirs, cap.held // 4)
    hashing = KeyedHashes(shingling, os.urandom(16))
    known, tokens = _read(references, shingling, hashing, passage, threshold, cap)
    names = references.ids()

    def work(piece: tuple[int, Texts]) -> tuple[int, int, list[Any]]:
        return piece[0], len(piece[1]), known.match(*hashing.hashes(piece[1]), measure == "containment", threshold)

    found, hits, valve = Found(cap.held // 4), [np.empty(0, np.int64)], cap.valve
    with shown(progress) as said:
        report, share = said or no_progress, share_of(said)
        for begin, n_rows, (local, passages, both, n) in in_order(work, documents.pieces(), threads or available_threads()):
            order, resemblance, containment = known.best(local, passages, both, n, measure)
            found.append(begin + local[order], passages[order], resemblance[order], containment[order])
            hits.append(begin + np.unique(local))
            report("matching", n_rows)
            if share is not None:
                share("matching", amounts.done, amounts.total, "bytes")
            valve.check()
    found.flush()
    overlaps = np.zeros(documents.starts[-1], np.bool_)
    overlaps[np.concatenate(hits)] = True
    assert shingling.width is not None
    short = np.flatnonzero(tokens < shingling.width)
    sizes = documents.starts[-1], len(tokens)
    listed = MatchTable(found, documents.ids(), names, sizes, known, passage is None)
    passage = None if passage is None else int(passage)
    parameters = {"measure": measure, "threshold": float(threshold), "passage": passage, "shingling": shingling.to_dict(),
                  "text": text, "id": id, "against_text": theirs.text, "against_id": theirs.id,
                  "encoding_errors": encoding_errors, "against": [source.identity() for source in others]}  # fmt: skip
    not_searchable = pa.table({"reference": taken(names, short, len(tokens)), "tokens": tokens[short]})
    return OverlapResult(documents, overlaps, listed, len(tokens), not_searchable, parameters, references)


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


def _check_apart(sources: list[Any], others: list[Any]) -> None:
    """Raise InputDataError if both corpora have an input in common: its documents would overlap with themselves."""
    twice = file_in_both(sources, others)
    if twice is not None:
        raise InputDataError(
            f"{twice} is in both corpora, so that each of its documents would overlap with itself; leave it out of one of them "
            "(to compare the documents of one corpus with each other, use pairs or dedup)"
        )


def _read(
    references: Rows, shingling: Shingling, hashing: KeyedHashes, passage: int | None, threshold: float, memory: Memory
) -> tuple[Passages, Int64Array]:
    """Read the reference documents: return their passages and the number of tokens of each."""
    values, sizes, tokens = [np.empty(0, np.uint64)], [np.zeros(1, np.int64)], [np.empty(0, np.int64)]
    each, count, room = SHINGLE_BYTES * (1 if passage is None else 2), 0, memory.free // 2
    for _, texts in references.pieces():
        hashes, offsets = hashing.hashes(texts)
        count += len(hashes)
        if count * each > room:  # they are only counted from here on
            values, sizes, tokens = [], [], []
            continue
        values.append(hashes.copy())
        sizes.append(np.diff(offsets))
        tokens.append(count_tokens(shingling, texts, sizes[-1]))
    if count * each > room:
        raise ParameterError(
            f"the {counted(count, 'shingle')} of the reference documents need {(FLOOR + 2 * count * each) / 1e6:,.0f} MB of "
            f"memory; the cap is {memory.cap / 1e6:,.0f} MB: raise --memory (memory=), or divide the reference documents"
        )
    known = Passages.of(np.concatenate(values), np.cumsum(np.concatenate(sizes)), passage, threshold)
    return known, np.concatenate(tokens)
