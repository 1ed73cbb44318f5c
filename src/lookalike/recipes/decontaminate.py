"""Which documents of one corpus contain documents of another: what must leave a training set before a test set judges it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..engines.memory import FLOOR, Memory, enough
from ..errors import InputDataError, ParameterError
from ..formats.cuts import check_one_column
from ..formats.memory import own_id
from ..formats.split import Names, Split, unread_files
from ..inputs.read import ReadOptions, file_in_both, leaves_out
from ..results.decontamination import Corpus, DecontaminationResult, Matches, by_benchmark
from ..search.items import DistinctTexts, SoughtTexts
from ..settings.decontamination import DecontaminationOptions
from ..settings.option import check_values, front_door, repeating
from ..steps.overlap import Search, judge_documents, judged_schema, match_documents, matched_schema, of_benchmarks, outside
from ..text.hashes import KeyedHashes
from ..text.shingle import Shingling
from ..values.arrays import share, whole
from ..values.arrow import strings, to_arrow
from ..wording import meant, plural
from .corpus import by_order, corpus_of, job_engine, open_corpora, read_corpus
from .outputs import Outputs
from .progress import Following, no_progress, show_progress
from .references import ReferenceReader, References

MATCHED = "matched"
SHINGLE_BYTES = 96  # of a reference document, while the table of all is made
WORDS = 4  # words of the shortest reference document that is judged
COMMON, SHARE = 10, 1000  # documents that a shingle may be in; one of so many
ANY = 1e-300  # a threshold that one shingle reaches


@dataclass(frozen=True, kw_only=True)
class DecontaminationSettings(DecontaminationOptions):
    """All that a user can choose about a decontamination."""

    def __post_init__(self) -> None:
        """Check every parameter before any work is done."""
        if isinstance(self.measure, tuple):
            object.__setattr__(self, "measure", ":".join(map(str, self.measure)))
        check_values(self)
        if self.kind == "ngram":
            if self.threshold is not None:
                raise ParameterError(
                    f"{self.measure} needs one common n-gram only: leave out the threshold, or use containment"
                )
            if self.width not in (None, self.shingling.width):
                raise ParameterError(f"{self.measure} already sets the number of tokens: leave out the width; got {self.width}")
        elif self.threshold is not None:
            share("threshold", self.threshold)
        if isinstance(self.against_text, (list, tuple)) and not all(isinstance(name, str) for name in self.fields):
            raise ParameterError("must be a str or a list of str", "against_text", self.against_text)
        if len(set(self.fields)) < len(self.fields):
            raise ParameterError(f"against_text names a field twice: {', '.join(self.fields)}")

    @cached_property
    def kind(self) -> str:
        """What matches: containment, resemblance or ngram."""
        kind, _, n = str(self.measure).partition(":")
        if self.measure in ("containment", "resemblance") or (kind == "ngram" and n.isascii() and n.isdigit() and len(n) < 8):
            return kind
        hint = meant(kind, ("containment", "resemblance", "ngram:N"))
        raise ParameterError(f"must be containment, resemblance or ngram:N, such as ngram:13{hint}", "measure", self.measure)

    @cached_property
    def fields(self) -> list[str]:
        """The fields of reference documents, the first of which decides what matches; none: as of the documents."""
        return [self.against_text] if isinstance(self.against_text, str) else list(self.against_text or ())

    @property
    def searched(self) -> Names:
        """The columns of reference documents whose text decides what matches."""
        return self.fields[0] if self.fields else self.text

    @cached_property
    def shingling(self) -> Shingling:
        """What a shingle is."""
        width = whole("the N of ngram:N", int(str(self.measure)[6:]), 1, 1 << 20) if self.kind == "ngram" else self.width
        return Shingling(unit=self.unit, width=width, normalization=self.normalization, fold_case=self.fold_case)

    @property
    def least(self) -> float:
        """The least share of shingles of a reference document."""
        return ANY if self.kind == "ngram" else 0.8 if self.threshold is None else float(self.threshold)

    @property
    def shortest(self) -> int:
        """The tokens of the shortest reference document that is judged."""
        width = int(self.shingling.width or 0)
        if self.kind == "resemblance":
            return self.min_tokens or 1
        return self.min_tokens or (min(WORDS, width) if self.unit == "word" else width)

    def to_dict(self, against: Sequence[Split]) -> dict[str, Any]:
        """Return what a result depends on, for provenance."""
        names = ("measure", "passage", "text", "id", "against_id", "benchmark", "encoding_errors")
        said = {name: getattr(self, name) for name in names} | {"threshold": None if self.kind == "ngram" else self.least}
        more = {"against_text": self.fields[0] if len(self.fields) == 1 else self.fields or None, "min_tokens": self.shortest}
        return said | more | {"common": self.common, "shingling": self.shingling.to_dict()} | {
            "against": [source.identity() for source in against]
        }  # fmt: skip


@front_door(DecontaminationSettings)
def decontaminate(data: Any, settings: DecontaminationSettings) -> DecontaminationResult:
    """Find the documents of one corpus that contain documents of another, exactly.

    Parameters
    ----------
    data : as for ``lookalike.dedup``

    Returns
    -------
    DecontaminationResult

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
    fewer tokens than ``width`` matches if all its tokens are in the document in a row; one of fewer than ``min_tokens`` is not
    judged, nor one without a shingle that is not ``common``: the result lists these as ``not_searchable``. Memory: up to 96
    bytes per shingle of ``against`` (192 with passages), for which half of ``memory`` beyond the least is set aside. What grows
    with ``data``, ids and matches, goes to the disk where it does not fit, but for the matches of some 4 MB of text, which are
    held. Time: linear in both corpora, but a shingle that many documents of both have in common costs one step for each pair of
    them.

    A shingle is *common* if more than ``common`` documents have it, not counting those that match a reference document (or
    passage) that has it, and have more than 8 words, in several shingles, of it; with n-grams all documents count. (For other
    units than words: ``width`` shingles or more.) A match must reach the threshold twice: by all shingles of the reference
    document, and by those of them that are not common.

    Examples
    --------
    >>> import lookalike as la
    >>> page = "so he asked what is the capital of the old country of France and they laughed"
    >>> found = la.decontaminate([page, "else"], against=["What is the capital of the old country of France?"])
    >>> found.matches.to_pylist()
    [{'id': 0, 'reference': 0, 'passage': None, 'resemblance': 0.5, 'containment': 1.0, 'begin': 12, 'end': 60}]
    """
    return find_references(data, settings, Outputs())


def find_references(data: Any, settings: DecontaminationSettings, outputs: Outputs) -> DecontaminationResult:
    """Find the documents that contain references, and write what is wanted: what ``decontaminate`` does."""
    if outputs.mask is not None:
        check_one_column(settings.text, "mask (--mask)")
    sources, others, cap = open_corpora(data, settings.against, settings, outputs)
    unread = unread_files(others), unread_files(sources)
    given = settings
    settings = _with_columns(settings, sources, others)
    if settings.text in (settings.searched, *settings.fields):
        _check_apart(sources, others)
    ours = ReadOptions(
        text=settings.text, id=settings.id, encoding_errors=settings.encoding_errors, skip=leaves_out(sources), once=True
    )  # fmt: skip
    theirs = replace(ours, text=settings.searched, id=settings.against_id, skip=False, prefix="against-")
    with show_progress(given.progress) as said:
        report = Following(said or no_progress, "matching", MATCHED)
        engine, workspace = job_engine(settings.threads, cap, report)
        references, search = _sought(others, theirs, settings, cap, unread[0])
        named = corpus_of(engine, engine.materialize(engine.rows(references.rows), "references"), others, theirs)
        report.begun = True
        step = partial(match_documents, search=search)
        matched, documents = read_corpus(engine, sources, ours, step, matched_schema, MATCHED, unread[1])
        most = settings.common or max(COMMON, documents.n // SHARE)
        counts = engine.aggregate(matched.select(["outside"]), outside(search.sought.passages.n_shingles))
        commonplace = (counts > most) & (settings.kind != "resemblance")
        judge = partial(judge_documents, search=search, commonplace=commonplace, items=references.items)
        judged = engine.materialize(engine.map(matched, judge, judged_schema(matched.schema)), "judged")
    texts = search.sought.passages.document
    told = engine.aggregate(judged.select(["n", "matches", "also"]), of_benchmarks(texts, references.items))
    not_searchable = _not_searchable(references, named, search, commonplace)
    rows = engine.rank(judged, ("position",), 0)
    n = by_order(rows, "n", documents.n)
    skipped = by_order(rows, "skipped", documents.n) if ours.skip else np.zeros(documents.n, np.bool_)
    listed = Matches(
        engine, rows, documents, named, references.rows, search.sought.passages, references.items, settings.fields[1:],
        int(n.sum()), settings.passage is None,
    )  # fmt: skip
    benchmarks = by_benchmark(references.benchmarks, references.items, told, not_searchable, settings.fields[1:])
    result = DecontaminationResult(
        listed, n > 0, skipped.astype(np.bool_), not_searchable.drop_columns(["row"]), benchmarks,
        {"parameters": settings.to_dict(others), "config": repeating(settings)},
        workspace,
    )  # fmt: skip
    outputs.write_page(result.report, result.provenance["config"])
    if outputs.output is not None:
        result.write(outputs.output, annotate=outputs.annotate, mask=outputs.mask, force=outputs.force)
    if outputs.table is not None:
        result.write_matches(outputs.table, force=outputs.force)
    return result


def _with_columns(
    settings: DecontaminationSettings, sources: Sequence[Split], others: Sequence[Split]
) -> DecontaminationSettings:
    """Return the settings with the columns that texts and ids of both corpora are in."""
    id, against_id = settings.id, settings.against_id
    against_id = own_id(others) if against_id is None else against_id
    if against_id is None and all(source.form.has_columns for source in others):
        against_id = id
    id = own_id(sources) if id is None else id
    text = settings.fields or (settings.text if isinstance(settings.text, str) else None)
    return replace(settings, id=id, against_id=against_id or None, against_text=text, against=None, progress=None)


def _check_apart(sources: list[Split], others: list[Split]) -> None:
    """Raise InputDataError if both corpora have an input in common: its documents would overlap with themselves."""
    twice = file_in_both(sources, others)
    if twice is not None:
        raise InputDataError(
            f"{twice} is in both corpora, so that each of its documents would overlap with itself; leave it out of one of them "
            "(to compare the documents of one corpus with each other, use pairs or dedup)"
        )


def _sought(
    others: Sequence[Split], reading: ReadOptions, settings: DecontaminationSettings, memory: Memory, unread: Sequence[str]
) -> tuple[References, Search]:  # fmt: skip
    """Read the reference documents; return these, and what is looked for."""
    shingling, key, least, inside = settings.shingling, os.urandom(16), settings.shortest, settings.kind != "resemblance"
    texts, more = DistinctTexts(least, least > 1), DistinctTexts(1, False)
    each = SHINGLE_BYTES * (1 if settings.passage is None else 2)

    def check() -> None:
        count = texts.n_values + more.n_values
        if count * each > memory.free // 2:
            raise ParameterError(
                f"the {plural(count, 'shingle')} read of the reference documents so far need "
                f"{enough(FLOOR + 2 * count * each)} of memory; the limit is {memory.cap / 1e6:,.0f} MB: raise "
                "--memory (memory=), or divide the reference documents"
            )

    reader = ReferenceReader(
        reading=reading, fields=settings.fields[1:], benchmark=settings.benchmark, hashing=KeyedHashes(shingling, key),
        texts=texts, others=more, check=check,
    )  # fmt: skip
    references, width, most = reader.read(others, unread), int(shingling.width or 0), settings.least
    search = Search(
        sought=SoughtTexts.of(texts, width, settings.passage, most, inside),
        others=SoughtTexts.of(more, width, None, most) if settings.fields[1:] else None,
        shingling=shingling, key=key, strict=reading.encoding_errors == "strict", measure=settings.kind, threshold=most,
    )  # fmt: skip
    return references, search


def _not_searchable(references: References, named: Corpus, search: Search, commonplace: NDArray[np.bool_]) -> pa.Table:
    """Return the reference documents that nothing can match, and why."""
    known = search.sought.passages
    sums = np.concatenate([[0], np.cumsum(~commonplace[known.lists.members])])
    rare = sums[known.lists.bounds[1:]] - sums[known.lists.bounds[:-1]]
    left = np.bincount(known.document, rare, len(references.items.of_text.sizes)) > 0
    wrong = np.flatnonzero((references.text < 0) | ~np.append(left, True)[references.text])
    tokens = references.tokens[wrong]
    reasons = np.where(tokens == 0, "empty", np.where(references.text[wrong] < 0, "short", "common"))
    return pa.table({
        "reference": named.ids(references.rows.take(to_arrow(wrong))), "tokens": to_arrow(tokens),
        "reason": strings(reasons.tolist()), "row": to_arrow(wrong),
    })  # fmt: skip
