"""The tables that pass between steps: their columns and types, which every engine has.

Bits of unsigned words are stored as int64. A column in brackets below is there only where a job needs it.

``position``: the input of a document, its source's number << 40 | its row there; references come first.
``order``: its place in keep order, from 0, references first.

DOCUMENTS    position, number (of the row as a user counts it), text, [id], [priority, priority_1, ...], [document_key] (no
             bytes: none), [within], [across] (40 bytes: a word that enters sketches, and 256 bits by which groups are told
             apart; zeros: no value of ``across``), [column_NAME] (of the inputs, as text)
SKETCHES     position, number, bytes (of text), digest (16 bytes, keyed, of ``within`` and text; in jobs with ``ignore``
             zeros: no token, or removed by hand), empty, keys (none of an empty document), [code] (16 bits a slot, little
             endian), [estimate] (slots set aside for estimates, 32 bits each), [id], [priority, ...], [document_key] (16
             bytes, keyed; zeros: none), [within], [across] (16 bytes, keyed; zeros: no value), [override] (what people
             decided by hand: see ``steps.override``), [column_NAME]; after ranking also order
REPRESENTATIVES  order, leader: of each copy, the first of its set of equal texts; a document that is its own leader has no row.
             With keys also by_key, for documents that are removed by theirs, of which the leader is that of who represents it
LINKS        left, right: orders, left < right; left = right marks a document that is in a crowd; repeats may come
RARE_CODE_POSTINGS  code (slot << 16 | code), order, count (of crowded documents with that code), within_budget
CODE_PAIRS   key (of two slots and their codes, 32 bits of a hash), order
PREFIXES     key (64 bits of a hash of a shingle), order, extent (shingles of the document << 32 | place of this one among
             them, rare ones first), set (64 bits of a hash of all of them), before, before_2, before_3 (keys of those before
             it, or 0); with bits also bits to bits_4: 256, each the parity of the number of shingles whose hashes end in its
             number
SAMPLE_POSTINGS  key (63 bits of a hash of a shingle), holder (a document that has it: see ``native/containment.cpp``)
PROBES       looking (a holder of a shingle of its own sample), held (order of another one, or its own if too many hold it)
SHARED_COUNTS  left, right, sampled, crowded (shingles of the sample of left = right, and how many of them tell nothing; else 0)
PAIRS        left, right: orders, left < right, each pair once
BUNDLES      bundle, order, text or estimate, partners (orders of the earlier documents that it is to be compared with)
MATCHES      left, right, score
SURVIVORS    order, keeper, score: of each removed document that is live
STATES       order, state (OPEN, KEPT or REMOVED), turn (the round in which that was decided)
DECISIONS    a row for each document: see below
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pyarrow as pa

from .arrays import Int64Array
from .arrow import to_numpy

SOURCE_BITS = 40
WITHIN_BYTES = 40
KEY = "document_key"
COLUMN = "column_"
"""How the names of columns begin that hold one of the inputs, as text."""
OPEN, KEPT, REMOVED = 0, 1, 2

_int = pa.int64()
_ints = pa.large_list(_int)
_word128 = pa.binary(16)


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


DOCUMENTS = _schema(position=_int, number=_int, text=pa.large_binary())
SKETCHES = _schema(position=_int, number=_int, bytes=_int, digest=_word128, empty=pa.bool_(), keys=_ints)
REPRESENTATIVES = _schema(order=_int, leader=_int)
LEADERS_AND_KEYS = _schema(order=_int, leader=_int, by_key=pa.bool_())
LINKS = _schema(left=_int, right=_int)
RARE_CODE_POSTINGS = _schema(code=_int, order=_int, count=_int, within_budget=pa.bool_())
CODE_PAIRS = _schema(key=_int, order=_int)
PREFIXES = _schema(key=_int, order=_int, extent=_int, set=_int, before=_int, before_2=_int, before_3=_int)
PREFIXES_AND_BITS = pa.schema([*PREFIXES, *_schema(bits=_int, bits_2=_int, bits_3=_int, bits_4=_int)])
SAMPLE_POSTINGS = _schema(key=_int, holder=_int)
PROBES = _schema(looking=_int, held=_int)
SHARED_COUNTS = _schema(left=_int, right=_int, sampled=_int, crowded=_int)
PAIRS = _schema(left=_int, right=_int)
MATCHES = _schema(left=_int, right=_int, score=pa.float64())
SURVIVORS = _schema(order=_int, keeper=_int, score=pa.float64())
STATES = _schema(order=_int, state=pa.int8(), turn=pa.int8())
BUNDLES = _schema(bundle=_int, order=_int, text=pa.large_binary(), partners=_ints)
DECISIONS = _schema(
    order=_int, position=_int, source=pa.string(), row=_int, number=_int, bytes=_int, kept=pa.bool_(), reason=pa.string(),
    keeper=_int, duplicate_of=pa.string(), duplicate_source=pa.string(), duplicate_is_reference=pa.bool_(),
    resemblance=pa.float64(), cluster=pa.string(), n_exact=_int, n_duplicates=_int,
)  # fmt: skip


def positions_of(rows: Int64Array, starts: Int64Array) -> Int64Array:
    """Return the positions of rows that are counted through all sources, of which each has its first row in ``starts``."""
    source = np.searchsorted(starts, rows, side="right") - 1
    return (source << SOURCE_BITS) + rows - starts[source]


def priority_name(place: int) -> str:
    """Return the name of the column of the priority at a place of the keep policy."""
    return f"priority_{place}" if place else "priority"


def check_values(batch: pa.RecordBatch, bounds: Mapping[str, tuple[float, float]], nullable: Collection[str] = ()) -> None:
    """Check rows that were read back: well-formed, nulls only where there can be some, and numbers within their bounds."""
    batch.validate(full=True)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.null_count and name not in nullable:
            raise ValueError(f"its column {name} has nulls")
        if name in bounds:
            least, most = bounds[name]
            values = to_numpy(column.drop_null() if column.null_count else column)
            if not ((values >= least) & (values <= most)).all():
                raise ValueError(f"its column {name} has values that are not in {least:,} to {most:,}")
