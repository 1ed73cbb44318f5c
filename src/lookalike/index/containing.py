"""Documents of an index that contain others, by the texts that it keeps: all of them are gone through, and none is missed."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from ..errors import ParameterError
from ..kernels.threads import in_order
from ..search.passages import Passages
from ..text.hashes import KeyedHashes
from ..text.shingle import Shingling
from ..text.texts import Texts
from ..values import Float64Array, Int64Array
from ..values.arrow import to_arrow
from .answers import ID_TYPES, ids_of
from .manifest import Manifest
from .segments import Segment

AT_A_TIME = 1000  # documents of a segment whose texts are held
Held = tuple[int, Int64Array, Texts]


def containing(
    manifest: Manifest, segments: tuple[Segment, ...], shingling: Shingling, asked: Texts, *, threshold: float, top: int | None,
    threads: int,
) -> pa.Table:  # fmt: skip
    """Return the documents that have at least a share of the shingles of texts: query, id, containment; the best first, and
    of equally good ones the first that was added."""
    if not manifest.keep_text:
        raise ParameterError(
            "containment is measured on the texts, and this index keeps none: its sketches show resemblance only; create an "
            "index that keeps them (keep_text=True, --keep-text)"
        )
    if not 0.0 < threshold <= 1.0:
        raise ParameterError(f"threshold must be in (0, 1]; got {threshold}")
    hashing = KeyedHashes(shingling, os.urandom(16))
    values, offsets = hashing.hashes(asked)
    passages = Passages.of(values.copy(), offsets, None, threshold)

    def work(held: Held) -> tuple[Int64Array, Int64Array, Int64Array, Float64Array]:
        number, rows, texts = held
        row, passage, score = passages.containing(*hashing.hashes(texts), threshold, 0.0)
        return passages.document[passage], np.full(len(row), number), rows[row], score

    none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    found = [none, *in_order(work, _held(segments), threads)]
    query, segment, row, score = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((row, segment, -score, query))
    place = np.arange(len(order)) - np.searchsorted(query[order], query[order])  # among the matches of its query
    order = order if top is None else order[place < top]
    ids = ids_of(segments, segment[order], row[order], manifest.ids)
    return pa.table({
        "query": to_arrow(query[order]), "id": pa.array(ids, ID_TYPES[manifest.ids]), "containment": to_arrow(score[order]),
    })  # fmt: skip


def _held(segments: tuple[Segment, ...]) -> Iterator[Held]:
    """Yield (segment, rows, texts) of some documents at a time."""
    for number, segment in enumerate(segments):
        for rows in np.array_split(segment.live, 1 + segment.n_live // AT_A_TIME):
            texts = segment.take("text", rows)
            for begin, end in texts.cut():
                yield number, rows[begin:end], texts.slice(begin, end)
