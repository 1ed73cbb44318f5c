import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from engine_kinds import WITH_SPARK, make
from hypothesis import Phase, settings
from hypothesis import strategies as st

from lookalike.values.tables import SOURCE_BITS

integer = pa.int64()
SKETCHES = pa.schema([("position", integer), ("bytes", integer), ("digest", pa.binary(16)), ("id", "large_string"),
                      ("priority", "large_binary"), ("empty", "bool"), ("keys", pa.list_(integer, 2))])  # fmt: skip
MET = pa.schema([("left", integer), ("right", integer), ("flag", "bool"), ("score", "float64")])
each_kind = pytest.mark.parametrize("kind", WITH_SPARK)
quick = settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
numbers = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 50), st.booleans(), st.floats(0, 1)), max_size=80)
documents = st.lists(
    st.fixed_dictionaries({
        "bytes": st.integers(0, 3), "digest": st.integers(0, 9).map(lambda i: bytes([i]) * 16),
        "id": st.integers(0, 9).map(lambda i: "é" * i), "priority": st.sampled_from([b"", b"\0", b"\1", b"\1a", b"\1ab", b"\1b", b"\1\xff", b"\xff"]),
        "empty": st.booleans(), "keys": st.none() | st.tuples(st.integers(-3, 0), st.integers(1, 9)).map(list),
    }), max_size=60,
)  # fmt: skip


@contextmanager
def running(kind):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        engine = make(kind, Path(folder), patch)
        yield engine
        engine.close()


def sketched(engine, found, by=("position",), references=0):
    rows = [{"position": (row >= references) << SOURCE_BITS | row} | document for row, document in enumerate(found)]
    stored = engine.materialize(engine.rows(pa.Table.from_pylist(rows, SKETCHES)), "sketches")
    table = engine.rank(stored, by, 1 << SOURCE_BITS)
    return table, sorted(rows_of(table), key=lambda row: row["position"])


def rows_of(table):
    batches = list(table.batches())
    assert all(batch.schema == table.schema for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()]


def bag(rows):
    return sorted(repr(sorted(row.items())) for row in rows)


def groups_of(rows, by):
    found = {}
    before = None
    for row in rows:
        if not found or row[by] != before:
            assert row[by] not in found, "a group is parted"
            found[row[by]] = []
        before = row[by]
        found[before].append(row)
    return found


def numbered(rows, schema):
    count = 0
    for batch in rows:
        yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(range(count, count + len(batch)), integer)], schema=schema)
        count += len(batch)


def count_rows(table, engine):
    schema = table.schema.append(pa.field("count", integer))
    return engine.map(table, partial(numbered, schema=schema), schema)


def components(pairs, n):
    """{smallest member: all members} of documents in pairs, which are orders below ``n``."""
    root = list(range(n))
    for _ in range(n):
        for a, b in pairs:
            root[a] = root[b] = min(root[a], root[b])
    inside = {order for pair in pairs for order in pair}
    return {r: [o for o in range(n) if root[o] == r] for r in sorted({root[o] for o in inside})}


def wanted_groups(rows, by, sort):
    found = {}
    for row in sorted(rows, key=lambda row: row[sort]):
        found.setdefault(row[by], []).append(row)
    return found
