"""Two texts beside each other, cut to a size: what differs, with some words around it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..text.shingle import Shingling
from ..values import Int64Array
from .diff import matches, pieces_of, shared, visible

BEGIN = 70  # characters of a text that lists show
MOST_CHARACTERS = 100_000  # of a text that are compared; what follows is not
CONTEXT = 14  # equal words that are shown before and after a change
RUN_BYTES = 30  # what a run takes in a page beside its text
SAME, SHARED, DIFFERS = 0, 1, 2  # a run's code; 1 and 2 can come together

_COSTLY = re.compile(r"[<>&\"'\\\n\t]")
Runs = list[Any]
"""Codes and texts in turn: [code, text, code, text, ...]."""


def size_of(text: str) -> int:
    """Return the most bytes that a text takes in HTML or in JSON whose markup is escaped."""
    return len(text.encode("utf-8", "replace")) + 5 * len(_COSTLY.findall(text))


def redactor_of(key: bytes) -> Callable[[str], str]:
    """Return a function that puts keyed hashes in place of words; equal words get equal ones, as long as a page is read."""

    def hide(text: str) -> str:
        spans = pieces_of(text).tolist()
        words = (hashlib.blake2b(text[a:b].encode("utf-8", "replace"), key=key, digest_size=3).hexdigest() for a, b in spans)
        breaks = [text[a:b] for (_, a), (b, _) in pairwise([(0, 0), *spans, (len(text), len(text))])]
        return "".join(("\n" if "\n" in gap else " ") + word for gap, word in zip(breaks, words, strict=False)) + (
            "\n" if breaks and "\n" in breaks[-1] else " "
        )

    return hide


def begin_of(text: str, show: Callable[[str], str] = visible) -> str:
    """Return how a text begins, on one line; lines of signs, as below titles, are passed over."""
    words = text[: 8 * BEGIN].split()
    some = " ".join([word for word in words if any(map(str.isalnum, word))] or words)
    return " ".join(show(some[:BEGIN]).split()) + ("…" if len(some) > BEGIN or len(text) > 8 * BEGIN else "")


@dataclass(frozen=True, slots=True)
class Side:
    """A text, cut if it is very long, and its words."""

    text: str
    spans: Int64Array
    words: list[str]
    was_cut: bool

    @classmethod
    def of(cls, text: str) -> Side:
        """Find the words of a text."""
        some = text[:MOST_CHARACTERS]
        spans = pieces_of(some)
        return cls(some, spans, [some[a:b] for a, b in spans.tolist()], len(text) > len(some))

    def characters(self, first: int, last: int) -> tuple[int, int]:
        """Return where some words begin, and where the word after them does; the indentation of a line is its first word's."""
        if first >= last:
            return 0, 0
        return self._begin(first), self._begin(last)

    def _begin(self, word: int) -> int:
        if not 0 < word < len(self.spans):
            return len(self.text) if word else 0
        place = int(self.spans[word, 0])
        return self.text.rfind("\n", int(self.spans[word - 1, 1]), place) + 1 or place

    @property
    def is_code(self) -> bool:
        """Whether it has many indented lines, as code has."""
        lines = [line for line in self.text.split("\n") if line.strip()]
        return 5 * sum(line[0] in " \t" for line in lines) >= len(lines) > 2


@dataclass(frozen=True, slots=True)
class Op:
    """A stretch of both texts: words ``left`` and ``right`` (begin, end), which are equal, equal but left out, or differ."""

    kind: str
    left: tuple[int, int]
    right: tuple[int, int]


def ops_of(left: Sequence[str], right: Sequence[str], context: int = CONTEXT) -> list[Op]:
    """Return the stretches of two texts in their order; of long equal ones only some words at changes are not left out."""
    out: list[Op] = []
    i = j = 0
    for a, b, n in [*matches(left, right), (len(left), len(right), 0)]:
        if a > i or b > j:
            out.append(Op("differs", (i, a), (j, b)))
        i, j = a + n, b + n
        head = context if out else 0
        tail = context if i < len(left) or j < len(right) else 0
        if not head and not tail:
            head = 4 * context  # the texts are equal: how they begin will do
        if n <= head + tail + context:
            spans = [("same", 0, n)]
        else:
            spans = [("same", 0, head), ("left out", head, n - tail), ("same", n - tail, n)]
        out += [Op(kind, (a + x, a + y), (b + x, b + y)) for kind, x, y in spans if y > x]
    return out


@dataclass(slots=True)
class Comparison:
    """What a page shows of two texts."""

    rows: list[Any] = field(default_factory=list)  # [runs] if equal, [left, right runs], or a number of equal words
    inline: list[tuple[str, str]] = field(default_factory=list)  # same, left, right or left out; text, or a number
    left_words: int = 0  # as far as compared
    right_words: int = 0
    common: int = 0  # equal in the same order
    shaded: bool = False  # whether characters of shared shingles are known
    code: bool = False  # whether both have many indented lines
    cut: str = ""  # what is not shown
    begins: tuple[str, str] = ("", "")  # first words, for lists in which ids say little

    def to_dict(self) -> dict[str, Any]:
        """Return what the script of the page needs."""
        return {"rows": self.rows, "words": [self.left_words, self.right_words, self.common], "shaded": self.shaded,
                "code": self.code, "cut": self.cut}  # fmt: skip


def compare(
    left: bytes, right: bytes, shingling: Shingling, most: int, show: Callable[[str], str] = visible
) -> Comparison:  # fmt: skip
    """Compare two texts, and keep what fits a size."""
    sides = [Side.of(text.decode("utf-8", "replace")) for text in (left, right)]
    masks = shared(sides[0].text, sides[1].text, shingling)
    found = Comparison(left_words=len(sides[0].words), right_words=len(sides[1].words), shaded=masks is not None)
    found.code = all(side.is_code for side in sides)
    found.begins = begin_of(sides[0].text, show), begin_of(sides[1].text, show)
    ops = ops_of(sides[0].words, sides[1].words)
    found.common = sum(op.left[1] - op.left[0] for op in ops if op.kind != "differs")
    room = most
    rows = _Rows(found)
    for op in ops:
        if op.kind == "left out":
            words = op.left[1] - op.left[0]
            rows.skip(words)
            found.inline.append(("left out", f"{words:,}"))
            room -= 2 * RUN_BYTES
        else:
            for paragraph in _paragraphs(sides, op):
                room = _add(rows, sides, paragraph, masks, show, room)
        if room <= 0:
            rest = found.left_words - op.left[1], found.right_words - op.right[1]
            found.cut = f"the view is cut here; at most {rest[0]:,} words on the left and {rest[1]:,} on the right follow"
            break
    rows.flush()
    if not found.cut and any(side.was_cut for side in sides):
        found.cut = f"only the first {MOST_CHARACTERS:,} characters were compared"
    return found


class _Rows:
    """Collects runs into rows."""

    def __init__(self, found: Comparison) -> None:
        self._found = found
        self.left: Runs = []
        self.right: Runs = []

    def flush(self) -> None:
        """End a row."""
        if self.left or self.right:
            self._found.rows.append([self.left] if self.left == self.right else [self.left, self.right])
        self.left, self.right = [], []

    def skip(self, words: int) -> None:
        """Tell that some equal words are left out."""
        self.flush()
        self._found.rows.append(words)

    def tell(self, kind: str, text: str) -> None:
        """Add a run to the form of one column."""
        if text:
            self._found.inline.append((kind, text))

    def change(self, left: str, right: str) -> None:
        """Add what differs: first what is lost, then what is there instead; blanks at the end belong to neither."""
        kept, lost = left.rstrip(), right.rstrip()
        self.tell("right", lost)
        self.tell("same", " " if kept and lost and left != kept else "")
        self.tell("left", kept)
        self.tell("same", right[len(lost) :] if lost else left[len(kept) :])


def _paragraphs(sides: Sequence[Side], op: Op) -> Iterator[Op]:
    """Divide an equal stretch where a line ends in both texts."""
    if op.kind != "same":
        yield op
        return
    begin = 0
    n = op.left[1] - op.left[0]
    for x in range(n):
        ends = [side.text[slice(*_gap(side, start + x))] for side, start in zip(sides, (op.left[0], op.right[0]), strict=True)]
        if x == n - 1 or all("\n" in end for end in ends):
            yield Op("same", (op.left[0] + begin, op.left[0] + x + 1), (op.right[0] + begin, op.right[0] + x + 1))
            begin = x + 1


def _gap(side: Side, word: int) -> tuple[int, int]:
    """Return what is between a word and the next."""
    return int(side.spans[word, 1]), int(side.spans[word + 1, 0]) if word + 1 < len(side.spans) else len(side.text)


def _add(
    rows: _Rows, sides: Sequence[Side], op: Op, masks: tuple[NDArray[np.bool_], NDArray[np.bool_]] | None,
    show: Callable[[str], str], room: int,
) -> int:  # fmt: skip
    """Add a stretch to rows; return the bytes that remain."""
    cost = [0, 0]
    texts = ["", ""]
    for which, (side, words) in enumerate(zip(sides, (op.left, op.right), strict=True)):
        begin, end = side.characters(*words)
        mask = np.zeros(end - begin, np.bool_) if masks is None else masks[which][begin:end]
        edges = [0, *(np.flatnonzero(mask[1:] != mask[:-1]) + 1).tolist(), end - begin] if end > begin else []
        for a, b in pairwise(edges):
            text = show(side.text[begin + a : begin + min(b, a + max(room, 0) + 1)])
            while size_of(text) > room - cost[which] and len(text) > 1:
                text = text[: len(text) // 2] + "…" if len(text) > 2 else "…"
            cost[which] += size_of(text) + RUN_BYTES
            texts[which] += text
            runs = rows.right if which else rows.left
            if not text.strip() and runs:
                runs[-1] += text
            else:
                runs += [(SHARED if mask[a] else SAME) | (DIFFERS if op.kind == "differs" else SAME), text]
            if cost[which] >= room:
                break
    if op.kind == "same":
        rows.tell("same", texts[op.left[1] == len(sides[0].spans)])  # where the left one ends, the right one has the blank
        if sides[0].text[slice(*_gap(sides[0], op.left[1] - 1))].count("\n"):
            rows.flush()
        spent = cost[0] if rows.left == rows.right else max(cost)
    else:
        rows.change(texts[0], texts[1])
        spent = sum(cost)
    return room - spent - RUN_BYTES
