"""Who stands for whom: groups of documents, the row of each one's keeper, and the same at a higher threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..steps.batches import ints_or
from ..steps.decide import STAY, apply_rules
from ..values import Int64Array, Pairs
from ..values.arrow import string, to_arrow, to_numpy
from .members import FOR_ANOTHER
from .rows import Rows, collect, matching_rows, of_reason

_SETTLED = ("reference", "skipped", "override", "key", "empty")  # reasons that no threshold changes


def groups_of(decisions: Rows, against: bool) -> pa.Table:
    """Return a row for each kept document that stands for others: ``id, [is_reference], n_exact, n_duplicates, duplicates``."""
    names = ["order", "reason", "id", "n_exact", "n_duplicates"]
    keepers = matching_rows(decisions.select(names), lambda batch: to_arrow(to_numpy(batch.column("n_duplicates")) > 0))
    removed = matching_rows(
        decisions.select(["id", "keeper", "reason"]), lambda batch: to_arrow(of_reason(batch, *FOR_ANOTHER))
    )
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


def rethreshold(decisions: pa.Table, pairs: pa.Table, threshold: float, slots: int) -> tuple[pa.Table, pa.Table]:
    """Walk in keep order again, by the pairs that reach a threshold."""
    from ..steps.keep import decide  # here, for what few jobs need
    from ..theory import shares

    pairs = pairs.filter(pc.greater_equal(pairs["resemblance"], threshold))
    order = to_numpy(decisions["order"])
    names = [name for name in ("reason", "leader", "id", "source", "override") if name in decisions.column_names]
    told = decisions.select(names).take(to_arrow(np.argsort(order)))
    reference, skipped, removed_by_hand, by_key, empty = (of_reason(told, name) for name in _SETTLED)
    boundary, n = int(np.flatnonzero(reference).max(initial=-1)) + 1, len(order)
    ends = np.sort(np.column_stack([to_numpy(pairs["left"]), to_numpy(pairs["right"])]), axis=1)
    judged = np.flatnonzero(ends[:, 1] >= boundary)
    judged = judged[np.lexsort((ends[judged, 1], ends[judged, 0]))]
    left, right, score = *ends[judged].T.copy(), to_numpy(pairs["resemblance"])[judged]
    walked = decide(Pairs(left=left, right=right, n_rows=n, resemblance=np.clip(score, 0.0, 1.0))).keeper

    own, leader = np.arange(n), to_numpy(told["leader"])
    keeper = walked[leader]
    near = keeper != leader
    by = np.full(n, len(judged))  # the pair by which the first of equal texts is removed
    by[near] = np.searchsorted(left * n + right, keeper[near] * n + leader[near])
    standing, score = to_arrow(keeper, ~near), to_arrow(np.append(score, 1.0)[by])
    columns: dict[str, Any] = {
        "order": to_arrow(own), "leader": to_arrow(leader, leader == own), "by_key": to_arrow(by_key),
        "empty": to_arrow(empty), "skipped": to_arrow(skipped), "keeper": standing, "score": score,
        "leader_keeper": standing, "leader_score": score,
    }  # fmt: skip
    if "override" in names:
        kept_by_hand = to_numpy(pc.equal(told["override"], string("keep")), False)
        columns["override"] = to_arrow(kept_by_hand.astype(np.int64) - removed_by_hand)
    (settled,) = apply_rules(iter([pa.RecordBatch.from_pydict(columns)]), boundary, "drop")
    keeper, unscored = ints_or(settled, "keeper", -1), to_numpy(settled["score"].is_null())
    removed = (keeper >= 0) & (keeper != own)
    n_exact, n_duplicates = (np.bincount(keeper[some], minlength=n) for some in (of_reason(settled, "exact"), removed))
    columns = {
        "kept": pc.is_in(settled["reason"], STAY),
        "reason": settled["reason"],
        "keeper": settled["keeper"],
        "duplicate_of": told["id"].take(to_arrow(keeper, ~removed)),
        "duplicate_source": told["source"].take(to_arrow(keeper, ~removed)),
        "duplicate_is_reference": to_arrow(keeper < boundary, ~removed),
        "resemblance": settled["score"],
        "cluster": told["id"].take(to_arrow(keeper, keeper < 0)),
        "n_exact": to_arrow(n_exact),
        "n_duplicates": to_arrow(n_duplicates),
    }
    if "standard_error" in decisions.column_names:
        scores = to_numpy(settled["score"], 1.0)
        columns["standard_error"] = to_arrow(shares.share_error(scores * slots, slots), unscored)
    if "distance" in decisions.column_names:
        columns["distance"] = to_arrow(np.append(to_numpy(pairs["distance"])[judged], 0)[by], unscored)
    for name, column in columns.items():
        at = decisions.schema.get_field_index(name)
        decisions = decisions.set_column(at, decisions.schema.field(at), column.take(to_arrow(order)))
    return decisions, pairs


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
