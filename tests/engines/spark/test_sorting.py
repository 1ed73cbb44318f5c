import os
from pathlib import Path

import pyarrow as pa
import pytest
from cut_tables import cut_rows, cuts, rows_of, whole
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises
from spark_session import session

from lookalike.engines.spark import sorting as spark_sorting
from lookalike.engines.spark.packs import Packing, pack_batches, unpacked
from lookalike.engines.spark.sorting import Sorter, Sorting
from lookalike.values.tables import LINKS

integer = pa.int64()
numbers = st.integers(-3, 3) | st.integers(-(1 << 63), (1 << 63) - 1)
VALUES = {"strings": (pa.large_string(), st.text(max_size=3)), "digests": (pa.binary(16), st.binary(min_size=16, max_size=16)),
          "integers": (integer, numbers)}  # fmt: skip


def limited(patch, held=100, batch=300, runs=3):
    for name, size in {"BUCKET_BYTES": held, "RUN_BATCH_BYTES": batch, "BATCH_BYTES": batch, "MOST_RUNS": runs}.items():
        patch.setattr(spark_sorting, name, size)


def sorted_rows(found, sorting):
    with Sorter(sorting) as sorter:
        for batch in found:
            sorter.add(batch)
        made = list(sorter.batches())
        assert not list(sorter.batches())
    assert all(batch.schema == sorting.schema and len(batch) for batch in made)
    return rows_of(made)


@given(st.sampled_from(sorted(VALUES)), st.data(), st.integers(1, 2), st.booleans(), cuts, st.integers(1, 400), st.integers(1, 999),
       st.integers(2, 5))  # fmt: skip
def test_rows_are_sorted_as_in_memory(kind, data, n_sort, once, cut, held, batch, runs):
    """In runs of runs, in which repeats lie apart; with columns that rows are not sorted by where no repeats go."""
    arrow, values = VALUES[kind]
    names = ("by", "order", "position")[: 1 + n_sort]
    more = [] if once else [("text", pa.large_binary()), ("flag", pa.bool_())]
    schema = pa.schema([("by", arrow), *whole(*names[1:]), *more])
    some = data.draw(st.lists(values, min_size=1, max_size=3))
    rows = data.draw(st.lists(st.tuples(st.sampled_from(some), *[numbers] * n_sort), max_size=40))
    full = rows if once else [(*row, b"x" * (i % 7 * 20), bool(i % 3) or None) for i, row in enumerate(rows)]
    sorting = Sorting(names=names, schema=schema, once=once, key=bytes(16))
    wanted = sorted_rows(cut_rows(full, schema, cut), sorting)
    with pytest.MonkeyPatch.context() as patch:
        limited(patch, held, batch, runs)
        found = sorted_rows(cut_rows(full, schema, cut), sorting)
    keys = [row[: 1 + n_sort] for row in found]
    assert keys == [row[: 1 + n_sort] for row in wanted] and sorted(map(repr, found)) == sorted(map(repr, wanted))
    if kind == "integers":
        assert keys == sorted(set(rows) if once else rows)


def test_little_is_held_of_what_lies_on_the_disk(monkeypatch):
    limited(monkeypatch, held=1 << 20, batch=1 << 20, runs=4)
    places = pa.array(range(1 << 16))
    rows = pa.record_batch([places] * 2, schema=LINKS)
    before = pa.total_allocated_bytes()
    with Sorter(Sorting(names=LINKS.names, schema=LINKS)) as sorter:
        for _ in range(64):
            sorter.add(rows.take(places))  # a copy
            assert pa.total_allocated_bytes() - before < 8 << 20
        for batch in sorter.batches():
            assert pa.total_allocated_bytes() - before < 8 << 20 and batch.nbytes <= 1 << 20


def bucket(n=4000):
    settings = Packing(by="left", cut=1, schema=LINKS)
    rows = cut_rows([(5, right) for right in range(n)], LINKS, range(40, n, 40))
    packs = [one for batch in rows for one in pack_batches(iter([batch]), settings)]
    return unpacked(iter(packs), settings, ("right",), False)


def files_in(folder):
    """Those without a name too, that this process has open."""
    opened = [os.readlink(path) for path in map(str, Path("/proc/self/fd").iterdir()) if os.path.lexists(path)]
    return [*os.listdir(folder), *(path for path in opened if path.startswith(f"{folder}/"))]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc, which tells the open files of a process")
@pytest.mark.parametrize("end", ["read", "closed", "dropped", "failed", "full"])
def test_files_are_gone_however_a_task_ends(end, tmp_path, monkeypatch):
    limited(monkeypatch, held=2000, batch=1000)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path}/none,{tmp_path}")
    made = bucket()
    first = next(made)
    assert files_in(tmp_path) and first["right"].to_pylist() == list(range(len(first)))
    if end == "read":
        assert sum(map(len, made)) == 4000 - len(first)
    elif end == "closed":
        made.close()
    elif end == "dropped":
        del made
    elif end == "failed":
        assert_raises(ValueError, "told", made.throw, ValueError("told"))
    else:
        made.close()

        def full(self, batches):
            next(batches)
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(spark_sorting._Run, "write", full)
        assert_raises(OSError, "No space left", next, bucket())
    assert files_in(tmp_path) == []


@pytest.mark.spark
def test_workers_write_to_the_disks_of_spark():
    """Which Spark clears when an executor ends."""

    def where(rows):
        for batch in rows:
            with spark_sorting._own_file() as file:
                yield pa.record_batch({"path": [os.readlink(f"/proc/self/fd/{file.fileno()}")] * len(batch)})

    path = session().range(1).mapInArrow(where, "path string").collect()[0].path
    assert "/blockmgr-" in path
