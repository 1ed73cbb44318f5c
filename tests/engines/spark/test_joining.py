"""Joins of packs, however the rows of both sides are cut, against the same in plain Python."""

import pyarrow as pa
import pytest
from cut_tables import batches, cuts
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.spark.packs import LEFT, PACKED, RIGHT, Joining, Packing, join_packs, packed

integer = pa.int64()
LEFTS = pa.schema([("on", integer), ("x", integer)])
RIGHTS = pa.schema([("order", integer), ("score", pa.float64()), ("keys", pa.list_(integer, 2)), ("id", pa.large_string()),
                    ("digest", pa.binary(4)), ("flag", pa.bool_())])  # fmt: skip
order = st.integers(0, 12) | st.integers(0, (1 << 62) - 1)
lefts = st.lists(st.tuples(st.none() | order, st.integers(0, 9)), max_size=30)
right = st.tuples(order, st.none() | st.floats(0, 1), st.none() | st.tuples(order, order), st.none() | st.text(max_size=3),
                  st.none() | st.binary(min_size=4, max_size=4), st.none() | st.booleans())  # fmt: skip


def columns(found, schema):
    """Rows as columns."""
    return {name: [row[i] for row in found] for i, name in enumerate(schema.names)}


def joining(how, left=LEFTS, right=RIGHTS):
    """The settings of a join on ``on``."""
    added = [] if how in ("semi", "anti") else [field.with_name(f"on_{field.name}") for field in right if field.name != "order"]
    return Joining(on="on", how=how, left=left, right=right, schema=pa.schema([*left, *added]))


def joined(settings, left, right, n, cut):
    """Rows of a join, as dictionaries; the packs of a bucket come in any batches, the right ones first."""
    packs = []
    for rows, schema, by, side in ((right, settings.right, "order", RIGHT), (left, settings.left, "on", LEFT)):
        packing = Packing(by=by, cut=n, schema=schema, side=side)
        packs += [row for batch in packed(batches(columns(rows, schema), schema, cut), packing) for row in batch.to_pylist()]
    packs.sort(key=lambda pack: (pack["bucket"], pack["side"]))
    made = list(join_packs(batches({name: [pack[name] for pack in packs] for name in PACKED.names}, PACKED, cut), settings))
    assert all(batch.schema == settings.schema for batch in made)
    return [row for batch in made for row in batch.to_pylist()]


def bag(rows):
    """Rows in any order."""
    return sorted(repr([list(v) if isinstance(v, tuple) else v for v in row.values()]) for row in rows)


@given(lefts, st.lists(right, max_size=20, unique_by=lambda row: row[0]), st.sampled_from(["inner", "left"]), st.integers(1, 9),
       cuts)  # fmt: skip
def test_columns_are_added(left, right, how, n, cut):
    known = {row[0]: row for row in right}
    wanted = [
        {"on": on, "x": x} | dict(zip(RIGHTS.names[1:], known.get(on, [None] * 6)[1:], strict=True))
        for on, x in left if how == "left" or on in known
    ]  # fmt: skip
    assert bag(joined(joining(how), left, right, n, cut)) == bag(wanted)


@given(lefts, st.lists(order, max_size=20), st.sampled_from(["semi", "anti"]), st.integers(1, 9), cuts)
def test_rows_are_chosen(left, right, how, n, cut):
    """Right rows may come again and again; a null matches none."""
    wanted = [{"on": on, "x": x} for on, x in left if (on in set(right)) == (how == "semi")]
    settings = joining(how, right=pa.schema([("order", integer)]))
    assert bag(joined(settings, left, [(o,) for o in right], n, cut)) == bag(wanted)


@pytest.mark.parametrize("names", [["on_id"], ["x", "on_keys"], ["on_flag", "on", "on_id"], ["x"]], ids=str)
def test_columns_that_nobody_asks_for_are_not_joined(names):
    settings = joining("left").of(names)
    assert set(settings.schema.names) == {"on", *names}
    assert settings.left.names == [name for name in LEFTS.names if name in ("on", *names)]
    assert settings.right.names == ["order", *(name for name in RIGHTS.names if f"on_{name}" in names)]
    row = {"on": 3, "x": 1, "order": 3, "score": None, "keys": [1, 2], "id": "é", "digest": None, "flag": True}
    one, other = ([tuple(row[name] for name in schema.names)] for schema in (settings.left, settings.right))
    assert joined(settings, one, other, 2, []) == [{name: row[name.removeprefix("on_")] for name in settings.schema.names}]
