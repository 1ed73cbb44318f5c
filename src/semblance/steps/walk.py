"""Walk closed bundles: which documents match earlier ones that are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.walk import walk_bundles
from ..values.tables import MATCHES
from ._batches import Batches, batch_of, gather, ints, starts_of
from ._comparing import KEY, Comparing, comparable, partners_of, weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk(Comparing):
    """How bundles are walked.

    Parameters
    ----------
    method, shingling, threshold, boundary
        See ``Comparing``.
    all_pairs : bool, default False
        Whether matches with removed documents are wanted too; then they tell nothing of who is kept.
    """

    all_pairs: bool = False


def walk(rows: Batches, settings: Walk, key: bytes = KEY) -> Batches:
    """Compare each document with its earlier partners that are kept; BUNDLES that meet by bundle give MATCHES.

    A document is removed if and only if an earlier kept partner matches it; references stay. All matches of a
    removed document with kept partners are there.

    Parameters
    ----------
    rows : iterator of RecordBatch
        BUNDLES, those of a bundle together, in the order of ``order``; only one bundle is held, or about 2 MB of text.
    settings : Walk
    key : bytes, 16 of them
        Secret under which the hashes of shingles are numbered, against texts made to be slow; it changes no match.

    Yields
    ------
    RecordBatch
        MATCHES.
    """
    for batch in gather(rows, weights, "bundle"):
        bundles, orders = ints(batch, "bundle"), ints(batch, "order")
        offsets, partners = partners_of(batch)
        bounds = np.append(np.flatnonzero(starts_of(bundles, None)), len(batch))
        capacity = int(offsets[-1])
        left, right, score = (np.empty(capacity, dtype) for dtype in (np.int64, np.int64, np.float64))
        count = walk_bundles(
            bounds, orders, offsets, partners, comparable(batch, settings, key), settings.boundary, settings.threshold,
            settings.all_pairs, np.zeros(len(batch), np.bool_), left, right, score,
        )  # fmt: skip
        assert count >= 0, "a partner is not in the bundle"
        yield batch_of(MATCHES, left[:count], right[:count], score[:count])
