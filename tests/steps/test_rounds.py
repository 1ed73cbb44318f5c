"""Deciding by rounds, by the walk and by the definition comes to the same."""

import numpy as np
import pyarrow as pa
from conftest import JIT_OFF
from cut_tables import batches, columns_of, cuts, folded, run
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.kernels.resemblance import FINGERPRINTS, Rows
from lookalike.kernels.walk import walk_bundles
from lookalike.steps.rounds import (
    FACED,
    OPEN_DOCUMENTS,
    advance,
    face,
    first_states,
    flag,
    not_verified,
    resolve,
    which,
)  # fmt: skip
from lookalike.steps.walk import name
from lookalike.values.tables import KEPT, MATCHES, OPEN, PAIRS, REMOVED, STATES

SEEN = pa.schema([*PAIRS, ("left_state", pa.int8()), ("right_state", pa.int8())])


TURNED = pa.schema([*PAIRS, *((f"{side}_{name}", pa.int8()) for side in ("left", "right") for name in ("state", "turn"))])


FLAGGED = pa.schema([*STATES, ("removed", pa.bool_()), ("blocked", pa.bool_())])


threshold = 0.5


def step(function, rows, schema, cut, **arguments):
    return run(function, batches(columns_of(rows, schema), schema, cut), **arguments)


def by_rounds(n, pairs, score, boundary, cut, rounds=6, enough=0.1):
    """Decide as a job does; return ({removed: (keeper, score)}, kept matches, comparisons before the end, all that there are)."""
    states = [(order, KEPT if order < boundary else OPEN, 0) for order in range(n)]
    compared, found, turn = 0, [], 0

    def choose(pairs):
        state = {order: state for order, state, _ in states}
        faced = step(face, [(a, b, state[a], state[b]) for a, b in pairs], SEEN, cut)
        return [step(which, faced, FACED, cut, now=now) for now in (True, False)]

    def verified(pairs):
        return [(a, b, score[a, b]) for a, b in pairs if score[a, b] >= threshold and b >= boundary]

    def flags_of(rows, schema, name):
        flagged = step(flag, sorted(rows, key=lambda row: (row[1], row[0])), schema, cut, name=name)
        assert len(dict(flagged)) == len(flagged)
        return dict(flagged)

    def end(matches, waiting):
        removed, blocked = flags_of(matches, MATCHES, "removed"), flags_of(waiting, PAIRS, "blocked")
        rows = [(order, state, since, removed.get(order), blocked.get(order)) for order, state, since in states]
        return step(advance, rows, FLAGGED, cut, turn=turn)

    def count_open():
        return sum(state == OPEN for _, state, _ in states)

    waiting = sorted(pairs)
    for turn in range(1, rounds + 1):
        was_open = count_open()
        now, waiting = choose(waiting)
        compared += len(now)
        found += verified(now)
        states = end(verified(now), waiting)
        if turn > 1 and was_open - count_open() < enough * was_open:
            break
    turn += 1
    now, later = choose(waiting)
    compared += len(now) + len(later)
    matches = sorted(verified(now) + verified(later), key=lambda m: (m[1], m[0]))
    found += (resolved := step(resolve, matches, MATCHES, cut, boundary=boundary))
    states = end(resolved, [])
    known = {order: (state, since) for order, state, since in states}
    rest = step(not_verified, [(a, b, *known[a], *known[b]) for a, b in sorted(pairs)], TURNED, cut, last=turn)
    found += verified(rest)
    kept_matches = sorted(found, key=lambda m: (m[1], m[0]))
    assert len(set(kept_matches)) == len(kept_matches)  # none was verified twice
    standing = {order: (keeper, best) for order, keeper, best in step(name, kept_matches, MATCHES, cut)}
    assert {o for o, (state, _) in known.items() if state == REMOVED} == set(standing) and all(
        s != OPEN for s, _ in known.values()
    )
    return standing, kept_matches, compared, compared + len(rest)


def by_walk(n, pairs, score, boundary):
    """Walk one bundle: the scores are looked up by the differing bits of made-up fingerprints (unary numbers)."""
    table_of = np.array([*sorted({0.0, *score.values()})])
    matches = []
    removed = np.zeros(2, np.bool_)
    done = [False] * n
    for right in range(n):  # a pair at a time, for pairs of any scores are no metric
        for left in sorted(a for a, b in pairs if b == right):
            if done[left]:
                continue
            words = np.array([0, (1 << int(np.searchsorted(table_of, score[left, right]))) - 1], np.uint64)
            rows = Rows(np.ones(2, np.int64), np.arange(3), np.empty(0, np.int32), words, table_of, FINGERPRINTS)
            out = np.empty(1, np.int64), np.empty(1, np.int64), np.empty(1)
            count = walk_bundles(np.array([0, 2]), np.array([left, right]), np.array([0, 0, 1]), np.array([left]), rows, boundary,
                                 threshold, False, removed, *out)  # fmt: skip
            matches += [(left, right, float(out[2][0]))] * count
            done[right] |= bool(removed[1])
    return matches


def by_definition(n, pairs, score, boundary):
    kept, matches = set(), []
    for order in range(n):
        found = [(other, order, score[other, order]) for other in sorted(kept) if (other, order) in pairs]
        found = [match for match in found if match[2] >= threshold and order >= boundary]
        matches += found
        if not found:
            kept.add(order)
    return matches


graphs = st.dictionaries(
    st.tuples(st.integers(0, 13), st.integers(0, 13)).filter(lambda p: p[0] < p[1]),
    st.sampled_from([0.1, 0.5, 0.75, 0.75, 1.0]), max_size=40,
)  # fmt: skip


@settings(max_examples=10 if JIT_OFF else 150)
@given(graphs, st.integers(0, 5), cuts, st.integers(0, 6), st.sampled_from([0.0, 0.1, 0.9]))
def test_rounds_walk_and_definition_agree(score, boundary, cut, rounds, enough):
    matches = by_definition(14, set(score), score, boundary)
    standing, kept_matches, *_ = by_rounds(14, set(score), score, boundary, cut, rounds, enough)
    assert kept_matches == matches == by_walk(14, set(score), score, boundary)
    assert standing == {b: max(((a, s) for a, r, s in matches if r == b), key=lambda m: (m[1], -m[0])) for _, b, _ in matches}


def test_a_long_chain_ends_without_a_round_for_each_link():
    n = 200
    score = {(i, i + 1): 0.9 for i in range(n - 1)}
    standing, _, compared, _ = by_rounds(n, set(score), score, 0, [])
    assert sorted(standing) == list(range(1, n, 2)) and compared <= n


def test_lazy_rounds_compare_what_the_walk_compares():
    """A family whose first member matches all: nothing but its own pairs is compared."""
    score = {(a, b): 1.0 for b in range(30) for a in range(b)}
    assert by_rounds(30, set(score), score, 0, [])[2] == 29


def test_no_pair_is_verified_twice():
    """Two stars that share a leaf: the pair of the leaf and the second centre is known from the round that removed it."""
    score = {(0, 2): 0.9, (1, 2): 0.8, (1, 3): 0.9}
    standing, _, compared, all_of_them = by_rounds(4, set(score), score, 0, [])
    assert standing == {2: (0, 0.9), 3: (1, 0.9)} and compared == all_of_them == 3


def test_faces_are_chosen_by_both_states():
    rows = [(0, 1, OPEN, KEPT), (0, 2, OPEN, OPEN), (1, 2, KEPT, OPEN), (1, 3, KEPT, REMOVED), (3, 4, REMOVED, OPEN)]
    assert step(face, rows, SEEN, [2]) == [(0, 2, False), (1, 2, True)]


def test_pairs_of_one_round_or_of_an_earlier_removal_are_not_verified_yet():
    rows = [(0, 1, KEPT, 1, REMOVED, 2), (0, 2, KEPT, 2, REMOVED, 2), (0, 3, KEPT, 3, REMOVED, 2), (0, 4, KEPT, 4, REMOVED, 4),
            (0, 5, REMOVED, 1, REMOVED, 1), (0, 6, KEPT, 2, KEPT, 2)]  # fmt: skip
    assert step(not_verified, rows, TURNED, [1, 4], last=4) == [(0, 2), (0, 3)]


def test_resolve_remembers_orders_of_any_size():
    matches = [(5, 10**6, 0.9), (10**6, 10**6 + 1, 0.9), (6, 10**7, 0.9), (10**6 + 1, 10**7, 0.9), (10**7, 10**7 + 7, 0.9)]
    found = step(resolve, matches, MATCHES, [1, 3])
    assert [match[:2] for match in found] == [(5, 10**6), (6, 10**7), (10**6 + 1, 10**7)]


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 10), cuts)
def test_references_are_kept_and_the_rest_open(orders, boundary, cut):
    schema = pa.schema([("order", pa.int64())])
    found = run(first_states, batches({"order": orders}, schema, cut), boundary=boundary)
    assert found == [(order, KEPT if order < boundary else OPEN, 0) for order in orders]


@given(st.lists(st.sampled_from([OPEN, KEPT, REMOVED]), max_size=30), cuts)
def test_open_documents_are_counted(states, cut):
    rows = {"order": list(range(len(states))), "state": states, "turn": [1] * len(states)}
    assert folded(OPEN_DOCUMENTS, batches(rows, STATES, cut)).tolist() == [states.count(OPEN)]
