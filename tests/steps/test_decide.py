"""The steps that make decisions, against the definition row by row."""

from collections import Counter
from itertools import pairwise

import pyarrow as pa
import pytest
from cut_tables import batches, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from semblance.steps.decide import Decide, Settle, decide, decided_schema, settle, tally
from semblance.values.tables import SOURCE_BITS

integer, number = pa.int64(), pa.float64()
SETTLING = pa.schema([("order", integer), ("empty", pa.bool_()), ("leader", integer), ("keeper", integer), ("score", number),
                      ("leader_keeper", integer), ("leader_score", number)])  # fmt: skip
TALLYING = pa.schema([("order", integer), ("keeper", integer), ("reason", pa.string())])
DECIDING = [("order", integer), ("position", integer), ("number", integer), ("bytes", integer), ("keeper", integer),
            ("score", number), ("reason", pa.string()), ("keeper_position", integer), ("n_exact", integer),
            ("n_duplicates", integer)]  # fmt: skip


def table(rows, schema):
    return {name: [row.get(name) for row in rows] for name in schema.names}


@st.composite
def corpora(draw):
    """Documents with a standing and a leader here and there: (empty, leader, keeper, score) of each order."""
    documents = []
    for _ in range(draw(st.integers(0, 12))):
        firsts = [o for o, d in enumerate(documents) if d[1] is None and not d[0]]
        kept = [o for o in firsts if documents[o][2] is None]
        what = draw(st.sampled_from(["empty", "copy", "near", "kept"]))
        if what == "copy" and firsts:
            documents.append((False, draw(st.sampled_from(firsts)), None, None))
        elif what == "near" and kept:
            documents.append((False, None, draw(st.sampled_from(kept)), draw(st.sampled_from([0.8, 0.9]))))
        else:
            documents.append((what == "empty", None, None, None))
    return documents


def settled(documents, boundary, empty):
    """(order, keeper, score, reason) by the definition."""
    for order, (is_empty, leader, keeper, score) in enumerate(documents):
        if order < boundary:
            yield order, order, None, "reference"
        elif is_empty and empty == "drop":
            yield order, None, None, "empty"
        elif leader is not None and documents[leader][2] is None:
            yield order, leader, 1.0, "exact"
        elif leader is not None:
            yield order, *documents[leader][2:], "near"
        elif keeper is not None:
            yield order, keeper, score, "near"
        else:
            yield order, order, None, "kept"


@given(corpora(), st.integers(0, 4), st.sampled_from(["keep", "drop"]), cuts, st.data())
def test_documents_are_settled_counted_and_told(documents, boundary, empty, cut, data):
    """References have no standing, for they match nothing earlier."""
    documents = [(e, k, None, None) if o < boundary else (e, k, *s) for o, (e, k, *s) in enumerate(documents)]
    rows = []
    for order, (is_empty, leader, keeper, score) in enumerate(documents):
        first = documents[leader] if leader is not None else (None,) * 4
        rows.append({"order": order, "empty": is_empty, "leader": leader, "keeper": keeper, "score": score,
                     "leader_keeper": first[2], "leader_score": first[3]})  # fmt: skip
    found = run(settle, batches(table(rows, SETTLING), SETTLING, cut), settings=Settle(boundary=boundary, empty=empty))
    assert found == list(settled(documents, boundary, empty))

    met = [dict(zip(("order", "keeper", "score", "reason"), row, strict=True)) for row in found]
    met.sort(
        key=lambda row: (row["keeper"] is None, row["keeper"], row["order"]) if row["keeper"] is not None else (True, 0, 0)
    )
    tallies = run(tally, batches(table(met, TALLYING), TALLYING, cut))
    exact = Counter(row["keeper"] for row in met if row["reason"] == "exact")
    near = Counter(row["keeper"] for row in met if row["reason"] == "near")
    keepers = sorted({row["keeper"] for row in met} - {None})
    assert tallies == [(k, exact[k], exact[k] + near[k]) for k in keepers]

    text_ids = data.draw(st.booleans())
    id_type = pa.string() if text_ids else integer
    id_of = [f"d{order}" if text_ids else 100 + order for order in range(len(documents))]
    position_of = [(order % 3) << SOURCE_BITS | order for order in range(len(documents))]
    sources, counts = ("a.jsonl", "b", "c.csv"), {order: rest for order, *rest in tallies}
    schema, told, expected = pa.schema([*DECIDING, ("id", id_type), ("keeper_id", id_type)]), [], []
    for order, keeper, score, reason in found:
        n_exact, n_duplicates = counts.get(order, (None, None))
        told.append({"order": order, "position": position_of[order], "number": order + 1, "bytes": 7, "id": id_of[order],
                     "keeper": keeper, "score": score, "reason": reason, "n_exact": n_exact, "n_duplicates": n_duplicates,
                     "keeper_position": None if keeper is None else position_of[keeper],
                     "keeper_id": None if keeper is None else id_of[keeper]})  # fmt: skip
        removed = keeper not in (None, order)
        expected.append({
            "order": order, "position": position_of[order], "source": sources[order % 3], "row": order, "number": order + 1,
            "bytes": 7, "id": id_of[order], "kept": keeper == order, "reason": reason, "keeper": keeper,
            "duplicate_of": id_of[keeper] if removed else None, "duplicate_source": sources[keeper % 3] if removed else None,
            "duplicate_is_reference": keeper < boundary if removed else None, "resemblance": score,
            "cluster": None if keeper is None else id_of[keeper], "n_exact": n_exact or 0, "n_duplicates": n_duplicates or 0,
        })  # fmt: skip
    bound = decide(batches(table(told, schema), schema, cut), Decide(sources=sources, boundary=boundary))
    result = pa.Table.from_batches(bound, decided_schema(id_type))
    assert result.to_pylist() == expected


def test_the_last_row_of_a_source_and_the_largest_source():
    schema = pa.schema([*DECIDING, ("id", integer), ("keeper_id", integer)])
    row = {"order": 0, "position": 1 << SOURCE_BITS | (1 << SOURCE_BITS) - 1, "number": 1, "bytes": 0, "id": 3, "keeper": 0,
           "reason": "kept", "keeper_position": 0, "keeper_id": 3}  # fmt: skip
    (batch,) = decide(batches(table([row], schema), schema), Decide(sources=("a", "b"), boundary=0))
    assert batch.column("row").to_pylist() == [(1 << SOURCE_BITS) - 1] and batch.column("source").to_pylist() == ["b"]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_tally_over_many_batches_is_one_row(size):
    rows = [{"order": order, "keeper": 0, "reason": "exact" if order else "kept"} for order in range(10)]
    cut = [b for _, b in pairwise(range(0, 10, size))]
    assert run(tally, batches(table(rows, TALLYING), TALLYING, cut)) == [(0, 9, 9)]
