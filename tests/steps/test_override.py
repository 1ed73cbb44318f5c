"""``tests/recipes/test_overrides.py`` holds which documents overrides name."""

import pickle

import numpy as np
import pyarrow as pa
from cut_tables import cut_at, cuts
from hypothesis import given
from hypothesis import strategies as st

from lookalike.inputs.overrides import read_overrides
from lookalike.steps.override import Overriding

KEY = bytes(range(16))
IDS = ["", "a", "aa", "é", "1", "17", "a\0", "x" * 300]
actions = st.dictionaries(st.sampled_from([*IDS, "\ud800", "nobody"]), st.sampled_from(["keep", "remove"]))


def wanted(said, name):
    number = list(said).index(name) + 1 if name in said else 0
    return number if said.get(name) == "keep" else -number


@given(actions, st.lists(st.tuples(st.sampled_from([*IDS, "b"]), st.integers(0, 9)), max_size=12), st.integers(0, 9), cuts)
def test_documents_are_looked_up_by_their_ids(said, rows, boundary, cut):
    """References, which come before the boundary, are never named. Nobody can make an id that is taken for another."""
    read = read_overrides([{"id": name, "action": action} for name, action in said.items()])
    overriding = pickle.loads(pickle.dumps(Overriding.of(read, KEY, boundary, None)))
    batch = pa.record_batch({"id": pa.array([name for name, _ in rows], "large_string"),
                             "position": pa.array([position for _, position in rows], "int64")})  # fmt: skip
    found = np.concatenate([overriding.look_up(part, KEY) for part in cut_at(batch, cut)])
    assert found.tolist() == [wanted(said, name) if position >= boundary else 0 for name, position in rows]
    assert found.dtype == np.int32 and not overriding.look_up(batch, bytes(16)).any(), "digests are keyed"
