"""The steps that make decisions, and rows of pairs, against the definition row by row."""

from collections import Counter

import pyarrow as pa
from cut_tables import batches, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike import Settings
from lookalike.formats.memory import as_sources
from lookalike.inputs.ids import Labels
from lookalike.methods.registry import MethodSettings, make_method
from lookalike.steps.decide import (
    POSITIONS,
    apply_rules,
    choose_removed,
    columns_needed,
    decided_schema,
    decision_rows,
    pair_rows,
)
from lookalike.values.tables import DECISIONS, MATCHES, SOURCE_BITS

integer, number = pa.int64(), pa.float64()


SETTLING = pa.schema([("order", integer), ("empty", pa.bool_()), ("leader", integer), ("keeper", integer), ("score", number),
                      ("leader_keeper", integer), ("leader_score", number), ("more", pa.string())])  # fmt: skip


SETTLED = decided_schema(SETTLING)


DECIDING = [("order", integer), ("position", integer), ("number", integer), ("bytes", integer), ("keeper", integer),
            ("score", number), ("reason", pa.string()), ("keeper_position", integer), ("keeper_number", integer),
            ("n_exact", integer), ("n_duplicates", integer), ("leader", integer)]  # fmt: skip


MINHASH = make_method("minhash", MethodSettings())


class Input:
    """A source of a name."""

    def __init__(self, name):
        self.name = name

    def file(self, number):
        return self.name


def wanted_schema(id_type):
    """All columns, ids of some type."""
    fields = [field.with_type(id_type) if field.name in ("duplicate_of", "cluster") else field for field in DECISIONS]
    return pa.schema([*fields, ("id", id_type), ("leader", integer)])


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


def test_documents_removed_by_key_and_spared_ones_are_settled():
    """By key they follow who represents it, or whom that was removed for; an override can keep one. Spared ones have no score."""
    schema = pa.schema([*SETTLING, ("by_key", pa.bool_()), ("override", pa.int32()), ("spared", pa.int64())])
    usual = dict.fromkeys(schema.names) | {"empty": False, "override": 0, "more": "m"}
    rows = [usual | {"order": 0}, usual | {"order": 1, "keeper": 0, "score": 0.9}]
    rows += [usual | {"order": 2, "leader": 0, "by_key": True}]
    rows += [
        usual | {"order": 3 + i, "leader": 1, "leader_keeper": 0, "leader_score": 0.9, "by_key": not i % 2} for i in range(2)
    ]
    rows += [rows[2] | {"order": 5, "override": 1}, rows[1] | {"order": 6, "spared": 1}]
    found = run(apply_rules, batches(table(rows, schema), schema, [2]), boundary=0)
    assert decided_schema(schema).names == ["order", "more", "override", "keeper", "score", "reason"]
    assert [(row[0], *row[3:]) for row in found] == [
        (0, 0, None, "kept"), (1, 0, 0.9, "near"), (2, 0, None, "key"), (3, 0, None, "key"), (4, 0, 0.9, "near"), (5, 5, None, "kept"),
        (6, 0, None, "spared"),
    ]  # fmt: skip


def standing(documents, boundary):
    return [(e, k, None, None) if o < boundary else (e, k, *s) for o, (e, k, *s) in enumerate(documents)]


def unsettled(documents):
    """What is known of documents before the rules."""
    firsts = [(None,) * 4 if leader is None else documents[leader] for _, leader, *_ in documents]
    return [
        {"order": o, "empty": e, "leader": k, "keeper": r, "score": s, "leader_keeper": of[2], "leader_score": of[3], "more": f"m{o}"}
        for o, ((e, k, r, s), of) in enumerate(zip(documents, firsts, strict=True))
    ]  # fmt: skip


@given(corpora(), st.integers(0, 4), st.sampled_from(["keep", "drop"]), cuts, st.data())
def test_documents_are_settled_counted_and_told(documents, boundary, empty, cut, data):
    """References have no standing, for they match nothing earlier."""
    documents = standing(documents, boundary)
    found = run(apply_rules, batches(table(unsettled(documents), SETTLING), SETTLING, cut), boundary=boundary, empty=empty)
    assert found == [(order, f"m{order}", *rest) for order, *rest in settled(documents, boundary, empty)]

    found = list(settled(documents, boundary, empty))
    said = [dict(zip(("order", "keeper", "score", "reason"), row, strict=True)) for row in found]
    gone = run(choose_removed, batches(table(said, SETTLED), SETTLED, cut))
    assert gone == [(o, k) for o, k, _, why in found if why in ("exact", "near")]
    exact, near = (Counter(row["keeper"] for row in said if row["reason"] == why) for why in ("exact", "near"))

    text_ids = data.draw(st.booleans())
    id_type = pa.large_string() if text_ids else integer
    id_of = [f"d{order}" if text_ids else 100 + order for order in range(len(documents))]
    position_of = [(order % 3) << SOURCE_BITS | order for order in range(len(documents))]
    sources, counts = ("a.jsonl", "b", "c.csv"), {k: (exact[k], exact[k] + near[k]) for k in {*exact, *near}}
    schema, told, expected = pa.schema([*DECIDING, ("id", id_type), ("keeper_id", id_type)]), [], []
    for order, keeper, score, reason in found:
        n_exact, n_duplicates = counts.get(order, (None, None))
        told.append({"order": order, "position": position_of[order], "number": order + 1, "bytes": 7, "id": id_of[order],
                     "keeper": keeper, "score": score, "reason": reason, "n_exact": n_exact, "n_duplicates": n_duplicates,
                     "keeper_position": None if keeper is None else position_of[keeper], "leader": documents[order][1],
                     "keeper_number": None if keeper is None else keeper + 1,
                     "keeper_id": None if keeper is None else id_of[keeper]})  # fmt: skip
        is_gone = keeper not in (None, order)
        expected.append({
            "order": order, "position": position_of[order], "source": sources[order % 3], "row": order, "number": order + 1,
            "bytes": 7, "id": id_of[order], "kept": keeper == order, "reason": reason, "keeper": keeper,
            "duplicate_of": id_of[keeper] if is_gone else None, "duplicate_source": sources[keeper % 3] if is_gone else None,
            "duplicate_is_reference": keeper < boundary if is_gone else None, "resemblance": score,
            "cluster": None if keeper is None else id_of[keeper], "n_exact": n_exact or 0, "n_duplicates": n_duplicates or 0,
            "leader": order if documents[order][1] is None else documents[order][1],
        })  # fmt: skip
    labels = Labels(splits=tuple(map(Input, sources)), kind=id_type)
    names = data.draw(st.lists(st.sampled_from(wanted_schema(id_type).names), min_size=1, unique=True))
    asked = pa.schema([wanted_schema(id_type).field(name) for name in names])
    telling = {"schema": asked, "labels": labels, "method": MINHASH, "boundary": boundary}
    assert columns_needed(asked) <= {*schema.names, "keeper_keys"}
    result = pa.Table.from_batches(decision_rows(batches(table(told, schema), schema, cut), **telling), asked)
    assert result.to_pylist() == [{name: row[name] for name in names} for row in expected]


@given(corpora(), st.integers(0, 4), st.sampled_from(["keep", "drop"]), cuts, st.data())
def test_overrides_come_last(documents, boundary, empty, cut, data):
    """They change no other document; references, and documents that were left out, stay what they are."""
    n = len(documents)
    firsts = {leader for _, leader, *_ in documents} | {keeper for _, _, keeper, _ in documents}
    documents = standing(documents, boundary)
    override = [data.draw(st.sampled_from([0, 3] if o in firsts else [0, 3, -2])) for o in range(n)]
    alone = [o for o in range(n) if override[o] < 0]
    documents = [(True, None, None, None) if o in alone else d for o, d in enumerate(documents)]
    override = [0 if o < boundary else number for o, number in enumerate(override)]
    skipped = [o in alone and o >= boundary and o % 2 == 0 for o in range(n)]
    rows = [row | {"override": override[o], "skipped": skipped[o]} for o, row in enumerate(unsettled(documents))]
    schema = pa.schema([*SETTLING, ("override", pa.int32()), ("skipped", pa.bool_())])
    found = run(apply_rules, batches(table(rows, schema), schema, cut), boundary=boundary, empty=empty)
    for row, was, number, left_out in zip(found, settled(documents, boundary, empty), override, skipped, strict=True):
        order = was[0]
        wanted = (order, None, None, "skipped") if left_out else (order, order, None, "kept") if number > 0 else was
        wanted = (order, None, None, "override") if number < 0 and not left_out else wanted
        assert row == (order, f"m{order}", number, *wanted[1:])


def test_which_override_is_told():
    schema = pa.schema([("order", integer), ("keeper", integer), ("override", pa.int32())])
    rows = [{"order": i, "keeper": i, "override": number} for i, number in enumerate([0, 5, -7])]
    telling = {
        "schema": pa.schema([("override", pa.string())]),
        "labels": Labels(splits=(), kind=integer),
        "method": MINHASH,
        "boundary": 0,
    }
    assert run(decision_rows, batches(table(rows, schema), schema), **telling) == [(None,), ("keep",), ("remove",)]


def test_the_last_row_of_a_source_and_the_largest_source():
    schema = pa.schema([*DECIDING, ("id", integer), ("keeper_id", integer)])
    row = {"order": 0, "position": 1 << SOURCE_BITS | (1 << SOURCE_BITS) - 1, "number": 1, "bytes": 0, "id": 3, "keeper": 0,
           "reason": "kept", "keeper_position": 0, "keeper_id": 3}  # fmt: skip
    labels = Labels(splits=(Input("a"), Input("b")), kind=integer)
    telling = {"schema": wanted_schema(integer).remove(DECISIONS.get_field_index("resemblance")), "labels": labels,
                     "method": MINHASH, "boundary": 0}  # fmt: skip
    (batch,) = decision_rows(batches(table([row], schema), schema), **telling)
    assert batch.column("row").to_pylist() == [(1 << SOURCE_BITS) - 1] and batch.column("source").to_pylist() == ["b"]


@given(st.lists(st.tuples(st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | st.integers(0, 9)), max_size=9), cuts)
def test_distances_are_those_of_fingerprints(documents, cut):
    """Null where nobody stands for a document; 0 where one has no fingerprint."""
    schema = pa.schema([("order", integer), ("keeper", integer), ("score", number), ("keys", pa.list_(integer, 1)),
                        ("keeper_keys", pa.list_(integer, 1))])  # fmt: skip
    rows = [{"order": order, "keeper": 99 if other is not None else order, "score": 0.9 if other is not None else None,
             "keys": None if own is None else [own], "keeper_keys": None if other in (None, 9) else [other]}
            for order, (own, other) in enumerate(documents)]  # fmt: skip
    method = make_method("simhash", MethodSettings())
    telling = {
        "schema": pa.schema([("distance", integer)]),
        "labels": Labels(splits=(), kind=integer),
        "method": method,
        "boundary": 0,
    }
    expected = [
        None if other is None else 0 if own is None or other == 9 else ((own ^ other) & 2**64 - 1).bit_count()
        for own, other in documents
    ]
    assert run(decision_rows, batches(table(rows, schema), schema, cut), **telling) == [(d,) for d in expected]


SIDES = [(f"{side}_{name}", kind) for side in ("left", "right") for name, kind in
         (("position", integer), ("number", integer), ("id", pa.large_string()), ("keys", pa.list_(integer, 1)))]  # fmt: skip


FOUND = pa.schema([*MATCHES, *SIDES])


BOUNDARY = 3


pairs_of_documents = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from([0.8, 0.9, 1.0]), st.integers(0, 99), st.integers(0, 99))
    .filter(lambda row: row[0] < row[1] and row[3] != row[4]), max_size=20,
)  # fmt: skip


def pair_settings(method, named=True):
    """The settings of the step, and the columns that are pair_rows_of."""
    labels = Labels.of(as_sources(["a"]), named, False)
    ends = [pa.field(name, integer) for name in ("left", "right")]
    ids = [pa.field(name, labels.kind) for name in ("left_id", "right_id")]
    added = [pa.field(name, integer if name == "distance" else pa.float64()) for name in method.added[1:]]
    schema = pa.schema([*ends, *ids, pa.field("left_is_reference", pa.bool_()), pa.field("resemblance", pa.float64()), *added])
    return {"schema": pa.schema([*schema, *POSITIONS]), "labels": labels, "method": method, "boundary": BOUNDARY}


def pair_rows_of(found, cut, settings, schema=FOUND):
    """What the step tells of pairs."""
    full = [(a, b, s, p, p + 1, f"id{a}", [1 << a], q, q + 1, f"id{b}", [1 << b]) for a, b, s, p, q in found]
    columns = {name: [row[FOUND.names.index(name)] for row in full] for name in schema.names}
    return run(pair_rows, batches(columns, schema, cut), **settings)


@given(pairs_of_documents, cuts)
def test_the_document_that_comes_first_in_the_input_is_on_the_left(found, cut):
    schema = pa.schema([field for field in FOUND if not field.name.endswith("_keys")])
    wanted = []
    for a, b, score, p, q in found:
        (p, left), (q, right) = sorted([(p, a), (q, b)])
        wanted.append((left, right, f"id{left}", f"id{right}", left < BOUNDARY, score, p, q))
    assert pair_rows_of(found, cut, pair_settings(Settings().finder), schema) == wanted


@given(pairs_of_documents, cuts)
def test_fingerprints_are_told_with_their_distance(found, cut):
    method = Settings(method="simhash", radius=3).finder
    for row in pair_rows_of(found, cut, pair_settings(method)):
        assert row[6] == 2


def test_documents_without_ids_are_called_by_their_numbers():
    schema = pa.schema([field for field in FOUND if field.name.rpartition("_")[2] not in ("keys", "id")])
    ((_, _, one, other, *_),) = pair_rows_of([(4, 5, 0.9, 8, 2)], [], pair_settings(Settings().finder, named=False), schema)
    assert (one, other) == (3, 9)
