"""What is known of Unicode's characters, the same on every version of Python: their kinds, normal forms, cases."""

from __future__ import annotations

import pkgutil
import unicodedata
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import folding
from ..values import Int64Array
from .texts import Texts

UNICODE_VERSION = "14.0.0"
BETWEEN = 64  # bytes that are normalized sooner than that a stretch is done apart
MANY_MARKS = 32  # that many in a row stay in the order that Python brings them into
MARKS_IN_PARTS = (0x0F73, 0x0F75, 0x0F81, 0xFF9E, 0xFF9F)  # no marks by their class, but what they decompose into are


@cache
def character_tables() -> folding.Characters:
    """Return the character tables."""
    content = pkgutil.get_data(__package__, f"unicode_{UNICODE_VERSION}.npz")
    assert content is not None
    data = np.load(BytesIO(content))
    return folding.Characters(*(data[name] for name in folding.Characters._fields))


@cache
def _unassigned() -> frozenset[int]:
    """Code points that the pinned Unicode version does not know but this interpreter's version does."""
    if unicodedata.unidata_version == UNICODE_VERSION:
        return frozenset()
    pages, kinds, *_ = character_tables()
    known = kinds[pages.astype(np.int64).repeat(128) * 128 + np.tile(np.arange(128), len(pages))]
    strangers = np.flatnonzero((known & 7) == folding.OTHER)
    return frozenset(p for p in strangers.tolist() if unicodedata.category(chr(p))[0] in "LMN")


def normalize(text: str, form: str) -> str:
    """Bring a text into a Unicode normal form, the same on every Python version: later characters stay as they are."""
    unassigned = _unassigned()
    if len(text) > MANY_MARKS:
        text = _in_order(text, form)
    if not unassigned or not any(ord(c) in unassigned for c in text):
        return unicodedata.normalize(form, text)  # type: ignore[arg-type]
    parts, begin = [], 0
    for i, character in enumerate(text):
        if ord(character) in unassigned:
            parts += [unicodedata.normalize(form, text[begin:i]), character]  # type: ignore[arg-type]
            begin = i + 1
    return "".join([*parts, unicodedata.normalize(form, text[begin:])])  # type: ignore[arg-type]


def _in_order(text: str, form: str) -> str:
    """Bring long runs of marks into canonical order, which changes no normal form.

    Python's own way to that order takes as many steps as the square of a run's length.
    """
    points, classes = _classes(text)
    marks = classes != 0
    for point in MARKS_IN_PARTS:
        marks |= points == point
    runs = np.flatnonzero(np.diff(marks, prepend=False, append=False)).reshape(-1, 2)
    changed, done, apart = [], 0, form.replace("C", "D")
    for begin, end in runs[runs[:, 1] - runs[:, 0] > MANY_MARKS].tolist():
        run = text[begin:end]
        marks_of_run = map(chr, np.unique(points[begin:end]).tolist())
        made_of = {mark: unicodedata.normalize(apart, mark) for mark in marks_of_run}  # type: ignore[arg-type]
        if any(mark != more for mark, more in made_of.items()):
            run = run.translate({ord(mark): more for mark, more in made_of.items()})
        of_run, classes = _classes(run)
        # What has the class 0 stays where it is. NumPy sorts numbers of eight bits in linear time.
        key = classes.astype(np.uint8) if classes.all() else np.cumsum(classes == 0) * 256 + classes
        order = np.argsort(key, kind="stable")
        changed += [text[done:begin], of_run[order].tobytes().decode("utf-32-le", "surrogatepass")]
        done = end
    return "".join([*changed, text[done:]]) if changed else text


def _classes(text: str) -> tuple[NDArray[np.uint32], NDArray[Any]]:
    """Return the code points of a text, and the combining class of each."""
    pages, kinds, *_ = character_tables()
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return points, kinds[pages[points >> 7].astype(np.int64) * 128 + (points & 127)] >> 8


def fold(text: str) -> str:
    """Fold the case of a text, the same on every Python version: later characters stay as they are."""
    unassigned = _unassigned()
    if not unassigned or not any(ord(c) in unassigned for c in text):
        return text.casefold()
    return "".join(c if ord(c) in unassigned else c.casefold() for c in text)


def replace_stretches(texts: Texts, stretches: Int64Array, form: str) -> Texts:
    """Return texts in which some stretches (row, begin, end) are normalized; the very same where none changes by that.

    Stretches are normalized together where little is between them, which is normal already and stays as it is.
    """
    rows, begins, ends = stretches.T
    apart = np.append(True, (rows[1:] != rows[:-1]) | (begins[1:] - ends[:-1] > BETWEEN))
    firsts = np.flatnonzero(apart)
    stretches = np.stack([rows[firsts], begins[firsts], ends[np.append(firsts[1:], len(rows)) - 1]], 1)
    first = int(texts.offsets[0])
    data = texts.data[first : texts.offsets[-1]]
    parts: list[Any] = []
    done, growth = 0, np.zeros(len(texts), np.int64)
    for row, begin, end in stretches.tolist():
        old = data[begin - first : end - first].tobytes()
        new = normalize(old.decode("utf-8", "surrogateescape"), form).encode("utf-8", "surrogateescape")
        if new != old:
            parts += [data[done : begin - first].data, new]
            done = end - first
            growth[row] += len(new) - len(old)
    if not parts:
        return texts
    offsets = texts.offsets - first
    offsets[1:] += np.cumsum(growth)
    return Texts(np.frombuffer(b"".join([*parts, data[done:].data]), np.uint8), offsets)
