"""Crowded documents that hold the same rare code are linked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import rare as kernel
from ..kernels.banding import find_buckets
from ..kernels.crowds import equal_to, last_run
from ..values import Int64Array
from ..values.arrow import to_numpy
from ._links import written

_NO_SHIFT = np.uint64(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rare:
    """How the holders of a code are linked.

    Parameters
    ----------
    boundary : int >= 0
        Orders below it are references, which are not linked with each other.
    heads : int >= 0
        First holders, with which those are linked that the code is beyond the budget of.
    budget : int >= 0
        No code within a budget has more holders.
    """

    boundary: int
    heads: int = 4
    budget: int = 384


def rare(rows: Iterator[pa.RecordBatch], settings: Rare) -> Iterator[pa.RecordBatch]:
    """Link each holder of a code with earlier ones: with all if the code is within its budget, else with the first.

    Notes
    -----
    Held: the first ``budget`` holders of the last code of a batch.
    """
    code, first = -1, np.empty(0, np.int64)
    for batch in rows:
        if not batch.num_rows:
            continue
        codes, orders = (to_numpy(batch[name]) for name in ("code", "order"))
        within = to_numpy(batch["within_budget"])
        more = equal_to(codes, code)
        if more:
            known = len(first)
            first = np.concatenate([first, orders[:more]])
            flags = np.concatenate([np.zeros(known, np.bool_), within[:more]])
            yield from _links(first, flags, np.array([[0, len(first)]]), settings, known)
        if more < len(codes):
            codes, orders, within = codes[more:], orders[more:], within[more:]
            bounds = np.empty((len(codes) // 2 + 1, 2), np.int64)
            bounds = bounds[: find_buckets(codes.view(np.uint64), _NO_SHIFT, bounds)]
            yield from _links(orders, within, bounds, settings)
            code, first = int(codes[-1]), orders[last_run(codes) :]
        first = first[: max(settings.budget, settings.heads)].copy()


def _links(
    orders: Int64Array, within: NDArray[np.bool_], bounds: Int64Array, settings: Rare, done: int = 0
) -> Iterator[pa.RecordBatch]:
    """Yield the links of the holders of some codes, without those of the first ``done`` holders of the first code."""
    heads, boundary = settings.heads, settings.boundary
    total = kernel.count_holder_links(orders, within, bounds, heads, boundary, done)
    return written(
        total, lambda at, left, right: kernel.holder_links(orders, within, bounds, heads, boundary, at, left, right), done
    )
