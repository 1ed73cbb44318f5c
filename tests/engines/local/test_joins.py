"""Joins of the local engine equal look-ups in a dictionary; those of pairs copy no bytes."""

import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local import joins as local_joins
from lookalike.engines.local.engine import LocalEngine
from lookalike.engines.local.joins import FileArray, RankLookup
from lookalike.engines.memory import Memory
from lookalike.files.workspace import Workspace

N = 60


@pytest.fixture
def engine():
    return LocalEngine(threads=1, memory=Memory(1 << 32), workspace=Workspace(), progress=lambda name, amount: None)


@pytest.fixture
def sketches(rng, engine):
    """A row for each document, ranked in another order than they came."""
    codes = pa.array([rng.bytes(24) for _ in range(N)], pa.binary(24))
    stored = engine.materialize(engine.rows(pa.table({"code": codes, "bytes": rng.integers(0, 99, N)})), "sketches")
    schema = stored.schema.append(pa.field("order", pa.int64()))
    engine._sketches = stored.having(schema=schema, place=rng.permutation(N), ranked=True)
    return engine._sketches


def unchanged(rows):
    yield from rows


def rows_of(table):
    return [row for batch in table.batches() for row in batch.to_pylist()]


@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("on, how", [("left", "inner"), ("right", "inner"), ("order", "inner"), ("order", "left")])
def test_a_join_equals_a_dictionary(rng, engine, sketches, ranked, on, how):
    known = {row.pop("order"): row for row in rows_of(sketches)}
    right = sketches
    if not ranked:  # made when asked for, with a row for some documents only
        known = {order: row for order, row in known.items() if order % 3}
        some = [{"order": order} | row for order, row in known.items()]
        right = engine.map(engine.rows(pa.Table.from_pylist(some, sketches.schema)), unchanged, sketches.schema)
    given = [{"left": int(a), "right": int(b), "order": int(a)} for a, b in rng.integers(0, N, (80, 2))]
    left = engine.rows(pa.Table.from_pylist(given))
    joined = engine.join(left, right, on, how)
    prefix = "" if on == "order" else f"{on}_"
    nothing = {"code": None, "bytes": None}
    expected = [
        row | {prefix + name: value for name, value in known.get(row[on], nothing).items()}
        for row in given
        if how == "left" or row[on] in known
    ]
    assert rows_of(joined) == expected
    assert all(batch.schema == joined.schema for batch in joined.batches())
    assert pa.types.is_dictionary(joined.schema.field(f"{prefix}code").type) == (on != "order")


def test_pairs_share_one_copy_of_all_bytes(engine, sketches):
    pairs = engine.rows(pa.table({"left": [0, 1], "right": [2, 3]}))
    both = engine.join(engine.join(pairs, sketches, "left", "inner"), sketches, "right", "inner")
    (batch,) = both.batches()
    (part,) = (engine.workspace.get(name) for name in sketches.parts)
    for side in ("left", "right"):
        assert batch[f"{side}_code"].dictionary.buffers()[1].address == part["code"].ctypes.data


def test_no_document_at_all(engine, sketches):
    """Rows that have none to be joined with, of the declared type."""
    pairs = engine.rows(pa.table({"left": np.arange(3), "right": np.arange(3)}))
    empty = engine.map(engine.rows(sketches.schema.empty_table()), unchanged, sketches.schema)
    joined = engine.join(pairs, empty, "left", "inner")
    assert rows_of(joined) == [] and pa.types.is_dictionary(joined.schema.field("left_code").type)


def test_rows_in_a_file_are_those_in_memory(rng, engine, sketches, tmp_path):
    """In any order, some of them several times; what was never written is zeros."""
    made = []

    def make(shape, dtype):
        made.append(FileArray((tmp_path / str(len(made))).open("w+b"), shape, dtype))
        return made[-1]

    held, filed = RankLookup(sketches, N), RankLookup(sketches, N, make)
    assert len(made) == 2 and held.in_one and not filed.in_one
    orders = rng.integers(0, N, 500)
    for name in ("code", "bytes"):
        assert filed.at(orders, name).equals(held.at(orders, name))
        assert filed.at(orders[:0], name).equals(held.at(orders[:0], name))
    assert filed.missing(orders).tolist() == held.missing(orders).tolist()
    rows = make((9, 2), np.int32)
    rows[np.array([5, 6, 2])] = np.array([[1, 2], [3, 4], [5, 6]])
    assert rows[np.array([8, 6, 5, 6, 2])].tolist() == [[0, 0], [3, 4], [1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(("near", "together"), [(1, 1), (16, 64), (4096, 1 << 20)])
def test_rows_near_each_other_are_read_together(tmp_path, rng, monkeypatch, near, together):
    """Whatever lies between them, and in pieces of a bounded size."""
    monkeypatch.setattr(local_joins, "NEAR", near)
    monkeypatch.setattr(local_joins, "TOGETHER", together)
    sizes, pread = [], os.pread
    monkeypatch.setattr(local_joins.os, "pread", lambda file, size, at: sizes.append(size) or pread(file, size, at))
    rows, held = (
        FileArray((tmp_path / "f").open("w+b"), (5000, 3), np.uint16),
        rng.integers(0, 1 << 16, (5000, 3)).astype(np.uint16),
    )
    rows[np.arange(5000)] = held
    for orders in (rng.integers(0, 5000, 700), np.arange(2000, 3000), np.array([4999, 0, 17, 17]), np.empty(0, np.int64)):
        sizes.clear()
        assert (rows[orders] == held[orders]).all()
        assert max(sizes, default=0) <= max(6, together) and len(sizes) <= len(np.unique(orders))
    if near > 1000:
        assert (rows[np.arange(0, 5000, 3)] == held[::3]).all() and len(sizes) == 1


@given(st.integers(1, 60), st.data())
def test_few_rows_are_found_like_many(n, data):
    """By rank among their orders, or by order; in batches of any size."""
    known = data.draw(st.dictionaries(st.integers(0, n - 1), st.tuples(st.integers(0, 9), st.binary(min_size=3, max_size=3))))
    orders = data.draw(st.permutations(sorted(known)))
    schema = pa.schema({"order": pa.int64(), "bytes": pa.int64(), "code": pa.binary(3)})
    given = [{"order": order, "bytes": known[order][0], "code": known[order][1]} for order in orders]
    rows = HeldRows(pa.Table.from_pylist(given, schema), data.draw(st.integers(1, 9)))
    asked = np.array(data.draw(st.lists(st.integers(0, n - 1))), np.int64)
    there = np.array([order for order in asked.tolist() if order in known], np.int64)
    for few in (1, 8, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(local_joins, "FEW", few)
            dense = RankLookup(rows, n)
        assert (dense._orders is not None) == (len(known) * few <= n)
        assert dense.missing(asked).tolist() == [order not in known for order in asked.tolist()]
        for column, name in enumerate(("bytes", "code")):
            assert dense.at(asked, name).to_pylist() == [known[o][column] if o in known else None for o in asked.tolist()]
            assert dense.at(there, name, whole=True).to_pylist() == [known[order][column] for order in there.tolist()]


class HeldRows:
    """A table in batches of some rows."""

    def __init__(self, table, most):
        self.schema, self.table, self.most = table.schema, table, most

    def batches(self):
        return iter(self.table.to_batches(self.most))
