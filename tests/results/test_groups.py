"""Decisions at a higher threshold equal a walk that goes from document to document."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.results.groups import clusters_of, groups_of, rethreshold
from lookalike.results.rows import TableRows
from lookalike.theory.shares import share_error
from lookalike.values.tables import DECISIONS

SCHEMA = pa.schema([
    *(pa.field(f.name, pa.string()) if f.name in ("duplicate_of", "cluster") else f for f in DECISIONS), pa.field("id", pa.string()),
    pa.field("leader", pa.int64()), pa.field("standard_error", pa.float64()), pa.field("distance", pa.int64()),
])  # fmt: skip
SCORES = [0.5, 0.6, 0.7, 0.8, 1.0]
DECIDED = ("kept", "reason", "keeper", "duplicate_of", "duplicate_source", "duplicate_is_reference", "resemblance", "cluster",
           "n_exact", "n_duplicates", "standard_error", "distance")  # fmt: skip


@st.composite
def corpora(draw):
    """(references, order of each row, leader of each row, dropped rows, {(left, right): (score, distance)}) by order."""
    n, references = draw(st.integers(1, 12)), draw(st.integers(0, 4))
    references = min(references, n)
    order = [*range(references), *draw(st.permutations(range(references, n)))]
    leader = [min(o, draw(st.integers(0, n))) for o in range(n)]
    leader = [leader[o] if leader[leader[o]] == leader[o] else o for o in range(n)]  # a first one follows nobody
    live = [o for o in range(n) if leader[o] == o]
    empty = {o for o in draw(st.sets(st.sampled_from(live))) if o >= references and leader.count(o) == 1}
    ends = [(a, b) for a in live for b in live if a < b and not {a, b} & empty]  # of two references, too
    chosen = draw(st.lists(st.sampled_from(ends), unique=True, max_size=20)) if ends else []
    pairs = {pair: (draw(st.sampled_from(SCORES)), draw(st.integers(1, 9))) for pair in chosen}
    return references, order, leader, empty, pairs


def walked(references, order, leader, empty, pairs, threshold, slots, kept=(), removed=(), by_key=()):
    """What is decided, row by row, in plain Python; by hand documents are kept or removed after all else."""
    n = len(order)
    keeper, score = {}, {}
    for o in range(n):
        matches = [
            (-s, left, d)
            for (left, right), (s, d) in pairs.items()
            if right == o and s >= threshold and keeper.get(left) == left
        ]
        keeper[o], score[o] = o, (1.0, 0)
        if o >= references and leader[o] == o and o not in empty and matches:
            best = min(matches)
            keeper[o], score[o] = best[1], (-best[0], best[2])
        elif o >= references and leader[o] != o:
            keeper[o], score[o] = keeper[leader[o]], score[leader[o]]
    copies = [keeper[first] == first for first in leader]
    keeper |= {o: o for o in kept}
    reasons = [
        "reference" if o < references else "override" if o in removed else "empty" if o in empty
        else "kept" if keeper[o] == o else "key" if o in by_key else "exact" if copies[o] else "near" for o in range(n)
    ]  # fmt: skip
    rows = []
    row_of = {o: row for row, o in enumerate(order)}
    for row, o in enumerate(order):
        dropped, reason = reasons[o] in ("override", "empty"), reasons[o]
        gone = None if dropped or keeper[o] == o else keeper[o]
        found, distance = score[o] if reason == "near" else (1.0, 0)
        scored = gone is not None and reason != "key"
        mine = [reasons[p] for p in range(n) if keeper[p] == o and p != o]
        rows.append({
            "kept": keeper[o] == o and not dropped, "reason": reason, "keeper": None if dropped else keeper[o],
            "duplicate_of": None if gone is None else f"d{row_of[gone]}", "duplicate_source": None if gone is None else f"f{row_of[gone]}",
            "duplicate_is_reference": None if gone is None else gone < references, "resemblance": found if scored else None,
            "cluster": None if dropped else f"d{row_of[keeper[o]]}", "n_exact": mine.count("exact"), "n_duplicates": len(mine),
            "standard_error": float(share_error(found * slots, slots)) if scored else None,
            "distance": distance if scored else None, "row": row,
        })  # fmt: skip
    return rows


def tables(references, order, leader, empty, pairs):
    """The same as the tables of a result."""
    rows = [
        {"id": f"d{row}", "source": f"f{row}", "order": o, "leader": leader[o],
         "reason": "reference" if o < references else "empty" if o in empty else "kept"}
        for row, o in enumerate(order)
    ]  # fmt: skip
    found = [{"left": a, "right": b, "resemblance": s, "distance": d} for (a, b), (s, d) in pairs.items()]
    kinds = {"left": pa.int64(), "right": pa.int64(), "resemblance": pa.float64(), "distance": pa.int64()}
    return pa.Table.from_pylist(rows, SCHEMA), pa.Table.from_pylist(found, pa.schema(kinds))


@settings(max_examples=200)
@given(corpora(), st.sampled_from([0.5, 0.6, 0.65, 0.8, 0.9, 1.0]), st.booleans(), st.booleans(), st.data())
def test_a_walk_over_all_pairs(corpus, threshold, second, by_hand, data):
    """One that was removed by its key follows the document that stands for that like a copy, and has no score.

    One that is to be kept by hand is; one that was removed by hand stays so; all others are as they are without the former.
    """
    references, order, leader, empty, pairs = corpus
    actions = st.sampled_from(["", "keep", "remove", "key"])
    said = {o: data.draw(actions) for o in order if by_hand and o >= references}
    kept = {o for o, action in said.items() if action == "keep"}
    removed = {o for o, action in said.items() if action == "remove" and leader[o] == o and leader.count(o) == 1}
    by_key = {o for o, action in said.items() if action == "key" and leader[o] != o}
    pairs = {pair: found for pair, found in pairs.items() if not removed.intersection(pair)}
    corpus = references, order, leader, empty - kept - removed, pairs
    decisions, verified = tables(*corpus)
    if by_hand:
        reasons = ["override" if o in removed else "key" if o in by_key else was
                   for o, was in zip(order, decisions["reason"].to_pylist(), strict=True)]  # fmt: skip
        decisions = decisions.set_column(decisions.column_names.index("reason"), "reason", pa.array(reasons))
        overrides = ["keep" if o in kept else "remove" if o in removed else None for o in order]
        decisions = decisions.append_column("override", pa.array(overrides, pa.string()))
    if not second:
        decisions, verified = decisions.drop(["standard_error", "distance"]), verified.drop(["distance"])
    found, left = rethreshold(decisions, verified, threshold, 64)
    names = [name for name in DECIDED if second or name not in ("standard_error", "distance")]
    wanted = walked(*corpus, threshold, 64, kept, removed, by_key)
    assert found.select(names).to_pylist() == [{name: row[name] for name in names} for row in wanted]
    assert found.schema == decisions.schema and found.select(["id", "order"]).equals(decisions.select(["id", "order"]))
    ends = {(row["left"], row["right"]) for row in left.to_pylist()}
    assert ends == {pair for pair, (score, _) in pairs.items() if score >= threshold}


@given(corpora(), st.booleans(), st.integers(1, 20))
def test_groups_and_clusters_follow_from_decisions(corpus, against, batch):
    references, order, _leader, _empty, _pairs = corpus
    decisions, verified = tables(*corpus)
    decisions = rethreshold(decisions, verified, 0.6, 64)[0]
    rows = walked(*corpus, 0.6, 64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lookalike.results.rows.BATCH_ROWS", batch)
        groups = groups_of(TableRows(decisions), against).to_pylist()
        clusters = clusters_of(TableRows(decisions), references).tolist()
    wanted = [
        {"id": f"d{row}"} | ({"is_reference": order[row] < references} if against else {})
        | {"n_exact": told["n_exact"], "n_duplicates": told["n_duplicates"],
           "duplicates": [f"d{r['row']}" for r in rows if r["duplicate_of"] == f"d{row}"]}
        for row, told in enumerate(rows) if told["n_duplicates"]
    ]  # fmt: skip
    assert groups == wanted
    row_of = {o: row for row, o in enumerate(order)}
    keepers = [row_of[row["keeper"]] if row["keeper"] is not None else row["row"] for row in rows[references:]]
    assert clusters == [keeper - references if keeper >= references else -1 - keeper for keeper in keepers]


def test_of_no_decisions_there_is_nothing():
    decisions, verified = tables(0, [], [], set(), {})
    found, left = rethreshold(decisions, verified, 0.7, 64)
    assert len(found) == len(left) == 0
    assert groups_of(TableRows(found), True).num_rows == 0 and clusters_of(TableRows(found), 0).dtype == np.int64
