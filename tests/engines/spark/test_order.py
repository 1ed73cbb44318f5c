"""Columns that Spark sorts by give the order that is wanted."""

import pyarrow as pa
from cut_tables import batches, cuts
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.spark.order import frame_keys, key_fields, with_frame_keys
from lookalike.values.tables import SOURCE_BITS

integer = pa.int64()
MOST = (1 << 63) - 1
FRAMES = pa.schema(
    [("position", integer), ("id", pa.large_string()), ("id_is_text", pa.bool_()), ("order_by", pa.large_binary())]
)
values = st.sampled_from([b"", b"\1", b"\1a", b"\1\xff", b"\xff", b"\2"])


def ranked(found, schema, cut):
    """Rows as Spark sorts them: by numbers and bytes alone."""
    keys = frame_keys(schema)
    keyed = pa.schema([*schema, *key_fields(keys)])
    given_rows = batches({name: [row[i] for row in found] for i, name in enumerate(schema.names)}, schema, cut)
    made = pa.Table.from_batches(with_frame_keys(given_rows, keyed), keyed)
    assert made.schema == keyed
    made = made.sort_by([(name, "ascending" if up else "descending") for name, up in keys])
    return [tuple(row.values()) for row in made.select(schema.names).to_pylist()]


whole = st.integers(-(1 << 63), (1 << 63) - 1).map(str)


@given(st.lists(st.tuples(st.integers(0, 1), whole, values), max_size=20),
       st.lists(st.tuples(st.integers(0, 1), st.text(min_size=1) | whole, values), max_size=20), st.booleans(), cuts)  # fmt: skip
def test_frames_are_sorted_by_the_column_given_and_ids(numbers, texts, given_one, cut):
    """Integers by value and before strings, strings by their bytes, a value without bytes last, one frame after the other."""
    found = [(source << SOURCE_BITS, name, False, value) for source, name, value in numbers]
    found += [(source << SOURCE_BITS, name, True, value) for source, name, value in texts]
    schema = FRAMES if given_one else pa.schema(list(FRAMES)[:3])
    found = [row[: len(schema)] for row in found]

    def key(row):
        _, name, is_text = row[:3]
        value = row[3] if given_one else b""
        return (row[0], value == b"", value, MOST if is_text else int(name), name.encode())

    told = ranked(found, schema, cut)
    assert list(map(key, told)) == sorted(map(key, found))
