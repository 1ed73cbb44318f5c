import tempfile
from contextlib import closing

import pyarrow as pa
import pytest
from cli.commands import contents
from json_lines import write_lines
from object_store import held, put_folder
from spark.spark_jobs import write_mixed

import lookalike as la
from lookalike.errors import OutputError, ParameterError
from lookalike.files.disk import OutputFolder
from lookalike.files.folder import folder_of
from lookalike.formats.sources import open_sources
from lookalike.formats.writers import describe
from lookalike.recipes.spark.files import TOLD, WRITTEN, Writing, check_where, take_files, write_inputs
from lookalike.results.groups import annotation_columns
from lookalike.values.tables import SOURCE_BITS

LONG = " ".join(f"word{i}" for i in range(40))
TEXTS = [LONG, "one of a kind", LONG, f"{LONG} more", "", "another, unlike it"]


@pytest.fixture
def data(tmp_path):
    write_mixed(tmp_path / "in", [f"{text}{more}" for text in TEXTS for more in ("", " again", "")])
    return str(tmp_path / "in")


def told(result, n_splits, first, names):
    """What tasks are given: sorted, a row without position before each input."""
    rows = [{"source": source} for source in range(first, n_splits)]
    for row in result.decisions.to_pylist():
        if row["reason"] != "reference":
            own = {name: row[name] for name in ("position", *names)}
            rows.append(own | {"source": row["position"] >> SOURCE_BITS, "wanted": bool(names) or row["kept"]})
    schema = pa.schema([*TOLD, *(result.decisions.schema.field(name) for name in names)])
    return pa.Table.from_pylist(sorted(rows, key=lambda row: row["source"]), schema).to_batches(4)


def both_ways(data, folder, output, annotate=False, against=None, free=()):
    """The task runs twice, as if the first attempt had been lost; return what one machine writes."""
    splits = [*(open_sources([against]) if against else ()), *open_sources([data])]
    first = len(splits) - len(open_sources([data]))
    with closing(la.dedup(data, against=against)) as result, folder_of(output).publish([], replace=False) as new:
        scores = result.score_names
        batches = told(result, len(splits), first, annotation_columns(scores, first > 0) if annotate else ())
        with new.tasks() as attempts:
            how = Writing(
                splits=tuple(splits), provenance=result.provenance, encoding_errors="strict", output="clean", attempts=attempts,
                scores=scores if annotate else None, against=first > 0, free=free,
            )  # fmt: skip
            for _ in range(2):
                rows = list(write_inputs(iter(batches), how))
            take_files(iter(rows), new, len(splits) - first)
        describe(new, result.provenance)
        result.write(folder / "wanted", annotate=annotate)
    assert all(batch.schema == WRITTEN for batch in rows)
    return held_in(folder / "wanted")


def held_in(folder):
    return {str(name): data for name, data in contents(folder).items()}


@pytest.mark.parametrize("annotate", [False, True], ids=["kept", "annotated"])
@pytest.mark.parametrize("against", [False, True], ids=["alone", "against"])
def test_tasks_write_what_one_machine_writes(tmp_path, data, annotate, against):
    references = str(write_lines(tmp_path / "ref.jsonl", [f"{LONG} more"])) if against else None
    wanted = both_ways(data, tmp_path, tmp_path / "clean", annotate, references)
    assert held_in(tmp_path / "clean") == wanted
    assert sorted(wanted) == ["_lookalike.json", "a.parquet", "c.csv", "d.jsonl", "sub/b.jsonl.gz"]
    assert {path.name for path in tmp_path.iterdir()} - {"ref.jsonl"} == {"in", "clean", "wanted"}


def test_text_files_are_one_input_of_several_files(tmp_path):
    (tmp_path / "in").mkdir()
    for i, text in enumerate(TEXTS):
        (tmp_path / f"in/{i}.txt").write_text(text)
    wanted = both_ways(str(tmp_path / "in"), tmp_path, tmp_path / "clean")
    assert held_in(tmp_path / "clean") == wanted


def test_a_column_that_annotation_adds_is_refused_before_anything_is_written(tmp_path):
    path = write_lines(tmp_path / "in.jsonl", [{"text": LONG, "keep": 1}])
    with pytest.raises(la.LookalikeError, match="'keep' already exists"):
        both_ways(str(path), tmp_path, tmp_path / "clean", True, free=("keep",))
    assert not list(tmp_path.rglob("*/in.jsonl"))


def test_workers_that_do_not_see_the_output_say_so(tmp_path):
    how = Writing(
        splits=(None,), provenance={}, encoding_errors="strict", output="/lake/clean", attempts=tmp_path / "elsewhere"
    )  # fmt: skip
    head = pa.RecordBatch.from_pylist([{"source": 0}], TOLD)
    with pytest.raises(OutputError, match="/lake/clean: Spark's workers do not see .*elsewhere: name a folder"):
        list(write_inputs(iter([head]), how))
    assert not (tmp_path / "elsewhere").exists()


def test_on_a_store_tasks_write_the_same_files(tmp_path, data, bucket, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    put_folder(data, bucket / "in")
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))  # one that no neighbour uses
    wanted = both_ways(str(bucket / "in"), tmp_path, bucket / "clean", annotate=True)
    assert list(temporary.iterdir()) == [] and held(bucket / "clean") == wanted


def test_what_is_refused(tmp_path):
    with pytest.raises(OutputError, match="of 1 inputs, 0 were written"):
        take_files(iter([]), OutputFolder(tmp_path), 1)
    for output, such in (("/lake/out.jsonl.gz", "/lake/out/"), ("-", "clean/"), ("s3://lake/out.parquet", "s3://lake/out/")):
        with pytest.raises(ParameterError, match=rf"one file, but the tasks .* such as {such}"):
            check_where(output, False)
    for folder in ("/lake/out", "out.parquet/"):
        check_where(folder, False)
