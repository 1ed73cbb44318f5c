"""Rows are cut into packs and put together again, each group whole and sorted, however they were cut."""

import random

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import batches, cut_rows, cuts, whole
from engine_rows import groups_of
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.spark import packs as spark_packs
from lookalike.engines.spark import sorting as spark_sorting
from lookalike.engines.spark.packs import PACKED, PART_BITS, Packing, pack_batches, unpacked
from lookalike.values.arrow import to_numpy
from lookalike.values.tables import LINKS

integer = pa.int64()
ROWS = pa.schema([("by", integer), ("order", integer), ("flag", pa.bool_()), ("keys", pa.list_(integer, 2))])
numbers = st.integers(-(1 << 63), (1 << 63) - 1)
rows = st.lists(
    st.tuples(st.integers(-3, 3) | numbers, numbers, st.none() | st.booleans(), st.none() | st.tuples(numbers, numbers)),
    max_size=40,
)


def shuffled(made, cut=()):
    """What Spark does with packs: any order within a bucket, cut anywhere."""
    packs = [row for batch in made for row in batch.to_pylist()]
    random.Random(1).shuffle(packs)
    packs.sort(key=lambda row: row["bucket"])
    return batches({name: [pack[name] for pack in packs] for name in PACKED.names}, PACKED, cut)


@given(rows, st.integers(1, 70), cuts, cuts, st.integers(1, 300))
def test_rows_meet(found, n, cut, again, held):
    """Tasks pack a few rows at a time."""
    settings = Packing(by="by", cut=n, schema=ROWS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_packs, "HELD_BYTES", held)
        patch.setattr(spark_sorting, "BATCH_BYTES", held)
        packs = list(pack_batches(cut_rows(found, ROWS, cut), settings))
        met = list(unpacked(shuffled(packs, again), settings, ("order",), False))
    assert all(batch.schema == PACKED for batch in packs) and all(batch.schema == ROWS for batch in met)
    groups = groups_of([row for batch in met for row in batch.to_pylist()], "by")
    told = [(row["by"], row["order"], row["flag"], row["keys"] and tuple(row["keys"])) for g in groups.values() for row in g]
    assert sorted(map(repr, told)) == sorted(map(repr, found))
    assert all([row["order"] for row in group] == sorted(row["order"] for row in group) for group in groups.values())


def buckets_of(by, cut=100, **more):
    """How many rows go to each bucket that gets some."""
    columns = {"by": pa.array(by, integer)} | more
    buckets, n = Packing(by="by", cut=cut, schema=LINKS, parted="parts" if more else None).bucket_of(pa.record_batch(columns))
    assert n == cut
    return [n for n in np.bincount(buckets).tolist() if n]


def test_large_groups_of_which_one_row_is_enough_are_parted():
    """Those of neighbours, too: the first of a crowd often are; small groups are not."""
    parted = buckets_of(np.repeat(np.arange(8), 12), parts=[i << PART_BITS for i in range(12)] * 8)
    assert len(parted) > 45 and max(parted) < 8
    assert buckets_of([5] * 1000, parts=range(1000)) == [1000]


def test_integers_that_follow_each_other_are_spread_evenly():
    """Also multiples, and those that differ in their first bits alone. Nulls, which match nothing, go anywhere."""
    for some in (range(10_000), range(0, 10_000 << 12, 1 << 12), [i << 49 for i in range(10_000)], [None] * 10_000):
        counts = buckets_of(list(some))
        assert len(counts) == 100 and max(counts) < 160


def test_rows_of_packs_lie_where_numbers_may_lie():
    """Kernels read the columns of packs as they lie in what came."""
    rows = [(3, 1, True, None), (4, 2, None, None), (5, 3, False, None)]
    (made,) = pack_batches(cut_rows(rows, ROWS), Packing(by="by", cut=7, schema=ROWS))
    for pack in made["pack"]:
        some = pa.ipc.read_record_batch(pack.as_buffer(), ROWS)
        assert to_numpy(some["by"]).flags.aligned and to_numpy(some["order"]).flags.aligned


def test_a_bucket_of_large_texts_comes_a_few_at_a_time():
    """No second copy of all of it is made."""
    schema = pa.schema([*whole("by", "order"), ("text", pa.large_binary())])
    given_rows = cut_rows([(1, order, b"x" * (1 << 20)) for order in range(64)], schema)
    settings = Packing(by="by", cut=1, schema=schema)
    found = list(unpacked(shuffled(pack_batches(given_rows, settings)), settings, ("order",), False))
    assert max(batch.nbytes for batch in found) < 20 << 20 and sum(map(len, found)) == 64
