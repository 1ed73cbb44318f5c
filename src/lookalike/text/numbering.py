"""Shingles of texts, numbered: what texts are compared by where no hash may decide. Those of words and of lines are numbered by
walking along the texts that came before, others token by token."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..choices import UNITS
from ..hashing import digest_secret, secret_words
from ..kernels import filters, known_text, vocabulary
from ..kernels.scratch import scratch
from ..values import Int64Array, UInt64Array
from .characters import character_tables
from .hashes import token_rows
from .shingle import Shingling, ignored_places
from .texts import Texts

Int32Array = NDArray[np.int32]
KEPT = 16 << 20  # bytes of room for known text that a thread uses again; memory that is new each time costs as much as the work
LARGE = 1 << 20  # places of a table from which on it is doubled, no more
_ROWS, _N_SHINGLES, _WRITTEN = slice(0, 3), 4, 6  # places in what a kernel is told of its state
_mine = threading.local()


class Vocabulary:
    """Numbers the shingles of texts by first appearance: equal numbers mean equal shingles.

    Tokens of up to 15 bytes are compared byte by byte, shingles token by token; of longer tokens a digest under the secret
    ``key`` of 16 bytes (see ``kernels.digests``). Two long tokens of texts of n bytes together are taken for one with a
    probability of at most n^2 (1 + n / 2^13) / 2^125 over the choice of the key, whoever wrote them: 2^-65 for two texts of 8
    MB. The key changes no number otherwise.
    """

    def __init__(self, shingling: Shingling, key: bytes) -> None:
        self._shingling = shingling
        self._points, self._secret = digest_secret(key, "tokens"), secret_words(key, "tables", 4)
        assert shingling.width is not None
        self._width = shingling.width
        self._known: vocabulary.Known | None = None
        self._at = np.zeros(7, np.int64)

    def __len__(self) -> int:
        """Return how many shingles have a number."""
        return int(self._at[_N_SHINGLES])

    def number(self, texts: Texts) -> tuple[Int32Array, Int64Array]:
        """Return the numbers of the shingles of some texts, with repeats: (numbers, offsets)."""
        self._known = self._known or _room(texts.n_bytes)
        numbers, sizes, done = scratch("numbers", texts.n_bytes // 4, np.int32), [np.zeros(1, np.int64)], 0
        for offsets, keys in token_rows(self._shingling, self._points, texts):
            counts = np.diff(offsets)
            sizes.append(np.where(counts > 0, np.maximum(1, counts - self._width + 1), 0))
            total = int(sizes[-1].sum())
            if len(numbers) < done + total:
                fewer, numbers = numbers, scratch("numbers", 2 * (done + total), np.int32)
                numbers[:done] = fewer[:done]
            self._number(offsets, keys, numbers[done : done + total])
            done += total
        return numbers[:done], np.cumsum(np.concatenate(sizes))

    def _number(self, offsets: Int64Array, keys: UInt64Array, out: Int32Array) -> None:
        """Number the shingles of some rows of tokens."""
        self._at[_ROWS], self._at[_WRITTEN] = 0, 0
        ids, width = scratch("ids", len(keys), np.int32), self._width
        while not vocabulary.number_rows(keys, offsets, width, self._secret, self._known, self._at, ids, out):
            assert self._known is not None
            tokens, token_keys, shingles, home, last, after, known_ids = self._known
            _, _, _, n_tokens, n_shingles, filled, _ = self._at.tolist()
            if n_tokens == len(token_keys):
                tokens, token_keys = _larger(tokens), _longer(token_keys)
            if n_shingles + 1 == len(home):
                shingles, home, last, after = _larger(shingles), *map(_longer, (home, last, after))
            if filled + width > len(known_ids):
                known_ids = _longer(known_ids, width)
            self._known = vocabulary.Known(tokens, token_keys, shingles, home, last, after, known_ids)


class KnownText:
    """Numbers the shingles of words or lines as ``Vocabulary`` does, by walking along the texts that came before."""

    def __init__(self, shingling: Shingling, key: bytes) -> None:
        self._shingling = shingling
        self._secrets = digest_secret(key, "tokens"), secret_words(key, "tables", 4)
        self._known: known_text.KnownText | None = None
        self._at = np.zeros(known_text.NEED_OUT + 1, np.int64)
        assert shingling.width is not None
        self._at[: known_text.ROW] = UNITS.index(shingling.unit), shingling.width, shingling.fold_case
        self._at[known_text.N_PLACES] = 1  # place 0 is none

    def __len__(self) -> int:
        """Return how many shingles have a number."""
        return int(self._at[known_text.N_SHINGLES])

    def number(self, texts: Texts) -> tuple[Int32Array, Int64Array]:
        """Return the numbers of the shingles of some texts, with repeats: (numbers, offsets)."""
        texts, at, most = self._shingling.normalized(texts), self._at, int(self._at[known_text.WIDTH]) + known_text.MANY
        known = self._known or _room_for_text(texts.n_bytes)
        folded = scratch("folded", 3 * int(np.diff(texts.offsets).max(initial=0)) + known_text.BEYOND, np.uint8)
        ahead = known_text.Ahead(np.empty((most, 2), np.uint64), np.empty(most, np.int64), np.empty(most, np.uint64), folded)
        offsets, numbers = np.zeros(len(texts) + 1, np.int64), scratch("numbers", texts.n_bytes // 4, np.int32)
        at[[known_text.ROW, known_text.WRITTEN]], at[known_text.LENGTH] = 0, known_text.NOT_FOLDED
        fixed = texts.data, texts.offsets, character_tables(), *self._secrets
        while not known_text.walk_texts(*fixed, known, ahead, at, offsets, numbers):
            table, places, of_places, text = known
            n_shingles, n_places, n_text, written, need_places, need_text, need_out = at[known_text.N_SHINGLES :].tolist()
            if n_shingles + most > len(table) // 2:
                table = _larger(table, 4 if len(table) < LARGE else 2)
            if n_places + need_places > len(places):
                places, of_places = _longer(places, need_places), _longer(of_places, need_places)
            if n_text + need_text > len(text):
                text = _longer(text, need_text)
            if written + need_out > len(numbers):
                fewer, numbers = numbers, scratch("numbers", 2 * (written + need_out), np.int32)
                numbers[:written] = fewer[:written]
            known = known_text.KnownText(table, places, of_places, text)
        self._known = known
        return numbers[: offsets[-1]], offsets

    def leave_room(self) -> None:
        """Let this thread's next one use the room of this one, which is done."""
        if self._known is not None and sum(array.nbytes for array in self._known) <= KEPT:
            table = self._known.table
            _mine.known = self._known._replace(table=table if table.base is None else table.base)


class Counting:
    """Numbers shingles as another does, and drops those that do not count: their texts are numbered first."""

    def __init__(self, inner: Vocabulary | KnownText, shingling: Shingling) -> None:
        assert shingling.ignored is not None
        numbers, _ = inner.number(shingling.ignored.texts)
        self._inner, self._marked = inner, np.zeros(len(inner), np.bool_)
        self._marked[numbers[ignored_places(shingling)]] = True

    def __len__(self) -> int:
        """Return how many shingles have a number."""
        return len(self._inner)

    def number(self, texts: Texts) -> tuple[Int32Array, Int64Array]:
        """Return the numbers of the shingles of some texts that count, with repeats: (numbers, offsets)."""
        numbers, offsets = self._inner.number(texts)
        left = np.empty_like(offsets)
        filters.drop_marked(numbers, offsets, self._marked, left, numbers)
        return numbers[: left[-1]], left


@contextmanager
def numbering(shingling: Shingling, key: bytes) -> Iterator[Vocabulary | KnownText | Counting]:
    """Give what numbers the shingles of texts that count, until these have been numbered."""
    by_tokens = shingling.tokenizer is not None or shingling.unit not in ("word", "line")
    numbers = Vocabulary(shingling, key) if by_tokens else KnownText(shingling, key)
    yield numbers if shingling.ignored is None else Counting(numbers, shingling)
    if isinstance(numbers, KnownText):
        numbers.leave_room()


def _room_for_text(n_bytes: int) -> known_text.KnownText:
    """Return room for what some near-duplicates of so many bytes hold, mostly; this thread's from before, if it is enough."""
    n = 1 << min(max((n_bytes >> 6).bit_length(), 8), 16)
    known, _mine.known = getattr(_mine, "known", None), None
    if known is not None and len(known.table) >= 2 * n:
        size = min(len(known.table), 8 * n)  # to clear more costs less than to make it grow
        known.table[:size] = 0
        return known._replace(table=known.table[:size])  # type: ignore[no-any-return]
    places = np.empty((2 * n + 1, 4), np.uint64)
    places[0] = 0
    return known_text.KnownText(np.zeros(2 * n, np.uint64), places, np.empty(2 * n + 1, np.int32),
                             np.empty(16 * n + known_text.BEYOND, np.uint8))  # fmt: skip


def _room(n_bytes: int) -> vocabulary.Known:
    """Return room for what some near-duplicates of so many bytes hold, mostly."""
    n = 1 << min(max((n_bytes >> 6).bit_length(), 8), 16)
    table, few = np.zeros(n // 2, np.uint64), n // 4
    return vocabulary.Known(table, np.empty((few, 2), np.uint64), np.zeros(2 * n, np.uint64), np.empty(n + 1, np.int64),
                        np.empty(n + 1, np.uint32), np.zeros(n + 1, np.uint32), np.empty(2 * n, np.int32))  # fmt: skip


def _larger(table: UInt64Array, times: int = 4) -> UInt64Array:
    """Return a table of so many times the length with the same entries."""
    larger = np.zeros(times * len(table), np.uint64)
    vocabulary.move_entries(table, larger)
    return larger


def _longer(array: NDArray[Any], least: int = 0) -> NDArray[Any]:
    """Return an array with room for four times as many rows, or ``least`` more, and zeros there."""
    longer = np.zeros((len(array) + max(3 * (len(array) - 1), least), *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
