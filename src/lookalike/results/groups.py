"""Who stands for whom: groups of documents, the row of each one's keeper, and the same at a higher threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..steps.groups import REASONS
from ..steps.keep import decide
from ..theory import shares
from ..values import Int64Array, Pairs
from ..values.arrow import string, strings, to_arrow, to_numpy
from .members import FOR_ANOTHER
from .rows import Rows, collect, filtered, of_reason


def groups_of(decisions: Rows, against: bool) -> pa.Table:
    """Return a row for each kept document that stands for others: ``id, [is_reference], n_exact, n_duplicates, duplicates``."""
    names = ["order", "reason", "id", "n_exact", "n_duplicates"]
    keepers = filtered(decisions.select(names), lambda batch: to_arrow(to_numpy(batch.column("n_duplicates")) > 0))
    removed = filtered(decisions.select(["id", "keeper", "reason"]), lambda batch: to_arrow(of_reason(batch, *FOR_ANOTHER)))
    order = to_numpy(keepers["order"])
    by_order = np.argsort(order)
    place = by_order[np.searchsorted(order[by_order], to_numpy(removed["keeper"]))]
    ids = removed["id"].combine_chunks().take(to_arrow(np.argsort(place, kind="stable")))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=len(order)))])
    columns = {"id": keepers["id"]} | ({"is_reference": pc.equal(keepers["reason"], string("reference"))} if against else {})
    columns |= {name: keepers[name] for name in ("n_exact", "n_duplicates")}
    return pa.table(columns | {"duplicates": pa.LargeListArray.from_arrays(to_arrow(offsets), ids)})


def clusters_of(decisions: Rows, n_reference: int) -> Int64Array:
    """Return for each input row the row of its keeper, its own if there is none; -1 for the first reference, and so on."""
    told = collect(decisions.select(["order", "keeper"]))
    order = to_numpy(told["order"])
    row = np.empty(len(order), np.int64)
    row[order] = np.arange(len(order))
    keeper = row[to_numpy(pc.coalesce(told["keeper"], told["order"]))][n_reference:]
    return np.asarray(np.where(keeper >= n_reference, keeper - n_reference, -1 - keeper), np.int64)


def walk_again(decisions: pa.Table, pairs: pa.Table, threshold: float, slots: int) -> tuple[pa.Table, pa.Table]:
    """Walk in keep order again, by the pairs that reach a threshold."""
    pairs = pairs.filter(pc.greater_equal(pairs["resemblance"], threshold))
    order = to_numpy(decisions["order"])
    n = len(order)
    row = np.empty(n, np.int64)
    row[order] = np.arange(n)
    reference = to_numpy(pc.equal(decisions["reason"], string("reference")))
    skipped = to_numpy(pc.equal(decisions["reason"], string("skipped")))
    override = to_numpy(pc.equal(decisions["reason"], string("override")))
    by_key = to_numpy(pc.equal(decisions["reason"], string("key")))
    dropped = skipped | override | to_numpy(pc.equal(decisions["reason"], string("empty")))
    ends = np.sort(np.column_stack([to_numpy(pairs["left"]), to_numpy(pairs["right"])]), axis=1)
    score = to_numpy(pairs["resemblance"])
    judged = np.flatnonzero(~reference[row[ends[:, 1]]])
    judged = judged[np.lexsort((ends[judged, 1], ends[judged, 0]))]
    left, right = ends[judged, 0].copy(), ends[judged, 1].copy()
    walked = decide(Pairs(left=left, right=right, n_rows=n, resemblance=np.clip(score[judged], 0.0, 1.0))).keeper

    leader = to_numpy(decisions["leader"])
    keeper = np.where(reference, order, walked[leader])
    kept, near = keeper == order, ~reference & ~by_key & (walked[leader] != leader)
    keeper[dropped], kept[dropped], near[dropped] = order[dropped], False, False
    if "override" in decisions.column_names:
        spared = to_numpy(pc.equal(decisions["override"], string("keep")), False) & ~skipped
        keeper[spared], kept[spared], near[spared] = order[spared], True, False
    removed = ~kept & ~dropped
    by = np.zeros(n, np.int64)  # the pair by which a row is removed
    by[near] = judged[np.searchsorted(left * n + right, keeper[near] * n + leader[near])]
    resemblance = np.where(near, score[by] if len(score) else 0.0, 1.0)
    n_exact, n_duplicates = (np.bincount(keeper[some], minlength=n)[order] for some in (removed & ~near & ~by_key, removed))
    told = {"reference": reference, "skipped": skipped, "override": override, "empty": dropped, "kept": kept, "near": near}
    told["key"] = by_key
    reason = np.select(list(told.values()), [REASONS.index(name) for name in told], REASONS.index("exact"))
    scored = removed & ~by_key
    columns: dict[str, Any] = {
        "kept": to_arrow(kept),
        "reason": strings(REASONS).take(to_arrow(reason)),
        "keeper": to_arrow(keeper, dropped),
        "duplicate_of": _taken(decisions["id"], row[keeper], removed),
        "duplicate_source": _taken(decisions["source"], row[keeper], removed),
        "duplicate_is_reference": to_arrow(reference[row[keeper]], ~removed),
        "resemblance": to_arrow(resemblance, ~scored),
        "cluster": _taken(decisions["id"], row[keeper], ~dropped),
        "n_exact": to_arrow(n_exact),
        "n_duplicates": to_arrow(n_duplicates),
    }
    if "standard_error" in decisions.column_names:
        columns["standard_error"] = to_arrow(shares.share_error(resemblance * slots, slots), ~scored)
    if "distance" in decisions.column_names:
        distance = to_numpy(pairs["distance"])
        columns["distance"] = to_arrow(np.where(near, distance[by] if len(distance) else 0, 0), ~scored)
    for name, column in columns.items():
        at = decisions.schema.get_field_index(name)
        decisions = decisions.set_column(at, decisions.schema.field(at), column)
    return decisions, pairs


def _taken(column: pa.ChunkedArray, rows: Int64Array, there: NDArray[np.bool_]) -> pa.ChunkedArray:
    """Return some values of a column, null for those that are not there."""
    return column.take(to_arrow(rows, ~there))


def keeper_columns(against: bool) -> list[str]:
    """Return the columns of decisions that name the kept document of a row."""
    return ["duplicate_of", *(("duplicate_source", "duplicate_is_reference") if against else ())]


def annotation_columns(scores: Mapping[str, str], against: bool) -> list[str]:
    """Return the columns of decisions that annotations are made of."""
    return ["kept", *keeper_columns(against), *scores, "cluster"]


def annotated(decisions: pa.Table, scores: Mapping[str, str], against: bool) -> pa.Table:
    """Return the columns that annotation adds to some rows, counts last."""
    told = decisions.rename_columns([{"kept": "keep", **scores}.get(name, name) for name in decisions.column_names])
    if not against or "cluster" not in told.column_names:
        return told
    own = to_arrow(np.zeros(len(told), np.bool_), to_numpy(told["cluster"].is_null()))
    of_reference = pc.coalesce(told["duplicate_is_reference"], own)
    return told.add_column(told.column_names.index("cluster") + 1, "cluster_is_reference", of_reference)
