"""Columns that Spark sorts by give the order that is wanted."""

import pyarrow as pa
from cut_tables import batches, cuts
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.spark.order import Ranking, frame_keys, key_fields, with_frame_keys, with_ranking
from lookalike.values.tables import SOURCE_BITS

integer = pa.int64()
MOST = (1 << 63) - 1
SKETCHES = pa.schema([("position", integer), ("bytes", integer), ("priority", pa.large_binary())])
FRAMES = pa.schema(
    [("position", integer), ("id", pa.large_string()), ("id_is_text", pa.bool_()), ("order_by", pa.large_binary())]
)
values = st.sampled_from([b"", b"\1", b"\1a", b"\1\xff", b"\xff", b"\2"])
rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), values), max_size=25)


def ranked(step, schema, found, keys, cut, **settings):
    """Rows as Spark sorts them: by numbers and bytes alone."""
    keyed = pa.schema([*schema, *key_fields(keys)])
    given_rows = batches({name: [row[i] for row in found] for i, name in enumerate(schema.names)}, schema, cut)
    made = pa.Table.from_batches(step(given_rows, schema=keyed, **settings), keyed)
    assert made.schema == keyed
    made = made.sort_by([(name, "ascending" if up else "descending") for name, up in keys])
    return [tuple(row.values()) for row in made.select(schema.names).to_pylist()]


@given(rows, st.sampled_from(["bytes", "-bytes", "priority", "-priority", "-position", "position"]), st.booleans(), cuts)
def test_references_come_first_then_the_column_then_positions(found, by, references, cut):
    found = [((source << SOURCE_BITS) + i, size, value) for i, (source, size, value) in enumerate(found)]
    boundary = references << SOURCE_BITS
    ranking = Ranking((by, "position") if by.strip("-") != "position" else (by,), boundary)
    place = SKETCHES.names.index(by.removeprefix("-"))

    def key(row):
        value = row[place]
        number = value if isinstance(value, int) else int.from_bytes(value.ljust(4, b"\0")) * 8 + len(value)
        return (True, value == b"", -number if by.startswith("-") else number, row[0])

    wanted = sorted(found, key=lambda row: key(row) if row[0] >= boundary else (False, False, row[0], 0))
    assert ranked(with_ranking, SKETCHES, found[::-1], ranking.keys, cut, ranking=ranking) == wanted


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

    told = ranked(with_frame_keys, schema, found, frame_keys(schema), cut)
    assert list(map(key, told)) == sorted(map(key, found))
