"""Each operation by every engine, but how rows meet, against the same in plain Python."""

import pyarrow as pa
from cut_tables import whole
from engine_rows import MET, bag, components, documents, each_kind, groups_of, numbers, quick, rows_of, running, sketched
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike.values.tables import SOURCE_BITS

SCORED = pa.schema([("order", "int64"), ("score", "float64"), ("flag", "bool")])


@each_kind
@quick
@given(documents, st.lists(st.tuples(st.none() | st.integers(0, 59), st.integers(0, 9)), max_size=30), st.data())
def test_joins(kind, found, links, data):
    with running(kind) as engine:
        table, rows = sketched(engine, found, ("-priority", "position"))
        n, at = len(rows), {row["order"]: row for row in rows}
        links = [(None if a is None else a % n, b) for a, b in links if n]
        left = engine.rows(pa.table([[a for a, _ in links], [b for _, b in links]], whole("keeper", "x")))
        chosen = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n)) if n else []
        some = [{"order": c, "score": c / 2, "flag": c % 2 == 0} for c in chosen]
        present = engine.rows(pa.Table.from_pylist(some, SCORED))
        repeated, even = (engine.rows(pa.table([orders], whole("order"))) for orders in (chosen + chosen[:3], range(0, n, 2)))
        names = ["order", "position", "digest", "id", "priority", "empty", "keys"]
        for right, known in (
            (table.select(names), at),
            (engine.join(table, repeated, "order", "semi").select(names), {c: at[c] for c in chosen}),
            (present, {row["order"]: row for row in some}),
            (engine.materialize(present, "some"), {row["order"]: row for row in some}),
        ):
            columns = [name for name in right.schema.names if name != "order"]
            for how in ("inner", "left"):
                wanted = [
                    {"keeper": a, "x": b} | {f"keeper_{c}": known.get(a, {}).get(c) for c in columns}
                    for a, b in links
                    if how == "left" or a in known
                ]
                joined, names = engine.join(left, right, "keeper", how), ["x", f"keeper_{columns[-1]}"]
                assert bag(rows_of(joined)) == bag(wanted)
                assert bag(rows_of(joined.select(names))) == bag({name: row[name] for name in names} for row in wanted)
            wanted = [{"order": o, "bytes": at[o]["bytes"]} | {c: known[o][c] for c in columns} for o in known]
            assert bag(rows_of(engine.join(table.select(["order", "bytes"]), right, "order", "inner"))) == bag(wanted)
        for how in ("semi", "anti"):
            kept = [{"keeper": a, "x": b} for a, b in links if (a in chosen) == (how == "semi")]
            assert bag(rows_of(engine.join(left, repeated, "keeper", how))) == bag(kept)
            own, wanted = (
                engine.join(table, present, "order", how),
                [r for o, r in at.items() if (o in chosen) == (how == "semi")],
            )
            assert bag(rows_of(own)) == bag(wanted)
            assert bag(rows_of(engine.join(own, even, "order", "semi"))) == bag(r for r in wanted if r["order"] % 2 == 0)


BLANK = {"bytes": 100, "digest": bytes(16), "id": "", "priority": b"", "empty": False, "keys": None}
PRIORITIES = [
    BLANK | {"priority": value} for value in (b"\1", b"\0", b"", b"\1ab", b"\xff", b"\1a", b"", b"\0", b"\1\xff", b"\1b")
]


@each_kind
@quick
@given(documents, st.sampled_from([("position",), ("-position",), ("bytes", "position"), ("-bytes", "position"),
                                   ("priority", "position"), ("-priority", "position")]), st.integers(0, 12))  # fmt: skip
@example(PRIORITIES, ("priority", "position"), 2)
@example(PRIORITIES, ("-priority", "position"), 2)
def test_ranks(kind, found, by, references):
    with running(kind) as engine:
        _, rows = sketched(engine, found, by, references)
        column, sign = by[0].removeprefix("-"), -1 if by[0].startswith("-") else 1

        def place(row):
            """Bytes are turned number by number; none come last."""
            value = row[column]
            parts = [value] if isinstance(value, int) else [*value, -1]
            return (value == b"", [sign * part for part in parts] if value != b"" else [], row["position"])

        own = [row for row in rows if row["position"] >> SOURCE_BITS]
        wanted = rows[: len(rows) - len(own)] + sorted(own, key=place)
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
    """What is stored is not made again."""
    with running(kind) as engine:
        some = [dict(zip(MET.names, row, strict=True)) for row in one + other]
        tables = [engine.rows(pa.Table.from_pylist(rows, MET)) for rows in (some[: len(one)], some[len(one) :], [])]
        calls = []

        def counting(rows):
            calls.append(1)
            return rows

        stored = engine.materialize(engine.map(engine.union(*tables[:2]), counting, MET), "both")
        before = len(calls)
        for table in (stored, engine.materialize(stored, "both"), engine.union(stored, tables[2])):
            assert bag(rows_of(table)) == bag(some) and len(calls) == before
        twice = engine.union(stored.select(["left"]), stored.select(["left"]))
        assert bag(rows_of(twice)) == bag({"left": row["left"]} for row in some + some)


@each_kind
@quick
@given(st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), max_size=40))
def test_components(kind, links):
    """With little memory large components may be left out."""
    with running(kind) as engine:
        if engine.components is None:
            return
        pairs = sorted({(min(link), max(link)) for link in links if link[0] != link[1]})
        sketched(engine, [BLANK] * 40)
        table = engine.materialize(
            engine.rows(pa.table([[a for a, _ in pairs], [b for _, b in pairs]], whole("left", "right"))), "pairs"
        )
        whole_ones, closed, covered = components(pairs, 40), engine.components(table), set()
        for root, group in groups_of(rows_of(closed), "bundle").items():
            assert [row["order"] for row in group] == whole_ones[root]
            assert all(sorted(row["partners"]) == [a for a, b in pairs if b == row["order"]] for row in group)
            covered.add(root)
        open_pairs = {(row["left"], row["right"]) for row in rows_of(engine.join(table, closed, "left", "anti"))}
        assert open_pairs == {(a, b) for a, b in pairs if not any(a in whole_ones[root] for root in covered)}
        assert kind in ("spilled", "mixed") or not open_pairs
