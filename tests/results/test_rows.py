from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from corpora import planted
from hypothesis import given
from hypothesis import strategies as st
from raising import assert_raises

import lookalike as la
from lookalike.recipes.decide import Decisions
from lookalike.results import rows as rows_module
from lookalike.results.rows import ParquetRows, RandomSample, SmallestN, TableRows, collect, matching_rows, rows_at

TABLE = pa.table({"a": range(10), "b": [str(i) for i in range(10)]})
spans = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted), max_size=3)
names = st.sampled_from([["a", "b"], ["b", "a"], ["a"], ["b"]])


class Made:
    def __init__(self):
        self.wanted = []

    def __call__(self, schema, begin, end):
        self.wanted.append((schema.names, begin, end))
        made = TABLE.slice(begin, end - begin).select(schema.names)
        return SimpleNamespace(batches=lambda: iter(made.to_batches(max_chunksize=3)))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "a=b.parquet"
    pq.write_table(TABLE, path, row_group_size=3)
    return path


@given(spans, names)
def test_any_parts_of_parts_are_those_of_a_table(stored, spans, names):
    """Rows that are held, stored, and made when they are asked for, are alike; the others are not made."""
    make, wanted = Made(), TABLE
    kinds = [TableRows(TABLE), ParquetRows(stored), Decisions(make, TABLE.schema, 0, 10)]
    for begin, end in spans:
        kinds, wanted = [rows.slice(begin, end) for rows in kinds], wanted.slice(begin, end - begin)
    wanted = wanted.select(names)
    for rows in kinds:
        rows = rows.select(names)
        found = collect(rows)
        assert found.schema == rows.schema and found.equals(wanted)
    first = int(wanted[0][0].as_py()) if len(wanted) else 0
    assert make.wanted == [(names, first, first + len(wanted))] * (len(wanted) > 0), "of no rows none is made"
    assert collect(kinds[1].select(names)).equals(wanted), "every time"


def test_a_file_stays_the_one_that_was_opened(stored, tmp_path):
    path = tmp_path / "rows.parquet"
    path.write_bytes(stored.read_bytes())
    rows = ParquetRows(path)
    pq.write_table(TABLE.slice(5), tmp_path / "other")
    (tmp_path / "other").rename(path)
    assert collect(rows).equals(TABLE) and len(collect(ParquetRows(path))) == 5


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(0, 9), st.integers(1, 40))
def test_rows_are_filtered_a_batch_at_a_time(values, least, batch):
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "BATCH_ROWS", batch)
        rows = TableRows(pa.table({"x": pa.array(values, pa.int64())}))
        found = matching_rows(rows, lambda part: seen.append(len(part)) or pc.greater_equal(part["x"], least))
    assert found["x"].to_pylist() == [x for x in values if x >= least]
    assert sum(seen) == len(values) and max(seen, default=0) <= batch


def test_the_lowest_of_all_batches(rng):
    values = rng.integers(0, 20, 100).astype(np.float64)
    wanted = np.argsort(values, kind="stable")[:17]
    for step in (1, 3, 100):
        lowest = SmallestN(17)
        for begin in range(0, 100, step):
            lowest.add(values[begin : begin + step], np.arange(begin, min(begin + step, 100)))
        assert lowest.rows.tolist() == wanted.tolist() and lowest.values.tolist() == values[wanted].tolist()


def drawn(seed, purpose, rows=1000, step=1000):
    draw = RandomSample(10, seed, purpose)
    for begin in range(0, rows, step):
        draw.add(np.arange(begin, begin + step))
    assert draw.total == rows
    return draw.rows.tolist()


def test_draws_depend_on_seed_and_purpose_but_not_on_batches():
    first = drawn(1, "a")
    assert first == drawn(1, "a", step=50) == sorted(set(first)) and len(first) == 10
    assert first != drawn(2, "a") and first != drawn(1, "b")


def test_each_row_is_drawn_equally_often():
    counts = np.bincount([row for seed in range(2000) for row in drawn(seed, "x", 100, 100)], minlength=100)
    chi = ((counts - 200) ** 2 / 200).sum() / 0.9
    assert chi < 99 + 5 * np.sqrt(2 * 99)


def test_rows_come_in_the_order_of_their_places(rng):
    rows = TableRows(pa.table({"x": np.arange(5000)}))
    for places in ([], [3], [4999, 0, 0, 17], rng.integers(0, 5000, 200).tolist()):
        assert rows_at(rows, np.array(places, np.int64))["x"].to_pylist() == places


def test_samples_and_the_least_alike_are_removals(rng):
    result = la.dedup(planted(rng, n_families=60), threshold=0.6)
    removed, least, sample = (one.to_pylist() for one in (result.removed, result.least_alike(15), result.sample(20)))
    near = [row["resemblance"] for row in result.decisions.to_pylist() if row["reason"] == "near"]
    assert [row["resemblance"] for row in least] == sorted(near)[:15] and all(row in removed for row in [*least, *sample])
    assert len(sample) == 20 and sample != result.sample(20, seed=2).to_pylist()
    assert sample == sorted(sample, key=lambda row: row["id"])
    assert len(result.sample(10**9)) == len(removed), "none is dropped as empty here"
    assert result.sample(1).schema == result.removed.schema == result.least_alike(1).schema


def test_wrong_numbers_are_refused():
    result = la.dedup(["a", "b"])
    for call in (lambda: result.sample(0), lambda: result.least_alike(1.5), lambda: result.sample(1, seed=-1)):
        assert_raises(la.errors.ParameterError, "", call)
    assert len(result.sample(3)) == 0 == len(result.least_alike(3))


def test_a_notebook_shows_the_counts_and_nothing_of_the_texts_as_markup():
    table = pa.table({"text": ["a b c d e f g", "a b c d e f g h"], "id": ["<b>\u202e", "<i>y"]})
    shown = la.dedup(table, id="id", threshold=0.5)._repr_html_()
    assert "&lt;b&gt;\\u202e" in shown and "<b>\u202e" not in shown and "<i>" not in shown and "<td>1</td>" in shown
    assert shown.index("<th style='text-align:left'>least similar removals: removed → kept</th>") < shown.index("&lt;b&gt;")
