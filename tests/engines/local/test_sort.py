"""Rows of equal bytes meet by sorting, in whole groups and portions of about so many rows."""

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from cut_tables import cuts
from engines.local.stored_rows import rows_of, stored
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local import sort as local_sort
from lookalike.engines.local.sort import by_bytes, portions

integer = pa.int64()
members = st.sampled_from([1, 4, 1 << 20])


def ranked(rows, schema, cut, data):
    """Rows ranked, perhaps in another order than they came and with some left out; (table, {order: row})."""
    n = len(rows)
    place = np.array(data.draw(st.permutations(range(n))), np.int64) if data.draw(st.booleans()) else None
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_) if data.draw(st.booleans()) else None
    table = stored(rows, schema, cut, place=place, mask=mask, ranked=True)
    there = [row for row in range(n) if mask is None or mask[row]]
    return table, {int(row if place is None else place[row]): rows[row] for row in there}


def met(table, most):
    """The rows of each piece of a table, some at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_sort, "MEMBERS", most)
        return [rows_of(piece.make()) for piece in table.pieces(0)]


def whole_groups(rows):
    """Whether the rows of each key, their first value, are beside each other and ascend."""
    runs = [key for key, _ in itertools.groupby(rows, key=lambda row: row[0])]
    return len(runs) == len(set(runs))


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20))
def test_portions_are_runs_of_whole_groups(sizes, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_sort, "MEMBERS", most)
        found = list(portions(np.array(sizes, np.int64)))
    assert [i for begin, end in found for i in range(begin, end)] == list(range(len(sizes)))
    for begin, end in found:
        assert begin < end and sum(sizes[begin : end - 1]) < 2 * most, "a group alone may be larger"
    assert len(found) <= sum(sizes) // most + 1


DIGESTS = pa.schema([("digest", pa.binary(16)), ("x", integer), ("order", integer)])
IDS = pa.schema([("digest", pa.large_string()), ("x", integer), ("order", integer)])
FIXED = st.sampled_from([bytes(16), bytes(15) + b"\1", b"\1" + bytes(15), b"\xff" * 16, bytes(8) + b"\xff" * 8])
each_kind = pytest.mark.parametrize("schema", [DIGESTS, IDS], ids=["fixed", "text"])


@each_kind
@given(
    data=st.data(), cut=cuts, most=members, memory=st.sampled_from([1, 64, 300, 1 << 30]), sort=st.sampled_from(["order", "x"])
)
def test_rows_meet_by_their_bytes(schema, data, cut, most, memory, sort):
    """In as many passes as fit the memory; most of those that are alone are left out."""
    value = FIXED if schema is DIGESTS else st.sampled_from(["", "a", "é", "a" * 40, "a" * 39 + "b"])
    rows = [{"digest": one, "x": number} for number, one in enumerate(data.draw(st.lists(value, max_size=25)))]
    table, at = ranked(rows, schema, cut, data)
    passes = met(by_bytes(table, "digest", sort, memory, 1), most)
    assert len(passes) == max(1, -(-64 * len(rows) // memory))
    found = list(itertools.chain(*passes))
    count = Counter(row["digest"] for row in at.values())
    every = {(row["digest"], row["x"], order) for order, row in at.items()}
    assert len(found) == len(set(found)) and {row for row in every if count[row[0]] > 1} <= set(found) <= every
    by = 2 if sort == "order" else 1
    assert whole_groups(found) and all(a[by] < b[by] for a, b in itertools.pairwise(found) if a[0] == b[0])


@each_kind
def test_passes_are_of_about_one_size(schema, rng):
    """Digests are numbers below 2^61 - 1: their highest bits distinguish nothing."""
    words = np.repeat(rng.integers(0, (1 << 61) - 1, (1000, 2), np.uint64), 2, 0)
    rows = [{"digest": word.tobytes() if schema is DIGESTS else str(word[0]), "x": 0} for word in words]
    passes = met(by_bytes(stored(rows, schema, ranked=True), "digest", "order", 64 * len(rows) // 8, 1), 1 << 20)
    sizes = list(map(len, passes))
    assert len(sizes) == 8 and sum(sizes) == 2000 and min(sizes) > 150 and max(sizes) < 350


def test_texts_meet_by_digests_of_a_secret_of_their_own():
    """Nobody can know which ids would have one digest: groups come in another order each time."""
    table = stored([{"digest": f"id {number // 2}", "x": 0} for number in range(200)], IDS, ranked=True)
    found = [[row[2] for row in rows_of(by_bytes(table, "digest", "order", 1 << 30, 1).batches())] for _ in range(2)]
    assert found[0] != found[1] and [sorted(some) for some in found] == [list(range(200))] * 2
