"""Walk closed bundles: which documents match earlier ones that are kept, and which of these stands for them."""

from __future__ import annotations

import numpy as np

from ..methods.method import Method
from ..text.shingle import Shingling
from ..values import Int64Array
from ..values.arrow import alone, to_numpy
from ..values.tables import MATCHES, SURVIVORS
from . import batches
from .batches import Batches, batch_of, ints, starts_of
from .verify import comparable, partners_of, weights


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
    while source.has_more():
        with alone(source.longest):
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
        self._next = next(self._rows, None)
        self._known: list[tuple[Int64Array, Int64Array, tuple[Int64Array, Int64Array]]] = []

    def has_more(self) -> bool:
        """Tell whether there is another run."""
        return self._next is not None

    @property
    def longest(self) -> int:
        """Bytes of the longest text of those that are next."""
        return batches.longest(self._next)

    def run(self) -> Batches:
        """Yield the rows of the next run."""
        self._known = []
        weight, before = 0, None
        while self._next is not None:
            batch = self._next
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
                self._next = batch.slice(end)
                return
            weight, before = int(total[-1]), int(keys[-1])
            self._next = None
            del batch  # not held while the next is read
            self._next = next(self._rows, None)

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
