"""Overrides are looked up by id, whatever the batches; the fold says which documents they name."""

import pickle
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
from cut_tables import batches, cuts, folded, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.inputs.ids import Labels
from lookalike.inputs.overrides import read_overrides
from lookalike.steps.override import Overriding, named_documents, spared

KEY = bytes(range(16))


IDS = ["", "a", "aa", "é", "1", "17", "a\0", "x" * 300]


NAMED = pa.schema([("position", pa.int64()), ("override", pa.int32())])


ORDERED = pa.schema([("order", pa.int64()), ("override", pa.int32())])


actions = st.dictionaries(st.sampled_from([*IDS, "\ud800", "nobody"]), st.sampled_from(["keep", "remove"]))


def overriding(said, labels=None, boundary=0):
    """Overrides that were pickled, and what they say of each number."""
    read = read_overrides([{"id": name, "action": action} for name, action in said.items()])
    return pickle.loads(pickle.dumps(Overriding.of(read, KEY, boundary, labels)))


def wanted(said, name):
    """The number that a document of some id gets."""
    number = list(said).index(name) + 1 if name in said else 0
    return number if said.get(name) == "keep" else -number


@given(actions, st.lists(st.tuples(st.sampled_from([*IDS, "b"]), st.integers(0, 9)), max_size=12), st.integers(0, 9))
def test_a_column_of_ids(said, rows, boundary):
    """In any order; references, which come before the boundary, are never named."""
    found = overriding(said, boundary=boundary)
    batch = pa.record_batch({
        "position": pa.array([p for _, p in rows], pa.int64()), "number": pa.array([p for _, p in rows], pa.int64()),
        "id": pa.array([name for name, _ in rows], pa.large_string()),
    })  # fmt: skip
    expected = [wanted(said, name) if position >= boundary else 0 for name, position in rows]
    assert found.look_up(batch, KEY).tolist() == expected
    assert found.look_up(batch, KEY).dtype == np.int32
    if len(batch) > 1:
        assert found.look_up(batch.slice(1), KEY).tolist() == expected[1:]


def test_ids_that_are_made():
    """From file and row, or the number alone."""
    splits = [SimpleNamespace(label=lambda n, name=name: f"{name}:{n}") for name in ("ref", "a", "b\udcff")]
    labels = Labels(splits=tuple(splits), kind=pa.string())
    numbers = pa.array([3, 3, 4, 3], pa.int64())
    batch = pa.record_batch({"position": pa.array([3, 1 << 40 | 2, 1 << 40 | 3, 2 << 40]), "number": numbers})
    said = {"a:3": "keep", "ref:3": "remove", "b\\xff:3": "remove"}
    read = read_overrides([{"id": name, "action": action} for name, action in said.items()])
    found = Overriding.of(read, KEY, 1 << 40, labels)
    assert found.look_up(batch, KEY).tolist() == [0, 1, 0, -3]
    rows = Labels(splits=(SimpleNamespace(label=int),), kind=pa.int64())
    assert overriding({"4": "remove", "5": "keep"}, rows).look_up(batch, KEY).tolist() == [0, 0, -1, 0]


def test_without_the_secret_nothing_is_found():
    """Digests are keyed: nobody can make an id that is taken for another."""
    batch = pa.record_batch({"position": [0], "number": [0], "id": pa.array(["a"], pa.large_string())})
    found = overriding({"a": "keep"})
    assert found.look_up(batch, KEY).tolist() == [1] and found.look_up(batch, bytes(16)).tolist() == [0]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(-4, 4)), max_size=15), cuts)
def test_first_and_last_of_those_named(rows, cut):
    columns = {"position": [p for p, _ in rows], "override": [o for _, o in rows]}
    last, first = folded(named_documents(4), batches(columns, NAMED, cut))
    for number in range(4):
        positions = [p for p, o in rows if abs(o) == number + 1]
        assert (last[number], -first[number]) == (max(positions), min(positions)) if positions else last[number] < 0


@given(st.lists(st.integers(-2, 2), max_size=12), cuts)
def test_those_to_be_kept(overrides, cut):
    columns = {"order": list(range(len(overrides))), "override": overrides}
    assert run(spared, batches(columns, ORDERED, cut)) == [(order,) for order, o in enumerate(overrides) if o > 0]
