import random
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from raising import assert_raises

import lookalike as la
from lookalike.report.facts import gather
from lookalike.results.members import Numbers
from lookalike.results.rows import TableRows
from lookalike.serve.desk_job import JUDGED, Removals, Wanted


@pytest.fixture(scope="module")
def decisions():
    texts = [f"{' '.join(random.Random(i % 30).choices('abcdefghijklmnop', k=60))} {i // 60}" for i in range(180)]
    table = pa.table({"text": texts, "id": [f"Doc{i}" for i in range(180)]})
    return la.dedup({f"f{i}": table[60 * i :][:60] for i in range(3)}, id="id", threshold=0.5).rows()


def found(removals, state=None, **wanted):
    state = np.ones(len(removals), np.int8) if state is None else state
    return removals.rows[removals.find(Wanted(**wanted), state)].tolist()


ORDERS = {
    "least alike": lambda of: of["resemblance"],
    "most alike": lambda of: -of["resemblance"],
    "source": lambda of: 0,
    "group": lambda of: int(of["duplicate_of"][3:]),
}


def test_orders_and_choices(decisions):
    removals = Removals(decisions, seed=1)
    table = pa.Table.from_batches(decisions.batches())
    every = [(row, of) for row, of in enumerate(table.to_pylist()) if of["reason"] != "kept"]
    state = np.random.default_rng(1).integers(1, len(JUDGED), len(every)).astype(np.int8)
    said = dict(zip([row for row, _ in every], state.tolist(), strict=True))
    assert [table["id"][i].as_py() for i in removals.keepers.tolist()] == [of["duplicate_of"] for _, of in every]
    choices = product(ORDERS, ("all", "near", "exact"), (None, 1, 7), ("any", "none", "keep"), ("", "c12", "%", "Doc.", "DOC"))
    counts = set()
    for order, kind, source, judged, find in choices:
        wanted = [
            (ORDERS[order](of), row)
            for row, of in every
            if kind in ("all", of["reason"]) and source in (None, of["position"] >> 40)
            if judged in ("any", JUDGED[said[row]]) and any(find in of[name] for name in ("id", "duplicate_of"))
        ]
        rows = found(removals, state, order=order, kind=kind, source=source, judged=judged, find=find)
        assert rows == [row for _, row in sorted(wanted)]
        counts.add(len(rows))
    assert len(counts) > 15
    numbers = Removals(TableRows(table.set_column(table.column_names.index("id"), "id", pa.array(range(180), pa.int64()))), 1)
    wanted = [row for row, of in every if "25" in str(row) or "25" in of["duplicate_of"]]
    assert found(numbers, order="source", find="25") == wanted
    for wrong in ({"order": "id"}, {"kind": "x"}, {"judged": "y"}, {"find": "z" * 301}):
        assert_raises(la.errors.ParameterError, "", Wanted, **wrong)
    none = Removals(TableRows(table[:1]), 1)
    assert len(none) == 0 and none.documents(none.rows) == [] == found(none, order="random", find="x")


def test_random_order_depends_on_the_seed_and_begins_with_the_sample_of_the_report(decisions):
    ours, other = (Removals(decisions, seed=seed) for seed in (1, 2))
    facts = gather(decisions, Numbers(decisions), 0.5, n_sources=3, n_least=1, n_audit=20, n_groups=1, seed=1)
    near = found(ours, order="random", kind="near")
    assert (
        sorted(near[:20]) == facts.audit.tolist() and near != sorted(near) and near != found(other, order="random", kind="near")
    )
