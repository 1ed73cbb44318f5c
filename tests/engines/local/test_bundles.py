from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from cut_tables import cut_rows, cuts, rows_of
from engine_rows import components
from hypothesis import given
from hypothesis import strategies as st

from lookalike.engines.local.bundles import CLOSED, PAIRED, ComponentPartitions, Partners, connected_documents, find_roots
from lookalike.engines.progress import WorkProgress
from lookalike.files.workspace import Workspace
from lookalike.values.tables import PAIRS

N = 20
pairs = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda pair: pair[0] < pair[1]), max_size=25, unique=True
)
sizes = st.lists(st.integers(0, 30), min_size=N, max_size=N).map(np.array)


def table(found, cut=()):
    return SimpleNamespace(batches=lambda: cut_rows(found, PAIRS, cut))


def arrays(found):
    return [np.array([pair[side] for pair in found], "int64") for side in (0, 1)]


@given(pairs, st.sampled_from([0, 1 << 31, 1 << 32, 1 << 33]))
def test_partners_are_those_before(found, shift):
    """Of members in any order; also where numbers are too large to be packed into one."""
    left, right = arrays(found)
    members = [19, 3, *(o for o in range(N) if o not in (3, 19))]
    partners = Partners(np.array(members, "int64") + shift, left + shift, right + shift)
    wanted = [sorted(a + shift for a, b in found if b == member) for member in members]
    for begin, end in ((0, 0), (0, N), (1, 2), (2, 7), (N - 1, N)):
        assert partners.of(begin, end).to_pylist() == wanted[begin:end]


@given(pairs, cuts, sizes, st.integers(1, 80), st.integers(1, 90), st.booleans(), st.data())
def test_bundles_are_whole_components_that_fit_with_all_earlier_partners(found, cut, sizes, most, whole, on_disk, data):
    """One fits that is neither larger than a partition nor than what is compared at one go; the largest of a partition is first."""
    known, space, told = components(found, N), Workspace(), []
    weight = {root: sizes[members].sum() for root, members in known.items()}
    closed = {order: root for root in known if weight[root] <= min(most, whole) for order in known[root]}
    division = ComponentPartitions(*connected_documents(find_roots(table(found, cut), N)), N, sizes.__getitem__, most, whole)
    assert division.largest == max(weight.values(), default=0)
    assert division.present.tolist() == [order in closed for order in range(N)]
    outside = {int(division.of_order[order]) for root in known for order in known[root] if order not in closed}
    assert len(outside) == len(known) - len({*closed.values()}) and all(number >= division.n_closed for number in outside)
    alone = set(range(N)) - {order for members in known.values() for order in members}
    assert {int(division.of_order[order]) for order in alone} <= {-1}
    for number in range(division.n_closed):
        inside = sorted({*division.members(number)[1].tolist()})
        assert inside and sum(weight[root] for root in inside[:-1]) < most, "a partition ends once it is full"
    batches = list(table(found, cut).batches())
    stopped = batches[: data.draw(st.integers(0, len(batches)))]
    for some in (stopped, batches):
        division.sort_pairs(SimpleNamespace(batches=lambda some=some: iter(some)), space)
    assert len(space.numbered_names(PAIRED)) == len(batches)
    read = partial(division.pairs, space) if on_disk else lambda number: arrays(found)
    counting = partial(WorkProgress, lambda *report: told.append(report[1:3]), "matches", division.n_bytes, "bytes", 1)
    with patch("lookalike.engines.local.bundles.GROUP_BYTES", 25):
        pieces = list(division.pieces(read, sizes.__getitem__, counting, 0))
        assert division.n_bytes == sum(weight[root] for root in {*closed.values()})
        assert told == sorted(told) and told[-1] == (division.n_bytes, division.n_bytes)
        mark = data.draw(st.integers(0, len(pieces)))
        after = list(division.pieces(read, sizes.__getitem__, counting, mark))
    assert [piece.mark for piece in pieces] == list(range(1, len(pieces) + 1))
    made = [rows_of(piece.make()) for piece in pieces]
    assert [rows_of(piece.make()) for piece in after] == made[mark:]
    assert all(batch.schema == CLOSED for piece in pieces for batch in piece.make())
    wanted = [(root, order, sorted(a for a, b in found if b == order)) for order, root in closed.items()]
    assert sorted(row for rows in made for row in rows) == sorted(wanted)
    weights = [[division.of_order[rows[0][1]], -sizes[[row[1] for row in rows]].sum()] for rows in made]
    assert weights == sorted(weights) and all(rows == sorted(rows) for rows in made), "by bundle, then by order"
