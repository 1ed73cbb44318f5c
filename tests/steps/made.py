"""Tables for tests of steps, and their cuts into batches."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from lookalike.steps import pairs as linking


def cut_at(batch, places):
    """Cut a batch at some places; empty batches come where these are equal."""
    bounds = [0, *sorted(min(place, batch.num_rows) for place in places), batch.num_rows]
    return [batch[a:b] for a, b in pairwise(bounds)]


places = st.lists(st.integers(0, 60), max_size=6)


def columns(**named):
    """A batch of columns of integers, or of pyarrow's arrays."""
    arrays = {name: c if isinstance(c, pa.Array) else pa.array(np.asarray(c, np.int64)) for name, c in named.items()}
    return pa.record_batch(arrays)


def grouped(groups, name="key", value="order"):
    """A batch of groups: {key: orders}."""
    keys = [key for key, members in groups.items() for _ in members]
    return columns(**{name: keys, value: [order for members in groups.values() for order in members]})


def code_column(codes, slots, kind="fixed"):
    """16-bit codes of documents as a binary column."""
    rows = [np.asarray(code, "<u2").tobytes() for code in codes]
    plain = pa.array(
        rows, {"fixed": pa.binary(2 * slots), "small": pa.binary(), "large": pa.large_binary()}.get(kind, pa.binary(2 * slots))
    )
    return plain.dictionary_encode() if kind == "dictionary" else plain


def nibble_column(codes, slots, kind="fixed"):
    """The lowest four bits of 16-bit codes of documents, in whole words, as a binary column."""
    width = 8 * -(-slots // 16)
    rows = [sum((int(c) & 15) << 4 * i for i, c in enumerate(code)).to_bytes(width, "little") for code in codes]
    plain = pa.array(rows, {"small": pa.binary(), "large": pa.large_binary()}.get(kind, pa.binary(width)))
    return plain.dictionary_encode() if kind == "dictionary" else plain


def rows_of(batches, schema=None):
    """The rows of batches as tuples, in order; batches must have the schema, and be of bounded size."""
    out = []
    for batch in batches:
        assert schema is None or batch.schema == schema
        assert batch.num_rows <= linking.AT_A_TIME
        out += [tuple(row.values()) for row in batch.to_pylist()]
    return out
