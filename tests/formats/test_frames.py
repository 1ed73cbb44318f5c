"""Frames and data sets of other libraries are read as they are, some rows at a time."""

import tracemalloc
from collections import OrderedDict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from json_lines import read_lines
from row_files import A

import lookalike as la
from lookalike.formats import frames
from lookalike.formats.memory import as_sources
from lookalike.formats.split import Columns

TEXTS = [A, "completely different words stand here", A + " more"]
TABLE = pa.table({"text": TEXTS, "n": [10, 11, 12], "kind": pa.array(["x", "y", "x"]).dictionary_encode()})
KINDS = pl.Struct({"kind": pl.Categorical})


class HeldTable:
    """What a data set of Hugging Face keeps its table in."""

    def __init__(self, table):
        self.table = table


class Dataset:
    """As much of a data set of Hugging Face as is used: a table, and perhaps which of its rows there are, in which order."""

    __module__ = "datasets.arrow_dataset"

    def __init__(self, table, indices=None):
        self.data, self._indices = HeldTable(table), indices

    def __len__(self):
        return len(self.data.table) if self._indices is None else len(self._indices)

    def select_columns(self, names):
        return Dataset(self.data.table.select(names), self._indices)

    def with_format(self, kind):
        assert kind == "arrow"
        return self

    def iter(self, batch_size):
        chosen = self.data.table.take(self._indices)
        return iter([chosen.slice(begin, batch_size) for begin in range(0, len(chosen), batch_size)])


def written(result, path):
    result.write(path, force=True)
    return read_lines(path)


@pytest.fixture
def parquet(tmp_path):
    (tmp_path / "set").mkdir()
    for number in range(2):
        pq.write_table(TABLE.slice(2 * number, 2), tmp_path / f"set/{number}.parquet")
    return pads.dataset(tmp_path / "set")


@pytest.mark.parametrize("rows", [1, 2, 1 << 14])
def test_all_kinds_give_the_same_rows(parquet, tmp_path, monkeypatch, rows):
    monkeypatch.setattr(frames, "ROWS", rows)
    monkeypatch.setattr(frames, "READ_ROWS", rows)
    expected = [row for row in TABLE.to_pylist() if row["n"] != 12]
    frame = pl.DataFrame(TABLE.to_pandas(), schema_overrides={"kind": pl.Categorical})
    for data in (Dataset(TABLE), Dataset(TABLE, [0, 1, 2]), parquet, parquet.scanner(), frame.lazy()):
        result = la.dedup(data)
        assert result.keep.tolist() == [True, True, False]
        assert result.removed.select(["id", "duplicate_of"]).to_pylist() == [{"id": 2, "duplicate_of": 0}]
        assert written(result, tmp_path / "out.jsonl") == written(result, tmp_path / "again.jsonl") == expected
        assert la.dedup(data, id="n", keep="last").kept["id"].to_pylist() == [11, 12]


def test_a_selection_is_read_in_its_order(tmp_path):
    result = la.dedup(Dataset(TABLE, [2, 0]), id="n")
    assert result.kept["id"].to_pylist() == [12]
    assert [row["n"] for row in written(result, tmp_path / "out.jsonl")] == [12]


def test_data_sets_by_name_are_inputs_of_these_names(tmp_path):
    result = la.dedup({"train": Dataset(TABLE), "test": Dataset(TABLE, [1])})
    assert result.kept["id"].to_pylist() == ["train:0", "train:1"]
    assert result.decisions["source"].to_pylist() == ["train"] * 3 + ["test"]
    assert result.provenance["inputs"] == [{"name": name, "in_memory": True} for name in ("train", "test")]
    result.write(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").glob("t*")) == ["test.parquet", "train.parquet"]
    with pytest.raises(la.errors.ParameterError, match="a work folder is for inputs that can be read again"):
        la.dedup({"train": Dataset(TABLE)}, work=tmp_path / "work")


def test_only_columns_that_are_wanted_are_read():
    read = []

    def some(names):
        read.append(names)
        return iter(TABLE.select(names or TABLE.column_names).to_batches())

    (split,) = as_sources(TABLE)
    (made,) = as_sources(pl.DataFrame({"text": TEXTS}).lazy())
    assert made.form is not split.form
    assert [batch.texts.row(0) for batch in made.batches(Columns())] == [A.encode()]
    streamed = frames.ScannedTable(TABLE.schema, 3, some)
    assert [batch.schema.names for batch in streamed.select(["n"]).batches()] == [["n"]] and read == [["n"]]


def test_a_lazy_frame_is_computed_once_in_little_memory(tmp_path):
    """What it computes may differ each time; its rows are on the disk, not in memory."""
    calls = []

    def counted(column):
        calls.append(len(column))
        return column

    lazy = pl.DataFrame({"text": TEXTS}).lazy().with_columns(pl.col("text").map_batches(counted, return_dtype=pl.String))
    result = la.dedup(lazy, evidence="all")
    computed = len(calls)
    result.write(tmp_path / "out.jsonl")
    assert len(calls) == computed > 0
    long = pl.select(pl.int_range(200_000).alias("i")).lazy().select(pl.concat_str(pl.lit("x" * 200), "i").alias("text"))
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    (split,) = as_sources(long)
    assert split.expected("text")[0] == 200_000
    assert pa.total_allocated_bytes() - before < 4 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("lazy", [pl.LazyFrame({"text": TEXTS}).filter(pl.col("text") == ""), pl.LazyFrame({"text": []})])
def test_a_lazy_frame_without_rows(lazy):
    assert len(la.dedup(lazy)) == 0


def test_older_versions_of_polars_collect_all_at_once():
    class LazyFrame:
        __module__ = "polars.lazyframe.frame"

        def collect(self):
            return pl.DataFrame({"text": TEXTS})

    assert la.dedup(LazyFrame()).keep.tolist() == [True, True, False]


def test_what_cannot_be_stored_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(frames, "READ_ROWS", 1)
    kinds = pl.DataFrame({"text": TEXTS, "s": [{"kind": kind} for kind in "xyz"]}, {"text": pl.String, "s": KINDS})
    assert la.dedup(kinds.lazy()).clean()["s"].to_pylist() == [{"kind": kind} for kind in "xyz"][:2]
    monkeypatch.setattr("tempfile.NamedTemporaryFile", lambda **_: (tmp_path / "no/folder").open("wb"))
    with pytest.raises(
        la.errors.OutputError, match="cannot be stored in a temporary file: No such file or directory; .* TMPDIR"
    ):
        la.dedup(pl.LazyFrame({"text": TEXTS}))


@pytest.mark.parametrize(
    ("library", "message"),
    [("ibis.expr", r"got a Table: call collect\(\) first$"), ("pyspark.sql", r"got a Table: .*; frames of Spark are for")],
)
def test_frames_that_must_be_collected_first(library, message):
    Table = type("Table", (), {"__module__": library, "collect": lambda self: None})  # noqa: N806
    with pytest.raises(la.errors.InputDataError, match=message):
        la.dedup(Table())


def test_what_comes_in_comes_out():
    """Kept rows, as the same kind, with all that a row has."""
    for data in [
        TEXTS,
        tuple(TEXTS),
        {"x": TEXTS[0], "y": TEXTS[1], "z": TEXTS[2]},
        OrderedDict(zip("xyz", TEXTS, strict=True)),
        [{"text": text} for text in TEXTS],
        np.array(TEXTS, object),
        pd.Series(TEXTS, [7, 8, 9]),
        pd.DataFrame({"text": TEXTS, "n": [1, 2, 3]}, [7, 8, 9]),
        pl.Series("s", TEXTS),
        pl.DataFrame({"text": TEXTS}),
        pl.LazyFrame({"text": TEXTS}),
        pa.array(TEXTS),
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pa.record_batch({"text": TEXTS}),
        TABLE,
        {"a": TABLE, "b": TABLE.slice(0, 1)},
        {"a": pd.DataFrame({"text": TEXTS}), "b": pd.DataFrame({"text": ["last"]})},
    ]:
        result = la.dedup(data)
        clean = result.clean(data)
        assert type(clean) is type(data) and result.keep.tolist()[:3] == [True, True, False]
        assert la.dedup(clean).keep.all()
        for wrong, said in (
            (TABLE.slice(1), "data must have"),
            (iter(TEXTS), "a data set of Hugging Face; got list_iterator: clean"),
            ([], "has 0"),
        ):
            with pytest.raises(la.errors.ParameterError, match=said):
                result.clean(wrong)
        with pytest.raises(la.errors.ParameterError, match="annotate is for clean"):
            result.clean(data, annotate=True)


def test_results_are_tables_for_other_libraries():
    import duckdb

    result = la.dedup({"x": A, "y": A, "z": "other words"})
    assert (
        result.to_pandas().columns.tolist()
        == result.to_polars().columns
        == ["id", "keep", "duplicate_of", "resemblance", "cluster"]
    )
    assert duckdb.sql("select id, duplicate_of from result where not keep").fetchall() == [("y", "x")]
    assert pl.DataFrame(la.decontaminate([A, "x"], against=[A]))["id"].to_list() == [0]
    assert la.repeats([f"{A}\n{A}\n"]).to_pandas()["lines"].tolist() == [1]


def test_data_sets_of_hugging_face_come_back_as_what_they_are():
    datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")
    rows = datasets.Dataset.from_dict({"text": TEXTS, "n": [10, 11, 12]})
    for data in (rows, rows.to_iterable_dataset(), rows.select([2, 1, 0]).select([2, 1, 0])):
        clean = la.dedup(data).clean(data)
        assert type(clean) is type(data) and [row["n"] for row in clean] == [10, 11]
    both = datasets.DatasetDict({"train": rows, "test": rows.select([1]), "none": rows.select([])})
    clean = la.dedup(both).clean(both)
    assert type(clean) is type(both) and {name: some["n"][:] for name, some in clean.items()} == {
        "train": [10, 11], "test": [], "none": [],
    }  # fmt: skip
    assert la.pairs(rows.to_iterable_dataset()).num_rows == la.pairs(rows).num_rows == 1
    for wrong in (rows.select([0]), datasets.DatasetDict({"train": rows.select([0])}), TABLE.slice(1)):
        with pytest.raises(la.errors.ParameterError, match="^data must "):
            la.dedup(rows).clean(wrong)
    with pytest.raises(la.errors.ParameterError, match="^data must have the 1 rows"):
        list(la.dedup(rows.select([0])).clean(rows.to_iterable_dataset()))


class Unknown:
    """An object that hands over its rows by Arrow's protocol, and nothing else."""

    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


def test_anything_with_the_protocol_of_arrow_is_a_table():
    result = la.dedup(Unknown(), id="n")
    assert result.kept["id"].to_pylist() == [10, 11]
    assert result.clean().to_pylist() == TABLE.slice(0, 2).to_pylist()
    assert la.pairs(Unknown()).num_rows == 1


def test_what_is_no_frame_yet_says_how_it_becomes_one():
    import duckdb

    connection = duckdb.connect()
    with pytest.raises(la.errors.InputDataError, match="got a DuckDBPyConnection: pass the rows of a query, connection.sql"):
        la.dedup(connection)
    found = la.dedup(connection.sql("select 'a b c d e f' as text, i as id from range(2) t(i)"), id="id")
    assert found.keep.tolist() == [True, False] and found.clean()["id"].to_pylist() == [0]
    with pytest.raises(la.errors.InputDataError, match='the LazyFrame cannot be computed: unable to find column "nope"'):
        la.dedup(pl.LazyFrame({"text": ["a"]}).select("nope"))


def test_dictionaries_inside_columns_of_a_scanner():
    """Each batch may have its own; the rows are stored without."""
    from pyarrow import dataset

    def tags(*words):
        return pa.ListArray.from_arrays([0, 1, len(words)], pa.array(words).dictionary_encode())

    batches = [
        pa.RecordBatch.from_arrays([pa.array([f"words {n} {i}" for i in range(2)]), tags(*words)], ["text", "tags"])
        for n, words in enumerate(["xyz", "uxv"])
    ]
    result = la.dedup(dataset.Scanner.from_batches(iter(batches), schema=batches[0].schema))
    assert result.clean()["tags"].to_pylist() == [["x"], ["y", "z"], ["u"], ["x", "v"]]
