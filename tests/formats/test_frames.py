from types import SimpleNamespace

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from formats.jobs import refused, refused_option, refused_output
from json_lines import read_lines
from row_files import A

import lookalike as la
from lookalike.formats import frames
from lookalike.formats.memory import as_sources

TEXTS = [A, "completely different words stand here", A + " more"]
TABLE = pa.table({"text": TEXTS, "n": [10, 11, 12], "kind": pa.array(["x", "y", "x"]).dictionary_encode()})
KINDS = pl.Struct({"kind": pl.Categorical})


class Dataset:
    __module__ = "datasets.arrow_dataset"

    def __init__(self, table, indices=None):
        self.data, self._indices = SimpleNamespace(table=table), indices

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


class Unknown:
    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("rows", [1, 2, 1 << 14])
def test_all_kinds_give_the_same_rows(parquet, tmp_path, monkeypatch, rows):
    monkeypatch.setattr(frames, "ROWS", rows)
    monkeypatch.setattr(frames, "READ_ROWS", rows)
    frame = pl.DataFrame(TABLE.to_pandas(), schema_overrides={"kind": pl.Categorical})
    for data in (Dataset(TABLE), Dataset(TABLE, [0, 1, 2]), parquet, parquet.scanner(), frame.lazy(), Unknown()):
        result = la.dedup(data)
        assert result.removed.select(["id", "duplicate_of"]).to_pylist() == [{"id": 2, "duplicate_of": 0}]
        assert written(result, tmp_path / "out.jsonl") == written(result, tmp_path / "again.jsonl") == TABLE[:2].to_pylist()
        assert la.dedup(data, id="n", keep="last").kept["id"].to_pylist() == [11, 12]
    result = la.dedup(Dataset(TABLE, [2, 0]), id="n")  # rows are read in their order
    assert result.kept["id"].to_pylist() == [row["n"] for row in written(result, tmp_path / "out.jsonl")] == [12]


def test_data_sets_by_name_are_inputs_of_these_names(tmp_path):
    result = la.dedup({"train": Dataset(TABLE), "test": Dataset(TABLE, [1])})
    assert result.kept["id"].to_pylist() == ["train:0", "train:1"]
    assert result.decisions["source"].to_pylist() == ["train"] * 3 + ["test"]
    assert result.provenance["inputs"] == [{"name": name, "in_memory": True} for name in ("train", "test")]
    result.write(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").glob("t*")) == ["test.parquet", "train.parquet"]
    said = "a work folder is for inputs that can be read again"
    refused_option(said, la.dedup, {"train": Dataset(TABLE)}, work=tmp_path / "work")


def test_a_lazy_frame_is_computed_once_in_little_memory(tmp_path):
    """What it computes may differ each time; its rows are on the disk, not in memory."""
    calls = []
    counted = pl.col("text").map_batches(lambda column: calls.append(1) or column, return_dtype=pl.String)
    result = la.dedup(pl.DataFrame({"text": TEXTS}).lazy().with_columns(counted), evidence="all")
    computed = len(calls)
    result.write(tmp_path / "out.jsonl")
    assert len(calls) == computed > 0
    long = pl.select(pl.int_range(200_000).alias("i")).lazy().select(pl.concat_str(pl.lit("x" * 200), "i").alias("text"))
    before = pa.total_allocated_bytes()
    (split,) = as_sources(long)
    assert split.expected("text")[0] == 200_000
    assert pa.total_allocated_bytes() - before < 4 << 20


def test_lazy_frames_without_rows_and_of_older_versions():
    held = pl.DataFrame({"text": TEXTS})
    for empty in (held.lazy().filter(pl.col("text") == ""), pl.LazyFrame({"text": []})):
        assert len(la.dedup(empty)) == 0
    frame = type("LazyFrame", (), {"__module__": "polars.lazyframe.frame", "collect": lambda self: held})()
    assert la.dedup(frame).keep.tolist() == [True, True, False]


def test_what_cannot_be_stored_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(frames, "READ_ROWS", 1)
    kinds = pl.DataFrame({"text": TEXTS, "s": [{"kind": kind} for kind in "xyz"]}, {"text": pl.String, "s": KINDS})
    assert la.dedup(kinds.lazy()).clean()["s"].to_pylist() == [{"kind": kind} for kind in "xy"]
    monkeypatch.setattr("tempfile.NamedTemporaryFile", lambda **_: (tmp_path / "no/folder").open("wb"))
    said = "cannot be stored in a temporary file: No such file or directory; .* TMPDIR"
    refused_output(said, la.dedup, kinds.lazy())


def test_what_is_no_frame_yet_says_how_it_becomes_one():
    connection = duckdb.connect()
    for data, said in (
        (type("Table", (), {"__module__": "ibis.expr", "collect": None})(), r"got a Table: call collect\(\) first$"),
        (type("Table", (), {"__module__": "pyspark.sql", "collect": None})(), r"got a Table: .*; frames of Spark are for"),
        (connection, "got a DuckDBPyConnection: pass the rows of a query, connection.sql"),
        (pl.LazyFrame({"text": ["a"]}).select("nope"), 'the LazyFrame cannot be computed: unable to find column "nope"'),
    ):
        refused(said, la.dedup, data)
    found = la.dedup(connection.sql("select 'a b c d e f' as text, i as id from range(2) t(i)"), id="id")
    assert found.keep.tolist() == [True, False] and found.clean()["id"].to_pylist() == [0]


def test_results_are_tables_for_other_libraries():
    result = la.dedup({"x": A, "y": A, "z": "other words"})
    names = ["id", "keep", "duplicate_of", "resemblance", "cluster"]
    assert result.to_pandas().columns.tolist() == result.to_polars().columns == names
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
    one = rows.select([0])
    for wrong in (one, datasets.DatasetDict({"train": one}), TABLE.slice(1)):
        refused_option("^data must ", la.dedup(rows).clean, wrong)
    refused_option("^data must have the 1 rows", list, la.dedup(one).clean(rows.to_iterable_dataset()))


def test_dictionaries_inside_columns_of_a_scanner():
    """Each batch may have its own; the rows are stored without."""
    batches = []
    for words in ("xyz", "uxv"):
        tags = pa.ListArray.from_arrays([0, 1, 3], pa.array(list(words)).dictionary_encode())
        batches.append(pa.RecordBatch.from_arrays([pa.array([f"words {words} {i}" for i in range(2)]), tags], ["text", "tags"]))
    result = la.dedup(pads.Scanner.from_batches(iter(batches), schema=batches[0].schema))
    assert result.clean()["tags"].to_pylist() == [["x"], ["y", "z"], ["u"], ["x", "v"]]
