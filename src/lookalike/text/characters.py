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
from ..values import Int64Array
from .texts import Texts

UNICODE_VERSION = "14.0.0"
# What a character is to words, and flags of it, as native/characters.h has them.
OTHER, WORD, SINGLE, MARK, SPACE = 0, 1, 2, 3, 4
KIND, HIDDEN, HIDDEN_SPACE = 7, 1 << 5, 1 << 6
FORMS = {"none": 0, "NFC": 1 << 3, "NFKC": 1 << 4}


def _tables(name: str) -> dict[str, NDArray[Any]]:
    content = pkgutil.get_data(__package__, f"{name}_{UNICODE_VERSION}.npz")
    assert content is not None
    return dict(np.load(BytesIO(content)))


@cache
def native_characters() -> Any:
    """Return what the core knows of characters."""
    data = _tables("unicode")
    return core.Characters(*(data[name] for name in ("pages", "kinds", "folds", "fold_bytes")))


@cache
def native_forms(compatible: bool) -> Any:
    """Return what the core knows of a normal form: NFKC, or NFC."""
    data = _tables("forms")
    places = data["compatible" if compatible else "canonical"]
    return core.Forms(data["pages"], places, *(data[name] for name in ("firsts", "seconds", "parts", "composites")))


def native_form(form: str, hides: int = 0) -> tuple[int, Any, Any]:
    """Return what functions of the core are told of a normal form, and of what is left out before."""
    return FORMS[form] | hides, native_characters(), native_forms(form == "NFKC")


@cache
def _unassigned() -> frozenset[int]:
    """Code points that the pinned Unicode version does not know but this interpreter's version does."""
    if unicodedata.unidata_version == UNICODE_VERSION:
        return frozenset()
    strangers = np.flatnonzero(native_characters().kinds(np.arange(0x110000, dtype=np.uint32)) & KIND == OTHER)
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


def normalized(texts: Texts, form: str, hides: int = 0) -> tuple[Texts, bool]:
    """Return texts in a Unicode normal form, the very same where all are in it already; and whether there are invalid bytes.
    Characters that came later than the pinned version of Unicode, and invalid bytes, stay as they are; what ``hides`` says
    (``HIDDEN``, ``HIDDEN_SPACE``) is left out before."""
    data, offsets, invalid = core.normalize_texts(texts.data, texts.offsets, *native_form(form, hides))
    return Texts(data, offsets) if len(offsets) else texts, invalid


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
