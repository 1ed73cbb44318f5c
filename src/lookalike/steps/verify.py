"""Compare the pivot of each bundle with all its partners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..methods.exact_sets import compare_rows
from ..values.arrow import to_arrow
from ..values.tables import MATCHES
from ._batches import Batches, batch_of, gather, ints, joined, starts_of
from ._comparing import Comparing, comparable, weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Verify(Comparing):
    """How pairs are verified; the parameters are those of ``Comparing``."""


def verify(rows: Batches, settings: Verify, key: bytes) -> Batches:
    """Score the pairs of each bundle's pivot with its partners, and keep those that reach the threshold."""
    pivot: pa.RecordBatch | None = None
    for piece in gather(rows, weights):
        if pivot is not None and ints(piece, "bundle")[0] == ints(pivot, "bundle")[0]:
            piece = joined([pivot, piece])
        bundles, orders = ints(piece, "bundle"), ints(piece, "order")
        begins = starts_of(bundles, None)
        firsts = np.flatnonzero(begins)
        wanted = ~begins & (orders >= settings.boundary)
        right = np.flatnonzero(wanted)
        left = firsts[np.cumsum(begins)[right] - 1]
        score = compare_rows(comparable(iter([piece]), settings, key), left, right, settings.threshold)
        matched = score >= settings.threshold
        pivot = piece.take(to_arrow(firsts[-1:]))
        yield batch_of(MATCHES, orders[left[matched]], orders[right[matched]], score[matched])
