"""Tables of the engine on Spark: what is put off, what is chosen, how many tasks there are."""

from functools import partial

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
from engine_kinds import frames_engine

from lookalike.engines.spark import engine as engine_module
from lookalike.engines.spark import files as spark_files
from lookalike.engines.spark import tables as spark_tables
from lookalike.engines.spark import texts as spark_texts
from lookalike.engines.spark.engine import MOST_TIMES, SparkEngine
from lookalike.engines.spark.files import rows_of as rows_of_file
from lookalike.engines.spark.tables import StoredTable, pattern_of
from lookalike.formats.sources import open_sources
from lookalike.inputs.read import ReadOptions
from lookalike.steps.totals import N_ROWS
from lookalike.values.tables import SOURCE_BITS

integer = pa.int64()
ROWS = pa.schema([("order", integer), ("position", integer), ("x", integer)])


@pytest.fixture
def engine(tmp_path):
    made = frames_engine(tmp_path)
    yield made
    made.close()


def table(n, schema=ROWS):
    return pa.table({name: list(range(n)) for name in schema.names}, schema)


def rows_of(some):
    """Rows in any order."""
    return sorted(tuple(row.values()) for batch in some.batches() for row in batch.to_pylist())


def doubled(rows, schema):
    """A step."""
    for batch in rows:
        yield pa.RecordBatch.from_arrays([*batch.columns[:-1], pa.compute.multiply(batch.columns[-1], 2)], schema=schema)


def ranked(engine, name="made", **more):
    """Stored rows with their order."""
    made = pa.table({"position": list(range(6)), "x": [1] * 6, "y": [2] * 6} | more)
    return engine.rank(engine.materialize(engine.rows(made), name), ["position"], 0)


def test_only_columns_that_are_asked_for_are_read_to_find_the_order(engine, monkeypatch):
    read = set()  # tasks may be tried again
    monkeypatch.setattr(
        spark_files, "rows_of", lambda path, schema: read.add(tuple(schema.names)) or rows_of_file(path, schema)
    )
    some = ranked(engine)
    assert read == {("position",)}
    assert isinstance(some.select(["y"]), StoredTable)
    for names, needed in ((["order", "x"], ["x", "position"]), (["position", "order"], ["position"])):
        read.clear()
        found = engine.materialize(some.select(names), "-".join(names))
        assert read == {tuple(needed)} and found.schema.names == names
    read.clear()
    assert rows_of(some.slice(2, 4).select(["y", "order"])) == [(2, 2), (2, 3)]
    assert ("y", "position") in read and not any("x" in names for names in read)


def test_fewer_long_texts_meet_in_a_task(engine, monkeypatch):
    monkeypatch.setattr(engine_module, "TEXT_BYTES_OF_A_TASK", 10_000)
    assert engine.texts_of_a_task == engine_module.TEXTS_OF_A_TASK
    ranked(engine, bytes=[100] * 6)
    assert engine.texts_of_a_task == 100
    texts = engine.rows(pa.table({"position": [0], "text": ["x"]}))
    assert len(engine.runs_of_input(texts)) == 0, "all in one task"
    ranked(engine, "long", bytes=[20_000] * 6)
    assert engine.texts_of_a_task == 1
    assert len(engine.runs_of_input(texts)) == min(6, engine.n_tasks) - 1 > 0
    assert len(engine.runs_of_input(texts.select(["position"]))) == 0


def test_steps_that_follow_each_other_run_in_one_task(engine):
    made = engine.rows(table(9))
    for _ in range(3):
        made = engine.map(made, partial(doubled, schema=ROWS), ROWS)
    assert [len(stage.steps) for stage in made.stages] == [4]
    assert rows_of(made) == [(i, i, 8 * i) for i in range(9)]


@pytest.mark.parametrize("names", [["x"], ["x", "order"], ["order", "position", "x"]], ids=str)
@pytest.mark.parametrize("kind", ["made", "stored", "both", "joined", "met"])
def test_columns_are_chosen(kind, names, engine):
    some = engine.rows(table(6))
    made = {
        "made": lambda: some,
        "stored": lambda: engine.materialize(some, "some"),
        "both": lambda: engine.union(some, engine.materialize(some, "some")),
        "joined": lambda: engine.join(
            engine.rows(table(6, pa.schema(list(ROWS)[:2]))), some.select(["order", "x"]), "order", "left"
        ),
        "met": lambda: engine.group_by(some, "x", "order"),
    }[kind]()
    chosen = made.select(names)
    assert chosen.schema == pa.schema([ROWS.field(name) for name in names])
    assert rows_of(chosen) == sorted([(i,) * len(names) for i in range(6)] * (2 if kind == "both" else 1))


def test_a_table_without_rows_has_no_files(engine):
    stored = engine.materialize(engine.rows(table(0)), "none")
    assert stored.files.names == () and rows_of(stored) == [] and engine.aggregate(stored, N_ROWS).tolist() == [0]
    assert rows_of(engine.join(stored, stored.select(["order"]), "x", "anti")) == []
    assert rows_of(engine.by_input(stored)) == [] and rows_of(engine.group_by(stored, None, "order")) == []


def test_many_rows_get_more_tasks_and_few_get_fewer(engine):
    engine.n_tasks = 10
    assert [engine.tasks_for(n, 100) for n in (0, 1, 100, 101, 1000, 5000, 16_000, 32_000)] == [1, 1, 1, 2, 10, 10, 10, 20]
    assert engine.tasks_for(None, 100) == 10 and engine.tasks_for(100 * 10 * MOST_TIMES * 7, 100) == 70


@pytest.mark.parametrize("sizes", [[4, 0, 3], [0, 0, 5], [1]], ids=str)
def test_rows_are_cut_by_their_places_in_the_input(sizes, engine, monkeypatch):
    monkeypatch.setattr(engine_module, "ROWS_OF_A_TASK", 2)
    positions = [source << SOURCE_BITS | row for source, n in enumerate(sizes) for row in range(n)]
    given = pa.table({"position": positions}, pa.schema([("position", integer)]))
    ranked = engine.rank(engine.rows(given.take(pa.array(range(len(given))[::-1], integer))), ("position",), 0)
    for begin in range(len(positions) + 2):
        for end in (begin, begin + 2, len(positions), len(positions) + 3):
            cut = ranked.slice(begin, end)
            assert [row[0] for row in rows_of(cut)] == positions[begin : max(begin, end)]
    stored = engine.materialize(engine.by_input(ranked.select(["position"])), "by-input")
    assert [row["position"] for batch in stored.batches() for row in batch.to_pylist()] == positions


def test_positions_with_gaps_are_ranked_by_sorting(engine):
    given = pa.table({"position": [5, 1, 9, 3]}, pa.schema([("position", integer)]))
    for by, wanted in (("position", {1: 0, 3: 1, 5: 2, 9: 3}), ("-position", {1: 3, 3: 2, 5: 1, 9: 0})):
        engine.close()
        assert dict(rows_of(engine.rank(engine.rows(given), (by,), 0))) == wanted


def test_a_sum_that_is_large_comes_by_a_file(engine, monkeypatch):
    monkeypatch.setattr(engine_module, "SMALL", 0)
    before = engine.session.collected
    assert engine.aggregate(engine.rows(table(50)), N_ROWS).tolist() == [50]
    assert engine.session.collected - before < 400, "names of files alone"


def test_what_is_read_back_is_removed(engine):
    assert len(rows_of(engine.rows(table(5)))) == 5
    assert not [path for path in engine.folder.glob("*") if any(path.glob("*"))]


def test_a_job_that_goes_on_reads_what_is_whole(engine):
    """And makes anew what is not."""
    engine.materialize(engine.rows(table(5)), "whole")
    engine.materialize(engine.rows(table(4)), "begun")
    (engine.folder / "begun.done").unlink()
    again = SparkEngine(engine.session, engine.folder)
    assert len(rows_of(again.materialize(again.rows(table(7)), "whole"))) == 5
    assert len(rows_of(again.materialize(again.rows(table(7)), "begun"))) == 7


def test_texts_of_inputs_are_joined_and_stored(engine, tmp_path, monkeypatch):
    """Where inputs are read in pieces, and texts are read again from files that tasks wrote."""
    monkeypatch.setattr(spark_texts, "UNIT_BYTES", 1)
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "text {i}"}}\n' for i in range(9)))
    documents = engine.source(open_sources([tmp_path / "a.jsonl"]), ReadOptions())
    ranked = engine.rank(engine.materialize(documents.select(["position"]), "sketches"), ("-position",), 0)
    joined = engine.join(ranked.select(["order"]), documents, "order", "inner")
    wanted = [(order, f"text {8 - order}".encode()) for order in range(9)]
    assert rows_of(joined) == wanted and joined.select(["order"]).schema.names == ["order"]
    stored = engine.materialize(joined, "texts")
    assert rows_of(stored) == wanted and engine.materialize(stored, "texts") is stored
    bundles = pa.table({"bundle": [0, 0, 3, 3], "order": [0, 5, 3, 5]}, pa.schema([("bundle", integer), ("order", integer)]))
    assert [row[2] for row in rows_of(engine.join(engine.rows(bundles), stored, "order", "inner"))] == [
        wanted[order][1] for order in (0, 5, 3, 5)
    ]
    assert rows_of(engine.join(engine.rows(bundles), stored, "order", "inner").select(["bundle"])) == [(0,), (0,), (3,), (3,)]


@pytest.mark.parametrize(("path", "pattern"), [("/a b/é", "file:///a b/é"), ("/a[1]{b}*?%20", r"file:///a\[1\]\{b\}\*\?%20")])
def test_paths_are_no_patterns(path, pattern, tmp_path):
    assert pattern_of(type(tmp_path)(path)) == pattern


@pytest.fixture
def small(engine, monkeypatch):
    """The same engine, whose driver works on small tables itself; and how many times tasks were asked for."""
    engine.few_bytes, asked = 1 << 20, []
    run_on = engine.run_on
    monkeypatch.setattr(engine, "run_on", lambda *given: asked.append(given) or run_on(*given))
    return engine, asked


def test_small_tables_need_no_tasks(small):
    engine, asked = small
    some = engine.materialize(engine.rows(table(9)), "some")
    joined = engine.join(
        engine.group_by(some.select(["order", "x"]), "x", "order"), some.select(["order", "position"]), "order", "inner"
    )
    both = engine.materialize(engine.union(joined, engine.map(joined, iter, joined.schema)), "both")
    assert rows_of(both) == sorted(2 * [(i, i, i) for i in range(9)])
    assert engine.aggregate(both, N_ROWS).tolist() == [18]
    assert [row["order"] for batch in engine.group_by(both, None, ("order", "x")).batches() for row in batch.to_pylist()] == [
        i // 2 for i in range(18)
    ]
    assert rows_of(engine.rank(some.select(["position"]), ("-position",), 0)) == [(i, 8 - i) for i in range(9)]
    assert not asked


def test_what_the_driver_has_made_is_joined_with_what_tasks_make(small):
    """Sums of widths decide which is which: 9 rows of 24 bytes, or 90."""
    engine, asked = small
    engine.few_bytes = 9 * 24
    few, many = engine.materialize(engine.rows(table(9)), "few"), engine.materialize(engine.rows(table(90)), "many")
    assert few.here and not many.here and many.select(["x"]).here is False and engine.materialize(few, "few").select(["x"]).here
    met = engine.group_by(few, "x", "order")
    assert met.here and not asked[1:]
    assert rows_of(engine.join(met.select(["order"]), many, "order", "inner")) == [(i, i, i) for i in range(9)]
    assert rows_of(engine.join(many, met.select(["order"]), "x", "semi")) == [(i, i, i) for i in range(9)]
    assert rows_of(engine.union(met, many)) == sorted([(i, i, i) for i in range(9)] + [(i, i, i) for i in range(90)])
    assert len(asked) > 3


def test_only_tasks_read_texts(small, tmp_path):
    engine, asked = small
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "text {i}"}}\n' for i in range(9)))
    documents = engine.source(open_sources([tmp_path / "a.jsonl"]), ReadOptions())
    assert not documents.here
    ranked = engine.rank(engine.materialize(documents.select(["position"]), "sketches"), ("position",), 0)
    joined = engine.join(ranked.select(["order"]), documents, "order", "inner")
    assert ranked.here and not joined.here and not engine.group_by(joined, "order", "order").here
    before = len(asked)
    assert rows_of(joined) == [(i, f"text {i}".encode()) for i in range(9)]
    assert len(asked) > before


def pairs_and_components(engine):
    ranked(engine, bytes=[100] * 6)
    pairs = engine.materialize(engine.rows(pa.table({"left": [0, 1, 3], "right": [1, 2, 4]})), "pairs")
    return pairs, SparkEngine.components.__get__(engine)(pairs)


@pytest.mark.parametrize("most", [72 * 3 + 32 * 6, 72 * 3 + 32 * 6 - 1])
def test_pairs_that_are_too_many_for_the_driver_make_no_bundles(engine, most, monkeypatch):
    monkeypatch.setattr(spark_tables, "DRIVER_BYTES", most)
    pairs, closed = pairs_and_components(engine)
    if most < 72 * 3 + 32 * 6:
        assert closed is None
    else:
        assert rows_of(closed) == [(0, 0, []), (0, 1, [0]), (0, 2, [1]), (3, 3, []), (3, 4, [3])]
        assert rows_of(engine.join(pairs, closed, "left", "anti")) == []


@pytest.mark.parametrize("most", [300, 299])
def test_a_component_too_large_for_a_task_is_left_out(engine, most, monkeypatch):
    monkeypatch.setattr(spark_tables, "COMPONENT_BYTES", most)
    pairs, closed = pairs_and_components(engine)
    assert {row[0] for row in rows_of(closed)} == ({0, 3} if most == 300 else {3})
    assert rows_of(engine.join(pairs, closed, "left", "anti")) == ([] if most == 300 else [(0, 1), (1, 2)])
