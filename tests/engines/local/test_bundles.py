"""Components are found, cut into partitions that fit, and made bundles of; against the same step by step."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local import bundles as local_bundles
from lookalike.engines.local.bundles import (
    CLOSED,
    PAIRED,
    ComponentPartitions,
    Partners,
    component_groups,
    connected_documents,
    find_roots,
    make_bundles,
)
from lookalike.engines.progress import WorkProgress
from lookalike.files.workspace import Workspace
from lookalike.values.tables import PAIRS

N = 20
COUNTING = partial(WorkProgress, None, "matches", 0, "bytes", 1)
pairs = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda pair: pair[0] < pair[1]), max_size=25, unique=True
)
sizes = st.lists(st.integers(0, 30), min_size=N, max_size=N).map(np.array)


def table(found, cut=4):
    """Pairs in batches of a few."""
    batches = [
        pa.RecordBatch.from_pylist([dict(zip(("left", "right"), p, strict=True)) for p in found[i : i + cut]], PAIRS)
        for i in range(0, len(found), cut)
    ]
    return SimpleNamespace(batches=lambda: iter(batches))


def components(found):
    """{smallest member: all members} of documents in pairs."""
    root = list(range(N))
    for _ in range(N):
        for a, b in found:
            root[a] = root[b] = min(root[a], root[b])
    inside = {order for pair in found for order in pair}
    return {r: [o for o in range(N) if root[o] == r] for r in sorted({root[o] for o in inside})}


def arrays(found):
    return (np.array([pair[side] for pair in found], np.int64) for side in (0, 1))


@given(pairs, sizes, st.integers(1, 80), st.integers(1, 90))
def test_partitions_are_whole_components_that_fit(found, sizes, most, whole):
    """A component fits if it is neither larger than a partition nor than what is compared at one go."""
    known = components(found)
    division = ComponentPartitions(
        *connected_documents(find_roots(table(found), N)), N, lambda orders: sizes[orders], most, whole
    )
    assert division.largest == max((sizes[members].sum() for members in known.values()), default=0)
    parts = [division.members(number) for number in range(division.n_closed)]
    closed = {root for root, members in known.items() if sizes[members].sum() <= min(most, whole)}
    assert sorted(order for orders, _ in parts for order in orders.tolist()) == sorted(o for r in closed for o in known[r])
    for orders, roots in parts:
        assert len(orders) and list(zip(roots, orders, strict=True)) == sorted(zip(roots, orders, strict=True))
        inside = sorted(set(roots.tolist()))
        assert sorted(orders.tolist()) == sorted(o for root in inside for o in known[root])
        assert sum(sizes[known[root]].sum() for root in inside[:-1]) < most, "a partition ends once it is full"
    assert division.present.tolist() == [any(o in known[root] for root in closed) for o in range(N)]
    outside = {int(division.of_order[o]) for root in known if root not in closed for o in known[root]}
    assert len(outside) == len(known) - len(closed) and all(number >= division.n_closed for number in outside)
    assert {int(n) for o, n in enumerate(division.of_order) if not any(o in m for m in known.values())} <= {-1}


@given(pairs, sizes, st.integers(1, 80))
def test_groups_are_whole_components_the_largest_first(found, sizes, group_bytes):
    known = components(found)
    roots = find_roots(table(found), N)
    orders = np.array([o for root in sorted(known) for o in sorted(known[root])], np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_bundles, "GROUP_BYTES", group_bytes)
        made = [orders[begin:end].tolist() for begin, end in component_groups(roots[orders], sizes[orders])]
    assert sorted(o for group in made for o in group) == sorted(orders.tolist())
    weights = [sum(sizes[group]) for group in made]
    assert weights == sorted(weights, reverse=True)
    for group in made:
        assert {o for root in {roots[o] for o in group} for o in known[root]} == set(group)


@given(pairs, st.sampled_from([0, 1 << 31, 1 << 32, 1 << 33]))
def test_partners_are_those_before(found, shift):
    """Of members in any order; also where numbers are too large to be packed into one."""
    left, right = arrays(found)
    members = [19, 3, *(o for o in range(N) if o not in (3, 19))]
    partners = Partners(np.array(members, np.int64) + shift, left + shift, right + shift)
    wanted = [sorted(a + shift for a, b in found if b == member) for member in members]
    for begin, end in ((0, 0), (0, N), (1, 2), (2, 7), (N - 1, N)):
        assert partners.of(begin, end).to_pylist() == wanted[begin:end]


@given(pairs, sizes, st.integers(1, 80), st.booleans(), st.data())
def test_bundles_have_all_earlier_partners(found, sizes, most, on_disk, data):
    """In memory or by the parts of a workspace; a job that goes on gets the bundles after its mark."""
    known = components(found)
    division = ComponentPartitions(
        *connected_documents(find_roots(table(found), N)), N, lambda orders: sizes[orders], most, most
    )
    space = Workspace()
    cut = data.draw(st.integers(1, 6))
    division.sort_pairs(
        table(found[: data.draw(st.integers(0, len(found))) // cut * cut], cut), space
    )  # a run that was stopped
    division.sort_pairs(table(found, cut), space)
    assert len(space.numbered_names(PAIRED)) == -(-len(found) // cut)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_bundles, "GROUP_BYTES", 25)
        read = (lambda number: division.pairs(space, number)) if on_disk else (lambda number: arrays(found))
        told: list[tuple[int, int]] = []
        counting = partial(
            WorkProgress, lambda stage, done, total, unit: told.append((done, total)), "matches", division.n_bytes, "bytes", 1
        )
        pieces = list(division.pieces(read, sizes.__getitem__, counting, 0))
        assert [piece.mark for piece in pieces] == list(range(1, len(pieces) + 1))
        assert division.n_bytes == sum(sizes[members].sum() for members in known.values() if sizes[members].sum() <= most)
        assert told == sorted(told) and told[-1] == (division.n_bytes, division.n_bytes)
        mark = data.draw(st.integers(0, len(pieces)))
        after = [batch for piece in division.pieces(read, sizes.__getitem__, counting, mark) for batch in piece.make()]
        made = [batch for piece in pieces for batch in piece.make()]
    assert [batch.to_pylist() for batch in after] == [b.to_pylist() for b in made[mark:]]
    rows = [row for batch in made for row in batch.to_pylist()]
    assert all(batch.schema == CLOSED for batch in made)
    wanted = [
        {"bundle": root, "order": o, "partners": sorted(a for a, b in found if b == o)}
        for root, members in known.items() if sizes[members].sum() <= most for o in members
    ]  # fmt: skip
    assert sorted(rows, key=lambda row: (row["bundle"], row["order"])) == wanted
    for batch in made:
        ends = [(row["bundle"], row["order"]) for row in batch.to_pylist()]
        assert ends == sorted(ends), "by bundle, then by order"


def test_no_pairs_make_no_bundles():
    division = ComponentPartitions(
        *connected_documents(np.arange(N)), N, lambda orders: np.zeros(len(orders), np.int64), 10, 10
    )
    assert division.n_closed == 0 and not division.present.any()
    assert list(division.pieces(lambda number: arrays([]), lambda orders: orders, COUNTING, 0)) == []
    none = np.empty(0, np.int64)
    assert [batch.num_rows for batch in make_bundles(none, none, Partners(none, none, none), 0, 0)] == [0]
