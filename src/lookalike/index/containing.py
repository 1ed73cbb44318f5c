"""Documents of an index that contain others, by the texts that it keeps: all of them are gone through, and none is missed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from ..core.threads import in_order
from ..errors import ParameterError
from ..search.passages import Passages
from ..text.hashes import KeyedHashes
from ..text.shingle import Shingling
from ..text.texts import Texts
from ..values import Float64Array, Int64Array
from ..values.arrays import concatenate_columns, share, whole
from ..values.arrow import to_arrow
from .answers import ID_TYPES, ids_of
from .manifest import Manifest
from .segments import Segment, best_first

AT_A_TIME = 1000  # documents of a segment whose texts are held
MANY = 1 << 20  # matches that are held beside the best
Held = tuple[int, Int64Array, Texts]
Matches = tuple[Int64Array, Int64Array, Int64Array, Float64Array]
"""Query, segment, row and score of each."""


def containing(
    manifest: Manifest, segments: tuple[Segment, ...], shingling: Shingling, asked: Texts, *, threshold: float, top: int | None,
    threads: int,
) -> pa.Table:  # fmt: skip
    """Return the documents that have at least a share of the shingles of texts: query, id, containment; the best first, and
    equally good ones in the order of the index, which merging can change."""
    if not manifest.keep_text:
        raise ParameterError(
            "containment is measured on the texts, and this index keeps none: its sketches show resemblance only; create an "
            "index that keeps them with --keep-text (keep_text=True)"
        )
    top, threads = None if top is None else whole("top", top, 1), whole("threads", threads, 1)
    threshold = share("threshold", threshold)
    hashing = KeyedHashes(shingling, os.urandom(16))
    values, offsets = hashing.hashes(asked)
    passages = Passages.of(values.copy(), offsets, None, threshold)

    def work(held: Held) -> Matches:
        number, rows, texts = held
        row, passage, score = passages.containing(*hashing.hashes(texts), threshold, 0.0)
        return passages.document[passage], np.full(len(row), number), rows[row], score

    none = np.empty(0, np.int64)
    matches, more, n = (none, none, none, np.empty(0)), list[Matches](), 0
    for some in in_order(work, _held_documents(segments), threads):
        more.append(some)
        n += len(some[0])
        if n > MANY + len(matches[0]):
            matches, more, n = best([matches, *more], top), [], 0
    query, segment, row, score = best([matches, *more], top)
    ids = ids_of(segments, segment, row, manifest.ids)
    return pa.table({
        "query": to_arrow(query), "id": pa.array(ids, ID_TYPES[manifest.ids]), "containment": to_arrow(score),
    })  # fmt: skip


def best(parts: Sequence[Matches], top: int | None) -> Matches:
    """Return the best matches of each query, the best first."""
    query, segment, row, score = concatenate_columns(parts)
    order = best_first(query, segment, row, score, top)
    return query[order], segment[order], row[order], score[order]


def _held_documents(segments: tuple[Segment, ...]) -> Iterator[Held]:
    """Yield (segment, rows, texts) of some documents at a time."""
    for number, segment in enumerate(segments):
        for rows in np.array_split(segment.live, 1 + segment.n_live // AT_A_TIME):
            texts = segment.take("text", rows)
            for begin, end in texts.cut():
                yield number, rows[begin:end], texts.slice(begin, end)
