"""What is added to the rows of an input when they are written with all that was decided about them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..values.arrow import to_arrow, to_numpy


def naming(against: bool) -> list[str]:
    """Return the columns of decisions that name the kept document of a row."""
    return ["duplicate_of", *(("duplicate_source", "duplicate_is_reference") if against else ())]


def annotating(scores: Mapping[str, str], against: bool) -> list[str]:
    """Return the columns of decisions that annotations are made of."""
    return ["kept", *naming(against), *scores, "cluster"]


def annotated(decisions: pa.Table, scores: Mapping[str, str], against: bool) -> pa.Table:
    """Return the columns that annotation adds to some rows.

    Parameters
    ----------
    decisions : pyarrow.Table
        The columns ``annotating`` of these rows.
    scores : mapping of str to str
        What the columns of scores are called.
    against : bool
        Whether there are reference documents.
    """
    told = decisions.rename_columns([{"kept": "keep", **scores}.get(name, name) for name in decisions.column_names])
    if not against:
        return told
    own = to_arrow(np.zeros(len(told), np.bool_), to_numpy(told["cluster"].is_null()))
    return told.append_column("cluster_is_reference", pc.coalesce(told["duplicate_is_reference"], own))
