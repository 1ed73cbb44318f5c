from itertools import groupby, product

import pyarrow as pa
from cut_tables import whole
from engine_rows import (
    MET,
    bag,
    count_rows,
    documents,
    each_kind,
    groups_of,
    integer,
    numbers,
    quick,
    rows_of,
    running,
    sketched,
    wanted_groups,
)
from hypothesis import example, given
from hypothesis import strategies as st


@each_kind
@quick
@given(documents)
def test_rows_meet_by_lists(kind, found):
    with running(kind) as engine:
        table, rows = sketched(engine, found, ("-bytes", "position"))
        listed = [{"key": key, "order": row["order"]} for row in rows for key in row["keys"] or ()]
        met = groups_of(rows_of(engine.group_by(table.select(["order", "keys"]), "keys", "order")), "key")
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
        met = groups_of(rows_of(engine.group_by(table.select(names), by, sort)), by)
        assert {key: group for key, group in wanted.items() if len(group) > 1 or key in met} == met


@each_kind
@quick
@given(numbers, st.integers(2, 4), st.sampled_from([(1, 0), (2**31, 1), (2**56, 2**60)]))
@example([(0, 0, True, 0.0), (0, 3, True, 0.0), (1, 1, True, 0.0)], 2, (2**40, 1))
def test_rows_meet_by_numbers(kind, found, width, large):
    with running(kind) as engine:
        schema = pa.schema(list(MET)[:width])
        found = [(large[0] * row[0] - large[1], *row[1:width]) for row in found]
        rows = [dict(zip(schema.names, row, strict=True)) for row in dict.fromkeys(found)]
        met = groups_of(rows_of(engine.group_by(engine.rows(pa.Table.from_pylist(rows, schema)), "left", "right")), "left")
        wanted = wanted_groups(rows, "left", "right")
        assert met.keys() == wanted.keys()
        for key, group in met.items():
            assert [row["right"] for row in group] == [row["right"] for row in wanted[key]] and bag(group) == bag(wanted[key])


EDGES = [0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 33]
edges = st.integers(0, 3) | st.sampled_from(EDGES)


@each_kind
@quick
@given(st.lists(st.tuples(edges, edges), max_size=60))
@example([(1, 5), (3, 2), (1, 4), (1, 1 << 40), (1 << 33, 1), (3, 7), (3, 1), (1, 6), (3, 2)])
@example([*product(EDGES, range(3))])
def test_of_equal_rows_one_is_enough(kind, found):
    """Whether or not repeats are left out, they are beside each other. Numbers of 32 bits are packed in pairs, larger ones not."""
    with running(kind) as engine:
        table = engine.rows(pa.Table.from_pylist([{"left": a, "right": b} for a, b in found], whole("left", "right")))
        every, some = (rows_of(engine.group_by(table, "left", "right", once=once)) for once in (False, True))
        assert bag(every) == bag({"left": a, "right": b} for a, b in found)
        assert sorted(row for row, _ in groupby((row["left"], row["right"]) for row in some)) == sorted(set(found))


@each_kind
@quick
@given(documents, numbers)
def test_all_rows_meet_as_one_stream(kind, found, links):
    """The step that counts them runs once."""
    with running(kind) as engine:
        table, rows = sketched(engine, [*found, *[{"bytes": 1, "digest": bytes(16), "id": "", "priority": b"", "empty": True,
                                                   "keys": None}] * 51], ("-priority", "position"))  # fmt: skip
        together = rows_of(count_rows(engine.group_by(table.select(["order", "keys"]), None, "order"), engine))
        assert together == [
            {"order": row["order"], "keys": row["keys"], "count": row["order"]}
            for row in sorted(rows, key=lambda row: row["order"])
        ]
        made = [dict(zip(MET.names, row, strict=True)) for row in links]
        stream = engine.group_by(engine.rows(pa.Table.from_pylist(made, MET)), None, ("right", "left"))
        counted = rows_of(count_rows(stream, engine))
        assert [(row["right"], row["left"]) for row in counted] == sorted((row["right"], row["left"]) for row in made)
        assert [row.pop("count") for row in counted] == list(range(len(made))) and bag(counted) == bag(made)
