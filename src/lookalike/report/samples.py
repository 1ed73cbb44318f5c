"""The pairs that a page shows: which they are, what their documents are called, and how their texts differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ..inputs.texts import read_again
from ..results.members import Numbers
from ..results.rows import Rows, rows_at
from ..results.scored_pairs import ScoredPairs
from ..results.tables import NearMisses as Misses
from ..text.shingle import Shingling
from ..values import Float64Array, Int64Array
from .comparison import MOST_CHARACTERS, Comparison, compare
from .diff import code_point, visible
from .facts import Facts, PairFacts

MOST_NAME = 160  # characters of an id or of a name that are shown
MOST_LOST = 200  # characters of what only one document has, in lists
MOST_ID = 300  # characters of an id that an override can name
MOST_TEXT = 4 * MOST_CHARACTERS + 4  # bytes of a text that are read: one more than is compared tells that there is more
NEAR_BINS = 10
EXACT = 1 << 53  # above it the numbers of scripts are not exact
_TOLD = ["position", "source", "id", "bytes"]


def short(value: Any, most: int = MOST_NAME) -> str:
    """Return a name as it is shown: in symbols where it cannot be seen, and cut where it is long."""
    text = str(value)
    cut = f"{text[:most]}… ({len(text):,} characters)" if len(text) > most else text
    return visible(cut).replace("\n", code_point("\n")).replace("\t", code_point("\t"))


@dataclass(slots=True)
class Nearest:
    """Candidates among kept documents that score a little below the threshold."""

    lowest: float  # scores below it do not count
    total: int
    scores: Int64Array
    expected: float  # pairs there are, if each was looked at with the probability of its score
    left: Int64Array  # orders, as right: the nearest to the threshold
    right: Int64Array
    score: Float64Array


def near_misses(below: Misses, threshold: float, lowest: float, n: int, found: Callable[[float], float]) -> Nearest:
    """Count near misses, and choose those nearest to the threshold."""
    bins = np.linspace(lowest, threshold, NEAR_BINS + 1)
    counts, chosen = np.zeros(NEAR_BINS, np.int64), (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    for some in below(lowest):
        classes = np.searchsorted(bins, some[2], side="right") - 1
        counts += np.bincount(np.clip(classes, 0, NEAR_BINS - 1), minlength=NEAR_BINS)
        left, right, score = (np.concatenate(both) for both in zip(chosen, some, strict=True))
        best = np.lexsort((right, left, -score))[:n]  # whatever the order in which they come
        chosen = left[best], right[best], score[best]
    looked_at = [max(found(float(middle)), 1e-6) for middle in (bins[1:] + bins[:-1]) / 2]
    expected = float((counts / np.array(looked_at)).sum())
    return Nearest(lowest, int(counts.sum()), counts, expected, *chosen)


@dataclass(slots=True)
class Document:
    """What a page says of a document."""

    name: str
    id: Any
    file: str
    source: int
    n_bytes: int
    position: int
    n_pairs: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return what the script of the page needs; an id that is very long cannot be named in an override."""
        known = self.id
        if isinstance(known, int) and abs(known) > EXACT:
            known = str(known)
        elif isinstance(known, str) and len(known) > MOST_ID:
            known = None
        return {
            "name": self.name,
            "id": known,
            "file": self.file,
            "source": self.source,
            "bytes": self.n_bytes,
        }


@dataclass(slots=True)
class Pair:
    """A kept document, and one removed for it (or, of a near miss, another kept one)."""

    left: Document
    right: Document
    score: float
    compared: Comparison | None = None

    def begins(self, side: str) -> str:
        """Return how a document begins: the "left" or the "right" one; empty if the page shows no texts."""
        return "" if self.compared is None else self.compared.begins[side == "right"]

    @property
    def lost(self) -> str:
        """How the longest stretch begins that only the right document has, as far as the page shows it."""
        some = () if self.compared is None else (text for kind, text in self.compared.inline if kind == "right")
        longest = max(some, key=len, default="").strip()
        return " ".join(longest[:MOST_LOST].split()) + ("…" if len(longest) > MOST_LOST else "")


@dataclass(slots=True)
class Samples:
    """The pairs of a page, by the section that shows them."""

    least: list[Pair] = field(default_factory=list)
    audit: list[Pair] = field(default_factory=list)
    groups: list[list[Pair]] = field(default_factory=list)
    near: list[Pair] = field(default_factory=list)
    keepers: list[Document] = field(default_factory=list)
    """Of each group, the kept document."""

    def pairs(self) -> list[Pair]:
        """Return all pairs, those first that matter most."""
        return [*self.least, *(pair for some in self.groups for pair in some), *self.near, *self.audit]


def samples_of(decisions: Rows, numbers: Numbers, facts: Facts, near: Nearest | None) -> Samples:
    """Look up the documents of all pairs."""
    left, right = ([], []) if near is None else (numbers.row_of[orders].tolist() for orders in (near.left, near.right))
    shown = np.concatenate([facts.least, facts.audit, *(group.shown for group in facts.groups)])
    heads = [group.members.row for group in facts.groups]
    rows = np.unique(np.concatenate([shown, numbers.keeper[shown], np.array([*left, *right, *heads], np.int64)]))
    told = rows_at(decisions.select(_TOLD), rows)
    known = {row: _document(told, i) for i, row in enumerate(rows.tolist())}

    def removed(rows: Int64Array) -> list[Pair]:
        return [Pair(known[int(numbers.keeper[row])], known[row], float(numbers.score[row])) for row in rows.tolist()]

    out = Samples(removed(facts.least), removed(facts.audit), [removed(group.shown) for group in facts.groups])
    out.keepers += [known[row] for row in heads]
    for a, b, value in zip(left, right, [] if near is None else near.score.tolist(), strict=True):
        out.near.append(Pair(known[min(a, b)], known[max(a, b)], value))
    return out


def _document(told: pa.Table, row: int) -> Document:
    """Make the document of a row of decisions."""
    row_of = {name: told[name][row].as_py() for name in _TOLD}
    return Document(
        name=short(row_of["id"]), id=row_of["id"], file=short(row_of["source"] or "in memory"), source=row_of["position"] >> 40,
        n_bytes=row_of["bytes"], position=row_of["position"],
    )  # fmt: skip


def positions_of(pairs: Iterable[Pair]) -> Int64Array:
    """Return the positions of the documents of pairs."""
    return np.array([document.position for pair in pairs for document in (pair.left, pair.right)], np.int64)


def compare_pairs(
    pairs: Iterable[Pair], texts: dict[int, bytes], shingling: Shingling, most: int, show: Callable[[str], str]
) -> None:
    """Compare the texts of pairs, each within so many bytes of the page."""
    known: dict[tuple[int, int], Comparison] = {}
    for pair in pairs:
        which = (pair.left.position, pair.right.position)
        if which not in known:
            known[which] = compare(texts[which[0]], texts[which[1]], shingling, most, show)
        pair.compared = known[which]


def samples_of_pairs(scored: ScoredPairs, facts: PairFacts) -> Samples:
    """Look up the documents of the chosen pairs."""
    rows = np.unique(np.array([row for pair in facts.scores_of for row in pair] + list(facts.grouped), np.int64))
    positions, sources = scored.positions(rows), scored.source_of(rows)
    known = {}
    for row, position, source, name in zip(rows.tolist(), positions.tolist(), sources.tolist(), scored.ids(rows), strict=True):
        file = short(scored.sources[source].identity()["name"])
        known[row] = Document(short(name), name, file, source, 0, position, int(facts.in_pairs[row]))

    def pair(rows: tuple[int, int]) -> Pair:
        return Pair(known[rows[0]], known[rows[1]], facts.scores_of[rows])

    least, drawn = ([pair(rows) for rows in pairs] for pairs in (facts.least, facts.drawn))
    groups = [[pair(one) for one in some] for some in facts.grouped.values()]
    return Samples(least, drawn, groups, [], [known[row] for row in facts.grouped])


def texts_of_pairs(scored: ScoredPairs, samples: Samples) -> dict[int, bytes]:
    """Read the texts of the samples again, by their positions."""
    documents = [document for pair in samples.pairs() for document in (pair.left, pair.right)]
    texts: dict[int, bytes] = {}
    for reading, of_references in zip(scored.readings, (True, False), strict=True):
        some: list[Any] = [d.position for d in documents if (d.source < scored.n_references) == of_references]
        texts |= read_again(scored.sources, reading, np.array(some, np.int64), MOST_TEXT)[0]
    return texts
