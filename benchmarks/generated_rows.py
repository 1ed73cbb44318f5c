"""Corpora that are stored nowhere: a compiled reader makes any row anew, as an input of a job.

In the mixed corpus a fifth of the documents are near-copies of earlier ones, some of whose words are replaced. In the others all
documents hang together: one family of near-duplicates, one long chain, one page of boilerplate with a little of its own on each.
"""

from __future__ import annotations

from time import thread_time
from typing import Any

import numpy as np
from numba import njit

from lookalike.formats import Format
from lookalike.formats.split import Batch, Columns, Split
from lookalike.text.texts import Texts

WORDS_EACH, N_WORDS, ROWS = 160, 1 << 15, 4096
KINDS = ("mixed", "family", "chain", "boilerplate")
compiled = njit(nogil=True, error_model="numpy", cache=True)


@compiled
def fmix64(x):
    """MurmurHash3's 64-bit finaliser; a kernel of the library could not be called from here."""
    shift = np.uint64(33)
    x = (x ^ (x >> shift)) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> shift)) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> shift)


@compiled
def base_of(row, far):
    """The document that a row is a copy of: itself, or one of the first ``far`` before it that is none."""
    if row % 5 != 4 or row < 5:
        return row
    back = 1 + np.int64(fmix64(np.uint64(row) ^ np.uint64(0x5EED)) % np.uint64(min(row, far)))
    base = row - back
    return base - 1 if base % 5 == 4 else base


@compiled
def draw_of(row, place):
    """64 random bits for a place in a row."""
    return fmix64((np.uint64(row) << np.uint64(10)) + np.uint64(place) + np.uint64(0x9E3779B97F4A7C15))


@compiled
def word_of(kind, row, base, place, share, words_each, ranks):
    """The number of the word at a place."""
    if kind == 1:  # a family: all are copies of row 0, with one word in four hundred of their own
        mine = draw_of(row, place)
        draw = mine if mine % np.uint64(400) == np.uint64(0) else draw_of(0, place)
    elif kind == 2:  # a chain: each begins a few words after the one before
        draw = draw_of(0, row * 4 + place)
    elif kind == 3:  # boilerplate: all end alike, and resemble each other by .7
        draw = draw_of(row, place) if place < words_each * 7 // 40 else draw_of(0, place)
    else:  # the base's word, unless the copy has one of its own there
        draw = draw_of(row, place)
        if row != base and (draw >> np.uint64(40)) >= share:
            draw = draw_of(base, place)
    return ranks[np.int64(draw & np.uint64(0xFFFF))]


@compiled
def share_of(row):
    """Of 2^24, the share of words that a copy has of its own: from none up to an eighth."""
    return fmix64(np.uint64(row) ^ np.uint64(0xC0FFEE)) % np.uint64(1 << 21)


@compiled
def write_rows(kind, first, count, words_each, far, ranks, words, bounds, out, offsets):
    """Write texts of rows into ``out``; ``offsets`` says where each begins."""
    end = 0
    for i in range(count):
        offsets[i] = end
        row = first + i
        base = base_of(row, far)
        share = share_of(row) if base != row else np.uint64(0)
        for place in range(words_each):
            word = word_of(kind, row, base, place, share, words_each, ranks)
            for j in range(bounds[word], bounds[word + 1]):
                out[end] = words[j]
                end += 1
            out[end] = 32
            end += 1
    offsets[count] = end


class Generated:
    """Rows that are made anew whenever they are read."""

    def __init__(self, n: int, kind: str = "mixed", words_each: int = WORDS_EACH, far: int = 1 << 40) -> None:
        self.n, self.kind, self.words_each, self.far = n, kind, words_each, far
        self.seconds = 0.0  # processor time of making rows, so far
        rng = np.random.default_rng(0)
        lengths = 3 + rng.poisson(3, N_WORDS)
        self._bounds = np.concatenate([[0], np.cumsum(lengths)])
        self._ranks = (N_WORDS ** (np.arange(1 << 16) / (1 << 16))).astype(
            np.int64
        ) - 1  # few words are frequent, most are rare
        self._words = rng.integers(97, 123, int(self._bounds[-1])).astype(np.uint8)

    def texts(self, first: int, count: int) -> Texts:
        """Make some rows."""
        began = thread_time()
        longest = int(np.diff(self._bounds).max()) + 1
        out, offsets = np.empty(count * self.words_each * longest, np.uint8), np.empty(count + 1, np.int64)
        write_rows(
            KINDS.index(self.kind),
            first,
            count,
            self.words_each,
            self.far,
            self._ranks,
            self._words,
            self._bounds,
            out,
            offsets,
        )
        made = Texts(out[: offsets[-1]].copy(), offsets)
        self.seconds += thread_time() - began
        return made

    def batches(self):
        """Make all rows."""
        for first in range(0, self.n, ROWS):
            count = min(ROWS, self.n - first)
            yield Batch(self.texts(first, count), np.arange(first, first + count))

    def split(self) -> Split:
        """Return them as an input."""
        return Split(form=GeneratedFormat(), name="generated", relative="generated", data=self)


class GeneratedFormat(Format):
    """How generated rows are read."""

    name, written_as, counts_rows, has_columns = "generated", "jsonl", True, False

    def read(self, split: Split, columns: Columns):
        """Make all rows."""
        return split.data.batches()

    def rows(self, split: Split, encoding_errors: str):
        """Make all rows as dictionaries, each with its number."""
        for batch in split.data.batches():
            for i, number in enumerate(batch.numbers.tolist()):
                yield number, {"text": batch.texts.row(i).decode()}

    def label(self, split: Split, number: int) -> int:
        """The row number."""
        return number

    def file(self, split: Split, number: int) -> None:
        """There is no file."""

    def identity(self, split: Split) -> dict[str, Any]:
        """What tells this input from another."""
        made = split.data
        return {"name": "generated", "kind": made.kind, "documents": made.n, "words": made.words_each, "far": made.far}

    def expected(self, split: Split, text: str) -> tuple[int, int]:
        """Rows, and about their bytes."""
        return split.data.n, split.data.n * split.data.words_each * 7

    def check_free(self, split: Split, names) -> None:
        """There are no columns."""
