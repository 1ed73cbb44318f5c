"""The words of two texts, and which of them both share, in their order.

Stretches of four words that come once in each text are anchors; between them Myers's algorithm compares, whose time grows with
the differences, up to a bound: what differs more counts as different.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import LookalikeError
from ..text.characters import HIDDEN, HIDDEN_SPACE, KIND, MARK, SINGLE, SPACE, WORD, native_characters
from ..text.shingle import Shingling
from ..text.texts import from_strings
from ..values import Int64Array, UInt64Array

_SEEN = frozenset("\n\t\u200c\u200d")  # line ends, tabs, and the joiners that letters of many scripts need
_SOLID = re.compile(r"\S+")
_LINE = re.compile(r"(?<![^{0}])[^{0}]*[\S\x1c-\x1f][^{0}]*".format(r"\n\v\f\r\x85\u2028\u2029"))
_HIDDEN = re.compile(r"[^\x20-\x7e\n]")


def visible(text: str) -> str:
    """Return a text with symbols for characters that cannot be seen or that steer how others are shown.

    That is control, direction, other invisible, private and unassigned ones, line and paragraph separators and lone surrogates;
    letters of all scripts, line ends, tabs and joiners stay.
    """
    return _HIDDEN.sub(_symbol, text)


def _symbol(found: re.Match[str]) -> str:
    c = found[0]
    if c.isprintable() or c in _SEEN or unicodedata.category(c) == "Zs":
        return c
    return code_point(c)


def code_point(c: str) -> str:
    return f"\u27e8U+{ord(c):04X}\u27e9"


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _kinds_of(text: str, hides: int) -> tuple[NDArray[np.uint16], Int64Array]:
    """Return what each character is that is not hidden, by the rules of shingles: OTHER, WORD, SINGLE, MARK or SPACE; and where
    in the text it is. One more place is the end of the text."""
    kinds = native_characters().kinds(_points(text))
    places = np.flatnonzero(kinds & hides == 0)
    return kinds[places] & KIND, np.append(places, len(text))


def words_of(text: str) -> Int64Array:
    """Return (begin, end) of each word, as the rules of shingles have it; in scripts without spaces, of each letter."""
    kinds, shown = _kinds_of(text, HIDDEN)
    n = len(kinds)
    if not n:
        return np.empty((0, 2), np.int64)
    inside = (kinds == WORD) | (kinds == SINGLE) | (kinds == MARK)
    places = np.arange(n)
    base = kinds[np.maximum.accumulate(np.where(kinds != MARK, places, 0))]
    before_inside, before_base = np.concatenate([[False], inside[:-1]]), np.concatenate([[0], base[:-1]])
    begins = inside & (~before_inside | (kinds == SINGLE) | ((kinds == WORD) & (before_base == SINGLE)))
    ends = inside & np.concatenate([begins[1:] | ~inside[1:], [True]])
    return shown[np.column_stack([np.flatnonzero(begins), np.flatnonzero(ends) + 1])]


def pieces_of(text: str) -> Int64Array:
    """Return (begin, end) of words and of what else is between white space: what a diff compares."""
    words = words_of(text)
    bounds = np.concatenate([[0], words.ravel(), [len(text)]]).reshape(-1, 2)
    gaps = [found.span() for begin, end in bounds.tolist() if end > begin for found in _SOLID.finditer(text, begin, end)]
    if not gaps:
        return words
    both = np.concatenate([words, np.array(gaps, np.int64)])
    return both[np.argsort(both[:, 0], kind="stable")]


def tokens_of(text: str, shingling: Shingling) -> Int64Array | None:
    """Return (begin, end) of each token of which shingles are made; None if they are made by a function of the user."""
    if shingling.tokenizer is not None:
        return None
    if shingling.unit == "word":
        return words_of(text)
    if shingling.unit == "byte":
        points = _points(text)
        sizes = 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF)
        begins = np.repeat(np.arange(len(text)), sizes)
        return np.column_stack([begins, begins + 1])
    kinds, shown = _kinds_of(text, HIDDEN | HIDDEN_SPACE)
    if shingling.unit == "line":
        plain = "".join([text[place] for place in shown[:-1].tolist()])
        found = np.array([match.span() for match in _LINE.finditer(plain)], np.int64)
        return shown[found.reshape(-1, 2)]
    spaces = kinds == SPACE
    solid = np.flatnonzero(~spaces)
    if not len(solid):
        return np.empty((0, 2), np.int64)
    begins = np.flatnonzero(~spaces | np.concatenate([[False], ~spaces[:-1]]))  # of a run of blanks the first
    begins = begins[(begins >= solid[0]) & (begins <= solid[-1])]
    return np.column_stack([shown[begins], shown[begins + 1]])


def shingles_of(text: str, shingling: Shingling) -> tuple[UInt64Array, Int64Array] | None:
    """Return each shingle's hash and its characters' (begin, end); None where normalization or folding makes other tokens."""
    tokens = tokens_of(text, shingling)
    if tokens is None or not len(tokens):
        return None
    try:
        values = shingling.hashes(from_strings([text.encode("utf-8", "replace")]))[0]
    except LookalikeError:
        return None
    assert shingling.width is not None
    width = min(shingling.width, len(tokens))
    if len(values) != len(tokens) - width + 1:
        return None
    return values, np.column_stack([tokens[: len(values), 0], tokens[width - 1 :, 1]])


def shared(left: str, right: str, shingling: Shingling) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Tell which characters of two texts are in a shingle that the other has too; None if that is not known."""
    if shingling.key_fingerprint or shingling.ignored:  # what does not count is shown as it is
        shingling = replace(shingling, key_fingerprint="", ignored=None)
    made = [shingles_of(text, shingling) for text in (left, right)]
    if made[0] is None or made[1] is None:
        return None
    sides = []
    for text, own, other in ((left, made[0], made[1]), (right, made[1], made[0])):
        common = own[1][np.isin(own[0], other[0])]
        edges = np.zeros(len(text) + 1, np.int64)
        np.add.at(edges, common[:, 0], 1)
        np.add.at(edges, common[:, 1], -1)
        sides.append(np.cumsum(edges)[:-1] > 0)
    return sides[0], sides[1]


ANCHOR = 4  # words of an anchor
MOST_EDITS = 160  # between two anchors
STEPS = 400_000  # of Myers' algorithm in one comparison; beyond, what is between anchors counts as different
SHORT = 2  # equal words between changes that are told as part of the change

Match = tuple[int, int, int]
"""Equal words: the first one on the left, the first one on the right, how many."""


@dataclass(slots=True)
class _Work:
    """What remains of the steps that a comparison may take."""

    steps: int = STEPS
    matches: list[Match] = field(default_factory=list)


def matches(left: Sequence[str], right: Sequence[str]) -> list[Match]:
    """Return the runs of equal words of two texts, ascending: Myers, "An O(ND) difference algorithm", Algorithmica 1986.

    Time is proportional to the words, and at most ``STEPS`` steps more. Beyond that bound fewer words are found to be equal,
    but none is said to be equal that is not.
    """
    work = _Work()
    i = j = 0
    for a, b in [*_anchors(left, right), (len(left), len(right))]:
        if a < i or b < j:  # inside the run that the last anchor became
            continue
        ahead = _common(left, right, i, j, a, b)
        if ahead:
            work.matches.append((i, j, ahead))
        i, j = i + ahead, j + ahead
        behind = _common_before(left, right, i, j, a, b)
        _between(left, right, (i, a - behind, j, b - behind), work)
        if behind:
            work.matches.append((a - behind, b - behind, behind))
        i, j = a, b
    return _without_short(_join_runs(work.matches), len(left), len(right))


def _anchors(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return places of stretches that come once in each text: the longest chain that ascends in both."""
    places = _once(right)
    pairs = [(i, places[gram]) for gram, i in _once(left).items() if gram in places]
    ends: list[int] = []  # the least right end of a chain of each length
    last: list[int] = []
    before = [-1] * len(pairs)
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        if length == len(ends):
            ends.append(j)
            last.append(number)
        else:
            ends[length], last[length] = j, number
        before[number] = last[length - 1] if length else -1
    chain, number = [], last[-1] if last else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _once(words: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Return the stretches that come once, each with its place, in the order of the text."""
    found: dict[tuple[str, ...], int] = {}
    for i in range(len(words) - ANCHOR + 1):
        gram = tuple(words[i : i + ANCHOR])
        found[gram] = -1 if gram in found else i
    return {gram: i for gram, i in found.items() if i >= 0}


def _common(left: Sequence[str], right: Sequence[str], i: int, j: int, a: int, b: int) -> int:
    """Return how many words from places on are equal."""
    n, most = 0, min(a - i, b - j)
    while n < most and left[i + n] == right[j + n]:
        n += 1
    return n


def _common_before(left: Sequence[str], right: Sequence[str], i: int, j: int, a: int, b: int) -> int:
    """Return how many words before two ends are equal."""
    n, most = 0, min(a - i, b - j)
    while n < most and left[a - 1 - n] == right[b - 1 - n]:
        n += 1
    return n


def _between(left: Sequence[str], right: Sequence[str], part: tuple[int, int, int, int], work: _Work) -> None:
    """Add the equal words of two stretches, if they differ in few enough words."""
    begin, end, first, last = part
    n, m = end - begin, last - first
    if not n or not m:
        return
    furthest: dict[int, int] = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(n + m, MOST_EDITS) + 1):
        trace.append(dict(furthest))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            ahead = _common(left, right, begin + x, first + x - k, end, last) if x <= n and x - k <= m else 0
            furthest[k] = x + ahead
            work.steps -= 1 + ahead
            if furthest[k] >= n and furthest[k] - k >= m:
                work.matches += [(begin + x, first + y, size) for x, y, size in _traced(trace, n, m)]
                return
            if work.steps <= 0:
                return


def _traced(trace: list[dict[int, int]], n: int, m: int) -> list[Match]:
    """Follow Myers' algorithm back from the end; return runs of equal words, in their order."""
    x, y, found = n, m, []
    for edits in range(len(trace) - 1, -1, -1):
        furthest, k = trace[edits], x - y
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before = k + 1 if down else k - 1
        from_x = furthest[before] if edits else 0
        begin = (from_x if down else from_x + 1) if edits else 0
        if x > begin:
            found.append((begin, begin - k, x - begin))
        x, y = from_x, from_x - before
    return found[::-1]


def _join_runs(found: list[Match]) -> list[Match]:
    out: list[Match] = []
    for i, j, n in found:
        if out and (out[-1][0] + out[-1][2], out[-1][1] + out[-1][2]) == (i, j):
            out[-1] = (*out[-1][:2], out[-1][2] + n)
        else:
            out.append((i, j, n))
    return out


def _without_short(found: list[Match], n: int, m: int) -> list[Match]:
    """Leave out runs of a word or two between longer changes: a reader does better with one change than with three."""
    kept: list[Match] = []
    for number, (i, j, size) in enumerate(found):
        before = (kept[-1][0] + kept[-1][2], kept[-1][1] + kept[-1][2]) if kept else (0, 0)
        after = found[number + 1][:2] if number + 1 < len(found) else (n, m)
        changed = min(max(i - before[0], j - before[1]), max(after[0] - i - size, after[1] - j - size))
        if size > SHORT or changed <= 2 * size:
            kept.append((i, j, size))
    return kept
