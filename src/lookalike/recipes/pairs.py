"""All pairs of near-duplicates, none removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..engines.engine import Batches, Table
from ..engines.memory import peak_memory
from ..errors import ParameterError, all_from_caller
from ..formats.split import note_skipped
from ..formats.writers import write_table
from ..results.rows import collect, second_columns
from ..results.scored import Scored
from ..results.scored_pairs import ScoredPairs
from ..settings.option import front_door
from ..settings.settings import PairSettings, Settings
from ..steps.exact import Sets, ends, link_empty_copies
from ..steps.totals import BYTES, EMPTY, SKIPPED, N
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import MATCHES, SOURCE_BITS
from ..wording import plural, spoken
from .decide import Decider, Pairs
from .outputs import Outputs
from .preparation import JobContext, open_job
from .progress import no_progress, show_progress
from .search import CandidateOptions, count_rows, search, short_texts

LISTED = 1 << 17  # pairs that are made at a time
Ends = tuple[Int64Array, Int64Array, NDArray[Any]]


class Listing:
    """The pairs of a job, made when asked for from matches of firsts; ``names``: wanted columns, and what they are called."""

    def __init__(self, decider: Decider, matches: Table, told: Pairs, names: dict[str, str], most: int | None) -> None:
        self._decider, self._matches, self._told, self._names, self._most = decider, matches, told, names, most
        fields = [told.schema.field(name).with_name(called) for name, called in names.items()]
        self.schema = pa.schema(fields)
        copies = list(decider.found.leaders.batches())
        orders, leaders = (
            [np.empty(0, np.int64), *(to_numpy(batch[name]) for batch in copies)] for name in ("order", "leader")
        )
        self._sets = Sets.of(np.concatenate(orders), np.concatenate(leaders))

    def __len__(self) -> int:
        """Return the number of pairs that are listed."""
        return self.total if self._most is None else min(self.total, self._most)

    @cached_property
    def total(self) -> int:
        """The number of pairs that there are."""
        sets, boundary = self._sets, self._decider.found.boundary
        sizes = sets.sizes[sets.heads >= boundary]
        n = int((sizes * (sizes - 1) // 2).sum())
        for batch in self._matches.select(["left", "right"]).batches():
            left, right = (sets.size_of(to_numpy(column)) for column in batch.columns)
            n += int(left @ right)
        return n

    def batches(self) -> Batches:
        """Make the pairs and yield them."""
        for left, right, score in self.pairs():
            some = self._decider.engine.rows(pa.table([to_arrow(column) for column in (left, right, score)], schema=MATCHES))
            yield from self._told.table(some).select(list(self._names)).rename_columns(self.schema.names).to_batches()

    def table(self) -> pa.Table:
        """Return the pairs."""
        return collect(self)

    def pairs(self) -> Iterator[Ends]:
        """Yield (left, right, score) of the pairs that are listed, in the order of the input, some at a time."""
        room = len(self)
        for left, right, score in self._all() if room else ():
            yield left[:room], right[:room], score[:room]
            room -= len(left)
            if room <= 0:
                return

    def _all(self) -> Iterator[Ends]:
        """Yield all pairs."""
        engine, sets = self._decider.engine, self._sets
        rows = engine.map(self._matches, partial(ends, sets=sets), MATCHES)
        own = engine.rows(sets.own(self._decider.found.boundary))
        held: list[NDArray[Any]] | None = None
        for batch in filter(len, engine.group_by(engine.union(rows, own), None, ("left", "right")).batches()):
            found = [to_numpy(batch[name]) for name in MATCHES.names]
            columns = found if held is None else [np.concatenate(pair) for pair in zip(held, found, strict=True)]
            whole = int(np.searchsorted(columns[0], columns[0][-1]))  # of the last document more may come
            yield from self._spread([column[:whole] for column in columns])
            held = [column[whole:] for column in columns]
        if held is not None:
            yield from self._spread(held)

    def _spread(self, columns: list[NDArray[Any]]) -> Iterator[Ends]:
        """Turn pairs of a document and a set into pairs of documents, about ``LISTED`` at a time."""
        left, head, score = columns
        first, counts = self._sets.later(left, head)
        total = np.cumsum(counts)
        begin = 0
        while begin < len(left):
            end = int(np.searchsorted(total, (total[begin - 1] if begin else 0) + LISTED, side="right"))
            end = int(np.searchsorted(left, left[max(begin, end - 1)], side="right"))  # all pairs of a document together
            some = slice(begin, end)
            right = self._sets.members_from(head[some], first[some], counts[some])
            lefts, scores = np.repeat(left[some], counts[some]), np.repeat(score[some], counts[some])
            order = np.lexsort((right, lefts))
            yield lefts[order], right[order], scores[order]
            begin = end


@all_from_caller
class PairsResult(Scored):
    """The pairs found, and how.

    Attributes
    ----------
    summary : dict
        documents (without reference documents), reference documents, documents left out, pairs, candidate pairs (those
        that were compared; their number depends on chance where buckets are large), crowded documents (those of large
        buckets), whether ``max_pairs`` cut the list, text bytes, seconds, peak memory, plan.
    """

    def __init__(
        self, rows: Listing, summary: dict[str, Any], provenance: dict[str, Any], opened: JobContext,
        scored: Callable[[PairsResult], ScoredPairs] | None = None,
    ) -> None:  # fmt: skip
        self.listing, self._opened, self._pages = rows, opened, scored  # tables of an engine may be in a folder of the job
        self.summary, self.provenance = summary, provenance

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        documents = plural(self.summary["documents"], "document")
        return {"pairs": plural(self.summary["pairs"], "pair"), "documents": f"of {documents}"}

    def _scored(self) -> ScoredPairs:
        if self._pages is None:
            raise ParameterError("a report needs scores: verify must be exact or sketch, not none")
        return self._pages(self)

    @cached_property
    def table(self) -> pa.Table:
        """Arrow table of all pairs.

        ``left_id, right_id, resemblance``; with ``verify="sketch"`` ``estimated_resemblance, standard_error`` in place of the
        last, with "none" nothing; with reference documents ``left_is_reference`` after ``right_id``.
        """
        return self.listing.table()

    def write(self, output: str | Path, *, force: bool = False) -> None:
        """Write the pairs as parquet, JSON lines or CSV, by the suffix; no more than some are held at a time."""
        write_table(output, self.listing, self.provenance, sources=self._opened.splits, force=force)
        self.summary["peak_memory"] = peak_memory()


def scored_pairs(opened: JobContext, decider: Decider, result: PairsResult) -> ScoredPairs:
    """Return the pairs of a job."""
    s, job = result.summary, opened.settings
    # Keep order is the order of the input, so that the order of a document is its row among all.
    sizes = np.zeros(len(opened.splits), np.int64)
    for batch in decider.found.sketches.select(["position"]).batches():
        sizes += np.bincount(to_numpy(batch["position"]) >> SOURCE_BITS, minlength=len(sizes))
    reading = replace(opened.reading, id=None, priorities=(), within=None, across=None, free=())
    facts = [
        ("documents", f"{s['documents']:,}"), ("reference documents", f"{s['reference']:,}"),
        ("pairs compared", f"{s['candidate_pairs']:,}"),
        ("recall planned", f"{s['recall_planned']:.4f}"),
    ]  # fmt: skip
    left_out = [
        ("without any token", s["empty"], "they match nothing"),
        ("left out", s["documents_skipped"], "too large or unreadable: not compared"),
    ]
    warnings = [spoken("The list was cut by --max-pairs (max_pairs=): there are more pairs.")] if s["cut_by_max_pairs"] else []
    if job.verify != "exact":
        warnings.append("Scores are estimates: some pairs below the threshold are listed, and some above it are not.")
    return ScoredPairs(
        job="pairs", score=s["score"], threshold=job.threshold, total=s["pairs"],
        pairs=result.listing.pairs, ids=lambda rows: _ids(opened, decider, rows),
        found=lambda score: float(job.finder.recall(min(max(score, 0.0), 1.0))), sources=opened.splits,
        starts=np.concatenate([[0], np.cumsum(sizes)]), n_references=opened.reading.n_references, readings=(reading, reading),
        shingling=job.shingling, settings=result.provenance["parameters"], facts=facts, left_out=left_out,
        config=job.config(), seconds=s["seconds"], warnings=warnings,
    )  # fmt: skip


def _ids(opened: JobContext, decider: Decider, rows: Int64Array) -> list[Any]:
    """Return the ids of some rows, which ascend."""
    found, labels = decider.found, opened.labels(decider.found.totals)
    names = [name for name in ("order", "position", "number", "id") if name in found.sketches.schema.names]
    ids: dict[int, Any] = {}
    for batch in _rows_of_orders(found.sketches.select(names).batches(), rows):
        given = batch["id"] if "id" in names else None
        made = labels.ids(to_numpy(batch["position"]), to_numpy(batch["number"]), given)
        ids.update(zip(to_numpy(batch["order"]).tolist(), made.to_pylist(), strict=True))
    return [ids[row] for row in rows.tolist()]


def _rows_of_orders(batches: Iterator[pa.RecordBatch], orders: Int64Array) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        at = np.flatnonzero(np.isin(to_numpy(batch["order"]), orders))
        if len(at):
            yield batch.take(to_arrow(at))


def find_pairs(data: Any, settings: PairSettings, outputs: Outputs | None = None) -> PairsResult:
    """Find all pairs of near-duplicates, write what is wanted, and say how: what ``pairs`` does, with its provenance."""
    outputs = outputs or Outputs()
    if outputs.report is not None and settings.verify == "none":
        raise ParameterError("--report (report) needs scores: leave out verify=none")
    outputs.begin()
    with show_progress(settings.progress) as told:
        opened, said = open_job(data, settings, told), told or no_progress
        splits, n_references = opened.splits, opened.reading.n_references
        ignored = () if settings.ignore is None else settings.ignore.names
        outputs.check(splits[n_references:], splits[:n_references], settings, ignored)
        note_skipped(opened.skipped)
        result = _find_pairs(opened, settings.max_pairs)
        if outputs.report is not None:
            said("writing the report", 0)
            outputs.write_page(result.report, settings.config())
        if outputs.table is not None:
            said("writing", 0)
            outputs.leaves.writing(outputs.table)
            result.write(outputs.table, force=outputs.force)
            outputs.leaves.written(outputs.table)
        return result


def _find_pairs(opened: JobContext, max_pairs: int | None) -> PairsResult:
    job = opened.settings
    most = max_pairs if job.recall < 1 else None  # which candidates recall 1 has depends on the secret: all are compared
    searching = CandidateOptions(job, every_pair=True, limit=None if most is None else most + 1)
    found = search(opened.engine, opened.splits, opened.reading, searching, opened.key, opened.clock.lap, opened.unread)
    n_candidates = count_rows(opened.engine, found.pairs)
    left_out = most is not None and max(n_candidates, found.n_links) > most
    if most is not None and n_candidates > most:
        candidates = collect(found.pairs).sort_by([("left", "ascending"), ("right", "ascending")])  # parts come in any order
        first = opened.engine.rows(candidates.slice(0, most))
        n_candidates = most
        found = replace(found, pairs=opened.engine.materialize(first, "pairs-cut"))
    decider = Decider(opened.engine, found, job, opened.key)
    matches = found.pairs if job.verify == "none" else decider.all_matches
    if found.boundary and job.shingling.ignored is not None and job.across is None:
        same = opened.engine.group_by(found.sketches.select(["digest", "order", "empty"]), "digest", "order")
        linked = opened.engine.map(same, partial(link_empty_copies, boundary=found.boundary), MATCHES)
        matches = opened.engine.union(matches, linked.select(matches.schema.names))
    told = Pairs(decider, matches, opened.labels(found.totals), second_columns(job.finder) if job.verify != "none" else [])
    names = ["left_id", "right_id", *(["left_is_reference"] if opened.reading.n_references else [])]
    scores = [] if job.verify == "none" else ["resemblance", *told.schema.names[6:]]
    called = [*names, *(job.finder.added if scores else ())]
    rows = Listing(decider, matches, told, dict(zip([*names, *scores], called, strict=True)), max_pairs)
    n_pairs, cut = len(rows), len(rows) < rows.total
    if job.verify != "none":
        opened.clock.lap("verification")
    n_documents = int(found.totals[N]) - found.boundary
    summary = {
        "documents": n_documents,
        "reference": found.boundary,
        "empty": int(found.totals[EMPTY]),
        "documents_skipped": int(found.totals[SKIPPED]),
        "pairs": n_pairs,
        "candidate_pairs": n_candidates,
        "crowded": 0 if job.finder.meets == "samples" else count_rows(opened.engine, found.crowded),
        "cut_by_max_pairs": cut or left_out,
        "verified_by": job.verify,
        "threshold": job.threshold,
        "score": job.finder.score,
        "recall_planned": job.finder.recall(job.threshold),
        "text_bytes": int(found.totals[BYTES]),
        "seconds": opened.clock.seconds,
        "peak_memory": peak_memory(),
        "plan": job.finder.plan_dict(),
        "warnings": [*short_texts(found.totals, job.shingling), *_much_compared(job, n_documents, n_candidates, rows.total)],
    }
    scored = None if job.verify == "none" else partial(scored_pairs, opened, decider)
    return PairsResult(rows, summary, opened.provenance(job), opened, scored)


def _much_compared(job: Settings, n_documents: int, n_candidates: int, n_pairs: int) -> list[str]:
    """Return a warning where documents share boilerplate that the search for containment cannot do without."""
    if job.finder.meets != "samples" or n_candidates <= max(job.max_bucket * n_documents, 10 * n_pairs):
        return []
    return [
        f"{n_candidates:,} pairs were compared to find {n_pairs:,}: very many documents are mostly shared boilerplate; "
        f"leave it out with --ignore (ignore=)"
    ]


@front_door(PairSettings)
def pairs(data: Any, settings: PairSettings) -> pa.Table:
    """List all pairs of near-duplicates, exact duplicates too.

    Parameters
    ----------
    data : as for ``lookalike.dedup``

    Returns
    -------
    pyarrow.Table
        ``left_id, right_id, resemblance`` (float64), left before right in input order, ascending. With
        ``verify="sketch"``: ``estimated_resemblance, standard_error`` in place of the last; with "none": neither;
        ``containment``, of the smaller of both, with that measure. With
        ``against``, ``left_is_reference`` (bool) after ``right_id``; ``right_id`` is always the id of an input document.

    Raises
    ------
    ParameterError
        If a setting is out of its range.
    InputDataError
        If a file or row is not as expected.

    Notes
    -----
    Memory: 24 bytes per candidate pair; a corpus of n equal documents has n (n - 1) / 2 pairs, all of which are listed
    unless ``max_pairs`` is given. All matches among the documents of large buckets, those of more than a quarter of
    ``max_bucket``, are found as with recall 1, where resemblances are exact and there is no ``max_pairs``. No more than
    ``max_pairs`` candidates are looked for in each band, and compared, so that a shorter list can be cut, too; with recall 1
    all are compared, and the first ``max_pairs`` of all pairs are listed.

    Examples
    --------
    >>> import lookalike as la
    >>> la.pairs(["one two three", "One, two: three.", "four"]).to_pylist()
    [{'left_id': 0, 'right_id': 1, 'resemblance': 1.0}]
    """
    return find_pairs(data, settings).table
