"""What can be repeated in texts: lines, paragraphs, windows of so many words, blocks of these; each has two keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..hashing import digest_secret, secret_words
from ..kernels import digests, lines
from ..kernels.repeats import CUT, block_keys, find_repeated, marked_windows
from ..kernels.scratch import scratch
from ..values import Int64Array, UInt64Array
from ..values.tables import SOURCE_BITS
from .characters import character_tables
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
_CUT_BITS = np.uint64((1 << CUT) - 1)
_IDEOGRAPH = range(0xE4, 0xEA)
"""The first bytes of characters that are words of their own."""


class Found(NamedTuple):
    """Units of some texts: those of row i are ``units[bounds[i]:bounds[i + 1]]``; how many lines or words each text has."""

    units: NDArray[np.void]
    bounds: Int64Array
    wholes: Int64Array


class Units(Protocol):
    """A kind of units, in texts at some positions."""

    def keys(self, texts: Texts, positions: Int64Array) -> UInt64Array:
        """Return the first key of each unit."""
        ...

    def find(self, texts: Texts, positions: Int64Array, table: UInt64Array) -> Found:
        """Return the units whose keys may come twice, by a table of ``kernels.repeats``; all by one without words."""
        ...


def _end_of_word(data: NDArray[np.uint8], end: int, stop: int) -> int:
    """Return the first place from ``end`` on where a word surely ends: a blank, a line feed, or an ideograph."""
    for begin in range(end, stop, 1 << 12):
        some = data[begin : min(begin + (1 << 12), stop)]
        ends = np.flatnonzero(np.isin(some, [10, 32, *_IDEOGRAPH]))
        if len(ends):
            return begin + int(ends[0])
    return stop


def _repeated(keys: UInt64Array, table: UInt64Array) -> NDArray[np.bool_]:
    """Tell which keys may come twice."""
    found = np.ones(len(keys), np.bool_)
    if len(table):
        find_repeated(keys, table, found)
    return found


@dataclass(frozen=True)
class Lines:
    """Lines of ``least`` words or more, or paragraphs: equal if their bytes are, but for white space at both ends.

    Keys are two words of 61 bits of a digest under a secret (``kernels.digests``): two lines of n bytes together have the same
    keys with a probability of at most (2^-64 + (3 n / 256 + 7) / 2^61)^2 over the choice of the secret, whoever wrote them.
    """

    paragraphs: bool
    least: int
    key: bytes

    def _split(self, texts: Texts) -> tuple[Int64Array, UInt64Array, Int64Array, Int64Array]:
        """Return spans, keys, bounds and the number of lines with a word."""
        data = texts.content
        most = min(int(np.count_nonzero(data == 10)), len(data) // (2 * self.least)) + len(texts)
        spans, keys = np.empty((most, 3), np.int64), np.empty((most, 2), np.uint64)
        bounds, wholes = np.empty(len(texts) + 1, np.int64), np.empty(len(texts), np.int64)
        secret = digest_secret(self.key, "lines")
        where = texts.data, texts.offsets, self.least, self.paragraphs, character_tables(), secret
        lines.split_lines(*where, np.empty(64, np.uint8), spans, keys, bounds, wholes)
        return spans[: bounds[-1]], keys[: bounds[-1]], bounds, wholes

    def keys(self, texts: Texts, positions: Int64Array) -> UInt64Array:
        """Return the first key of each line."""
        return np.ascontiguousarray(self._split(texts)[1][:, 0])

    def find(self, texts: Texts, positions: Int64Array, table: UInt64Array) -> Found:
        """Return the lines that may come twice."""
        spans, keys, bounds, wholes = self._split(texts)
        chosen = np.flatnonzero(_repeated(np.ascontiguousarray(keys[:, 0]), table))
        units = np.empty(len(chosen), UNIT)
        units["key"], units["second"] = keys[chosen].T
        units["begin"], units["end"], units["number"], units["size"] = *spans[chosen].T, 1
        return Found(units, np.searchsorted(chosen, bounds), wholes)


class _Rows(NamedTuple):
    """Windows of some rows of words: the tokens of each row, the bounds of its windows, and their first keys.

    A part of a long text is a row alone: ``skipped`` bytes and ``before`` words of the text come before it.
    """

    first: int
    sizes: Int64Array
    bounds: Int64Array
    keys: UInt64Array
    tokens: UInt64Array
    offsets: Int64Array
    texts: Texts
    skipped: int = 0
    before: int = 0


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

    def _hash(self, tokens: UInt64Array, offsets: Int64Array, which: int) -> UInt64Array:
        """Return one key of each window; of rows that are shorter than one there are none."""
        out, bounds = np.empty(len(tokens), np.uint64), np.empty_like(offsets)
        secret, room = self.secrets[which], scratch("tokens", len(tokens), np.uint64)
        digests.hash_keys(tokens, offsets, self.length, secret, room, bounds, out)
        short = (np.diff(offsets) < self.length) & (np.diff(offsets) > 0)
        return np.delete(out[: bounds[-1]], bounds[:-1][short]) if short.any() else out[: bounds[-1]]

    def rows(self, texts: Texts) -> Iterator[_Rows]:
        """Yield the windows of some texts, or of a part of a long one, at a time; each is done with before the next comes."""
        for begin, end in texts.cut(SEGMENT):
            some = texts.slice(begin, end)
            yield from self._rows(begin, some) if some.n_bytes <= SEGMENT else self._segments(begin, some)

    def _rows(self, first: int, texts: Texts) -> Iterator[_Rows]:
        for offsets, tokens in token_rows(self.shingling, self.secrets[0], texts):
            sizes = np.diff(offsets)
            bounds = np.concatenate([[0], np.cumsum(np.maximum(sizes - self.length + 1, 0))])
            yield _Rows(first, sizes, bounds, self._hash(tokens, offsets, 1), tokens, offsets, texts)
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

    def second(self, rows: _Rows) -> UInt64Array:
        """Return the second key of each window."""
        return self._hash(rows.tokens, rows.offsets, 2)


@dataclass(frozen=True)
class Blocks:
    """Windows in a row, cut where the text says: if a block occurred before, all of its windows did."""

    hashing: Hashing

    def keys(self, texts: Texts, positions: Int64Array) -> UInt64Array:
        """Return the first key of each block."""
        return self.find(texts, positions, np.empty(0, np.uint64)).units["key"].copy()

    def find(self, texts: Texts, positions: Int64Array, table: UInt64Array) -> Found:
        """Return all blocks, and the words of each text; where blocks are is not told."""
        points = secret_words(self.hashing.key, "blocks", 2) % digests.P
        parts, counts, wholes = [np.empty(0, BARE)], np.zeros(len(texts) + 1, np.int64), np.zeros(len(texts), np.int64)
        for rows in self.hashing.rows(texts):
            most = int(np.count_nonzero(rows.keys & _CUT_BITS == 0)) + len(rows.sizes)
            keys, bounds = np.empty((most, 2), np.uint64), np.empty(len(rows.bounds), np.int64)
            units = np.zeros(block_keys(rows.keys, self.hashing.second(rows), rows.bounds, points, keys, bounds), BARE)
            units["key"], units["second"] = keys[: len(units)].T
            parts.append(units)
            counts[rows.first + 1 : rows.first + len(bounds)] += np.diff(bounds)
            wholes[rows.first : rows.first + len(rows.sizes)] += rows.sizes
        return Found(np.concatenate(parts), np.cumsum(counts), wholes)


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

    def _rows(self, texts: Texts, positions: Int64Array) -> Iterator[tuple[_Rows, NDArray[np.bool_]]]:
        """Yield the windows of some texts at a time, and which of them are known."""
        starts = self.starts[self.documents[positions >> SOURCE_BITS] + (positions & ((1 << SOURCE_BITS) - 1))]
        for rows in self.hashing.rows(texts):
            known = np.empty(len(rows.keys), np.bool_)
            marked_windows(rows.keys, rows.bounds, starts[rows.first : rows.first + len(rows.sizes)], self.bits, known)
            yield rows, known
            if len(rows.sizes) == 1:  # more of the text may come: its blocks come after these
                starts[rows.first] += int(np.count_nonzero(rows.keys[1:] & _CUT_BITS == 0)) + 1

    def keys(self, texts: Texts, positions: Int64Array) -> UInt64Array:
        """Return the first key of each window that is not known."""
        return np.concatenate([np.empty(0, np.uint64), *(r.keys[~known] for r, known in self._rows(texts, positions))])

    def find(self, texts: Texts, positions: Int64Array, table: UInt64Array) -> Found:
        """Return the windows that may come twice, and runs of those that are known."""
        length = self.hashing.length
        parts, counts, wholes = [np.empty(0, UNIT)], np.zeros(len(texts) + 1, np.int64), np.zeros(len(texts), np.int64)
        for rows, known in self._rows(texts, positions):
            row_begins = np.zeros(len(known) + 1, np.bool_)
            row_begins[rows.bounds] = True
            edges = np.flatnonzero(known & (row_begins[:-1] | np.append([True], ~known[:-1])[: len(known)]))
            ends = np.flatnonzero(known & (row_begins[1:] | np.append(~known[1:], [True])[: len(known)])) + 1
            chosen = np.flatnonzero(~known & _repeated(rows.keys, table))
            units = np.zeros(len(edges) + len(chosen), UNIT)
            place = np.concatenate([edges, chosen])
            units["size"] = np.concatenate([ends - edges, np.ones(len(chosen), np.int64)]) + length - 1
            if len(chosen):
                units["key"][len(edges) :] = rows.keys[chosen]
                units["second"][len(edges) :] = self.hashing.second(rows)[chosen]
            order = np.argsort(place, kind="stable")
            place, units = place[order], units[order]
            owner = np.searchsorted(rows.bounds, place, "right") - 1
            units["number"] = place - rows.bounds[owner]
            if len(units):
                _locate(rows.texts, owner, self.hashing.shingling, units)
            for name, before in (("begin", rows.skipped), ("end", rows.skipped), ("number", rows.before)):
                units[name] += before
            parts.append(units)
            counts[rows.first + 1 : rows.first + len(rows.bounds)] += np.diff(np.searchsorted(place, rows.bounds))
            wholes[rows.first : rows.first + len(rows.sizes)] += rows.sizes
        return Found(np.concatenate(parts), np.cumsum(counts), wholes)


def _locate(texts: Texts, owner: Int64Array, shingling: Shingling, units: NDArray[np.void]) -> None:
    """Write where units begin and end in the rows that own them; other rows are not looked at."""
    fresh = np.diff(owner, prepend=-1) > 0  # they ascend
    rows, which = owner[fresh], np.cumsum(fresh) - 1
    some = concatenate([texts.slice(row, row + 1) for row in rows.tolist()])
    last = units["number"] + units["size"] - 1
    units["begin"], units["end"] = shingling.places(some, which, units["number"], last)
