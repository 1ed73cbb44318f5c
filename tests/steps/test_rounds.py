"""Deciding by rounds, by the walk and by the definition comes to the same."""

import numpy as np
import pyarrow as pa
from conftest import JIT_OFF
from cut_tables import batches, cuts, run
from hypothesis import given, settings
from hypothesis import strategies as st

from semblance.kernels.resemblance import FINGERPRINTS, Rows
from semblance.kernels.walk import walk_bundles
from semblance.steps.name import name
from semblance.steps.rounds import LAST, LATER, NOW, Facing, Flag, Resolve, advance, facing, flag, resolve
from semblance.values.tables import KEPT, MATCHES, OPEN, PAIRS, REMOVED, STATES

FACED = pa.schema([*PAIRS, ("left_state", pa.int8()), ("right_state", pa.int8())])
FLAGGED = pa.schema([*STATES, ("removed", pa.bool_()), ("blocked", pa.bool_())])
threshold = 0.5


def table(rows, schema):
    return dict(zip(schema.names, zip(*rows, strict=True), strict=True)) if rows else {n: [] for n in schema.names}


def step(function, rows, schema, cut, **arguments):
    return run(function, batches(table(rows, schema), schema, cut), **arguments)


def by_rounds(n, pairs, score, boundary, cut, rounds=6, enough=0.1):
    """Decide as a job does; return ({removed: (keeper, score)}, kept matches, the number of comparisons before the end)."""
    states = [(order, KEPT if order < boundary else OPEN) for order in range(n)]
    compared = 0

    def choose(pairs, settings):
        state = dict(states)
        return step(facing, [(a, b, state[a], state[b]) for a, b in pairs], FACED, cut, settings=settings)

    def verified(pairs):
        return [(a, b, score[a, b]) for a, b in pairs if score[a, b] >= threshold and b >= boundary]

    def flags_of(rows, schema, name):
        flagged = step(flag, sorted(rows, key=lambda row: (row[1], row[0])), schema, cut, settings=Flag(name=name))
        assert len(dict(flagged)) == len(flagged)
        return dict(flagged)

    def end(matches, waiting):
        removed, blocked = flags_of(matches, MATCHES, "removed"), flags_of(waiting, PAIRS, "blocked")
        return step(advance, [(o, s, removed.get(o), blocked.get(o)) for o, s in states], FLAGGED, cut)

    waiting = sorted(pairs)
    for turn in range(rounds):
        was_open = sum(s == OPEN for _, s in states)
        now, waiting = choose(waiting, NOW), choose(waiting, LATER)
        compared += len(now)
        states = end(verified(now), waiting)
        if turn and was_open - sum(s == OPEN for _, s in states) < enough * was_open:
            break
    now, later = choose(waiting, NOW), choose(waiting, LATER)
    compared += len(now) + len(later)
    matches = sorted(verified(now) + verified(later), key=lambda m: (m[1], m[0]))
    states = end(step(resolve, matches, MATCHES, cut, settings=Resolve(boundary=boundary)), [])
    kept_matches = sorted(verified(choose(sorted(pairs), LAST)), key=lambda m: (m[1], m[0]))
    standing = {order: (keeper, best) for order, keeper, best in step(name, kept_matches, MATCHES, cut)}
    assert {o for o, s in states if s == REMOVED} == set(standing) and all(s != OPEN for _, s in states)
    return standing, kept_matches, compared


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
    standing, kept_matches, _ = by_rounds(14, set(score), score, boundary, cut, rounds, enough)
    assert kept_matches == matches == by_walk(14, set(score), score, boundary)
    assert standing == {b: max(((a, s) for a, r, s in matches if r == b), key=lambda m: (m[1], -m[0])) for _, b, _ in matches}


def test_a_long_chain_ends_without_a_round_for_each_link():
    n = 200
    score = {(i, i + 1): 0.9 for i in range(n - 1)}
    standing, _, compared = by_rounds(n, set(score), score, 0, [])
    assert sorted(standing) == list(range(1, n, 2)) and compared <= n


def test_lazy_rounds_compare_what_the_walk_compares():
    """A family whose first member matches all: nothing but its own pairs is compared."""
    score = {(a, b): 1.0 for b in range(30) for a in range(b)}
    assert by_rounds(30, set(score), score, 0, [])[2] == 29


def test_facing_chooses_by_both_states():
    rows = [(a, b, s, t) for a, b, s, t in [(0, 1, OPEN, KEPT), (0, 2, OPEN, OPEN), (1, 2, KEPT, OPEN), (1, 3, KEPT, REMOVED)]]
    chosen = {f: step(facing, rows, FACED, [2], settings=f) for f in (NOW, LATER, LAST, Facing(left=OPEN, right=KEPT))}
    assert list(chosen.values()) == [[(1, 2)], [(0, 2)], [(1, 3)], [(0, 1)]]


def test_resolve_remembers_orders_of_any_size():
    matches = [(5, 10**6, 0.9), (10**6, 10**6 + 1, 0.9), (6, 10**7, 0.9), (10**6 + 1, 10**7, 0.9), (10**7, 10**7 + 7, 0.9)]
    found = step(resolve, matches, MATCHES, [1, 3], settings=Resolve())
    assert [match[:2] for match in found] == [(5, 10**6), (6, 10**7), (10**6 + 1, 10**7)]
