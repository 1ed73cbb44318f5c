"""The lowest four bits of each code, two codes a byte: what the cut compares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..kernels.cut import pack_nibbles
from ._binary import words_of

WORD_BYTES, NIBBLES_OF_WORD = 8, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Nibbles:
    """How many codes a document has."""

    slots: int

    def schema(self, codes: pa.Schema) -> pa.Schema:
        """Return the columns that come of those of some documents."""
        kind = pa.binary(packed_width(self.slots))
        return pa.schema([field.with_type(kind) if field.name == "code" else field for field in codes])


def packed_width(slots: int) -> int:
    """Return the bytes of so many nibbles: whole words."""
    return WORD_BYTES * -(-slots // NIBBLES_OF_WORD)


def nibbles(rows: Iterator[pa.RecordBatch], settings: Nibbles) -> Iterator[pa.RecordBatch]:
    """Pack the codes of documents."""
    width = packed_width(settings.slots)
    for batch in rows:
        codes = words_of(batch["code"], 2 * settings.slots, np.uint16)
        out = np.empty((len(codes), width // WORD_BYTES), np.uint64)
        pack_nibbles(codes, out)
        packed = pa.Array.from_buffers(pa.binary(width), len(codes), [None, pa.py_buffer(out)])
        columns = [packed if name == "code" else batch[name] for name in batch.schema.names]
        yield pa.RecordBatch.from_arrays(columns, schema=settings.schema(batch.schema))
