"""What can be repeated in texts: lines, paragraphs, windows of so many words, blocks of these; each has two keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import core
from ..hashing import PRIME, digest_secret, secret_words
from ..values import Int64Array, UInt64Array
from ..values.tables import SOURCE_BITS
from .characters import native_characters
from .hashes import shingle_secret, token_rows
from .shingle import Shingling
from .texts import Texts, concatenate

UNIT = np.dtype([("key", np.uint64), ("second", np.uint64), *((name, np.int64) for name in ("begin", "end", "number", "size"))])
"""A unit: its keys (0: it is known to be removed), where it begins and ends in the bytes of its text, its number there, or that
of its first word, and how many numbers it takes."""
BARE = np.dtype([("key", np.uint64), ("second", np.uint64)])
"""The keys of a unit alone."""
KEY_BYTES = 32
SEGMENT = 2 << 20
"""Bytes of texts whose windows are made at a time: a word has two bytes at least, and a window takes some hundred."""
_ALL = np.empty(0, np.uint64)  # a table by which every key may come twice
_IDEOGRAPH = range(0xE4, 0xEA)
"""The first bytes of characters that are words of their own."""


class TextUnits(NamedTuple):
    """Units of some texts: those of row i are ``units[bounds[i]:bounds[i + 1]]``; how many lines or words each text has."""

    units: NDArray[np.void]
    bounds: Int64Array
    wholes: Int64Array


class Units(Protocol):
    """A kind of units, in texts at some positions."""

    def keys(self, texts: Texts, positions: Int64Array) -> UInt64Array:
        """Return the first key of each unit."""
        ...

    def find(self, texts: Texts, positions: Int64Array, table: UInt64Array) -> TextUnits:
        """Return the units whose keys may come twice, by a table of ``core.count_keys``; all by one without words."""
        ...


def _end_of_word(data: NDArray[np.uint8], end: int, stop: int) -> int:
    """Return the first place from ``end`` on where a word surely ends: a blank, a line feed, or an ideograph."""
    for begin in range(end, stop, 1 << 12):
        some = data[begin : min(begin + (1 << 12), stop)]
        ends = np.flatnonzero(np.isin(some, [10, 32, *_IDEOGRAPH]))
        if len(ends):
            return begin + int(ends[0])
    return stop


@dataclass(frozen=True)
class Lines:
    """Lines of ``least`` words or more, or paragraphs: equal if their bytes are, but for white space at both ends.

    Keys are two words of 61 bits of a digest under a secret (``native/digest.h``): two lines of n bytes together have the same
    keys with a probability of at most (2^-64 + (3 n / 256 + 7) / 2^61)^2 over the choice of the secret, whoever wrote them.
    """

    paragraphs: bool
    least: int
    key: bytes

    def keys(self, texts: Texts, positions: Int64Array) -> UInt64Array:
        """Return the first key of each line."""
        return self.find(texts, positions, _ALL).units["key"].copy()

    def find(self, texts: Texts, positions: Int64Array, table: UInt64Array) -> TextUnits:
        """Return the lines that may come twice."""
        where, secret = (texts.data, texts.offsets), digest_secret(self.key, "lines")
        units, *others = core.find_lines(*where, self.least, self.paragraphs, native_characters(), secret, table)
        return TextUnits(units.view(UNIT)[:, 0], *others)


class _Rows(NamedTuple):
    """Some rows of words: how many each has, and what the core makes windows of.

    A part of a long text is a row alone: ``skipped`` bytes and ``before`` words of the text come before it.
    """

    first: int
    sizes: Int64Array
    windows: tuple[UInt64Array, Int64Array, int, UInt64Array, UInt64Array]
    texts: Texts
    skipped: int = 0
    before: int = 0

    @property
    def own(self) -> slice:
        """Where they are among all rows."""
        return slice(self.first, self.first + len(self.sizes))


_Some = tuple[_Rows, NDArray[Any], Int64Array]  # units of some rows, and where those of each begin


def _together(kind: np.dtype[np.void], n: int, found: Iterable[_Some]) -> TextUnits:
    """Put the units of rows of ``n`` texts together."""
    parts, counts, wholes = [np.empty(0, kind)], np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
    for rows, units, bounds in found:
        parts.append(units.view(kind)[:, 0])
        counts[1:][rows.own] += np.diff(bounds)
        wholes[rows.own] += rows.sizes
    return TextUnits(np.concatenate(parts), np.cumsum(counts), wholes)


@dataclass(frozen=True)
class Hashing:
    """Keys of windows of ``length`` words, tokens of a ``shingling``: equal if their words are.

    Two windows of m words have the same two keys (``KeyedHashes``) with a probability of at most ((3 m + 1) / 2^61)^2 over the
    choice of the secret, 2^-107 for 50 words, whoever wrote them.
    """

    shingling: Shingling
    length: int
    key: bytes

    @cached_property
    def secrets(self) -> list[UInt64Array]:
        """The secret of long tokens, and those of the two keys."""
        halves = self.key[: KEY_BYTES // 2], self.key[KEY_BYTES // 2 :]
        return [digest_secret(self.key, "tokens of windows"), *map(shingle_secret, halves)]

    def rows(self, texts: Texts) -> Iterator[_Rows]:
        """Yield the windows of some texts, or of a part of a long one, at a time; each is done with before the next comes."""
        for begin, end in texts.cut(SEGMENT):
            some = texts.slice(begin, end)
            yield from self._rows(begin, some) if some.n_bytes <= SEGMENT else self._segments(begin, some)

    def _rows(self, first: int, texts: Texts) -> Iterator[_Rows]:
        for offsets, tokens in token_rows(self.shingling, self.secrets[0], texts):
            sizes, (_, one, other) = np.diff(offsets), self.secrets
            yield _Rows(first, sizes, (tokens, offsets, self.length, one, other), texts)
            texts, first = texts.slice(len(sizes), len(texts)), first + len(sizes)

    def _segments(self, first: int, text: Texts) -> Iterator[_Rows]:
        """Yield the windows of a text part by part; a part begins with the words that windows of the one before lack."""
        (begin, stop), before, room = text.offsets.tolist(), 0, SEGMENT
        start = begin
        while begin < stop:
            end = _end_of_word(text.data, begin + room, stop)
            part = Texts(text.data, np.array([begin, end]))
            (found,) = self._rows(first, part)
            n = int(found.sizes[0]) - self.length + 1
            if n <= 0 and end < stop:  # too few words for a window
                room *= 2
                continue
            sizes = found.sizes if end == stop else np.array([max(n, 0)])
            yield found._replace(sizes=sizes, skipped=begin - start, before=before)
            if end == stop:
                return
            place, _ = self.shingling.places(part, np.zeros(1, np.int64), np.array([n]), np.array([n]))
            begin, before, room = begin + int(place[0]), before + n, SEGMENT


@dataclass(frozen=True)
class Blocks:
    """Windows in a row, cut where the text says: if a block occurred before, all of its windows did."""

    hashing: Hashing

    def keys(self, texts: Texts, positions: Int64Array) -> UInt64Array:
        """Return the first key of each block."""
        return self.find(texts, positions, _ALL).units["key"].copy()

    def find(self, texts: Texts, positions: Int64Array, table: UInt64Array) -> TextUnits:
        """Return all blocks, and the words of each text; where blocks are is not told."""
        points = secret_words(self.hashing.key, "blocks", 2) % np.uint64(PRIME)
        rows = self.hashing.rows(texts)
        return _together(BARE, len(texts), ((some, *core.hash_blocks(*some.windows, points)) for some in rows))


@dataclass(frozen=True)
class Windows:
    """Windows that are in no block that occurred before; those that are, are known to be removed.

    ``bits``: which blocks occurred before; ``starts``: the number of the first block of each document, ``documents`` of the
    first document of each input.
    """

    hashing: Hashing
    bits: NDArray[np.uint8]
    starts: Int64Array
    documents: Int64Array

    def _starts(self, positions: Int64Array) -> Int64Array:
        """Return the number of the first block of each text; the core adds those that it has seen."""
        order = self.documents[positions >> SOURCE_BITS] + (positions & ((1 << SOURCE_BITS) - 1))
        starts: Int64Array = self.starts[order]
        return starts

    def keys(self, texts: Texts, positions: Int64Array) -> UInt64Array:
        """Return the first key of each window that is not known."""
        starts, rows = self._starts(positions), self.hashing.rows(texts)
        return np.concatenate([_ALL, *(core.unmarked_keys(*some.windows[:-1], starts[some.own], self.bits) for some in rows)])

    def find(self, texts: Texts, positions: Int64Array, table: UInt64Array) -> TextUnits:
        """Return the windows that may come twice, and runs of those that are known."""
        starts = self._starts(positions)

        def search_rows() -> Iterator[_Some]:
            for rows in self.hashing.rows(texts):
                units, bounds = core.find_windows(*rows.windows, starts[rows.own], self.bits, table)
                _locate(rows, bounds, self.hashing.shingling, units.view(UNIT)[:, 0])
                yield rows, units, bounds

        return _together(UNIT, len(texts), search_rows())


def _locate(rows: _Rows, bounds: Int64Array, shingling: Shingling, units: NDArray[np.void]) -> None:
    """Write where units begin and end in their texts; rows that have none are not looked at."""
    counts = np.diff(bounds)
    owners = np.flatnonzero(counts)
    some = concatenate([rows.texts.slice(row, row + 1) for row in owners.tolist()])
    owner = np.repeat(np.arange(len(owners)), counts[owners])
    begin, end = shingling.places(some, owner, units["number"], units["number"] + units["size"] - 1)
    units["begin"], units["end"] = begin + rows.skipped, end + rows.skipped
    units["number"] += rows.before
