"""Rows of equal keys meet by sorting, in whole groups and portions of about so many rows; and documents get their places."""

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local import sort as local_sort
from lookalike.engines.local.sort import all_together, by_bytes, by_list, places, portions
from lookalike.engines.local.tables import LazyTable, Stored, arrays_of, one_piece, streamed
from lookalike.files.workspace import Workspace

integer = pa.int64()
members = st.sampled_from([1, 4, 1 << 20])
cuts = st.lists(st.integers(0, 30), max_size=3)


def parted(rows, schema, cuts):
    """Rows in some parts of a workspace, and where each begins."""
    space, starts = Workspace(), [0]
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for begin, end in itertools.pairwise(bounds):
        space.append("rows", streamed([arrays_of(pa.RecordBatch.from_pylist(rows[begin:end], schema))]))
        starts.append(end)
    return space, np.array(starts)


def stored(rows, schema, cuts, data):
    """Rows in some parts, ranked, perhaps in another order than they came and with some left out; (table, {order: row})."""
    space, starts = parted(rows, pa.schema([field for field in schema if field.name != "order"]), cuts)
    n = len(rows)
    place = np.array(data.draw(st.permutations(range(n))), np.int64) if data.draw(st.booleans()) else None
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_) if data.draw(st.booleans()) else None
    table = Stored(space, space.numbered_names("rows"), starts, schema, 1, place=place, mask=mask, ranked=True)
    there = [row for row in range(n) if mask is None or mask[row]]
    return table, {int(row if place is None else place[row]): rows[row] for row in there}


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20))
def test_portions_are_runs_of_whole_groups(sizes, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_sort, "MEMBERS", most)
        found = list(portions(np.array(sizes, np.int64)))
    assert [i for begin, end in found for i in range(begin, end)] == list(range(len(sizes)))
    for begin, end in found:
        assert begin < end and sum(sizes[begin : end - 1]) < 2 * most, "a group alone may be larger"
    assert len(found) <= sum(sizes) // most + 1


KEYED = pa.schema([("keys", pa.list_(integer, 3)), ("order", integer)])
key = st.integers(-2, 2) | st.sampled_from([-(2**63), 2**63 - 1])


@given(st.lists(st.none() | st.lists(key, min_size=3, max_size=3), max_size=20), cuts, members, st.integers(0, 3), st.data())
def test_documents_meet_band_by_band(keys, cut, most, mark, data):
    """Null keys not at all; a job that goes on begins with the band after its mark."""
    table, at = stored([{"keys": some} for some in keys], KEYED, cut, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_sort, "MEMBERS", most)
        pieces = list(by_list(table, "keys", 1).pieces(mark))
        found = [[row for batch in piece.make() for row in batch.to_pylist()] for piece in pieces]
    there = sorted(order for order, row in at.items() if row["keys"] is not None)
    assert [piece.mark for piece in pieces] == (list(range(mark + 1, 4)) if len(there) > 1 else [])
    for band, rows in zip(range(mark, 3), found, strict=False):
        count = Counter(at[order]["keys"][band] for order in there)
        wanted = {(k, o) for o in there if count[k := at[o]["keys"][band]] > 1}
        ends = [(row["key"], row["order"]) for row in rows]
        assert set(ends) == wanted and len(ends) == len(wanted)
        runs = [k for i, (k, _) in enumerate(ends) if not i or ends[i - 1][0] != k]
        assert len(runs) == len(set(runs)), "groups are whole"
        assert all(a[1] < b[1] for a, b in itertools.pairwise(ends) if a[0] == b[0])


DIGESTS = pa.schema([("digest", pa.binary(16)), ("x", integer), ("order", integer)])
IDS = pa.schema([("digest", pa.large_string()), ("x", integer), ("order", integer)])
FIXED = st.sampled_from([bytes(16), bytes(15) + b"\1", b"\1" + bytes(15), b"\xff" * 16, bytes(8) + b"\xff" * 8])


@pytest.mark.parametrize("schema", [DIGESTS, IDS], ids=["fixed", "text"])
@given(
    data=st.data(), cut=cuts, most=members, memory=st.sampled_from([1, 64, 300, 1 << 30]), sort=st.sampled_from(["order", "x"])
)
def test_rows_meet_by_their_bytes(schema, data, cut, most, memory, sort):
    """In as many passes as fit the memory; most of those that are alone are left out."""
    value = FIXED if schema is DIGESTS else st.sampled_from(["", "a", "é", "a" * 40, "a" * 39 + "b"])
    rows = [{"digest": one, "x": number} for number, one in enumerate(data.draw(st.lists(value, max_size=25)))]
    table, at = stored(rows, schema, cut, data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_sort, "MEMBERS", most)
        made = by_bytes(table, "digest", sort, memory, 1)
        assert len(list(made.pieces(0))) == max(1, -(-64 * len(rows) // memory))
        found = [tuple(row.values()) for batch in made.batches() for row in batch.to_pylist()]
    count = Counter(row["digest"] for row in at.values())
    every = {(row["digest"], row["x"], order) for order, row in at.items()}
    assert len(found) == len(set(found)) and {row for row in every if count[row[0]] > 1} <= set(found) <= every
    runs = [row[0] for i, row in enumerate(found) if not i or found[i - 1][0] != row[0]]
    assert len(runs) == len(set(runs)), "groups are whole"
    by = 2 if sort == "order" else 1
    assert all(a[by] < b[by] for a, b in itertools.pairwise(found) if a[0] == b[0])


def in_order(rows, schema):
    """Rows in one part, ranked in the order in which they came."""
    space = Workspace()
    kept = pa.schema([field for field in schema if field.name != "order"])
    space.append("rows", streamed([arrays_of(pa.RecordBatch.from_pylist(rows, kept))]))
    return Stored(space, space.numbered_names("rows"), np.array([0, len(rows)]), schema, 1, ranked=True)


@pytest.mark.parametrize("schema", [DIGESTS, IDS], ids=["fixed", "text"])
def test_passes_are_of_about_one_size(schema, rng):
    """Digests are numbers below 2^61 - 1: their highest bits distinguish nothing."""
    words = np.repeat(rng.integers(0, (1 << 61) - 1, (1000, 2), np.uint64), 2, 0)
    rows = [{"digest": word.tobytes() if schema is DIGESTS else str(word[0]), "x": 0} for word in words]
    made = by_bytes(in_order(rows, schema), "digest", "order", 64 * len(rows) // 8, 1)
    sizes = [sum(len(batch) for batch in piece.make()) for piece in made.pieces(0)]
    assert len(sizes) == 8 and sum(sizes) == 2000 and min(sizes) > 150 and max(sizes) < 350


def test_texts_meet_by_digests_of_a_secret_of_their_own():
    """Nobody can know which ids would have one digest: groups come in another order each time."""
    table = in_order([{"digest": f"id {number // 2}", "x": 0} for number in range(200)], IDS)
    made = [by_bytes(table, "digest", "order", 1 << 30, 1) for _ in range(2)]
    found = [[order for batch in some.batches() for order in batch["order"].to_pylist()] for some in made]
    assert found[0] != found[1] and [sorted(some) for some in found] == [list(range(200))] * 2


@given(st.lists(st.integers(0, 9), max_size=20), cuts, st.data())
def test_all_rows_come_in_their_order_as_one_piece(values, cut, data):
    schema = pa.schema([("x", integer), ("order", integer)])
    table, at = stored([{"x": x} for x in values], schema, cut, data)
    together = all_together(table)
    (piece,) = together.pieces(0)
    assert [(row["order"], row["x"]) for batch in piece.make() for row in batch.to_pylist()] == [
        (order, at[order]["x"]) for order in sorted(at)
    ]
    assert list(together.pieces(1)) == []


def test_a_stream_is_one_piece_to_a_step():
    """A step that counts the batches runs once."""
    batches = pa.table({"x": [1, 2, 3]}).to_batches(max_chunksize=1)
    calls = []

    def counting(rows):
        calls.append(1)
        yield from rows

    table = LazyTable(batches[0].schema, lambda mark: (local_sort.Piece(lambda one=one: iter([one])) for one in batches), 2)
    assert sum(1 for _ in table.mapped(counting, table.schema).batches()) == len(calls) == 3
    calls.clear()
    assert (
        sum(1 for _ in one_piece(table.schema, table.batches).mapped(counting, table.schema).batches()) == 3 and len(calls) == 1
    )


def test_in_the_order_of_positions_nothing_is_kept():
    schema = pa.schema([("position", integer)])
    space, starts = parted([{"position": 3}], schema, [])
    assert places(Stored(space, space.numbered_names("rows"), starts, schema, 1), ["position"], 0) is None
