"""The summary of a finished deduplication, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
from msgspec import Meta
from numpy.typing import NDArray

from ..files.descriptions import Count
from ..files.names import Skipped, describe_skipped
from ..methods.method import Method
from ..steps.decide import REASONS, count_by_value
from ..steps.totals import OUTCOMES, add_outcomes
from ..theory.minhash import exact_interval
from ..values.tables import COLUMN
from ..wording import html_table, plural, printable, spoken, text_size
from .rows import Rows, collect, numbered_batches

LISTED = 1000  # values of a column, those of most documents; as many of the others, those of which most is removed
SHOWN = 8  # values that the summary names
TIMES, BEYOND = 2.0, 0.05
"""A value is named that loses at least so many times what all others lose, and so much more, with 99.9 % confidence."""


class Slices:
    """Counts documents, and those removed, by the values of some columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.needed = [COLUMN + name for name in columns]
        """The columns of decisions that are counted by, beside reason and kept."""
        self._counts = [(Counter[str | None](), Counter[str | None]()) for _ in columns]

    def add(self, counted: Iterable[pa.RecordBatch]) -> Slices:
        """Add what ``steps.decide.count_by_value`` counted."""
        for batch in counted:
            for column, value, documents, removed in zip(*(some.to_pylist() for some in batch.columns), strict=True):
                for count, n in zip(self._counts[column], (documents, removed), strict=True):
                    count[value] += n
        return self

    def worst_values(self) -> dict[str, list[dict[str, Any]]]:
        """Return what was counted, by column: see ``Summary``."""
        return {name.removeprefix(COLUMN): _worst_values(*some) for name, some in zip(self.needed, self._counts, strict=True)}


def _worst_values(documents: Counter[str | None], removed: Counter[str | None]) -> list[dict[str, Any]]:
    """Return the values of a column with most documents, then those that lose the largest share, and how much."""
    order = sorted(documents, key=lambda value: (-documents[value], value is None, value or ""))
    others = sorted(order[LISTED:], key=lambda value: -removed[value] / documents[value])
    all_documents, all_removed = documents.total(), removed.total()
    rows = []
    for value in [*order[:LISTED], *others[:LISTED]]:
        n, gone = documents[value], removed[value]
        low, high = exact_interval(gone, n)
        rest = (all_removed - gone) / max(1, all_documents - n)
        far = max(TIMES * rest, rest + BEYOND)
        more = n < all_documents and low > far and exact_interval(gone, n, 0.999)[0] > far
        rows.append(
            {"value": value, "documents": n, "removed": gone, "share": gone / n, "low": low, "high": high, "more": more}
        )
    return rows


def lines_of_slices(slices: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """Say what is removed by value, in lines of a summary: those with most documents, and all that lose far more."""
    lines = []
    for column, rows in slices.items():
        shown = [row for place, row in enumerate(rows) if place < SHOWN or row["more"]]
        more = len(rows) - len(shown)
        lines.append(f"  removed by {printable(column)}:")
        for row in shown:
            name = "null" if row["value"] is None else printable(row["value"])[:40]
            warning = f"   far more than others: {row['low']:.1%} to {row['high']:.1%}" if row["more"] else ""
            lines.append(f"    {name:<24}  {row['removed']:>10,} of {row['documents']:>10,}   {row['share']:6.1%}{warning}")
        if more:
            lines.append(f"    and {plural(more, 'value')} more (--json has {'all' if len(rows) < 2 * LISTED else 'some'})")
    return lines


CALLED = ["id", "duplicate_of", "duplicate_is_reference"]


Share = Annotated[float, Meta(ge=0.0, le=1.0 + 1e-9)]
Seconds = Annotated[float, Meta(ge=0.0, le=1e12)]

ALWAYS = ("exact duplicates removed", "near-duplicates removed", "kept")  # counts that are said even if they are 0
SHORT = 1000  # bytes of a text: see docs/theory/all-pairs.md


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """Counts, times and sizes of a finished job.

    Parameters
    ----------
    documents, reference, empty, exact_duplicates, near_duplicates, empty_dropped, kept : int
        Documents to be judged; reference documents; documents without a token; removed as copies byte for byte of the
        kept document; removed as near-duplicates; dropped as empty; kept.
    text_bytes : int
        Bytes of text read.
    candidate_pairs, verified_pairs : int
        Pairs that were compared or could have been, each once; pairs of a kept document and a removed one that match, or
        with ``evidence="all"`` all that match.
    crowded : int
        Documents in buckets of more than ``max_bucket`` documents, each of which is compared with some of the others only.
    recall_planned : float
        Probability that a pair at the threshold is found, by the plan: that it is compared, and with ``verify="sketch"`` also
        that its estimate reaches the threshold.
    recall_vouched : float
        The same probability as a mean over the kept documents: the planned one or, for a crowded document, a lower estimate by
        a model. Equal to ``recall_planned`` if no document is crowded.
    verified_by : str
        "exact", or "sketch" if removals rest on estimates.
    threshold : float
    least_alike : list of (id, id, float, bool)
        Up to three removed near-duplicates with the lowest scores: the document, the one kept for it, the score, and whether
        the kept one is a reference document.
    score : str
        The kind of score: "resemblance", "containment" or "cosine".
    found_by : str
        How candidates were found.
    seconds : dict of str to float
        By stage, writing, audits and reports too as soon as they are done; of a command also what it takes to start.
    peak_memory : int
        Bytes: largest resident size of the process so far, or of a parser that it started, whichever is more.
    plan : dict
        Empty with "simhash", which needs none.
    skipped : dict
        Files of folders and globs that were not read: ``files`` (int), ``by_reason`` (counts), the first ``names``.
    documents_skipped : int
        Documents that were left out: larger than ``max_document``, or unreadable.
    whole_pages : int
        Web pages, references included, of which all text was compared, as there was hardly any main text.
    removed_by_override, kept_by_override : int
        Documents that ``overrides`` removed; that they name to be kept, of which the walk may have kept some.
    by_key : int
        Documents that were removed because an earlier one has their ``key``.
    spared : int
        Documents that stay by ``at_most`` beside the kept one, counted in ``kept``.
    slices : dict of str to list of dict
        For each column of ``slices``: its values, most documents first, each as ``value`` (str or None), ``documents``,
        ``removed``, ``share``, and ``low`` and ``high``, its interval of 95 %; ``more``: whether it loses far more than others.
    warnings : list of str
        What is odd about the texts: that most are shorter than a shingle.
    audit : dict, optional
        What ``Result.audit`` measured, if it was asked for.
    """

    peak_of: ClassVar[str] = "peak memory"
    """What the last figure is called."""

    documents: Count
    reference: Count
    empty: Count
    exact_duplicates: Count
    near_duplicates: Count
    empty_dropped: Count
    kept: Count
    text_bytes: Count
    candidate_pairs: Count
    verified_pairs: Count
    crowded: Count
    recall_planned: Share
    recall_vouched: Share
    verified_by: str
    threshold: Share
    least_alike: list[tuple[Any, Any, float, bool]]
    score: str
    found_by: str
    seconds: dict[str, Seconds] = field(default_factory=dict)
    peak_memory: Count = 0
    plan: dict[str, Any] = field(default_factory=dict)
    skipped: dict[str, Any] = field(default_factory=lambda: Skipped().to_dict())
    documents_skipped: Count = 0
    whole_pages: Count = 0
    removed_by_override: Count = 0
    kept_by_override: Count = 0
    by_key: Count = 0
    spared: Count = 0
    slices: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    audit: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)

    def at(self, threshold: float, method: Method, **counted_anew: Any) -> Summary:
        """Return the summary of the same walk at another threshold; the mean recall keeps its proportion of the planned one."""
        recall = method.recall(threshold)
        share = min(1.0, self.recall_vouched / self.recall_planned) if self.recall_planned else 1.0
        return replace(
            self, threshold=threshold, recall_planned=recall, recall_vouched=recall * share, found_by=method.describe(),
            plan=method.plan_dict(), **counted_anew,
        )  # fmt: skip

    def __repr__(self) -> str:
        """Return the same as for ``print``, so that it can be read where a result is looked at by hand."""
        return str(self)

    def __str__(self) -> str:
        """Return a human-readable summary."""
        total = sum(self.seconds.values())
        lines = [
            plural(self.documents, "document")
            + (f" and {plural(self.reference, 'reference document')}" if self.reference else "")
            + f", {text_size(self.text_bytes)}",
        ]
        if self.skipped["files"]:
            lines.append(f"  files not read: {describe_skipped(self.skipped)}")
        spared = [f"{self.spared:,} spared by at_most"] if self.spared else []
        named = [f"{self.kept_by_override:,} named by overrides"] if self.kept_by_override else []
        rest = "nothing to compare: kept, never matched; --empty drop (empty='drop') removes them"
        verified = "exact" if self.verified_by == "exact" else "ESTIMATED"
        counts = {
            "exact duplicates removed": (self.exact_duplicates, ""),
            "near-duplicates removed": (self.near_duplicates, f"{self.score} >= {self.threshold:g}, {verified}"),
            "removed by key": (self.by_key, ""),
            "empty documents": (self.empty, "dropped" if self.empty_dropped else rest),
            "left out": (self.documents_skipped, "too large or unreadable"),
            "compared as whole pages": (self.whole_pages, "they have hardly any main text"),
            "removed by overrides": (self.removed_by_override, ""),
            "kept": (self.kept, "; ".join(spared + named)),
        }
        for name, (n, note) in counts.items():
            if n or name in ALWAYS:
                lines.append(f"  {name:<24}  {n:>12,}{note and f'   ({note})'}")
        lines += [f"  warning: {warning}" for warning in self.warnings]
        lines += lines_of_slices(self.slices)
        if self.least_alike:
            lines.append("  least similar removals (removed -> kept):")
            for gone, kept, score, is_reference in self.least_alike:
                told = printable(f"{gone}  ->  {kept}")
                lines.append(f"    {score:.4f}  {told}{' (reference)' if is_reference else ''}")
        lines += self._recall_lines()
        if self.verified_by != "exact" and self.score == "cosine":
            lines.append(
                "removals are based on cosines estimated from fingerprints; --verify exact (verify='exact') compares the texts"
            )
        elif self.verified_by != "exact":
            lines.append(
                f"removals are based on estimates from {self.plan['estimation_slots']} slots "
                f"(standard error {self.plan['standard_error']:.3f} at the threshold); --verify exact "
                "(verify='exact') compares the texts"
            )
        if self.audit is not None:
            lines.append(describe_audit(self.audit, self.score))
        stages = ", ".join(f"{name} {s:.2f}" for name, s in self.seconds.items() if s >= 0.005)
        rate = f", {self.text_bytes / 1e6 / total:,.0f} MB/s" if total > 0 and self.text_bytes >= 1e6 else ""
        lines.append(f"{total:.2f} s{f' ({stages})' if stages else ''}{rate}; {self.peak_of} {self.peak_memory / 1e6:,.0f} MB")
        return spoken("\n".join(lines))

    def _repr_html_(self) -> str:
        """Return the counts as a small table, for notebooks."""
        facts = {
            "documents": f"{self.documents:,}", "exact duplicates removed": f"{self.exact_duplicates:,}",
            "near-duplicates removed": f"{self.near_duplicates:,} ({self.score} ≥ {self.threshold:g})",
            **({"removed by key": f"{self.by_key:,}"} if self.by_key else {}),
            **({"empty documents": f"{self.empty:,} ({'dropped' if self.empty_dropped else 'kept'})"} if self.empty else {}),
            "kept": f"{self.kept:,}",
            f"recall at the threshold{', on average' if self.crowded else ''}": f"{self.recall_vouched:.4f}",
        }  # fmt: skip
        shown = [(f"{score:.4f}", " → ".join(printable(f"{id}")[:80] for id in ids)) for *ids, score, _ in self.least_alike]
        rows = [(self.score, "least similar removals: removed → kept"), *shown] if shown else []
        return html_table(f"lookalike: {self.documents - self.kept:,} removed", facts, rows)

    def _recall_lines(self) -> list[str]:
        """Say what the recall is: the same for every pair, or a mean where documents are in crowded buckets."""
        pairs = f"{plural(self.candidate_pairs, 'candidate pair')}, {self.verified_pairs:,} verified"
        if self.near_duplicates > self.verified_pairs:
            pairs += " (identical texts count as one)"
        if not self.crowded:
            above = ", higher above it" if self.recall_planned < 1 else ""
            return [f"recall at the threshold: {self.recall_planned:.4f}{above} ({self.found_by}); {pairs}"]
        where = "with crowded shingles" if self.score == "containment" else "in crowded buckets"
        short = 2 * self.crowded >= self.documents and self.text_bytes <= SHORT * self.documents
        all_pairs = short and self.score == "resemblance" and self.verified_by == "exact"
        return [
            f"recall at the threshold: {self.recall_vouched:.4f} on average, higher above it "
            f"({self.recall_planned:.4f} planned, {self.found_by}); {pairs}",
            f"  {plural(self.crowded, 'document')} {where}: they share so much text with many others, usually",
            "  boilerplate, that they were compared with some of these only",
            "  (to compare more, raise --max-bucket (max_bucket=), or leave boilerplate out with --ignore (ignore=))",
            *["  (texts as short as these often take less time with --recall 1 (recall=1), which finds all pairs)"] * all_pairs,
        ]


def describe_audit(audit: dict[str, Any], score: str) -> str:
    """Say what an audit measured."""
    inside = score == "containment"
    drawn = f"{plural(audit['audited'], 'kept document')} of {audit['of']:,}{', copies included,' if inside else ''}"
    begin = f"audit: {drawn} (seed {audit['seed']}) compared with all others: "
    if audit["recall"] is None:
        return f"{begin}none {'is inside another' if inside else 'has a near-duplicate'}"
    recall = f"recall {audit['recall']:.4f} (95% interval {audit['low']:.4f} to {audit['high']:.4f}"
    if inside:
        return f"{begin}{audit['missed']:,} inside another, and missed; {audit['found']:,} removed of all documents; {recall})"
    near = plural(audit["with_near_duplicates"], "document")
    return f"{begin}{plural(audit['found'], 'near-duplicate')} removed, {audit['missed']:,} missed; {recall}, from {near})"


def count(decisions: Rows, n_reference: int, slices: Sequence[str] = ()) -> dict[str, Any]:
    """Count decisions, a batch at a time: the fields of ``Summary`` that follow from them."""
    total, by = OUTCOMES.start(), Slices(slices)
    for first, batch in numbered_batches(decisions, ["reason", "resemblance", *(["kept", *by.needed] if slices else [])]):
        add_outcomes(total, batch, np.arange(first, first + batch.num_rows))
        by.add(count_by_value(iter([batch]), by.needed))

    def calls(places: list[int]) -> list[dict[str, Any]]:
        return [collect(decisions.slice(place, place + 1).select(CALLED)).to_pylist()[0] for place in places]

    return summary_counts(total, n_reference, calls) | {"slices": by.worst_values()}


def summary_counts(total: NDArray[Any], n_reference: int, calls: Callable[[list[int]], list[dict[str, Any]]]) -> dict[str, Any]:
    """Return the fields of ``Summary`` that follow from decisions."""
    found = dict(zip(REASONS, total["reasons"][0].tolist(), strict=True))
    there = np.isfinite(total["score"][0])
    scores, places = total["score"][0][there].tolist(), total["place"][0][there].tolist()
    told = [tuple(row[name] for name in CALLED) for row in calls(places)] if places else []
    return {
        "documents": sum(found.values()) - n_reference,
        "reference": n_reference,
        "exact_duplicates": found["exact"],
        "near_duplicates": found["near"],
        "empty_dropped": found["empty"],
        "documents_skipped": found["skipped"],
        "removed_by_override": found["override"],
        "by_key": found["key"],
        "spared": found["spared"],
        "kept": found["kept"] + found["spared"],
        "least_alike": [(gone, kept, score, other) for (gone, kept, other), score in zip(told, scores, strict=True)],
    }
