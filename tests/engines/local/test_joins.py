import os

import numpy as np
import pyarrow as pa
import pytest
from engines.local.stored_rows import local_engine

from lookalike.engines.local import joins as local_joins
from lookalike.engines.local.joins import FileArray, RankLookup

N = 60


@pytest.fixture
def engine():
    return local_engine()


@pytest.fixture
def sketches(rng, engine):
    codes = pa.array([rng.bytes(24) for _ in range(N)], pa.binary(24))
    given_rows = {"code": codes, "bytes": rng.integers(0, 99, N), "position": rng.permutation(N)}
    return engine.rank(engine.materialize(engine.rows(pa.table(given_rows)), "sketches"), ("bytes", "position"), 0)


def test_pairs_share_one_copy_of_all_bytes(engine, sketches):
    pairs = engine.rows(pa.table({"left": [0, 1], "right": [2, 3]}))
    (batch,) = engine.join(engine.join(pairs, sketches, "left", "inner"), sketches, "right", "inner").batches()
    (part,) = (engine.workspace.get(name) for name in sketches.parts)
    for side in ("left", "right"):
        assert batch[f"{side}_code"].dictionary.buffers()[1].address == part["code"].ctypes.data


def test_rows_in_a_file_are_those_in_memory(rng, sketches, tmp_path):
    """In any order, some of them several times; what was never written is zeros."""
    made = []

    def make(shape, dtype):
        made.append(FileArray((tmp_path / str(len(made))).open("w+b"), shape, dtype))
        return made[-1]

    held, filed = RankLookup(sketches, N), RankLookup(sketches, N, make)
    assert len(made) == 3 and held.in_one and not filed.in_one
    orders = rng.integers(0, N, 500)
    for name in ("code", "bytes"):
        for some in (orders, orders[:0]):
            assert filed.at(some, name).equals(held.at(some, name))
    assert filed.missing(orders).tolist() == held.missing(orders).tolist()
    rows = make((9, 2), np.int32)
    rows[np.array([5, 6, 2])] = np.array([[1, 2], [3, 4], [5, 6]])
    assert rows[np.array([8, 6, 5, 6, 2])].tolist() == [[0, 0], [3, 4], [1, 2], [3, 4], [5, 6]]


def test_rows_near_each_other_are_read_together(tmp_path, rng, monkeypatch):
    """Whatever lies between them, and in pieces of a bounded size."""
    sizes, pread = [], os.pread
    monkeypatch.setattr(local_joins.os, "pread", lambda file, size, at: sizes.append(size) or pread(file, size, at))
    held = rng.integers(0, 1 << 16, (5000, 3)).astype("uint16")
    rows = FileArray((tmp_path / "f").open("w+b"), (5000, 3), np.uint16)
    rows[np.arange(5000)] = held
    some = [rng.integers(0, 5000, 700), np.arange(2000, 3000), np.array([4999, 0, 17, 17]), np.empty(0, "int64")]
    for near, together in {1: 1, 16: 64, 4096: 1 << 20}.items():
        monkeypatch.setattr(local_joins, "NEAR", near)
        monkeypatch.setattr(local_joins, "TOGETHER", together)
        for orders in some:
            sizes.clear()
            assert (rows[orders] == held[orders]).all()
            assert max(sizes, default=0) <= max(6, together) and len(sizes) <= len(np.unique(orders))
            assert near < 1000 or len(sizes) <= 1 or orders[0] == 4999
