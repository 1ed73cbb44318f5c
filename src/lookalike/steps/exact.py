"""Find copies: documents of equal text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..values.tables import LEADERS
from ._batches import Batches, batch_of, flags, ints
from ._binary import words_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """How copies are found.

    Parameters
    ----------
    boundary : int
        Orders below it are references.
    apart : bool, default False
        Whether references and other documents form sets of their own.
    """

    boundary: int
    apart: bool = False


def exact(rows: Batches, settings: Exact) -> Batches:
    """Name the first document of each set of equal texts, for all the others of it."""
    before = (np.zeros(2, np.uint64), False)
    leader = -1
    for batch in rows:
        if not len(batch):
            continue
        digests, orders = words_of(batch.column("digest"), 16, np.uint64), ints(batch, "order")
        if "empty" in batch.schema.names:
            full = ~flags(batch, "empty")
            digests, orders = digests[full], orders[full]
        if not len(orders):
            continue
        reference = (orders < settings.boundary) & settings.apart
        begins = np.empty(len(orders), np.bool_)
        begins[0] = leader < 0 or (digests[0] != before[0]).any() or reference[0] != before[1]
        begins[1:] = (digests[1:] != digests[:-1]).any(1) | (reference[1:] != reference[:-1])
        leaders = np.append(leader, orders[begins])[np.cumsum(begins)]
        before, leader = (digests[-1].copy(), bool(reference[-1])), int(leaders[-1])
        yield batch_of(LEADERS, orders[~begins], leaders[~begins])
