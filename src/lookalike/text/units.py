"""What can be repeated in texts: lines, paragraphs, or windows of so many words; two keys of each, and where it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..hashing import digest_secret
from ..kernels import digests, lines
from ..kernels.repeats import find_repeated
from ..values import Int64Array, UInt64Array
from .characters import character_tables
from .hashes import shingle_secret, token_rows
from .shingle import Shingling
from .texts import Texts, concatenate

UNIT = np.dtype([("key", np.uint64), ("second", np.uint64), ("begin", np.int64), ("end", np.int64), ("number", np.int64)])
"""A unit: its keys, where it begins and ends in the bytes of its text, and its number, or that of its first word, there."""
KEY_BYTES = 32


class Found(NamedTuple):
    """Units of some texts: those of row i are ``units[bounds[i]:bounds[i + 1]]``; how many lines or words each text has."""

    units: NDArray[np.void]
    bounds: Int64Array
    wholes: Int64Array


class Units(Protocol):
    """A kind of units; one has ``length`` numbers. Those of two that follow each other, or overlap, are one run."""

    length: int

    def keys(self, texts: Texts) -> UInt64Array:
        """Return the first key of each unit."""
        ...

    def find(self, texts: Texts, table: UInt64Array) -> Found:
        """Return the units whose keys may come twice, by a table of ``kernels.repeats``."""
        ...


def _chosen(keys: UInt64Array, table: UInt64Array) -> Int64Array:
    """Return which keys may come twice."""
    found = np.empty(len(keys), np.bool_)
    find_repeated(keys, table, found)
    return np.flatnonzero(found)


@dataclass(frozen=True)
class Lines:
    """Lines of ``least`` words or more, or paragraphs: equal if their bytes are, but for white space at both ends.

    Keys are two words of 61 bits of a digest under a secret (``kernels.digests``): two lines of n bytes together have the same
    keys with a probability of at most (2^-64 + (3 n / 256 + 7) / 2^61)^2 over the choice of the secret, whoever wrote them.
    """

    paragraphs: bool
    least: int
    key: bytes
    length: int = 1

    def _split(self, texts: Texts) -> tuple[Int64Array, UInt64Array, Int64Array, Int64Array]:
        """Return spans, keys, bounds and the number of lines with a word."""
        data = texts.data[texts.offsets[0] : texts.offsets[-1]]
        most = min(int(np.count_nonzero(data == 10)), len(data) // (2 * self.least)) + len(texts)
        spans, keys = np.empty((most, 3), np.int64), np.empty((most, 2), np.uint64)
        bounds, wholes = np.empty(len(texts) + 1, np.int64), np.empty(len(texts), np.int64)
        secret = digest_secret(self.key, "lines")
        where = texts.data, texts.offsets, self.least, self.paragraphs, character_tables(), secret
        lines.split_lines(*where, spans, keys, bounds, wholes)
        return spans[: bounds[-1]], keys[: bounds[-1]], bounds, wholes

    def keys(self, texts: Texts) -> UInt64Array:
        """Return the first key of each line."""
        return np.ascontiguousarray(self._split(texts)[1][:, 0])

    def find(self, texts: Texts, table: UInt64Array) -> Found:
        """Return the lines that may come twice."""
        spans, keys, bounds, wholes = self._split(texts)
        chosen = _chosen(np.ascontiguousarray(keys[:, 0]), table)
        units = np.empty(len(chosen), UNIT)
        units["key"], units["second"] = keys[chosen].T
        units["begin"], units["end"], units["number"] = spans[chosen].T
        return Found(units, np.searchsorted(chosen, bounds), wholes)


@dataclass(frozen=True)
class Windows:
    """Windows of ``length`` words, tokens of a ``shingling``: equal if their words are.

    Keys are two hashes under keys (``KeyedHashes``): two windows of m words have the same ones with a probability of at most
    ((3 m + 1) / 2^61)^2 over the choice of the keys, 2^-107 for 50 words, whoever wrote them.
    """

    shingling: Shingling
    length: int
    key: bytes

    @cached_property
    def _secrets(self) -> list[UInt64Array]:
        """The secret of long tokens, and those of the two keys."""
        halves = self.key[: KEY_BYTES // 2], self.key[KEY_BYTES // 2 :]
        return [digest_secret(self.key, "tokens of windows"), *map(shingle_secret, halves)]

    def _hashed(self, keys: UInt64Array, offsets: Int64Array, secret: UInt64Array) -> UInt64Array:
        """Return the hash of each window of rows of tokens: of rows that are shorter than one there are none."""
        out, bounds = np.empty(len(keys), np.uint64), np.empty_like(offsets)
        digests.hash_keys(keys, offsets, self.length, secret, np.empty(len(keys), np.uint64), bounds, out)
        short = (np.diff(offsets) < self.length) & (np.diff(offsets) > 0)
        return np.delete(out[: bounds[-1]], bounds[:-1][short]) if short.any() else out[: bounds[-1]]

    def keys(self, texts: Texts) -> UInt64Array:
        """Return the first key of each window."""
        points, secret, _ = self._secrets
        rows = token_rows(self.shingling, points, texts, str)
        return np.concatenate([np.empty(0, np.uint64), *(self._hashed(keys, offsets, secret) for offsets, keys in rows)])

    def find(self, texts: Texts, table: UInt64Array) -> Found:
        """Return the windows that may come twice."""
        points, first, second = self._secrets
        parts, counts, wholes, row = [np.empty(0, UNIT)], [np.zeros(1, np.int64)], [np.zeros(0, np.int64)], 0
        for offsets, keys in token_rows(self.shingling, points, texts, str):
            sizes = np.diff(offsets)
            windows = np.maximum(sizes - self.length + 1, 0)
            ends = np.cumsum(windows)
            hashed = self._hashed(keys, offsets, first)
            chosen = _chosen(hashed, table)
            units = np.empty(len(chosen), UNIT)
            if len(chosen):
                owner = np.searchsorted(ends, chosen, "right")
                units["key"], units["second"] = hashed[chosen], self._hashed(keys, offsets, second)[chosen]
                units["number"] = chosen - (ends - windows)[owner]
                self._place(texts.slice(row, row + len(sizes)), sizes, owner, units)
            parts.append(units)
            counts.append(np.diff(np.searchsorted(chosen, ends), prepend=0))
            wholes.append(sizes.copy())
            row += len(sizes)
        return Found(np.concatenate(parts), np.cumsum(np.concatenate(counts)), np.concatenate(wholes))

    def _place(self, texts: Texts, sizes: Int64Array, owner: Int64Array, units: NDArray[np.void]) -> None:
        """Write where windows begin and end in the rows that own them; other rows are not looked at."""
        rows, which = np.unique(owner, return_inverse=True)
        some = concatenate([texts.slice(row, row + 1) for row in rows.tolist()])
        bounds = np.concatenate([[0], np.cumsum(sizes[rows])])
        spans = np.empty((int(bounds[-1]), 2), np.int64)
        wrong = lines.find_words(some.data, some.offsets, character_tables(), bounds, spans)
        assert wrong < 0, "normalization changed the number of words"
        first = bounds[which] + units["number"]
        units["begin"], units["end"] = spans[first, 0], spans[first + self.length - 1, 1]
