"""The pairs of a job, as a report reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..recipes.decide import Decider
from ..recipes.judging import labels_of
from ..recipes.opening import Opened
from ..values import Int64Array
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import SOURCE_BITS
from .scored import Scored, Scores

if TYPE_CHECKING:
    from ..recipes.pairs import PairsResult


def scored_pairs(
    opened: Opened, decider: Decider, cut: Callable[[], list[pa.RecordBatch]] | None, result: PairsResult
) -> Scored:
    """Return the pairs of a job."""
    s, job = result.summary, opened.settings
    # Keep order is the order of the input, so that the order of a document is its row among all.
    sizes = np.zeros(len(opened.splits), np.int64)
    for batch in decider.found.sketches.select(["position"]).batches():
        sizes += np.bincount(to_numpy(batch["position"]) >> SOURCE_BITS, minlength=len(sizes))
    reading = replace(opened.reading, id=None, priority=None, within=None, free=())
    facts = [
        ("documents", f"{s['documents']:,}"), ("reference documents", f"{s['reference']:,}"),
        ("pairs compared", f"{s['candidate_pairs']:,}"),
        ("recall planned", f"{s['recall_planned']:.4f}"),
    ]  # fmt: skip
    left_out = [("without any token", s["empty"], "they match nothing")]
    warnings = ["The list was cut by max_pairs: there are more pairs."] if s["cut_by_max_pairs"] else []
    if job.verify != "exact":
        warnings.append("Scores are estimates: some pairs below the threshold are listed, and some above it are not.")
    return Scored(
        job="pairs", score=s["score"], threshold=job.threshold, total=s["pairs"],
        pairs=result.listing.pairs if cut is None else lambda: _cut(cut()), ids=lambda rows: _ids(opened, decider, rows),
        found=lambda score: float(job.finder.recall(min(max(score, 0.0), 1.0))), sources=opened.splits,
        starts=np.concatenate([[0], np.cumsum(sizes)]), n_references=opened.reading.n_references, readings=(reading, reading),
        shingling=job.shingling, settings=result.provenance["parameters"], facts=facts, left_out=left_out,
        chosen=job, seconds=s["seconds"], warnings=warnings,
    )  # fmt: skip


def _cut(batches: list[pa.RecordBatch]) -> Scores:
    """Yield the pairs of a list that was limited."""
    for batch in batches:
        yield to_numpy(batch["left"]), to_numpy(batch["right"]), to_numpy(batch["score"])


def _ids(opened: Opened, decider: Decider, rows: Int64Array) -> list[Any]:
    """Return the ids of some rows, which ascend."""
    found, labels = decider.found, labels_of(opened, decider.found)
    names = [name for name in ("order", "position", "number", "id") if name in found.sketches.schema.names]
    ids: dict[int, Any] = {}
    for batch in _chosen(found.sketches.select(names).batches(), rows):
        given = batch["id"] if "id" in names else None
        made = labels.ids(to_numpy(batch["position"]), to_numpy(batch["number"]), given)
        ids.update(zip(to_numpy(batch["order"]).tolist(), made.to_pylist(), strict=True))
    return [ids[row] for row in rows.tolist()]


def _chosen(batches: Iterator[pa.RecordBatch], orders: Int64Array) -> Iterator[pa.RecordBatch]:
    """Yield the rows of some orders."""
    for batch in batches:
        at = np.flatnonzero(np.isin(to_numpy(batch["order"]), orders))
        if len(at):
            yield batch.take(to_arrow(at))
