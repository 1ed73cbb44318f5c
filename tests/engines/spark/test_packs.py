"""Rows are cut into packs and put together again, each group whole and sorted, or joined, however they were cut."""

import random

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import batches, cuts
from engine_rows import groups_of
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike.engines.spark import packs as spark_packs
from lookalike.engines.spark import sorting as spark_sorting
from lookalike.engines.spark.packs import (
    LEFT,
    PACKED,
    PART_BITS,
    RIGHT,
    JoinSettings,
    Packing,
    exploded,
    join_packs,
    pack_batches,
    unpacked,
)
from lookalike.values.arrow import to_numpy
from lookalike.values.tables import LINKS

integer = pa.int64()
ROWS = pa.schema([("by", integer), ("order", integer), ("flag", pa.bool_()), ("keys", pa.list_(integer, 2))])
whole = st.integers(-(1 << 63), (1 << 63) - 1)
rows = st.lists(st.tuples(st.integers(-3, 3) | whole, whole, st.none() | st.booleans(), st.none() | st.tuples(whole, whole)),
                max_size=40)  # fmt: skip


def columns(found, schema):
    """Rows as columns."""
    return {name: [row[i] for row in found] for i, name in enumerate(schema.names)}


def by_alone(values):
    """Rows with one column, by which they meet."""
    return pa.record_batch({"by": pa.array(values, integer)})


def shuffled(made, cut=()):
    """What Spark does with packs: any order within a bucket, cut anywhere."""
    packs = [row for batch in made for row in batch.to_pylist()]
    random.Random(1).shuffle(packs)
    packs.sort(key=lambda row: row["bucket"])
    return batches({name: [pack[name] for pack in packs] for name in PACKED.names}, PACKED, cut)


def met(given, settings, sort, cut, once=False):
    """Rows that meet, as dictionaries."""
    made = list(pack_batches(given, settings))
    assert all(batch.schema == PACKED for batch in made)
    found = list(unpacked(shuffled(made, cut), settings, sort, once))
    assert all(batch.schema == settings.schema for batch in found)
    return [row for batch in found for row in batch.to_pylist()]


@given(rows, st.integers(1, 70), cuts, cuts, st.integers(1, 300))
def test_rows_meet(found, n, cut, again, held):
    """Tasks pack a few rows at a time."""
    settings = Packing(by="by", cut=n, schema=ROWS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_packs, "HELD_BYTES", held)
        patch.setattr(spark_sorting, "BATCH_BYTES", held)
        groups = groups_of(met(batches(columns(found, ROWS), ROWS, cut), settings, ("order",), again), "by")
    told = [(row["by"], row["order"], row["flag"], row["keys"] and tuple(row["keys"])) for g in groups.values() for row in g]
    assert sorted(map(repr, told)) == sorted(map(repr, found))
    assert all([row["order"] for row in group] == sorted(row["order"] for row in group) for group in groups.values())


@given(st.lists(st.integers(0, 50), max_size=30), st.lists(st.integers(0, 60), max_size=6), cuts, cuts)
@example([5, 5, 7], [5, 5, 7], [], [])
def test_rows_meet_by_runs_of_integers(found, begins, cut, again):
    """The rows of all buckets, one after the other, are sorted."""
    begins.sort()
    schema = pa.schema([("position", integer)])
    settings = Packing(by="position", cut=pa.array(begins, integer).to_numpy(), schema=schema)
    made = list(pack_batches(batches({"position": found}, schema, cut), settings))
    for batch in made:
        for pack in batch.to_pylist():
            low, high = [-1, *begins][pack["bucket"]], [*begins, 99][pack["bucket"]]
            places = pa.ipc.read_record_batch(pa.py_buffer(pack["pack"]), schema)["position"].to_pylist()
            assert all(low <= place < high for place in places)
    sorted_again = unpacked(shuffled(made, again), settings, (), False)
    assert [row["position"] for batch in sorted_again for row in batch.to_pylist()] == sorted(found)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3) | st.integers(0, 1 << 40)), max_size=30), cuts, st.booleans())
def test_of_equal_rows_one_is_enough(found, cut, parted):
    schema = pa.schema([("left", integer), ("right", integer)])
    settings = Packing(by="left", cut=3, schema=schema, parted="right" if parted else None)
    once = met(batches(columns(found, schema), schema, cut), settings, ("right",), [], once=True)
    assert sorted((row["left"], row["right"]) for row in once) == sorted(set(found))


def test_large_groups_of_which_one_row_is_enough_are_parted():
    """Those of neighbours, too: the first of a crowd often are; small groups are not."""
    settings = Packing(by="left", cut=100, schema=LINKS, parted="right")
    columns = {"left": [left for left in range(8) for _ in range(12)], "right": [i << PART_BITS for i in range(12)] * 8}
    buckets, _ = settings.bucket_of(pa.record_batch(columns))
    assert len(set(buckets.tolist())) > 45 and max(np.bincount(buckets)) < 8
    whole, _ = settings.bucket_of(pa.record_batch({"left": [5] * 1000, "right": range(1000)}))
    assert len(set(whole.tolist())) == 1


def test_integers_that_follow_each_other_are_spread_evenly():
    """Also multiples, and those that differ in their first bits alone."""
    for some in (range(10_000), range(0, 10_000 << 12, 1 << 12), [i << 49 for i in range(10_000)]):
        buckets, n = Packing(by="by", cut=100, schema=ROWS).bucket_of(by_alone(list(some)))
        counts = pa.array(buckets.astype("int64")).value_counts().field("counts")
        assert n == 100 and len(counts) == 100 and max(counts.to_pylist()) < 160


def test_nulls_go_anywhere():
    """So that rows that match nothing do not gather in one task."""
    buckets, _ = Packing(by="by", cut=10, schema=ROWS).bucket_of(by_alone([None] * 1000))
    assert len(set(buckets.tolist())) == 10


@given(st.lists(st.none() | st.tuples(whole, whole), max_size=20), st.booleans(), cuts)
def test_lists_are_taken_apart(found, fixed, cut):
    kind = pa.list_(integer, 2) if fixed else pa.list_(integer)
    given_, schema = pa.schema([("order", integer), ("keys", kind)]), pa.schema([("key", integer), ("order", integer)])
    given_rows = batches({"order": list(range(len(found))), "keys": found}, given_, cut)
    made = [tuple(row.values()) for batch in exploded(given_rows, "keys", schema) for row in batch.to_pylist()]
    assert made == [(key, order) for order, keys in enumerate(found) for key in keys or ()]


def test_rows_of_packs_lie_where_numbers_may_lie():
    """Kernels read the columns of packs as they lie in what came."""
    made = list(pack_batches(batches({"by": [3, 4, 5], "order": [1, 2, 3], "flag": [True, None, False], "keys": [None] * 3}, ROWS),
                       Packing(by="by", cut=7, schema=ROWS)))  # fmt: skip
    for pack in made[0]["pack"]:
        some = pa.ipc.read_record_batch(pack.as_buffer(), ROWS)
        assert to_numpy(some["by"]).flags.aligned and to_numpy(some["order"]).flags.aligned


def test_a_bucket_of_large_texts_comes_a_few_at_a_time():
    """No second copy of all of it is made."""
    schema = pa.schema([("by", integer), ("order", integer), ("text", pa.large_binary())])
    given_rows = batches({"by": [1] * 64, "order": list(range(64)), "text": [b"x" * (1 << 20)] * 64}, schema)
    settings = Packing(by="by", cut=1, schema=schema)
    found = list(unpacked(shuffled(pack_batches(given_rows, settings)), settings, ("order",), False))
    assert max(batch.nbytes for batch in found) < 20 << 20 and sum(map(len, found)) == 64


LEFTS = pa.schema([("on", integer), ("x", integer)])
RIGHTS = pa.schema([("order", integer), ("score", pa.float64()), ("keys", pa.list_(integer, 2)), ("id", pa.large_string()),
                    ("digest", pa.binary(4)), ("flag", pa.bool_())])  # fmt: skip


def joining(how, left=LEFTS, right=RIGHTS):
    """The settings of a join on ``on``."""
    added = [] if how in ("semi", "anti") else [field.with_name(f"on_{field.name}") for field in right if field.name != "order"]
    return JoinSettings(on="on", how=how, left=left, right=right, schema=pa.schema([*left, *added]))


def joined(settings, left, right, n, cut):
    """Rows of a join, as dictionaries; the packs of a bucket come in any batches, the right ones first."""
    packs = []
    for rows, schema, by, side in ((right, settings.right, "order", RIGHT), (left, settings.left, "on", LEFT)):
        packing = Packing(by=by, cut=n, schema=schema, side=side)
        packs += [
            row for batch in pack_batches(batches(columns(rows, schema), schema, cut), packing) for row in batch.to_pylist()
        ]
    packs.sort(key=lambda pack: (pack["bucket"], pack["side"]))
    made = list(join_packs(batches({name: [pack[name] for pack in packs] for name in PACKED.names}, PACKED, cut), settings))
    assert all(batch.schema == settings.schema for batch in made)
    return [row for batch in made for row in batch.to_pylist()]


@pytest.mark.parametrize("names", [["on_id"], ["x", "on_keys"], ["on_flag", "on", "on_id"], ["x"]], ids=str)
def test_columns_that_nobody_asks_for_are_not_joined(names):
    settings = joining("left").of(names)
    assert set(settings.schema.names) == {"on", *names}
    assert settings.left.names == [name for name in LEFTS.names if name in ("on", *names)]
    assert settings.right.names == ["order", *(name for name in RIGHTS.names if f"on_{name}" in names)]
    row = {"on": 3, "x": 1, "order": 3, "score": None, "keys": [1, 2], "id": "é", "digest": None, "flag": True}
    one, other = ([tuple(row[name] for name in schema.names)] for schema in (settings.left, settings.right))
    assert joined(settings, one, other, 2, []) == [{name: row[name.removeprefix("on_")] for name in settings.schema.names}]
