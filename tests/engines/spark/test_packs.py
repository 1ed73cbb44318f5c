"""``tests/engines/test_meeting.py`` holds what packs bring together."""

import numpy as np
import pyarrow as pa
from cut_tables import cut_rows, whole

from lookalike.engines.spark.packs import PART_BITS, Packing, pack_batches, unpacked
from lookalike.values.arrow import to_numpy
from lookalike.values.tables import LINKS


def buckets_of(by, **more):
    columns = {"by": pa.array(by, "int64")} | more
    buckets, n = Packing(by="by", cut=100, schema=LINKS, parted="parts" if more else None).bucket_of(pa.record_batch(columns))
    assert n == 100
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
    schema = pa.schema([*whole("by", "order"), ("flag", "bool"), ("keys", pa.list_(pa.int64(), 2))])
    rows = [(3, 1, True, None), (4, 2, None, None), (5, 3, False, None)]
    (made,) = pack_batches(cut_rows(rows, schema), Packing(by="by", cut=7, schema=schema))
    for pack in made["pack"]:
        some = pa.ipc.read_record_batch(pack.as_buffer(), schema)
        assert to_numpy(some["by"]).flags.aligned and to_numpy(some["order"]).flags.aligned


def test_a_bucket_of_large_texts_comes_a_few_at_a_time():
    """No second copy of all of it is made."""
    schema = pa.schema([*whole("by", "order"), ("text", "large_binary")])
    given_rows = cut_rows([(1, order, b"x" * (1 << 20)) for order in range(64)], schema)
    settings = Packing(by="by", cut=1, schema=schema)
    found = list(unpacked(pack_batches(given_rows, settings), settings, ("order",), False))
    assert max(batch.nbytes for batch in found) < 20 << 20 and sum(map(len, found)) == 64
