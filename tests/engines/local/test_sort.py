from unittest.mock import patch

import numpy as np
import pyarrow as pa
from cut_tables import rows_of
from engines.local.stored_rows import stored
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local.sort import by_bytes, portions


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20))
def test_portions_are_runs_of_whole_groups(sizes, most):
    with patch("lookalike.engines.local.sort.MEMBERS", most):
        found = list(portions(np.array(sizes, "int64")))
    assert [i for begin, end in found for i in range(begin, end)] == list(range(len(sizes)))
    for begin, end in found:
        assert begin < end and sum(sizes[begin : end - 1]) < 2 * most, "a group alone may be larger"
    assert len(found) <= sum(sizes) // most + 1


def keyed(kind):
    return pa.schema([("digest", kind), ("order", "int64")])


def passes_of(rows, kind, memory):
    table = stored([{"digest": digest} for digest in rows], keyed(kind))
    return [[order for _, order in rows_of(piece.make())] for piece in by_bytes(table, "digest", "order", memory, 1).pieces(0)]


def test_passes_are_of_about_one_size(rng):
    """Digests are numbers below 2^61 - 1: their highest bits distinguish nothing."""
    words = np.repeat(rng.integers(0, (1 << 61) - 1, (1000, 2), "uint64"), 2, 0)
    for kind, make in ((pa.binary(16), bytes), (pa.large_string(), str)):
        sizes = list(map(len, passes_of([*map(make, words)], kind, 64 * 2000 // 8)))
        assert len(sizes) == 8 and sum(sizes) == 2000 and min(sizes) > 150 and max(sizes) < 350


def test_texts_meet_by_digests_of_a_secret_of_their_own():
    """Nobody can know which ids would have one digest: groups come in another order each time."""
    (one,), (other,) = (passes_of([f"id {n // 2}" for n in range(200)], pa.large_string(), 1 << 30) for _ in range(2))
    assert one != other and sorted(one) == sorted(other) == list(range(200))
