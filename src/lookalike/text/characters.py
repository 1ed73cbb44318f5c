"""What is known of Unicode's characters, the same on every version of Python: their kinds, normal forms, cases."""

from __future__ import annotations

import pkgutil
import unicodedata
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import core
from ..kernels import folding, normal_forms
from ..kernels.scratch import scratch
from ..values import Int64Array
from .texts import Texts

UNICODE_VERSION = "14.0.0"
FORMS = {"none": 0, "NFC": folding.NOT_NFC, "NFKC": folding.NOT_NFKC}
POINTS = 1 << 13  # code points between two that begin segments: room that nearly all texts get along with
MOST_POINTS = 1 << 20  # of a long stretch that needs more: as many as it has bytes, but no more than this at once


@cache
def character_tables() -> folding.Characters:
    """Return the character tables."""
    content = pkgutil.get_data(__package__, f"unicode_{UNICODE_VERSION}.npz")
    assert content is not None
    data = np.load(BytesIO(content))
    return folding.Characters(*(data[name] for name in folding.Characters._fields))


@cache
def native_characters() -> Any:
    """Return what the core knows of characters."""
    return core.Characters(*character_tables())


@cache
def form_tables(form: str) -> normal_forms.Forms:
    """Return the tables of a normal form."""
    content = pkgutil.get_data(__package__, f"forms_{UNICODE_VERSION}.npz")
    assert content is not None
    data = np.load(BytesIO(content))
    places = data["canonical" if form == "NFC" else "compatible"]
    return normal_forms.Forms(data["pages"], places, *(data[name] for name in ("parts", "firsts", "seconds", "composites")))


@cache
def _unassigned() -> frozenset[int]:
    """Code points that the pinned Unicode version does not know but this interpreter's version does."""
    if unicodedata.unidata_version == UNICODE_VERSION:
        return frozenset()
    pages, kinds, *_ = character_tables()
    known = kinds[pages.astype(np.int64).repeat(128) * 128 + np.tile(np.arange(128), len(pages))]
    strangers = np.flatnonzero((known & 7) == folding.OTHER)
    return frozenset(p for p in strangers.tolist() if unicodedata.category(chr(p))[0] in "LMN")


def normalize(text: str, form: str, hides: int = 0) -> str:
    """Do for one text what ``normalized`` does."""
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    texts = Texts(data, np.array([0, len(data)]))
    return normalized(texts, form, hides)[0].row(0).decode("utf-8", "surrogatepass")


def fold(text: str) -> str:
    """Fold the case of a text, the same on every Python version: later characters stay as they are."""
    unassigned = _unassigned()
    if not unassigned or not any(ord(c) in unassigned for c in text):
        return text.casefold()
    return "".join(c if ord(c) in unassigned else c.casefold() for c in text)


def normalized(texts: Texts, form: str, hides: int = 0) -> tuple[Texts, int]:
    """Return texts in a Unicode normal form, the very same where all are in it already; and the number of invalid bytes.
    Characters that came later than the pinned version of Unicode, and invalid bytes, stay as they are; what ``hides`` says
    (``folding.HIDDEN``, ``HIDDEN_SPACE``) is left out before."""
    flag = FORMS[form] | hides
    where = (texts.data, texts.offsets, 0, len(texts), character_tables(), flag)
    stretches = np.empty((64, 3), np.int64)
    count, invalid = folding.find_unnormalized(*where, stretches)
    if count > len(stretches):
        stretches = np.empty((count, 3), np.int64)
        folding.find_unnormalized(*where, stretches)
    return (_replaced(texts, stretches[:count], form, flag) if count else texts), invalid


def _replaced(texts: Texts, stretches: Int64Array, form: str, flag: int) -> Texts:
    """Return texts in which some stretches (row, begin, end) are normalized; the very same where none changes by that."""
    counts, growth, at = np.empty(256, np.int64), np.zeros(len(texts), np.int64), np.zeros(5, np.int64)
    at[2], last = texts.offsets[0], texts.offsets[-1]
    room, points, parts, state = texts.n_bytes + texts.n_bytes // 8, POINTS, [], normal_forms.MORE_BYTES
    tables = flag, character_tables(), form_tables(form)
    out = np.empty(0, np.uint8)
    while state != normal_forms.DONE:
        if state == normal_forms.MORE_POINTS:
            points = max(4 * points, min(int(stretches[at[0], 2] - at[1]), MOST_POINTS))
            room += 4 * points  # so that a long segment, once there is room for its points, is not gathered again
        parts.append(out[: at[3]])
        at[3], out = 0, np.empty(max(room, int(at[4])), np.uint8)
        runs = scratch("points", points, np.uint32), scratch("ordered points", points, np.uint32)
        runs = tuple(run[:points] for run in runs)
        state = normal_forms.normalize_stretches(texts.data, stretches, *tables, *runs, counts, at, growth, out)
    if at[2] == texts.offsets[0]:
        return texts
    data = np.concatenate([*parts, out[: at[3]], texts.data[at[2] : last]])
    offsets = texts.offsets - texts.offsets[0]
    offsets[1:] += np.cumsum(growth)
    return Texts(data, offsets)


def original_places(
    data: NDArray[np.uint8], form: str, hides: int, begins: Int64Array, ends: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """Return where in a text is what begins and ends somewhere in its normal form; what changed of a piece is one place."""
    old = np.append(core.cut_pieces(data, native_characters(), FORMS[form] | hides), len(data))
    pieces = normalized(Texts(data, old), form, hides)[0]
    same = np.minimum(np.diff(old), np.diff(pieces.offsets))  # bytes at the front that stay
    owner = np.repeat(np.arange(len(same)), same)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(same) - same, same)
    unequal = np.flatnonzero(data[old[owner] + place] != pieces.data[pieces.offsets[owner] + place])
    changed, first = np.unique(owner[unequal], return_index=True)
    same[changed] = place[unequal[first]]
    for _ in range(3):  # a character stays as a whole
        same -= (old[:-1] + same < old[1:]) & (data[np.minimum(old[:-1] + same, len(data) - 1)] & 0xC0 == 0x80)
    before, after = (
        np.append(np.stack([b[:-1], b[:-1] + same], 1).ravel(), b[-1]) for b in (old, pieces.offsets - pieces.offsets[0])
    )
    first, last = np.searchsorted(after, begins, "right") - 1, np.searchsorted(after, ends) - 1
    begin = before[first] + np.where(first % 2 == 0, begins - after[first], 0)
    return begin, np.where(last % 2 == 0, before[last] + ends - after[last], before[last + 1])
