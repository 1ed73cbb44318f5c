"""Name the document that stands for each removed one: of its matches with kept ones the best."""

from __future__ import annotations

import numpy as np

from ..values.arrow import to_numpy
from ..values.tables import STANDING
from ._batches import Batches, batch_of, ints, starts_of


def name(rows: Batches) -> Batches:
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
        yield batch_of(STANDING, rights[:-1], lefts[:-1], scores[:-1])  # of the last one more may come
        rights, lefts, scores = rights[-1:], lefts[-1:], scores[-1:]
    if len(rights):
        yield batch_of(STANDING, rights, lefts, scores)
