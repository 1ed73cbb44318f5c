"""Documents are compared: in bundles of a pivot and its partners, or whole components at a walk; and which may match at all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Rows, sift_pairs
from ..methods.method import Method, Piece
from ..text.hashes import KeyedHashes
from ..text.numbering import numbering
from ..text.shingle import Shingling
from ..text.texts import Texts, from_arrow_array
from ..values import Int64Array, drop_repeats
from ..values.arrow import alone, to_arrow, to_numpy
from ..values.shingles import Halves
from ..values.tables import MATCHES, SOURCE_BITS, SURVIVORS
from . import batches
from .batches import Batches, as_words, batch_of, gather, ints, longest, starts_of

BUNDLED = pa.schema([("bundle", pa.int64()), ("order", pa.int64())])


def comparable(batches: Iterator[pa.RecordBatch], method: Method, shingling: Shingling, key: bytes) -> Rows:
    """Make the documents of batches ready for comparison; there is at least one, and each is done with before the next comes.

    By ``estimate`` if there is one, or by ``text``, whose shingles are compared themselves: see ``numbering``.
    """
    first = next(batches)
    batches = chain([first], batches)
    if "estimate" in first.schema.names:
        width = 4 * method.n_estimates
        words = np.concatenate([as_words(batch.column("estimate"), width, np.uint32) for batch in batches])
        return method.estimable(words.astype(np.uint32))
    del first  # not held while the next is read
    return method.comparable(_numbered_texts(batches, shingling, key))


def _numbered_texts(batches: Iterator[pa.RecordBatch], shingling: Shingling, key: bytes) -> Iterator[Piece]:
    """Number the shingles of texts, ``PIECE_BYTES`` or one longer text at a time, or leave that to what packs them.

    What has been given, and the text that it was made of, is not held: both may be large.
    """
    known = numbering(shingling, key)
    for batch in batches:
        texts = from_arrow_array(batch.column("text"))
        del batch
        pieces = [texts.slice(begin, end) for begin, end in texts.cut()][::-1]
        del texts
        while pieces:
            yield known.piece(pieces.pop())


def weights(batch: pa.RecordBatch) -> Int64Array:
    """Return about how many bytes are worked on for each row of a batch with texts or estimates and perhaps partners."""
    if "estimate" in batch.schema.names:
        kind = batch.schema.field("estimate").type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        total = np.full(len(batch), 64 + (kind.byte_width if pa.types.is_fixed_size_binary(kind) else 1024), np.int64)
    else:
        total = np.diff(from_arrow_array(batch.column("text")).offsets) + 64
    if "partners" in batch.schema.names:
        total = total + 32 * np.diff(partners_of(batch)[0])
    return total


def partners_of(batch: pa.RecordBatch) -> tuple[Int64Array, Int64Array]:
    """Return (offsets, orders) of the column ``partners``; offsets begin at 0."""
    column = batch.column("partners")
    if not pa.types.is_large_list(column.type):
        column = column.cast(pa.large_list(pa.int64()))
    offsets = to_numpy(column.offsets)
    return offsets - offsets[0], to_numpy(column.values)[offsets[0] : offsets[-1]]


def bundle(rows: Batches, most: int | None = None) -> Batches:
    """Yield a row for the pivot of each bundle, and then one for each of its partners.

    A pivot with more than ``most`` partners has several bundles, of different numbers; None: all are in one.
    """
    most = most or 1 << SOURCE_BITS
    before, partners = None, 0
    for batch in rows:
        if not len(batch):
            continue
        left, right = ints(batch, "left"), ints(batch, "right")
        starts, index = starts_of(left, before), np.arange(len(left))
        within = index - np.maximum.accumulate(np.where(starts, index, 0))
        within[np.cumsum(starts) == 0] += partners  # of a pivot that came before
        before, partners = int(left[-1]), int(within[-1]) + 1
        begins, numbers = within % most == 0, left + (within // most << SOURCE_BITS)
        place = index + np.cumsum(begins)
        bundles, orders = (np.empty(len(left) + int(begins.sum()), np.int64) for _ in range(2))
        bundles[place], orders[place] = numbers, right
        pivots = place[begins] - 1
        bundles[pivots], orders[pivots] = numbers[begins], left[begins]
        yield batch_of(BUNDLED, bundles, orders)


def verify(rows: Batches, *, method: Method, shingling: Shingling, threshold: float, key: bytes, boundary: int = 0) -> Batches:
    """Score the pairs of each bundle's pivot with its partners, and keep those that reach the threshold.

    Orders below ``boundary`` are references, which are not compared with each other.
    """
    before: list[pa.RecordBatch] = []
    for piece in gather(rows, weights):
        some = [one for one in before if ints(one, "bundle")[0] == ints(piece, "bundle")[0]] + [piece]
        bundles, orders = (np.concatenate([ints(one, name) for one in some]) for name in ("bundle", "order"))
        begins = starts_of(bundles, None)
        firsts = np.flatnonzero(begins)
        wanted = ~begins & (orders >= boundary)
        right = np.flatnonzero(wanted)
        left = firsts[np.cumsum(begins)[right] - 1]
        with alone(max(map(longest, some))):
            score = comparable(iter(some), method, shingling, key).compare(left, right, threshold)
        matched = score >= threshold
        if len(firsts) > 1 or len(some) == 1:  # otherwise the pivot is that of before
            before = [piece.take(to_arrow(firsts[-1:] - (len(bundles) - len(piece))))]
        del piece, some  # not held while the next are read
        yield batch_of(MATCHES, orders[left[matched]], orders[right[matched]], score[matched])


def halves(texts: Texts, shingling: Shingling, key: bytes) -> Halves:
    """Return the ascending upper halves of the hashes of each text's shingles; repeats count once."""
    with alone(texts.longest):
        hashes, bounds = KeyedHashes(shingling, key).hashes(texts)
        values, offsets = drop_repeats(hashes, bounds)
        rows = np.repeat(np.arange(len(texts), dtype=np.uint64), np.diff(offsets))
        placed = rows << np.uint64(32) | values >> np.uint64(32)
        placed.sort()  # rows follow each other already: each is sorted by itself
        return Halves(placed.astype(np.uint32), offsets, np.diff(bounds) - np.diff(offsets))


def sift(left: Int64Array, right: Int64Array, lefts: Halves, rights: Halves, threshold: float) -> NDArray[np.bool_]:
    """Tell of each pair, a row of ``lefts`` and one of ``rights``, whether its resemblance may reach the threshold."""
    return sift_pairs(left, right, lefts, rights, threshold).view(np.bool_)


def walk(
    rows: Batches,
    *,
    method: Method,
    shingling: Shingling,
    threshold: float,
    key: bytes,
    boundary: int = 0,
    all_pairs: bool = False,
) -> Batches:
    """Compare each document with its earlier partners that are kept; BUNDLES that meet by bundle give MATCHES.

    A document is removed if and only if an earlier kept partner matches it; references stay. All matches of a
    removed document with kept partners are there. With ``all_pairs`` those with removed documents are, too; then matches tell
    nothing of who is kept.
    """
    source = _Source(rows)
    while source.next is not None:
        with alone(longest(source.next)):
            rows_of_sets = comparable(source.run(), method, shingling, key)
            bundles, orders, partners = source.columns()
            offsets = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(some) for some, _ in partners]))])
            earlier = np.concatenate([some for _, some in partners])
            bounds = np.append(np.flatnonzero(starts_of(bundles, None)), len(bundles))
            matches = rows_of_sets.walk(bounds, orders, offsets, earlier, boundary, threshold, all_pairs)
            del rows_of_sets
        yield batch_of(MATCHES, *matches)


class _Source:
    """Bundles in runs of about ``PIECE_WEIGHT``, or of one that is larger; texts that have been given are not held."""

    def __init__(self, rows: Batches) -> None:
        self._rows = filter(len, rows)
        self.next = next(self._rows, None)
        self._known: list[tuple[Int64Array, Int64Array, tuple[Int64Array, Int64Array]]] = []

    def run(self) -> Batches:
        """Yield the rows of the next run."""
        self._known = []
        weight, before = 0, None
        while self.next is not None:
            batch = self.next
            keys, total = ints(batch, "bundle"), np.cumsum(weights(batch)) + weight
            starts = np.flatnonzero(starts_of(keys, before))
            ahead = np.where(starts > 0, total[starts - 1], weight)
            full = starts[(ahead >= batches.PIECE_WEIGHT)]
            end = int(full[0]) if len(full) else len(batch)
            if end:
                part = batch.slice(0, end)
                self._known.append((keys[:end], ints(part, "order"), partners_of(part)))
                yield part
                del part
            if len(full):
                self.next = batch.slice(end)
                return
            weight, before = int(total[-1]), int(keys[-1])
            self.next = None
            del batch  # not held while the next is read
            self.next = next(self._rows, None)

    def columns(self) -> tuple[Int64Array, Int64Array, list[tuple[Int64Array, Int64Array]]]:
        """Return bundle, order and partners of the rows of the last run."""
        bundles, orders, partners = zip(*self._known, strict=True)
        return np.concatenate(bundles), np.concatenate(orders), list(partners)


def choose_survivors(rows: Batches) -> Batches:
    """Name the match of highest score of each document, the first of equal ones."""
    rights, lefts, scores = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    for batch in rows:
        rights = np.concatenate([rights, ints(batch, "right")])
        if not len(rights):
            continue
        lefts = np.concatenate([lefts, ints(batch, "left")])
        scores = np.concatenate([scores, to_numpy(batch.column("score"))])
        begins = starts_of(rights, None)
        group = np.cumsum(begins) - 1
        best = np.maximum.reduceat(scores, np.flatnonzero(begins))
        chosen = np.flatnonzero(scores == best[group])
        chosen = chosen[starts_of(group[chosen], None)]
        rights, lefts, scores = rights[chosen], lefts[chosen], scores[chosen]
        yield batch_of(SURVIVORS, rights[:-1], lefts[:-1], scores[:-1])  # of the last one more may come
        rights, lefts, scores = rights[-1:], lefts[-1:], scores[-1:]
    if len(rights):
        yield batch_of(SURVIVORS, rights, lefts, scores)
