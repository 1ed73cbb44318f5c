"""Files that tasks write: each attempt under names of its own, and what is published is what one machine writes."""

import gzip
import json
import tempfile
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from object_store import held, put_folder

import lookalike as la
from lookalike.errors import LookalikeError, OutputError, ParameterError
from lookalike.files.disk import OutputFolder
from lookalike.files.folder import folder_of
from lookalike.formats.sources import open_sources
from lookalike.formats.writers import describe
from lookalike.recipes.spark import files as writing
from lookalike.recipes.spark.files import WRITTEN, Writing, check_where, take_files, write_inputs
from lookalike.results.groups import annotation_columns
from lookalike.values.tables import SOURCE_BITS

LONG = " ".join(f"word{i}" for i in range(40))
TEXTS = [LONG, "one of a kind", LONG, f"{LONG} more", "", "another, unlike it"]


def inputs(folder):
    """Files of four formats, one without rows, one in a folder below, and one of references."""
    (folder / "in/sub").mkdir(parents=True)
    pq.write_table(pa.table({"text": TEXTS, "n": range(6)}), folder / "in/a.parquet")
    with gzip.open(folder / "in/sub/b.jsonl.gz", "wt") as stream:
        stream.writelines(json.dumps({"text": f"{text} again", "n": 1}) + "\n" for text in TEXTS)
    (folder / "in/c.csv").write_text("n,text\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(TEXTS)))
    (folder / "in/d.jsonl").write_text("")
    (folder / "ref.jsonl").write_text(json.dumps({"text": f"{LONG} more"}) + "\n")
    return str(folder / "in"), str(folder / "ref.jsonl")


def files(folder):
    """{name: bytes} of all files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def told(result, n_splits, first, annotate, batch_rows=4):
    """What tasks are given of the decisions of a job on one machine: sorted, a row without position before each input."""
    scores = result.score_names
    names = annotation_columns(scores, first > 0) if annotate else []
    table = result.decisions.filter(pa.compute.not_equal(result.decisions["reason"], "reference"))
    wanted = pa.compute.not_equal(table["reason"], "skipped") if annotate else table["kept"]
    source = pa.compute.shift_right(table["position"], SOURCE_BITS)
    own = pa.table([source, table["position"], wanted, *(table[name] for name in names)],
                   ["source", "position", "wanted", *names])  # fmt: skip
    heads = pa.Table.from_pylist([{"source": source} for source in range(first, n_splits)], own.schema)
    together = pa.concat_tables([heads, own]).combine_chunks()
    order = sorted(range(len(together)), key=lambda i: (together["source"][i].as_py(), i))
    return scores if annotate else None, together.take(order).combine_chunks().to_batches(batch_rows)


def written_by_tasks(output, result, splits, first, annotate, attempts=1):
    """Run a task, more than once if wanted; publish what the last one wrote."""
    scores, batches = told(result, len(splits), first, annotate)
    with folder_of(output).publish([], replace=False) as new:
        with new.tasks() as place:
            how = Writing(
                splits=tuple(splits), provenance=result.provenance, encoding_errors="strict", output="clean", attempts=place,
                scores=scores, against=first > 0,
            )  # fmt: skip
            for _ in range(attempts):
                rows = list(write_inputs(iter(batches), how))
            take_files(iter(rows), new, len(splits) - first)
        describe(new, result.provenance)
    assert all(batch.schema == WRITTEN for batch in rows)
    return rows


@pytest.mark.parametrize("annotate", [False, True], ids=["kept", "annotated"])
@pytest.mark.parametrize("against", [False, True], ids=["alone", "against"])
def test_tasks_write_what_one_machine_writes(tmp_path, annotate, against):
    data, references = inputs(tmp_path)
    splits = [*(open_sources([references]) if against else ()), *open_sources([data])]
    with closing(la.dedup(data, against=references if against else None)) as result:
        assert 0 < result.summary.kept < result.summary.documents == 18
        result.write(tmp_path / "wanted", annotate=annotate)
        written_by_tasks(tmp_path / "clean", result, splits, int(against), annotate, attempts=2)
    assert files(tmp_path / "clean") == files(tmp_path / "wanted")
    assert sorted(files(tmp_path / "clean")) == ["_lookalike.json", "a.parquet", "c.csv", "d.jsonl", "sub/b.jsonl.gz"]
    assert {path.name for path in tmp_path.iterdir()} == {"in", "ref.jsonl", "clean", "wanted"}


def test_text_files_are_one_input_of_several_files(tmp_path):
    (tmp_path / "in").mkdir()
    for i, text in enumerate(TEXTS):
        (tmp_path / f"in/{i}.txt").write_text(text)
    with closing(la.dedup(str(tmp_path / "in"))) as result:
        result.write(tmp_path / "wanted")
        rows = written_by_tasks(tmp_path / "clean", result, open_sources([str(tmp_path / "in")]), 0, False)
    assert files(tmp_path / "clean") == files(tmp_path / "wanted")
    assert [batch["name"].to_pylist()[-1] for batch in rows] == [None]


def test_a_column_that_annotation_adds_is_refused_before_anything_is_written(tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": LONG, "keep": 1}) + "\n")
    with closing(la.dedup(str(tmp_path / "in.jsonl"))) as result:
        scores, batches = told(result, 1, 0, True)
        how = Writing(
            splits=tuple(open_sources([str(tmp_path / "in.jsonl")])), provenance={}, encoding_errors="strict", output="clean",
            attempts=tmp_path, scores=scores, free=("keep",),
        )  # fmt: skip
        with pytest.raises(LookalikeError, match="'keep' already exists"):
            list(write_inputs(iter(batches), how))
    assert not list(tmp_path.rglob("*/in.jsonl"))


def test_workers_that_do_not_see_the_output_say_so(tmp_path):
    how = Writing(
        splits=(None,), provenance={}, encoding_errors="strict", output="/lake/clean", attempts=tmp_path / "elsewhere"
    )  # fmt: skip
    head = pa.RecordBatch.from_pylist([{"source": 0}], writing.TOLD)
    with pytest.raises(OutputError, match="/lake/clean: Spark's workers do not see .*elsewhere: name a folder"):
        list(write_inputs(iter([head]), how))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("annotate", [False, True], ids=["kept", "annotated"])
def test_on_a_store_tasks_write_the_same_files(tmp_path, bucket, annotate, monkeypatch):
    """Twice, as if the first attempt had been lost; nothing else is left, there or on the disk."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    data, _ = inputs(tmp_path)
    splits = open_sources([str(put_folder(data, bucket / "in"))])
    with closing(la.dedup(str(bucket / "in"))) as result:
        result.write(tmp_path / "wanted", annotate=annotate)
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))  # one that no neighbour uses
        written_by_tasks(bucket / "clean", result, splits, 0, annotate, attempts=2)
        assert list(temporary.iterdir()) == []
    assert held(bucket / "clean") == files(tmp_path / "wanted")


def rows_of(*rows):
    """What a task tells, as rows."""
    return iter([pa.RecordBatch.from_pylist([dict(zip(WRITTEN.names, row, strict=True)) for row in rows], WRITTEN)])


def test_rows_of_tasks_that_are_lost_are_missed(tmp_path):
    with pytest.raises(OutputError, match="of 1 inputs, 0 were written"):
        take_files(rows_of(), OutputFolder(tmp_path), 1)


def test_a_single_file_is_refused_with_a_hint(tmp_path):
    with pytest.raises(ParameterError, match=r"one file, but the tasks .* such as .*/out/"):
        check_where(tmp_path / "out.jsonl.gz", False)
    check_where(tmp_path / "out", False)
    check_where("out.parquet/", False)
    with pytest.raises(ParameterError, match=r"one file, but the tasks .* such as clean/"):
        check_where("-", False)
    with pytest.raises(ParameterError, match=r"one file, but the tasks .* such as s3://lake/out/"):
        check_where("s3://lake/out.parquet", False)
