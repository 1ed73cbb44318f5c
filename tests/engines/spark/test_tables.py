from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from cut_tables import rows_of, whole

pytest.importorskip("pyspark")
from engine_kinds import frames_engine

from lookalike.engines.spark import engine as engine_module
from lookalike.engines.spark import files as spark_files
from lookalike.engines.spark.engine import MOST_TIMES, SparkEngine
from lookalike.engines.spark.tables import pattern_of
from lookalike.formats.sources import open_sources
from lookalike.inputs.read import ReadOptions
from lookalike.steps.totals import N_ROWS

ROWS = whole("order", "position", "x")


@pytest.fixture
def engine(tmp_path):
    made = frames_engine(tmp_path)
    yield made
    made.close()


def table(n, schema=ROWS):
    return pa.table({name: list(range(n)) for name in schema.names}, schema)


def sorted_rows(some):
    return sorted(rows_of(some.batches()))


def doubled(rows, schema):
    for batch in rows:
        yield pa.RecordBatch.from_arrays([*batch.columns[:-1], pa.compute.multiply(batch.columns[-1], 2)], schema=schema)


def ranked(engine, name="made", **more):
    made = pa.table({"position": list(range(6)), "x": [1] * 6, "y": [2] * 6} | more)
    return engine.rank(engine.materialize(engine.rows(made), name), ["position"], 0)


def test_only_columns_that_are_asked_for_are_read_to_find_the_order(engine, monkeypatch):
    read, rows_of = set(), spark_files.rows_of  # tasks may be tried again
    monkeypatch.setattr(spark_files, "rows_of", lambda path, schema: read.add(tuple(schema.names)) or rows_of(path, schema))
    some = ranked(engine)
    assert read == {("position",)}
    for names, needed in ((["order", "x"], ("x", "position")), (["position", "order"], ("position",))):
        read.clear()
        engine.materialize(some.select(names), "-".join(names))
        assert read == {needed}


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
    assert sorted_rows(made) == [(i, i, 8 * i) for i in range(9)]


def test_many_rows_get_more_tasks_and_few_get_fewer(engine):
    engine.n_tasks = 10
    assert [engine.tasks_for(n, 100) for n in (0, 1, 100, 101, 1000, 5000, 16_000, 32_000)] == [1, 1, 1, 2, 10, 10, 10, 20]
    assert engine.tasks_for(None, 100) == 10 and engine.tasks_for(100 * 10 * MOST_TIMES * 7, 100) == 70


def test_positions_with_gaps_are_ranked_by_sorting(engine):
    given = pa.table([[5, 1, 9, 3]], whole("position"))
    for by, wanted in (("position", {1: 0, 3: 1, 5: 2, 9: 3}), ("-position", {1: 3, 3: 2, 5: 1, 9: 0})):
        engine.close()
        assert dict(sorted_rows(engine.rank(engine.rows(given), (by,), 0))) == wanted


def test_a_sum_that_is_large_comes_by_a_file(engine, monkeypatch):
    monkeypatch.setattr(engine_module, "SMALL", 0)
    before = engine.session.collected
    assert engine.aggregate(engine.rows(table(50)), N_ROWS).tolist() == [50]
    assert engine.session.collected - before < 400, "names of files alone"


def test_what_is_read_back_is_removed(engine):
    assert len(sorted_rows(engine.rows(table(5)))) == 5
    assert not [path for path in engine.folder.glob("*") if any(path.glob("*"))]


def test_paths_are_no_patterns():
    assert pattern_of(Path("/a b/é")) == "file:///a b/é"
    assert pattern_of(Path("/a[1]{b}*?%20")) == r"file:///a\[1\]\{b\}\*\?%20"


@pytest.fixture
def small(engine, monkeypatch):
    """The driver works on small tables itself."""
    engine.few_bytes, asked = 1 << 20, []
    run_on = engine.run_on
    monkeypatch.setattr(engine, "run_on", lambda *given: asked.append(given) or run_on(*given))
    return engine, asked


def test_small_tables_need_no_tasks(small):
    engine, asked = small
    some = engine.materialize(engine.rows(table(9)), "some")
    met = engine.group_by(some.select(["order", "x"]), "x", "order")
    joined = engine.join(met, some.select(["order", "position"]), "order", "inner")
    both = engine.materialize(engine.union(joined, engine.map(joined, iter, joined.schema)), "both")
    assert sorted_rows(both) == sorted(2 * [(i, i, i) for i in range(9)]) and engine.aggregate(both, N_ROWS).tolist() == [18]
    assert sorted_rows(engine.rank(some.select(["position"]), ("-position",), 0)) == [(i, 8 - i) for i in range(9)]
    assert not asked


def test_only_tasks_read_texts(small, tmp_path):
    engine, asked = small
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "text {i}"}}\n' for i in range(9)))
    documents = engine.source(open_sources([tmp_path / "a.jsonl"]), ReadOptions())
    assert not documents.here
    ranked = engine.rank(engine.materialize(documents.select(["position"]), "sketches"), ("position",), 0)
    joined = engine.join(ranked.select(["order"]), documents, "order", "inner")
    assert ranked.here and not joined.here and not engine.group_by(joined, "order", "order").here
    before = len(asked)
    assert sorted_rows(joined) == [(i, f"text {i}".encode()) for i in range(9)]
    assert len(asked) > before


def pairs_and_components(engine):
    ranked(engine, bytes=[100] * 6)
    pairs = engine.materialize(engine.rows(pa.table({"left": [0, 1, 3], "right": [1, 2, 4]})), "pairs")
    return pairs, SparkEngine.components(engine, pairs)


def test_components_too_large_for_driver_or_task_are_left_out(engine, monkeypatch):
    pairs, closed = pairs_and_components(engine)
    assert sorted_rows(closed) == [(0, 0, []), (0, 1, [0]), (0, 2, [1]), (3, 3, []), (3, 4, [3])]
    for most, roots, open_pairs in ((300, {0, 3}, []), (299, {3}, [(0, 1), (1, 2)])):
        monkeypatch.setattr("lookalike.engines.spark.tables.COMPONENT_BYTES", most)
        closed = SparkEngine.components(engine, pairs)
        assert {row[0] for row in sorted_rows(closed)} == roots
        assert sorted_rows(engine.join(pairs, closed, "left", "anti")) == open_pairs
    for most in (72 * 3 + 32 * 6, 72 * 3 + 32 * 6 - 1):
        monkeypatch.setattr("lookalike.engines.spark.tables.DRIVER_BYTES", most)
        assert (SparkEngine.components(engine, pairs) is None) == (most < 72 * 3 + 32 * 6)
