"""Each operation by every engine, but how rows meet, against the same in plain Python."""

from functools import partial

import numpy as np
import pyarrow as pa
from engine_rows import MET, bag, documents, each_kind, groups_of, integer, numbers, quick, rows_of, running, sketched
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike.formats.memory import as_sources
from lookalike.inputs.read import ReadOptions
from lookalike.steps.totals import documents as document_counts
from lookalike.values.tables import SOURCE_BITS


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
                engine.materialize(engine.rows(some), "some"),
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


PRIORITIES = [{"bytes": 1, "digest": bytes(16), "id": "", "priority": value, "empty": False, "keys": None}
              for value in (b"\1", b"\0", b"", b"\1ab", b"\xff", b"\1a", b"", b"\0", b"\1\xff", b"\1b")]  # fmt: skip


@each_kind
@quick
@given(documents, st.sampled_from([("position",), ("-position",), ("bytes", "position"), ("-bytes", "position"),
                                   ("priority", "position"), ("-priority", "position")]), st.integers(0, 12))  # fmt: skip
@example(PRIORITIES, ("priority", "position"), 2)
@example(PRIORITIES, ("-priority", "position"), 2)
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
        if engine.joins_keep_order:
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
        stored = engine.materialize(both, "both")
        before = len(calls)
        again = engine.materialize(stored, "both")
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
        total = engine.aggregate(table.select(["position", "empty", "bytes"]), document_counts(1 << SOURCE_BITS))
        own = [row for row in rows if row["position"] >> SOURCE_BITS]
        assert total.tolist() == [
            len(rows),
            len(rows) - len(own),
            sum(row["empty"] for row in own),
            sum(row["bytes"] for row in rows),
            *[0] * 6,
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
        documents = engine.source(as_sources(texts), ReadOptions())
        schema = pa.schema([("position", integer), ("bytes", integer)])
        sizes = engine.materialize(engine.map(documents, partial(measured, schema=schema), schema), "sketches")
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
        table = engine.materialize(engine.rows(pa.table([[a for a, _ in pairs], [b for _, b in pairs]],
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
        assert kind in ("spilled", "mixed") or not left_out
        assert np.all([len(group) > 1 for group in found.values()])
