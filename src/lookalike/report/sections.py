"""What the sections of a page say of decisions: verdict, scores, thresholds, costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..files.names import describe_reasons
from ..results.summary import Summary, describe_audit
from ..settings.settings import Settings
from ..wording import counted, spoken
from .charts import curve, histogram, shares
from .diff import visible
from .facts import BINS, OUTCOMES, REMOVED, Facts
from .samples import Nearest, Samples, short

_BOUND = """Only a lower bound: a document that no longer matches the one that it was removed for may match another, and would
be removed all the same. --evidence all (evidence='all') makes the numbers exact."""
OPENED = 3  # pairs of section 2 that are open at first
WARNED = 0.001  # of recall: what is less is not worth a warning


def share(part: float, whole: float) -> str:
    """Return a share in per cent; "-" of nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def size(n_bytes: float) -> str:
    """Return a size in a unit that people read."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:,.1f} {unit}"
    return f"{n_bytes:,.0f} bytes"


@dataclass(frozen=True, slots=True)
class Contents:
    """All that a page is made of."""

    settings: Settings
    summary: Summary
    facts: Facts
    samples: Samples
    near: Nearest | None  # None: not known
    names: list[str]  # of the inputs, as shown
    exact: list[int] | None  # near-duplicates by ``facts.thresholds``, where all verified pairs are known

    @property
    def removed(self) -> int:
        """How many documents were removed; those that were left out do not count."""
        return self.summary.documents - self.summary.kept - self.summary.documents_skipped

    @property
    def near_duplicates(self) -> int:
        """How many near-duplicates were removed."""
        return self.summary.near_duplicates

    def found(self, score: float) -> float:
        """Return the probability with which a pair of a score is found."""
        return float(self.settings.finder.recall(min(max(score, 0.0), 1.0)))

    def vanished(self) -> list[str]:
        """Say which sources are removed as a whole."""
        if self.facts.sources.shape[1] < 2:
            return []
        n_documents = self.facts.sources[: len(OUTCOMES)].sum(axis=0)
        names = [self.names[i] for i in self.facts.vanished if n_documents[i] > 1]
        return [f"Every document of {name} is removed." for name in names[:10]] + (
            [f"{len(names) - 10:,} more sources are removed as a whole."] if len(names) > 10 else []
        )


def verdict(told: Contents, inputs: list[dict[str, Any]], shown: int, command: str) -> dict[str, Any]:
    """Section 1."""
    s, facts = told.summary, told.facts
    removed = told.removed
    saved = int(facts.n_bytes[REMOVED].sum())
    tiles = [
        (f"{s.documents:,}", "documents"),
        (f"{s.exact_duplicates:,}", "exact duplicates removed"),
        (f"{s.near_duplicates:,}", "near-duplicates removed"),
        (f"{s.kept:,}", "kept"),
        (size(saved), f"of {size(int(facts.n_bytes.sum()))} saved"),
        (f"{s.recall_vouched:.4f}", f"recall at the threshold{', on average' if s.crowded else ''}"),
    ]
    if s.removed_by_override:
        tiles.insert(3, (f"{s.removed_by_override:,}", "removed by overrides"))
    if s.by_key:
        tiles.insert(3, (f"{s.by_key:,}", "removed by key"))
    if s.reference:
        tiles.insert(1, (f"{s.reference:,}", "reference documents"))
    if s.audit is not None and s.audit["recall"] is not None:
        tiles.append((f"{s.audit['recall']:.4f}", f"recall measured ({s.audit['low']:.4f} to {s.audit['high']:.4f})"))
    rests = "exact, computed from the texts" if s.verified_by == "exact" else "estimated, from sketches of the texts"
    other = [
        (s.empty_dropped, "have no token"), (s.removed_by_override, "overrides remove"),
        (s.by_key, "have the key of another document"),
    ]  # fmt: skip
    left_out = f" {_left_out(s)}." if s.documents_skipped else ""
    why = " or ".join(f"that {what}" for n, what in other if n)
    but = f", except those {why}" if why else ""
    return {
        "sentence": f"{removed:,} of {counted(s.documents, 'document')} ({share(removed, s.documents)}) are removed, each "
        f"because it matches a kept document{but}.{left_out} {s.score.capitalize()}s are {rests}.",
        "recall": _recall(s),
        "tiles": tiles,
        "settings": [(name, short(value)) for name, value in flat(told.settings.to_dict())],
        "inputs": inputs,
        "n_inputs": f"{shown:,}",
        "inputs_shown": f"{len(inputs):,} of {shown:,} inputs, in their order. For an input of several files, this is the "
        "digest of their sha256sum listing.",
        "command": visible(command),
    }


def _left_out(s: Summary) -> str:
    """Say how many documents were not compared."""
    was = "was" if s.documents_skipped == 1 else "were"
    return f"{counted(s.documents_skipped, 'document')} {was} left out, neither compared nor kept: too large, or unreadable"


def _recall(s: Summary) -> str:
    """Say which pairs the recalls are about, which differ for that reason."""
    said = (
        f"Recall at the threshold: the probability of finding a pair whose {s.score} is exactly {s.threshold:g}, the hardest "
        "pairs to find, on average over the kept documents."
    )
    if s.audit is not None and s.audit["recall"] is not None:
        drawn = counted(s.audit["audited"], "kept document")
        what = f"that was found of all near-duplicates of {drawn}"
        if s.score == "containment":
            what = f"that was removed of all documents inside a kept one; how many were missed is estimated from {drawn}"
        said += (
            f" Recall measured: the share {what}, drawn at random. Most of these are "
            "more similar and easier to find, so it is usually the higher number."
        )
    return said


def flat(settings: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return settings, a name and a value each."""
    out: list[tuple[str, Any]] = []
    for name, value in settings.items():
        out += [(f"{name}: {inner}", v) for inner, v in value.items()] if isinstance(value, dict) else [(name, value)]
    return [(name, value) for name, value in out if value is not None]


def least(told: Contents) -> dict[str, Any]:
    """Section 2."""
    pairs = told.samples.least
    how = f"{len(pairs):,} of {told.near_duplicates:,} near-duplicates, the least similar. Long equal stretches are left out."
    return {"pairs": pairs, "opened": OPENED, "how": how}


def scores(told: Contents) -> dict[str, Any]:
    """Section 3."""
    facts, s, near = told.facts, told.summary, told.near
    parts = [("near", facts.bins.tolist(), facts.scores.tolist())]
    if near is not None:
        parts.insert(
            0, ("miss", np.linspace(near.lowest, facts.threshold, len(near.scores) + 1).tolist(), near.scores.tolist())
        )
    middles = (facts.bins[1:] + facts.bins[:-1]) / 2
    looked = np.array([max(told.found(middle), 1e-6) for middle in middles.tolist()])
    expected = facts.scores.sum() / (facts.scores / looked).sum() if facts.scores.any() else None
    lines: list[tuple[str, str, float, tuple[float, float] | None]] = [("planned", "planned", s.recall_planned, None)]
    exactly, inside = "pairs exactly at the threshold", s.score == "containment"
    where = "crowded shingles" if inside else "crowded buckets"
    outside = f", {'without' if inside else 'outside of'} {where}" if s.recall_planned < 1 else ""
    levels = [("planned", f"{s.recall_planned:.4f}", f"{exactly}{outside} ({s.found_by})")]
    lines.append(("average", "at the threshold", s.recall_vouched, None))
    crowded = f"; for the {s.crowded:,} documents {'with' if inside else 'in'} {where} a lower estimate" if s.crowded else ""
    what = f"{exactly}, on average over kept documents{crowded}"
    levels.append(("at the threshold", f"{s.recall_vouched:.4f}", what))
    if expected is not None:
        lines.append(("expected", "expected", float(expected), None))
        what = "pairs as similar as the removed ones: each removal counts as one divided by the probability of finding it"
        levels.append(("expected", f"{expected:.4f}", what))
    if s.audit is not None and s.audit["recall"] is not None:
        lines.append(("measured", "measured", s.audit["recall"], (s.audit["low"], s.audit["high"])))
        levels.append(("measured", f"{s.audit['recall']:.4f}", describe_audit(s.audit, s.score)))
    else:
        levels.append(
            ("measured", "-", "not measured: an audit (--set audit=N, Result.audit) compares N kept documents with all others")
        )
    return {
        "histogram": histogram(f"Removed near-duplicates by {s.score}", parts, facts.threshold, s.score),
        "curve": curve(f"Probability of finding a pair, by {s.score}", told.found, facts.threshold, s.score, lines),
        "curve_caption": f"The curve: the probability that a pair is found{outside}. Levels: recall.",
        "removed": f"{told.near_duplicates:,}",
        "misses": "" if near is None or not near.total else f"{near.total:,}",
        "how": "These recalls are of different pairs: the more similar two documents are, the more surely they are found.",
        "levels": levels,
    }


def thresholds(told: Contents) -> dict[str, Any]:
    """Section 9."""
    facts, near, s = told.facts, told.near, told.summary
    numbers = facts.supported.tolist() if told.exact is None else told.exact
    rows = [
        (
            f"{value:g}",
            f"{still:,} ({share(still, told.near_duplicates)})",
            f"{'at least ' if told.exact is None and i else ''}{n:,}",
        )
        for i, (value, still, n) in enumerate(zip(facts.thresholds.tolist(), facts.still.tolist(), numbers, strict=True))
    ]
    if told.exact is None:  # at the threshold itself it is known
        rows[0] = (*rows[0][:2], f"{told.near_duplicates:,}")
        column, note = "near-duplicates removed (a bound)", spoken(_BOUND)
    else:
        column, note = "near-duplicates removed (exact)", "The walk in keep order was repeated at each threshold."
    return {
        "rows": rows,
        "columns": ["still match their kept document", column],
        "note": note,
        "how": f"What a higher threshold would do, from the scores of all {told.near_duplicates:,} near-duplicates.",
        "near": _said_of(near, s),
        "near_how": ""
        if near is None
        else f"{len(told.samples.near):,} of {near.total:,}, the nearest to the threshold. Section 5 shows them side by side.",
        "pairs": [(pair, _probability(told.found, pair.score)) for pair in told.samples.near],
    }


def _probability(found: Callable[[float], float], score: float) -> str:
    value = found(score)
    return f"{value:.4f}" if value < 0.99995 else "> 0.9999"


def _said_of(near: Nearest | None, s: Summary) -> str:
    """Say how many near misses there are."""
    if near is None:
        return "Not known: only an open job can compare its candidates again."
    if not near.total:
        return f"No two kept documents that were compared have a {s.score} from {near.lowest:g} to below {s.threshold:g}."
    return (
        f"{counted(near.total, 'pair')} of kept documents that were compared have a {s.score} from {near.lowest:g} to below "
        f"{s.threshold:g}. Allowing for pairs that were never compared, there are about {near.expected:,.0f}. "
        "Their scores are for this report only, and changed no decision."
    )


def cost(told: Contents) -> dict[str, Any]:
    """Section 10."""
    s, total = told.summary, sum(told.summary.seconds.values())
    rows = [
        ("time before this page", f"{total:,.2f} s"),
        ("text read", size(s.text_bytes)),
        ("peak memory before this page", size(s.peak_memory)),
        ("candidate pairs", f"{s.candidate_pairs:,}"),
        ("verified pairs", f"{s.verified_pairs:,}"),
    ]
    return {
        "picture": shares("Seconds by stage", list(s.seconds.items())),
        "caption": "Seconds of each stage of the job, without this report.",
        "rows": rows,
    }


def warnings(told: Contents) -> list[str]:
    """Return what a reader should know before documents are deleted."""
    s, out = told.summary, told.vanished()
    if s.verified_by != "exact":
        out.append("Removals rest on estimates: some documents below the threshold are removed, and some above it are kept.")
    if s.recall_vouched < s.recall_planned - WARNED:
        what = "too many sampled shingles" if s.score == "containment" else "a bucket"
        out.append(
            f"{counted(s.crowded, 'document')} share {what} with more than {told.settings.max_bucket} others, usually "
            "because of boilerplate, and were compared with some of them only: recall at the threshold is "
            f"at least {s.recall_vouched:.3f} on average; {s.recall_planned:.3f} was planned."
        )
    if s.audit is not None and s.audit["missed"]:
        were = "was" if s.audit["missed"] == 1 else "were"
        out.append(f"The audit found {counted(s.audit['missed'], 'near-duplicate')} that {were} kept.")
    out += s.warnings
    if s.skipped["files"]:
        out.append(f"{counted(s.skipped['files'], 'file')} of folders and globs were not read: {describe_reasons(s.skipped)}.")
    if s.documents_skipped:
        out.append(f"{_left_out(s)}.")
    if s.whole_pages:
        have = "page has" if s.whole_pages == 1 else "pages have"
        out.append(f"{s.whole_pages:,} {have} hardly any main text: all of their text was compared.")
    if s.empty:
        has, became = ("has", "was") if s.empty == 1 else ("have", "were")
        out.append(
            f"{counted(s.empty, 'document')} {has} nothing to compare and {became} {'dropped' if s.empty_dropped else 'kept'}."
        )
    if s.removed_by_override or s.kept_by_override:
        out.append(f"Overrides remove {counted(s.removed_by_override, 'document')} and keep {s.kept_by_override:,}.")
    for column, rows in s.slices.items():
        names = [visible("null" if row["value"] is None else row["value"]) for row in rows if row["more"]]
        if names:
            more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
            out.append(
                f"By {visible(column)}, far more than of others is removed of {', '.join(names[:5])}{more}: see section 7."
            )
    if told.removed > s.documents / 2:
        out.append(f"More than half of the documents ({share(told.removed, s.documents)}) are removed.")
    if told.near is not None and s.near_duplicates and told.near.total > s.near_duplicates / 2:
        out.append("Many kept pairs are just below the threshold: a slightly lower threshold would remove many more.")
    if s.near_duplicates and told.facts.scores[: BINS // 8].sum() > s.near_duplicates / 4:
        out.append("Many removals are just above the threshold: look at section 2 with care.")
    if not math.isfinite(s.recall_vouched) or s.recall_vouched < 0.5:
        out.append("The recall is low: most near-duplicates at the threshold can be missed.")
    return out
