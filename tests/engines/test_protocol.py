"""Each operation by every engine, against the same in plain Python."""

import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from engine_kinds import KINDS, make
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from semblance.formats.memory import as_sources
from semblance.inputs.reading import Reading
from semblance.steps.totals import Totals
from semblance.values.tables import SOURCE_BITS

integer = pa.int64()
SKETCHES = pa.schema([("position", integer), ("bytes", integer), ("digest", pa.binary(16)), ("id", pa.large_string()),
                      ("priority", pa.large_binary()), ("empty", pa.bool_()), ("keys", pa.list_(integer, 2))])  # fmt: skip
each_kind = pytest.mark.parametrize("kind", KINDS)
quick = settings(max_examples=8, phases=[Phase.explicit, Phase.generate])


@contextmanager
def running(kind):
    """An engine in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        engine = make(kind, Path(folder), patch)
        yield engine
        engine.close()


documents = st.lists(
    st.fixed_dictionaries({
        "bytes": st.integers(0, 3), "digest": st.integers(0, 9).map(lambda i: bytes([i]) * 16),
        "id": st.integers(0, 9).map(lambda i: "é" * i), "priority": st.sampled_from([b"", b"\1a", b"\1ab", b"\1b", b"\1b"]),
        "empty": st.booleans(), "keys": st.none() | st.tuples(st.integers(-3, 0), st.integers(1, 9)).map(list),
    }), max_size=60,
)  # fmt: skip


def sketched(engine, found, by=("position",), references=0):
    """Store and rank documents of two inputs; return (table, its rows in Python)."""
    rows = [{"position": (row >= references) << SOURCE_BITS | row} | document for row, document in enumerate(found)]
    stored = engine.store(engine.rows(pa.Table.from_pylist(rows, SKETCHES)), "sketches")
    table = engine.rank(stored, by, 1 << SOURCE_BITS)
    return table, sorted(rows_of(table), key=lambda row: row["position"])


def rows_of(table):
    """The rows, as they come."""
    batches = list(table.batches())
    assert all(batch.schema == table.schema for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()]


def bag(rows):
    """Rows in any order."""
    return sorted(repr(sorted(row.items())) for row in rows)


def groups_of(rows, by):
    """Runs of equal values, which must each come once."""
    found = {}
    before = None
    for row in rows:
        if not found or row[by] != before:
            assert row[by] not in found, "a group is parted"
            found[row[by]] = []
        before = row[by]
        found[before].append(row)
    return found


def numbered(rows, schema):
    """A step that counts the rows that it meets."""
    count = 0
    for batch in rows:
        yield pa.RecordBatch.from_arrays([*batch.columns, pa.array(range(count, count + len(batch)), integer)], schema=schema)
        count += len(batch)


def count_rows(table, engine):
    """Run that step."""
    schema = table.schema.append(pa.field("count", integer))
    return engine.map(table, partial(numbered, schema=schema), schema)


def wanted_groups(rows, by, sort):
    """What meets, by the definition."""
    found = {}
    for row in sorted(rows, key=lambda row: row[sort]):
        found.setdefault(row[by], []).append(row)
    return found


@each_kind
@quick
@given(documents)
def test_rows_meet_by_lists(kind, found):
    with running(kind) as engine:
        table, rows = sketched(engine, found, ("-bytes", "position"))
        listed = [{"key": key, "order": row["order"]} for row in rows for key in row["keys"] or ()]
        met = groups_of(rows_of(engine.meet(table.select(["order", "keys"]), "keys", "order")), "key")
        wanted = wanted_groups(listed, "key", "order")
        assert {key: group for key, group in wanted.items() if len(group) > 1 or key in met} == met


@each_kind
@quick
@given(documents, st.sampled_from(["digest", "id"]), st.sampled_from(["order", "position"]), st.booleans())
def test_rows_meet_by_bytes(kind, found, by, sort, some):
    with running(kind) as engine:
        table, rows = sketched(engine, found, ("-bytes", "position"))
        if some:
            gone = engine.rows(pa.table({"order": pa.array(range(0, len(found), 3), integer)}))
            table, rows = engine.join(table, gone, "order", "anti"), [row for row in rows if row["order"] % 3]
        names = [by, "order", "position", "empty"]
        wanted = wanted_groups([{name: row[name] for name in names} for row in rows], by, sort)
        met = groups_of(rows_of(engine.meet(table.select(names), by, sort)), by)
        assert {key: group for key, group in wanted.items() if len(group) > 1 or key in met} == met


numbers = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 50), st.booleans(), st.floats(0, 1)), max_size=80)
MET = pa.schema([("left", integer), ("right", integer), ("flag", pa.bool_()), ("score", pa.float64())])


@each_kind
@quick
@given(numbers, st.integers(2, 4))
def test_rows_meet_by_numbers(kind, found, width):
    with running(kind) as engine:
        schema = pa.schema(list(MET)[:width])
        rows = [dict(zip(schema.names, row, strict=False)) for row in dict.fromkeys(row[:width] for row in found)]
        met = groups_of(rows_of(engine.meet(engine.rows(pa.Table.from_pylist(rows, schema)), "left", "right")), "left")
        wanted = wanted_groups(rows, "left", "right")
        assert met.keys() == wanted.keys()
        for key, group in met.items():
            assert [row["right"] for row in group] == [row["right"] for row in wanted[key]] and bag(group) == bag(wanted[key])


@each_kind
@quick
@given(st.lists(st.tuples(st.integers(-(2**62), 2**62), st.integers(0, 2**62)), max_size=9))
@example([(-1, 0), (-1, 3), (2**40, 1)])
def test_large_and_negative_numbers_meet(kind, found):
    with running(kind) as engine:
        met = engine.meet(
            engine.rows(pa.table([*zip(*found, strict=True)] or [[], []], pa.schema(list(MET)[:2]))), "left", "right"
        )
        assert sorted((row["left"], row["right"]) for row in rows_of(met)) == sorted(found)
        groups_of(rows_of(met), "left")


@each_kind
@quick
@given(documents, numbers)
def test_all_rows_meet_as_one_stream(kind, found, links):
    """The step that counts them runs once."""
    with running(kind) as engine:
        table, rows = sketched(engine, [*found, *[{"bytes": 1, "digest": bytes(16), "id": "", "priority": b"", "empty": True,
                                                   "keys": None}] * 51], ("-priority", "position"))  # fmt: skip
        together = rows_of(count_rows(engine.meet(table.select(["order", "keys"]), None, "order"), engine))
        assert together == [
            {"order": row["order"], "keys": row["keys"], "count": row["order"]}
            for row in sorted(rows, key=lambda row: row["order"])
        ]
        made = [dict(zip(MET.names, row, strict=True)) for row in links]
        stream = engine.meet(engine.rows(pa.Table.from_pylist(made, MET)), None, ("right", "left"))
        counted = rows_of(count_rows(stream, engine))
        ends = [(row["right"], row["left"]) for row in counted]
        assert ends == sorted((row["right"], row["left"]) for row in made)
        assert [row.pop("count") for row in counted] == list(range(len(made))) and bag(counted) == bag(made)


@each_kind
@quick
@given(documents, st.lists(st.tuples(st.none() | st.integers(0, 59), st.integers(0, 9)), max_size=30), st.data())
def test_joins(kind, found, links, data):
    with running(kind) as engine:
        table, rows = sketched(engine, found, ("-priority", "position"))
        n = len(rows)
        links = [(None if a is None else a % n, b) for a, b in links if n]
        left = engine.rows(
            pa.table([[a for a, _ in links], [b for _, b in links]], pa.schema([("keeper", integer), ("x", integer)]))
        )
        at = {row["order"]: row for row in rows}
        chosen = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n)) if n else []
        some = pa.table([chosen, [c / 2 for c in chosen], [c % 2 == 0 for c in chosen]],
                        pa.schema([("order", integer), ("score", pa.float64()), ("flag", pa.bool_())]))  # fmt: skip
        present, repeated = engine.rows(some), engine.rows(pa.table({"order": pa.array(chosen + chosen[:3], integer)}))
        names = ["order", "position", "digest", "id", "priority", "empty", "keys"]
        rights = {
            "ranked": (table.select(names), at, names),
            "some": (engine.join(table, repeated, "order", "semi").select(names), {c: at[c] for c in chosen}, names),
            "rows": (present, {row["order"]: row for row in some.to_pylist()}, some.schema.names),
            "stored": (
                engine.store(engine.rows(some), "some"),
                {row["order"]: row for row in some.to_pylist()},
                some.schema.names,
            ),
        }
        nobody = {}
        for right, known, columns in rights.values():
            for how in ("inner", "left"):
                wanted = [
                    {"keeper": a, "x": b} | {f"keeper_{c}": known.get(a, nobody).get(c) for c in columns if c != "order"}
                    for a, b in links if how == "left" or a in known
                ]  # fmt: skip
                assert bag(rows_of(engine.join(left, right, "keeper", how))) == bag(wanted)
            own = table.select(["order", "bytes"])
            wanted = [{"order": o, "bytes": at[o]["bytes"]} | {c: known[o][c] for c in columns} for o in known]
            assert bag(rows_of(engine.join(own, right, "order", "inner"))) == bag(wanted)
        for how in ("semi", "anti"):
            kept = [{"keeper": a, "x": b} for a, b in links if (a in set(chosen)) == (how == "semi")]
            assert bag(rows_of(engine.join(left, repeated, "keeper", how))) == bag(kept)
            own = engine.join(table, present, "order", how)
            assert bag(rows_of(own)) == bag(row for row in rows if (row["order"] in chosen) == (how == "semi"))
            twice = engine.join(own, engine.rows(pa.table({"order": pa.array(range(0, n, 2), integer)})), "order", "semi")
            assert bag(rows_of(twice)) == bag(
                row for row in rows if (row["order"] in chosen) == (how == "semi") and row["order"] % 2 == 0
            )


@each_kind
@quick
@given(documents, st.sampled_from([("position",), ("-position",), ("bytes", "position"), ("-bytes", "position"),
                                   ("priority", "position"), ("-priority", "position")]), st.integers(0, 12))  # fmt: skip
def test_ranks(kind, found, by, references):
    with running(kind) as engine:
        _, rows = sketched(engine, found, by, references)
        column, down = by[0].removeprefix("-"), by[0].startswith("-")

        def place(row):
            value = row[column]
            last = value == b""
            value = value if isinstance(value, int) else (*value, -1)
            value = value if not down else (-value if isinstance(value, int) else tuple(-v for v in value))
            return (True, last, 0 if last else value, row["position"])

        wanted = sorted(rows, key=lambda row: place(row) if row["position"] >> SOURCE_BITS else (False, row["position"]))
        assert [row["order"] for row in wanted] == list(range(len(rows)))


@each_kind
@quick
@given(documents, st.integers(0, 70), st.integers(0, 70))
def test_stored_rows_are_chosen_sliced_and_joined(kind, found, begin, end):
    with running(kind) as engine:
        table, rows = sketched(engine, found, ("-bytes", "position"))
        assert bag(rows_of(table)) == bag(rows)
        cut = table.slice(begin, end).select(["order", "position", "id"])
        cut = engine.join(cut, table.select(["order", "digest"]), "order", "left")
        assert bag(rows_of(cut)) == bag({n: row[n] for n in ("order", "position", "id", "digest")} for row in rows[begin:end])
        if engine.joins_in_place:
            assert [row["position"] for row in rows_of(cut)] == [row["position"] for row in rows[begin:end]]


@each_kind
@quick
@given(numbers, numbers)
def test_union_and_store(kind, one, other):
    with running(kind) as engine:
        tables = [pa.table(list(map(list, zip(*rows, strict=True))) or [[]] * 4, MET) for rows in (one, other)]
        calls = []

        def counting(rows):
            calls.append(1)
            return rows

        both = engine.map(engine.union(*map(engine.rows, tables)), counting, MET)
        stored = engine.store(both, "both")
        before = len(calls)
        again = engine.store(stored, "both")
        wanted = bag(tables[0].to_pylist() + tables[1].to_pylist())
        for table in (stored, again, engine.union(stored, engine.rows(tables[0].slice(0, 0)))):
            assert bag(rows_of(table)) == wanted
        assert len(calls) == before, "what is stored is not made again"
        assert bag(rows_of(engine.union(stored.select(["left"]), stored.select(["left"])))) == sorted(
            2 * bag({"left": row["left"]} for t in tables for row in t.to_pylist())
        )


@each_kind
@quick
@given(documents, st.integers(0, 9))
def test_folds(kind, found, references):
    with running(kind) as engine:
        table, rows = sketched(engine, found, references=references)
        total = engine.fold(table.select(["position", "empty", "bytes"]), Totals(boundary=1 << SOURCE_BITS))
        own = [row for row in rows if row["position"] >> SOURCE_BITS]
        assert total.tolist() == [
            len(rows),
            len(rows) - len(own),
            sum(row["empty"] for row in own),
            sum(row["bytes"] for row in rows),
            0,
        ]


def measured(rows, schema):
    """A step that takes the sizes of texts."""
    for batch in rows:
        sizes = pa.compute.binary_length(batch["text"]).cast(integer)
        yield pa.RecordBatch.from_arrays([batch["position"], sizes], schema=schema)


@each_kind
def test_texts_are_joined_by_the_order_of_their_documents(kind):
    texts = ["a", "", "ccc", "dddd é", "b" * 900, "f"]
    with running(kind) as engine:
        documents = engine.source(as_sources(texts), Reading())
        schema = pa.schema([("position", integer), ("bytes", integer)])
        sizes = engine.store(engine.map(documents, partial(measured, schema=schema), schema), "sketches")
        ranked = engine.rank(sizes, ("-bytes", "position"), 0)
        wanted = [row for row in rows_of(ranked) if row["order"] != 2]
        some = engine.rows(pa.Table.from_pylist(wanted, ranked.schema))
        told = {row["position"]: row["text"].decode() for row in rows_of(engine.join(some, documents, "order", "inner"))}
        assert told == {row["position"]: texts[row["position"]] for row in wanted} and len(told) == 5


@each_kind
@quick
@given(st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=40))
def test_components(kind, links):
    """Bundles are whole components; of each document all earlier partners. With little memory large ones may be left out."""
    with running(kind) as engine:
        if engine.components is None:
            return
        pairs = sorted({(min(link), max(link)) for link in links if link[0] != link[1]})
        blank = {"digest": bytes(16), "id": "", "priority": b"", "empty": False, "keys": None, "bytes": 100}
        sketched(engine, [blank] * 40)
        table = engine.store(engine.rows(pa.table([[a for a, _ in pairs], [b for _, b in pairs]],
                             pa.schema([("left", integer), ("right", integer)]))), "pairs")  # fmt: skip
        root = list(range(40))
        for _ in range(40):
            for a, b in pairs:
                root[a] = root[b] = min(root[a], root[b])
        closed = engine.components(table)
        found = groups_of(rows_of(closed), "bundle")
        left_out = {row["left"] for row in rows_of(engine.join(table, closed, "left", "anti"))}
        covered = set()
        for group in found.values():
            orders = [row["order"] for row in group]
            assert orders == sorted(orders) and len({root[o] for o in orders}) == 1
            assert set(orders) == {o for o in range(40) if root[o] == root[orders[0]]}
            assert all(sorted(row["partners"]) == [a for a, b in pairs if b == row["order"]] for row in group)
            covered |= set(orders)
        assert not covered & left_out and {o for pair in pairs for o in pair} <= covered | {
            o for o in range(40) if root[o] in {root[a] for a in left_out}
        }
        assert kind == "spilled" or not left_out
        assert np.all([len(group) > 1 for group in found.values()])
