"""Rows that are more than a task may hold are sorted on its disk, as they would be in memory."""

import os
from pathlib import Path

import pyarrow as pa
import pytest
from cut_tables import batches, cuts
from hypothesis import given
from hypothesis import strategies as st
from spark_session import session

from lookalike.engines.spark import sorting as spark_sorting
from lookalike.engines.spark.packs import Packing, pack_batches, unpacked
from lookalike.engines.spark.sorting import Sorter, Sorting

integer = pa.int64()
whole = st.integers(-3, 3) | st.integers(-(1 << 63), (1 << 63) - 1)
VALUES = {"strings": (pa.large_string(), st.text(max_size=3)), "digests": (pa.binary(16), st.binary(min_size=16, max_size=16)),
          "integers": (integer, whole)}  # fmt: skip
LINKS = pa.schema([("left", integer), ("right", integer)])


def limited(patch, held=100, batch=300, runs=3):
    """Let a task hold hardly anything."""
    patch.setattr(spark_sorting, "BUCKET_BYTES", held)
    patch.setattr(spark_sorting, "RUN_BATCH_BYTES", batch)
    patch.setattr(spark_sorting, "BATCH_BYTES", batch)
    patch.setattr(spark_sorting, "MOST_RUNS", runs)


def sorted_rows(found, sorting):
    """What a sorter makes of some batches."""
    with Sorter(sorting) as sorter:
        for batch in found:
            sorter.add(batch)
        made = list(sorter.batches())
        assert not list(sorter.batches())
    assert all(batch.schema == sorting.schema and len(batch) for batch in made)
    return [tuple(row.values()) for batch in made for row in batch.to_pylist()]


@given(st.sampled_from(sorted(VALUES)), st.data(), st.integers(1, 2), st.booleans(), cuts, st.integers(1, 400), st.integers(1, 999),
       st.integers(2, 5))  # fmt: skip
def test_rows_are_sorted_as_in_memory(kind, data, n_sort, once, cut, held, batch, runs):
    arrow, values = VALUES[kind]
    names = ("by", "order", "position")[: 1 + n_sort]
    schema = pa.schema([("by", arrow), *((name, integer) for name in names[1:])])
    some = data.draw(st.lists(values, min_size=1, max_size=3))
    rows = data.draw(st.lists(st.tuples(st.sampled_from(some), *[whole] * n_sort), max_size=40))
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    sorting = Sorting(names=names, schema=schema, once=once, key=bytes(16))
    wanted = sorted_rows(batches(columns, schema, cut), sorting)
    with pytest.MonkeyPatch.context() as patch:
        limited(patch, held, batch, runs)
        assert sorted_rows(batches(columns, schema, cut), sorting) == wanted
    if kind == "integers":
        assert wanted == sorted(set(rows) if once else rows)


def test_a_bucket_many_times_as_large_as_what_is_held(monkeypatch):
    """With columns that rows are not sorted by, in runs of runs; the repeats lie in different ones."""
    schema = pa.schema([*LINKS, ("text", pa.large_binary()), ("flag", pa.bool_())])
    rows = [(i * 7 % 3, i * 17 % 10_000, b"x" * (i % 50), bool(i % 3) or None) for i in range(10_000)]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(schema.names)}
    limited(monkeypatch, held=8000, batch=2000)
    found = sorted_rows(batches(columns, schema, range(100, 10_000, 100)), Sorting(names=("left", "right"), schema=schema))
    assert found == sorted(rows, key=lambda row: row[:2])
    numbers = {name: columns[name] * 2 for name in LINKS.names}
    found = sorted_rows(
        batches(numbers, LINKS, range(100, 20_000, 100)), Sorting(names=("left", "right"), schema=LINKS, once=True)
    )
    assert found == sorted((row[0], row[1]) for row in rows)


def test_little_is_held_of_what_lies_on_the_disk(monkeypatch):
    limited(monkeypatch, held=1 << 20, batch=1 << 20, runs=4)
    places = pa.array(range(1 << 16), integer)
    rows = pa.record_batch([places] * 2, schema=LINKS)
    before = pa.total_allocated_bytes()
    with Sorter(Sorting(names=LINKS.names, schema=LINKS)) as sorter:
        for _ in range(64):
            sorter.add(rows.take(places))  # a copy
            assert pa.total_allocated_bytes() - before < 8 << 20
        for batch in sorter.batches():
            assert pa.total_allocated_bytes() - before < 8 << 20 and batch.nbytes <= 1 << 20


def bucket(n=4000):
    """A bucket as its task gets it, and how it is put together."""
    settings = Packing(by="left", cut=1, schema=LINKS)
    columns = {"left": [5] * n, "right": list(range(n))}
    packs = [one for batch in batches(columns, LINKS, range(40, n, 40)) for one in pack_batches(iter([batch]), settings)]
    return unpacked(iter(packs), settings, ("right",), False)


def files_in(folder):
    """Files in a folder, those without a name too, that this process has open."""
    opened = [os.readlink(path) for path in map(str, Path("/proc/self/fd").iterdir()) if os.path.lexists(path)]
    return [*os.listdir(folder), *(path for path in opened if path.startswith(f"{folder}/"))]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc, which tells the open files of a process")
@pytest.mark.parametrize("end", ["read", "closed", "dropped", "failed", "full"])
def test_files_are_gone_however_a_task_ends(end, tmp_path, monkeypatch):
    """They are on a disk that Spark uses."""
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
        with pytest.raises(ValueError, match="told"):
            made.throw(ValueError("told"))
    else:
        made.close()

        def full(self, batches):
            next(batches)
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(spark_sorting._Run, "write", full)
        with pytest.raises(OSError, match="No space left"):
            next(bucket())
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
