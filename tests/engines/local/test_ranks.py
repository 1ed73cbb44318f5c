"""The place of each document in keep order, against Python's own sorting."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local.columns import arrays_of
from lookalike.engines.local.sort import places
from lookalike.engines.local.tables import Stored
from lookalike.files.workspace import Workspace

SCHEMA = pa.schema([("position", pa.int64()), ("bytes", pa.int64()), ("priority", pa.large_binary())])
VALUES = st.tuples(st.integers(0, 4), st.sampled_from([b"", b"\0", b"\1", b"\1a", b"\1ab", b"\1b", b"\xff"]))


def stored(rows, cuts):
    space, starts = Workspace(), [0]
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for begin, end in itertools.pairwise(bounds):
        space.append("rows", arrays_of(pa.RecordBatch.from_pylist(rows[begin:end], SCHEMA)))
        starts.append(end)
    return Stored(space, space.numbered("rows"), np.array(starts), SCHEMA, 1)


class Reversed:
    """Bytes that are ordered the other way round."""

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value > other.value

    def __eq__(self, other):
        return self.value == other.value


KEYS = {
    ("-position",): lambda row: -row["position"],
    ("bytes", "position"): lambda row: (row["bytes"], row["position"]),
    ("-bytes", "position"): lambda row: (-row["bytes"], row["position"]),
    ("priority", "position"): lambda row: (row["priority"] == b"", row["priority"], row["position"]),
    ("-priority", "position"): lambda row: (row["priority"] == b"", Reversed(row["priority"]), row["position"]),
}


@pytest.mark.parametrize("by", KEYS)
@given(
    values=st.lists(VALUES, min_size=1, max_size=25),
    cuts=st.lists(st.integers(0, 25), max_size=3),
    references=st.integers(0, 25),
)
def test_documents_have_the_places_that_sorting_gives(by, values, cuts, references):
    """References first, as they came; no bytes come last either way."""
    references = min(references, len(values))
    rows = [{"position": 7 * i, "bytes": size, "priority": priority} for i, (size, priority) in enumerate(values)]
    wanted = rows[:references] + sorted(rows[references:], key=KEYS[by])
    found = places(stored(rows, cuts), by, references)
    assert found.tolist() == [wanted.index(row) for row in rows]


def test_in_the_order_of_positions_nothing_is_kept():
    assert places(stored([{"position": 3, "bytes": 1, "priority": b""}], []), ["position"], 0) is None
