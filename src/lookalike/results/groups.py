"""Who stands for whom, from decisions: groups of documents, and the row of each one's keeper."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..values import Int64Array
from ..values.arrow import string, to_arrow, to_numpy
from .rows import Rows, collect, filtered


def groups_of(decisions: Rows, against: bool) -> pa.Table:
    """Return a row for each kept document that stands for others: ``id, [is_reference], n_exact, n_duplicates, duplicates``."""
    names = ["order", "reason", "id", "n_exact", "n_duplicates"]
    keepers = filtered(decisions.select(names), lambda batch: to_arrow(to_numpy(batch.column("n_duplicates")) > 0))
    removed = filtered(decisions.select(["id", "keeper", "kept"]), _removed_for_one)
    order = to_numpy(keepers["order"])
    by_order = np.argsort(order)
    place = by_order[np.searchsorted(order[by_order], to_numpy(removed["keeper"]))]
    ids = removed["id"].combine_chunks().take(to_arrow(np.argsort(place, kind="stable")))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=len(order)))])
    columns = {"id": keepers["id"]} | ({"is_reference": pc.equal(keepers["reason"], string("reference"))} if against else {})
    columns |= {name: keepers[name] for name in ("n_exact", "n_duplicates")}
    return pa.table(columns | {"duplicates": pa.LargeListArray.from_arrays(to_arrow(offsets), ids)})


def _removed_for_one(batch: pa.RecordBatch) -> pa.Array:
    """Tell which documents are removed for a kept one, not dropped as empty."""
    return pc.and_not(pc.is_valid(batch.column("keeper")), batch.column("kept"))


def clusters_of(decisions: Rows, n_reference: int) -> Int64Array:
    """Return for each input row the row of its keeper, its own if there is none; -1 for the first reference, and so on."""
    told = collect(decisions.select(["order", "keeper"]))
    order = to_numpy(told["order"])
    row = np.empty(len(order), np.int64)
    row[order] = np.arange(len(order))
    keeper = row[to_numpy(pc.coalesce(told["keeper"], told["order"]))][n_reference:]
    return np.asarray(np.where(keeper >= n_reference, keeper - n_reference, -1 - keeper), np.int64)
