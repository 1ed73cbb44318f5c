"""Jobs whose tasks share nothing but an object store make the decisions of one machine."""

from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from raising import assert_raises
from samples import words

from lookalike.errors import ParameterError

pytest.importorskip("pyspark")
from object_store import held, put_folder
from toy_frames import ToySession, decisions_of

import lookalike as la
from lookalike.engines.spark import engine as engine_module

LONG = [words(f"w{k}x", 60) for k in range(12)]
TEXTS = [f"{LONG[i % 12]} {'more ' * (i % 3)}" for i in range(90)] + ["", "", "one of a kind"]
TOLD = ("position", "id", "kept", "reason", "duplicate_of", "resemblance")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(engine_module, "ROWS_OF_A_TASK", 15)
    monkeypatch.setattr(engine_module, "TEXTS_OF_A_TASK", 9)
    monkeypatch.setattr("lookalike.engines.spark.files.GROUP_BYTES", 2000)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "in/sub").mkdir(parents=True)
    table = pa.table({"text": TEXTS, "id": [f"d{i}" for i in range(len(TEXTS))]})
    pq.write_table(table.slice(0, 50), tmp_path / "in/a.parquet", row_group_size=20)
    pq.write_table(table.slice(50), tmp_path / "in/sub/b.parquet")
    return tmp_path / "in"


def decisions(table):
    rows = table.sort_by("position").select(list(TOLD)).to_pylist()
    return [{name: str(value).rpartition("/")[2] for name, value in row.items()} for row in rows]


def session():
    """Each task costs some requests, which take longer than all else."""
    return ToySession(n_tasks=2, batch_rows=5, fails_first=True)


def test_a_job_goes_on_where_it_was_stopped(files, bucket, monkeypatch):
    """The tables that are whole are found, whatever else an attempt has left."""
    put_folder(files, bucket / "in")
    with closing(la.dedup(str(files))) as local:
        wanted = decisions(local.decisions)
    made, write = [], engine_module.SparkEngine.write

    def stopped(engine, rows, name, again=False):
        if len(made) == 4:
            raise KeyboardInterrupt
        made.append(name)
        return write(engine, rows, name, again)

    given = {"engine": session(), "work": str(bucket / "job")}
    with monkeypatch.context() as patched:
        patched.setattr(engine_module.SparkEngine, "write", stopped)
        assert_raises(KeyboardInterrupt, "", la.dedup, str(bucket / "in"), **given)
    done = {name for name in held(bucket / "job") if name.endswith(".done")}
    assert len(done) >= 3
    said = []
    with closing(la.dedup(str(bucket / "in"), progress=lambda stage, n: said.append(stage), **given)) as result:
        assert decisions(decisions_of(result)) == wanted
        assert done <= set(held(bucket / "job")) and "sketching" not in said
        assert {name.split("/")[0] for name in held(bucket / "job")} == {"job.json", "secret", "tables"}
    assert set(held(bucket)) == {"in/a.parquet", "in/sub/b.parquet"}


def test_a_work_folder_inside_an_input_is_refused(files, bucket):
    """Its tables would be inputs of the job that is resumed."""
    put_folder(files, bucket / "in")
    said = "job is inside the input folder .*; name a folder outside it"
    for given, work in {bucket / "in": bucket / "in/job", bucket: bucket / "job", files: files / "job"}.items():
        assert_raises(ParameterError, said, la.dedup, str(given), engine=session(), work=str(work))
    assert set(held(bucket)) == {"in/a.parquet", "in/sub/b.parquet"} and not (files / "job").exists()
