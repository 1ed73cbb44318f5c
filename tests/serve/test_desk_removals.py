"""Removals in pages: every order and choice against plain Python over the decisions."""

import random

import numpy as np
import pyarrow as pa
import pytest
from raising import assert_raises

import lookalike as la
from lookalike.results.members import Numbers
from lookalike.results.rows import TableRows
from lookalike.serve.desk_job import JUDGED, Removals, Wanted

COLUMNS = ["order", "position", "source", "number", "id", "bytes", "reason", "keeper", "resemblance", "duplicate_of",
           "n_duplicates"]  # fmt: skip


def decisions(n=400, seed=3, n_sources=3):
    """Decisions of documents in keep order backwards, a third of them kept."""
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        source = i * n_sources // n
        keeper = n - 1 - rng.randrange(n // 3) if i < 2 * n // 3 else None
        reason = "kept" if keeper is None else rng.choice(["near", "near", "exact"])
        score = None if keeper is None else 1.0 if reason == "exact" else round(rng.uniform(0.7, 1), 2)
        told = [None] * 3 if keeper is None else [n - 1 - keeper, score, f"Doc{keeper}"]
        number = i - source * n // n_sources
        rows.append([n - 1 - i, source << 40 | number, f"f{source}.jsonl", number, f"Doc{i}", i, reason, *told, 0])
    return pa.table([list(column) for column in zip(*rows, strict=True)], COLUMNS)


@pytest.fixture(scope="module")
def table():
    return decisions()


@pytest.fixture(scope="module")
def removals(table):
    return Removals(TableRows(table), seed=1)


def found(removals, state=None, **wanted):
    state = np.ones(len(removals), np.int8) if state is None else state
    return removals.rows[removals.find(Wanted(**wanted), state)].tolist()


def naive(table):
    return [(row, of) for row, of in enumerate(table.to_pylist()) if of["reason"] in ("near", "exact")]


def test_orders_and_choices(removals, table):
    every = naive(table)
    assert [table["id"][i].as_py() for i in removals.keepers.tolist()] == [of["duplicate_of"] for _, of in every]
    for order, key in {
        "least alike": lambda of: of["resemblance"],
        "most alike": lambda of: -of["resemblance"],
        "source": lambda of: 0,
        "group": lambda of: int(of["duplicate_of"][3:]),
    }.items():
        assert found(removals, order=order) == [
            row for row, of in sorted(every, key=lambda pair, key=key: (key(pair[1]), pair[0]))
        ]
    for wanted, chosen in (
        ({"kind": "near"}, lambda of: of["reason"] == "near"),
        ({"kind": "exact"}, lambda of: of["reason"] == "exact"),
        ({"source": 1}, lambda of: of["source"] == "f1.jsonl"),
        ({"find": "c39"}, lambda of: "c39" in of["id"] + " " + of["duplicate_of"]),
    ):
        rows = [row for row, of in every if chosen(of)]
        assert found(removals, order="source", **wanted) == rows and len(rows) > 5
        assert "source" not in wanted or removals.sources()[1] == len(rows)
    for wanted in ({"source": 7}, {"find": "%"}, {"find": "Doc."}, {"find": "DOC"}):
        assert found(removals, **wanted) == []
    as_numbers = Removals(TableRows(table.set_column(4, "id", pa.array(range(len(table)), pa.int64()))), 1)
    assert found(as_numbers, order="source", find="25") == [
        row for row, of in every if "25" in str(row) or "25" in of["duplicate_of"]
    ]
    for wrong in ({"order": "id"}, {"kind": "x"}, {"judged": "y"}, {"find": "z" * 301}):
        assert_raises(la.errors.ParameterError, "", Wanted, **wrong)


def test_random_order_depends_on_the_seed_and_begins_with_the_sample_of_the_report(table, removals):
    mine = found(removals, order="random")
    assert sorted(mine) == [row for row, _ in naive(table)] and mine != sorted(mine)
    assert mine != found(Removals(TableRows(table), seed=2), order="random")
    from lookalike.report.facts import gather

    texts = [f"{' '.join(random.Random(i % 30).choices('abcdefghijklmnop', k=60))} {i}" for i in range(90)]
    result = la.dedup(texts, threshold=0.5)
    ours = Removals(result.rows(), seed=1)
    facts = gather(result.rows(), Numbers(result.rows()), 0.5, n_sources=1, n_least=1, n_audit=20, n_groups=1, seed=1)
    near = ours.rows[ours.find(Wanted("random", "near"), np.ones(len(ours), np.int8))]
    assert sorted(near[:20].tolist()) == facts.audit.tolist()


def test_choices_by_judgement(removals):
    judged = np.ones(len(removals), np.int8)
    judged[[3, 8]] = JUDGED.index("keep")
    judged[5] = JUDGED.index("unsure")
    assert found(removals, judged, judged="keep", order="source") == removals.rows[[3, 8]].tolist()
    assert found(removals, judged, judged="unsure") == [removals.rows[5]]
    assert len(found(removals, judged, judged="none")) == len(removals) - 3


def test_documents_are_told_with_names_that_can_be_shown(table):
    nasty = "\u202e</script>\n" + "x" * 500
    ids = [nasty, *table["id"].to_pylist()[1:]]
    removals = Removals(TableRows(table.set_column(4, "id", pa.array(ids))), 1)
    first, last = removals.documents(np.array([0, len(table) - 1]))
    assert first["name"].startswith("⟨U+202E⟩</script>⟨U+000A⟩xxx") and len(first["name"]) < 250
    assert removals.ids_of(0).id == nasty and removals.source_of(0) == 0
    assert (first["file"], last["file"], last["reason"]) == ("f0.jsonl", "f2.jsonl", "kept")


def test_a_result_without_removals():
    removals = Removals(TableRows(decisions(3).slice(2)), 1)
    assert len(removals) == 0 and removals.documents(removals.rows) == []
    assert removals.find(Wanted("random", find="x"), np.ones(0, np.int8)).tolist() == []
