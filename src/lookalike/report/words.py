"""Texts as a reader sees them: words with their places, shingles that two texts share, symbols for what cannot be seen."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..errors import LookalikeError
from ..kernels.folding import MARK, SINGLE, SPACE, WORD
from ..text.characters import character_tables
from ..text.shingle import Shingling
from ..text.texts import from_strings
from ..values import Int64Array, UInt64Array

_SEEN = frozenset("\n\t\u200c\u200d")  # line ends, tabs, and the joiners that letters of many scripts need
_SOLID = re.compile(r"\S+")
_HIDDEN = re.compile(r"[^\x20-\x7e\n]")


def visible(text: str) -> str:
    """Return a text with symbols in place of characters that cannot be seen or that steer how others are shown.

    These are control characters, marks of direction and other invisible ones, line and paragraph separators, lone surrogates,
    unassigned characters and those for private use. Letters of all scripts stay, and so do line ends, tabs and joiners.
    """
    return _HIDDEN.sub(_symbol, text)


def _symbol(found: re.Match[str]) -> str:
    c = found[0]
    if c.isprintable() or c in _SEEN or unicodedata.category(c) == "Zs":
        return c
    return named(c)


def named(c: str) -> str:
    """Return a character by its code point."""
    return f"\u27e8U+{ord(c):04X}\u27e9"


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _kinds(text: str) -> NDArray[np.int64]:
    """Return what each character is by the rules of shingles: OTHER, WORD, SINGLE, MARK or SPACE."""
    tables, points = character_tables(), _points(text).astype(np.int64)
    return np.asarray(tables.kinds[tables.pages[points >> 7].astype(np.int64) * 128 + (points & 127)].astype(np.int64) & 7)


def words_of(text: str) -> Int64Array:
    """Return (begin, end) of each word, as the rules of shingles have it; in scripts without spaces, of each letter."""
    kinds = _kinds(text)
    n = len(kinds)
    if not n:
        return np.empty((0, 2), np.int64)
    inside = (kinds == WORD) | (kinds == SINGLE) | (kinds == MARK)
    places = np.arange(n)
    base = kinds[np.maximum.accumulate(np.where(kinds != MARK, places, 0))]
    before_inside, before_base = np.concatenate([[False], inside[:-1]]), np.concatenate([[0], base[:-1]])
    begins = inside & (~before_inside | (kinds == SINGLE) | ((kinds == WORD) & (before_base == SINGLE)))
    ends = inside & np.concatenate([begins[1:] | ~inside[1:], [True]])
    return np.column_stack([np.flatnonzero(begins), np.flatnonzero(ends) + 1])


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
    if shingling.unit == "line":
        found = [match.span() for match in re.finditer(r"[^\n]*\S[^\n]*", text)]
        return np.array(found, np.int64).reshape(-1, 2)
    places = np.arange(len(text))
    if shingling.unit == "byte":
        points = _points(text)
        sizes = 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF)
        begins = np.repeat(places, sizes)
        return np.column_stack([begins, begins + 1])
    spaces = _kinds(text) == SPACE
    solid = np.flatnonzero(~spaces)
    if not len(solid):
        return np.empty((0, 2), np.int64)
    begins = places[~spaces | np.concatenate([[False], ~spaces[:-1]])]  # of a run of blanks the first
    begins = begins[(begins >= solid[0]) & (begins <= solid[-1])]
    return np.column_stack([begins, begins + 1])


def shingles_of(text: str, shingling: Shingling) -> tuple[UInt64Array, Int64Array] | None:
    """Return the hash of each shingle and the (begin, end) of its characters; None if the places are not known.

    They are not where normalization or folding makes other tokens of the text than it shows.
    """
    tokens = tokens_of(text, shingling)
    if tokens is None or not len(tokens):
        return None
    try:
        values = shingling.hashes(from_strings([text.encode("utf-8", "replace")]))[0].copy()
    except LookalikeError:
        return None
    assert shingling.width is not None
    width = min(shingling.width, len(tokens))
    if len(values) != len(tokens) - width + 1:
        return None
    return values, np.column_stack([tokens[: len(values), 0], tokens[width - 1 :, 1]])


def shared(left: str, right: str, shingling: Shingling) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Tell which characters of two texts are in a shingle that the other has too; None if that is not known."""
    if shingling.key_fingerprint:
        shingling = replace(shingling, key_fingerprint="")
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
