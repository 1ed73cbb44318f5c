"""The steps that make decisions, and rows of pairs; ``tests/recipes/test_twin.py`` holds whole ones against the definition."""

import pyarrow as pa
from cut_tables import batches, columns_of, run, whole
from hypothesis import given
from hypothesis import strategies as st

from lookalike.formats.memory import as_sources
from lookalike.inputs.ids import Labels
from lookalike.methods.registry import MethodSettings, make_method
from lookalike.steps.decide import POSITIONS, apply_rules, choose_removed, decided_schema, decision_rows, pair_rows
from lookalike.values.tables import MATCHES, SOURCE_BITS

integer, number, flag = pa.int64(), pa.float64(), pa.bool_()
MINHASH, SIMHASH = (make_method(name, MethodSettings()) for name in ("minhash", "simhash"))
NEAR = {"keeper": 1, "score": 0.9}
OF_REMOVED = {"leader": 2, "leader_keeper": 1, "leader_score": 0.9}
RULES = [  # what is known of each document, in keep order; its keeper, score and reason
    ({"empty": True}, 0, None, "reference"),
    ({}, 1, None, "kept"),
    (NEAR, 1, 0.9, "near"),
    ({"leader": 1}, 1, 1.0, "exact"),
    (OF_REMOVED, 1, 0.9, "near"),
    ({"leader": 1, "by_key": True}, 1, None, "key"),
    (OF_REMOVED | {"by_key": True}, 1, None, "key"),
    ({"empty": True}, None, None, "empty"),
    ({"leader": 1, "by_key": True, "override": 1}, 8, None, "kept"),
    ({"empty": True, "override": 2}, 9, None, "kept"),
    ({"override": -3}, None, None, "override"),
    ({"empty": True, "override": -4, "skipped": True}, None, None, "skipped"),
    (NEAR | {"spared": 1}, 1, None, "spared"),
]
SETTLING = pa.schema([
    *whole("order", "leader", "keeper", "leader_keeper", "spared"), ("score", number), ("leader_score", number),
    ("empty", flag), ("by_key", flag), ("skipped", flag), ("override", pa.int32()), ("more", pa.string()),
])  # fmt: skip


def table(rows, schema):
    """Rows, which are dictionaries that may lack some columns, in two batches."""
    return batches({name: [row.get(name) for row in rows] for name in schema.names}, schema, [1])


def test_each_rule_in_its_turn():
    usual = {"empty": False, "by_key": False, "skipped": False, "override": 0}
    rows = [usual | {"order": order, "more": f"m{order}"} | known for order, (known, *_) in enumerate(RULES)]
    found = run(apply_rules, table(rows, SETTLING), boundary=1, empty="drop")
    assert decided_schema(SETTLING).names == ["order", "override", "more", "keeper", "score", "reason"]
    wanted = [(row["order"], row["override"], row["more"], *rule[1:]) for row, rule in zip(rows, RULES, strict=True)]
    assert found == wanted
    wanted[7] = (*wanted[7][:3], 7, None, "kept")
    assert run(apply_rules, table(rows, SETTLING), boundary=1, empty="keep") == wanted


def test_those_removed_for_their_texts_are_chosen():
    rows = [{"order": order, "keeper": keeper, "reason": why} for order, (_, keeper, _, why) in enumerate(RULES[:-1])]
    schema = decided_schema(SETTLING)
    assert run(choose_removed, table(rows, schema)) == [(2, 1), (3, 1), (4, 1)]


class Input:
    def __init__(self, name):
        self.name = name

    def file(self, number):
        return self.name


def decisions(rows, method=MINHASH, kind=integer, **wanted):
    """The wanted columns, named with their types, of rows that are dictionaries."""
    labels = Labels(splits=tuple(map(Input, "abc")), kind=kind)
    lists = pa.list_(integer, 1)
    schema = pa.schema([
        *whole("order", "position", "number", "keeper", "keeper_position", "keeper_number", "leader", "n_exact"),
        ("id", kind), ("keeper_id", kind), ("score", number), ("reason", pa.string()), ("override", pa.int32()),
        ("keys", lists), ("keeper_keys", lists),
    ])  # fmt: skip
    return run(decision_rows, table(rows, schema), schema=pa.schema(wanted.items()), labels=labels, method=method, boundary=1)


def test_decisions_name_documents_and_who_stands_for_them():
    """Also the last document that an input can have."""
    last, text = (1 << SOURCE_BITS) - 1, pa.large_string()
    kept = {"position": 1 << SOURCE_BITS | last, "number": 7, "id": "k", "keeper": 0}
    keeper = {f"keeper_{name}": kept[name] for name in ("position", "number", "id")}
    gone = {"order": 1, "position": 2 << SOURCE_BITS, "number": 1, "id": "g", "score": 0.9, "reason": "near", "n_exact": 2}
    rows = [{"order": 0, "reason": "reference"} | kept | keeper, gone | {"keeper": 0, "leader": 0} | keeper]
    rows += [gone | {"order": 2, "reason": "empty", "score": None, "n_exact": None}]
    wanted = {"row": integer, "source": text, "kept": flag, "duplicate_of": text, "duplicate_source": text,
              "duplicate_is_reference": flag, "cluster": text, "leader": integer, "n_exact": integer}  # fmt: skip
    assert decisions(rows, kind=text, **wanted) == [
        (last, "b", True, None, None, None, "k", 0, 0), (0, "c", False, "k", "b", True, "k", 0, 2),
        (0, "c", False, None, None, None, None, 2, 0),
    ]  # fmt: skip


def test_which_override_is_told():
    rows = [{"order": i, "keeper": i, "override": number} for i, number in enumerate([0, 5, -7])]
    assert decisions(rows, override=pa.string()) == [(None,), ("keep",), ("remove",)]


@given(st.lists(st.tuples(st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | st.integers(0, 9)), max_size=9))
def test_distances_are_those_of_fingerprints(documents):
    """Null where nobody stands for a document; 0 where one has no fingerprint."""
    rows = [{"order": order, "keeper": 99, "score": None if other is None else 0.9, "keys": None if own is None else [own],
             "keeper_keys": None if other in (None, 9) else [other]} for order, (own, other) in enumerate(documents)]  # fmt: skip
    expected = [
        None if other is None else 0 if own is None or other == 9 else ((own ^ other) & 2**64 - 1).bit_count()
        for own, other in documents
    ]
    assert decisions(rows, SIMHASH, distance=integer) == [(d,) for d in expected]


SIDES = [("position", integer), ("number", integer), ("id", pa.large_string()), ("keys", pa.list_(integer, 1))]
FOUND = pa.schema([*MATCHES, *((f"{side}_{name}", kind) for side in ("left", "right") for name, kind in SIDES)])


def pairs_told(method, named=True):
    """What the step says of two pairs, of which the second is the other way round in the input."""
    labels = Labels.of(as_sources(["a"]), named, False)
    found = [
        (a, b, score, p, p + 1, f"id{a}", [1 << a], q, q + 1, f"id{b}", [1 << b])
        for a, b, score, p, q in ((2, 5, 0.9, 10, 20), (4, 7, 0.8, 21, 9))
    ]
    given = pa.schema([field for field in FOUND if named or not field.name.endswith("_id")])
    added = [(name, integer if name == "distance" else number) for name in method.added[1:]]
    ids = [("left_id", labels.kind), ("right_id", labels.kind), ("left_is_reference", flag), ("resemblance", number)]
    schema = pa.schema([*whole("left", "right"), *ids, *added, *POSITIONS])
    rows = batches(columns_of(found, FOUND), given, [1])
    return run(pair_rows, rows, schema=schema, labels=labels, method=method, boundary=3)


def test_the_document_that_comes_first_in_the_input_is_on_the_left():
    """Those without ids are called by their numbers; fingerprints are told with their distance."""
    wanted = [(2, 5, "id2", "id5", True, 0.9, 10, 20), (7, 4, "id7", "id4", False, 0.8, 9, 21)]
    assert pairs_told(MINHASH) == wanted
    assert [row[2:4] for row in pairs_told(MINHASH, named=False)] == [(11, 21), (10, 22)]
    assert [row[6] for row in pairs_told(SIMHASH)] == [2, 2]
