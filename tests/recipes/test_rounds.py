import random
from functools import partial

import pyarrow as pa
import pytest
from engine_rows import rows_of, running
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.recipes import decide as module
from lookalike.recipes.decide import Rounds
from lookalike.steps.pairs import MEMBERS, distinct, sides
from lookalike.values.tables import MATCHES, PAIRS

THRESHOLD = 0.5
graphs = st.dictionaries(
    st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] < pair[1]),
    st.sampled_from([0.1, 0.5, 0.75, 1.0]), max_size=30,
)  # fmt: skip


def scored(rows, scores, boundary, seen):
    for batch in rows:
        pairs = list(zip(batch["left"].to_pylist(), batch["right"].to_pylist(), strict=True))
        seen += pairs
        found = [(a, b, scores[a, b]) for a, b in pairs if scores[a, b] >= THRESHOLD and b >= boundary]
        yield pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(zip(*found, strict=True), MATCHES, strict=True)]
                                         if found else [pa.nulls(0, f.type) for f in MATCHES], schema=MATCHES)  # fmt: skip


@pytest.fixture(autouse=True)
def however_few(monkeypatch):
    """Few pairs go by rounds, too."""
    monkeypatch.setattr(module, "FEW", -1)


def decided(engine, scores, boundary, seen):
    names = list(scores)
    random.Random(1).shuffle(names)
    table = pa.table([[a for a, _ in names], [b for _, b in names]], PAIRS)
    pairs = engine.materialize(engine.rows(table), "pairs")
    both = engine.group_by(engine.map(pairs, sides, MEMBERS), "order", "order", once=True)
    members = engine.materialize(engine.map(both, distinct, MEMBERS), "members")
    step = partial(scored, scores=scores, boundary=boundary, seen=seen)
    rounds = Rounds(engine, lambda rows: engine.map(rows, step, MATCHES), boundary, "-here")
    return sorted(tuple(row.values()) for row in rows_of(rounds.kept_of(pairs, members)))


def by_definition(scores, boundary):
    """In keep order, a document is removed if an earlier kept one matches it."""
    kept, matches = set(), []
    for order in range(70):
        found = [(a, b, score) for (a, b), score in scores.items() if b == order and a in kept and score >= THRESHOLD]
        matches += found if order >= boundary else []
        if order < boundary or not found:
            kept.add(order)
    return sorted(matches)


@settings(max_examples=100)
@given(graphs, st.integers(0, 4), st.integers(1, 6), st.sampled_from([1, 10, 100]))
def test_rounds_come_to_what_the_definition_says(scores, boundary, most, enough):
    """Also where they end before all is decided."""
    seen = []
    with running("toy") as engine, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ROUNDS", most)
        patch.setattr(module, "ENOUGH", enough)
        assert decided(engine, scores, boundary, seen) == by_definition(scores, boundary)
    assert len(seen) == len(set(seen)), "none is compared twice"


def test_rounds_compare_only_what_matters():
    """A family whose first member matches all; two stars that share a leaf; a chain, without a round for each link."""
    family, chain = {(a, b): 1.0 for b in range(12) for a in range(b)}, {(i, i + 1): 0.9 for i in range(60)}
    for scores, least in ((family, 11), ({(0, 2): 0.9, (1, 2): 0.8, (1, 3): 0.9}, 3), (chain, 59)):
        seen = []
        with running("toy") as engine:
            decided(engine, scores, 0, seen)
        assert len(seen) == len(set(seen)) == least
