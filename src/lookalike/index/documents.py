"""Documents of an index by their ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ..text.texts import Texts
from ..values import Int64Array
from .answers import ID_TYPES, ids_of, texts_of
from .manifest import Manifest
from .segments import Segment, hash_ids


def find(segments: Sequence[Segment], names: Texts) -> tuple[Int64Array, Int64Array]:
    """Return (segment, row) of the documents of some ids; -1 for those that are not there."""
    hashes = hash_ids(names)
    segment_of, row_of = np.full(len(names), -1), np.full(len(names), -1)
    for number, segment in enumerate(segments):
        rows = segment.find_ids(names, hashes)
        segment_of[rows >= 0] = number
        row_of[rows >= 0] = rows[rows >= 0]
    return segment_of, row_of


def documents(manifest: Manifest, segments: Sequence[Segment], names: Texts) -> pa.Table:
    """Return the documents of some ids, in their order: ``id``, and ``text`` if the index keeps texts."""
    segment_of, row_of = find(segments, names)
    there = np.flatnonzero(row_of >= 0)
    columns = {"id": pa.array(ids_of(segments, segment_of[there], row_of[there], manifest.ids), ID_TYPES[manifest.ids])}
    if manifest.keep_text:
        pieces = [texts_of(segments[segment_of[i]], row_of[i : i + 1]) for i in there.tolist()]
        columns["text"] = pa.concat_arrays(pieces) if pieces else pa.array([], pa.large_string())
    return pa.table(columns)
