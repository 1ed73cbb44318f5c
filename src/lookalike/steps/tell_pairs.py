"""Tell pairs by what their documents are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..inputs.ids import Labels
from ..methods.method import Method
from ..values.arrow import to_arrow, to_numpy
from ._batches import Batches, batch_of, ints
from .decide import distances

POSITIONS = pa.schema([("left_position", pa.int64()), ("right_position", pa.int64())])


@dataclass(frozen=True, slots=True, kw_only=True)
class TellPairs:
    """How pairs are told.

    Parameters
    ----------
    schema : pyarrow.Schema
        left and right (orders), left_id, right_id, left_is_reference, resemblance and, perhaps, standard_error or distance.
    labels : Labels
        What documents are called.
    method : Method
        What scores are.
    boundary : int
        Orders below it are references.
    """

    schema: pa.Schema
    labels: Labels
    method: Method
    boundary: int

    @property
    def told(self) -> pa.Schema:
        """The columns that come of it."""
        return pa.schema([*self.schema, *POSITIONS])


def tell_pairs(rows: Batches, settings: TellPairs) -> Batches:
    """Tell pairs; the document that comes first in the input is on the left."""
    for batch in rows:
        swapped = ints(batch, "left_position") > ints(batch, "right_position")
        own = to_arrow(~swapped)

        def side(which: str, name: str, own: pa.Array = own, batch: pa.RecordBatch = batch) -> pa.Array:
            """A column of the document that comes first, or second, in the input."""
            one, other = ("left", "right") if which == "left" else ("right", "left")
            return pa.compute.if_else(own, batch.column(f"{one}{name}"), batch.column(f"{other}{name}"))

        score = to_numpy(batch.column("score"))
        named, fingerprints = ("left_id" in batch.schema.names), ("left_keys" in batch.schema.names)
        distance = np.zeros(len(batch), np.int64)
        if fingerprints:
            distance = distances(batch.column("left_keys"), batch.column("right_keys"))
        columns: dict[str, Any] = {which: side(which, "") for which in ("left", "right")}
        for which in ("left", "right"):
            columns[f"{which}_position"] = side(which, "_position")
            numbers = to_numpy(side(which, "_number"))
            given = side(which, "_id") if named else None
            columns[f"{which}_id"] = settings.labels.ids(to_numpy(columns[f"{which}_position"]), numbers, given)
        columns["left_is_reference"] = to_arrow(to_numpy(columns["left"]) < settings.boundary)
        columns |= settings.method.columns(score, distance, np.zeros(len(score), np.bool_))
        columns["resemblance"] = score
        yield batch_of(settings.told, *(columns[name] for name in settings.told.names))
