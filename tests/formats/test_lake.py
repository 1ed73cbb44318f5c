"""Tables of Delta Lake and Iceberg are read as one version has them, not as their folders do."""

import json
import pickle
import shutil
import tarfile
from contextlib import closing

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from cli.commands import run
from formats.jobs import put, refused
from formats.lakes import ROWS, TEXTS, DeltaTables, IcebergTables, kept_ids, read, rows_of
from json_lines import write_lines
from object_store import copied

import lookalike as la
from lookalike.formats import format as formats
from lookalike.formats.sources import open_sources


@pytest.fixture(params=[DeltaTables, IcebergTables], ids=["delta", "iceberg"])
def tables(request, tmp_path):
    return request.param(tmp_path)


def made(first, *texts):
    return pa.table({"id": range(first, first + len(texts)), "text": texts, "lang": ["fr"] * len(texts)})


def test_deleted_rows_stay_deleted(tables, table):
    tables.append(table, made(5, "one more"))
    tables.delete(table, [2, 3])
    assert len(list(table.rglob("*.parquet"))) == 3, "the file that was replaced is still there"
    assert [row["id"] for row in rows_of(table)] == kept_ids(table) == [1, 4, 5]
    assert read(table) == [(1, TEXTS[0]), (4, TEXTS[3]), (5, "one more")]
    assert {entry["table"].partition(" ")[0] for entry in la.dedup(table).provenance["inputs"]} == {tables.kind}
    (split, *_) = open_sources([table])
    assert pickle.loads(pickle.dumps(split.form)).name == split.form.name


@pytest.mark.parametrize("n", [2, 6])
def test_a_file_with_other_rows_than_the_table_says(tables, table, tmp_path, n):
    """It was restored from another backup, say; the other file is read."""
    (path,) = table.rglob("*.parquet")
    tables.append(table, made(7, "one more"))
    whole = pq.read_table(path)
    pq.write_table(pa.concat_tables([whole, whole]).slice(0, n), path)
    refused(f"{path.name}: the file has {n} rows, and the .* table says 4: restore", la.dedup, table)
    result = la.dedup(table, id="id", on_error="skip")
    assert result.kept["id"].to_pylist() == [7] and result.summary.documents_skipped == 1
    for name in ("out.jsonl", "out"):
        result.write(tmp_path / name)
        assert kept_ids(tmp_path / name) == [7]


def test_other_versions(tables, table, capsys):
    before, version = tables.opened(table), tables.version(table)
    tables.delete(table, [1])
    assert [row["id"] for row in rows_of(table, format=version)] == kept_ids(before) == [1, 2, 3, 4]
    assert kept_ids(tables.opened(table)) == [2, 3, 4] and kept_ids(ROWS, against=tables.opened(table)) == [1]
    code, out, _ = run(capsys, "dedup", table, "--format", version, "--json")
    assert code == 0 and json.loads(out)["documents"] == 4
    code, _, err = run(capsys, "dedup", table, "--format", f"{tables.kind}:77")
    assert code == 1 and "77, cannot be read" in err
    refused("cannot be read|is a number", open_sources, [table], format=f"{tables.kind}:none", error=la.LookalikeError)


def test_an_old_name_of_a_table_means_what_is_there_now(tables, table, tmp_path):
    kept = shutil.copytree(table, tmp_path / "kept")
    assert len(rows_of(kept)) == 4
    tables.delete(table, [1, 2])
    shutil.rmtree(kept)
    assert len(rows_of(shutil.copytree(table, kept))) == 2


def test_columns_are_the_table_s_own_whatever_folders_are_called(tables, tmp_path):
    table = tmp_path / "lang=xx" / "t"
    table.parent.mkdir()
    tables.append(table, pa.table({"id": [1, 2], "text": TEXTS[:2], "lang": ["007", "7"]}), partition_by=["lang"])
    tables.append(table, pa.table({"id": [3], "text": TEXTS[2:3], "lang": pa.array([None], "string")}))
    assert read(table, others=("lang",)) == [(1, TEXTS[0], "007"), (2, TEXTS[1], "7"), (3, TEXTS[2], None)]
    assert kept_ids(table, keep="largest:lang") == [1, 2, 3]


def test_a_name_that_an_address_would_mean_otherwise(tables, tmp_path):
    tables.append(tmp_path / "t", ROWS)
    tables.append(tmp_path / "dA", ROWS.slice(0, 1))
    shutil.move(tmp_path / "t", tmp_path / "d%41")
    if tables.kind == "iceberg":
        assert len(rows_of(tmp_path / "d%41")) == 4
    else:  # whose package would open the other one
        refused("rename the folder", open_sources, [tmp_path / "d%41"])


def test_a_table_is_given_once(table):
    for names in ([table, table], *([[table, name]] for name in table.glob("metadata/*1-*.metadata.json"))):
        refused("is given twice", open_sources, names if len(names) == 2 else names[0])


def test_added_and_partitioned(tables, tmp_path):
    table = tmp_path / "t"
    tables.append(table, ROWS, partition_by=["lang"])
    tables.append(table, pa.table({"id": [5], "text": ["a new one"], "lang": ["a/b %"], "n": [7]}))
    langs = ["de", "en", "de", None, "a/b %"]
    assert [(row["id"], row["lang"], row["n"]) for row in rows_of(table)] == list(
        zip(range(1, 6), langs, [None] * 4 + [7], strict=True)
    )
    assert read(table, others=("n",))[-1] == (5, "a new one", 7)
    with closing(la.dedup(table, id="id", within="lang", keep="largest:n")) as result:
        for name in ("out/", "out.parquet"):
            result.write(tmp_path / name)
    partitioning = "hive" if tables.kind == "delta" else None  # whose data files do not have the column
    hive = ds.dataset(tmp_path / "out", partitioning=partitioning, exclude_invalid_files=True).to_table()
    for found in (pq.read_table(tmp_path / "out.parquet"), hive):
        assert sorted(map(str, found["lang"].to_pylist())) == sorted(map(str, langs))
    folders = ({path.parent.name for path in folder.rglob("*.parquet")} for folder in (table, tmp_path / "out"))
    assert next(folders) == next(folders)
    assert kept_ids(tmp_path / "out", within="lang") == [1, 2, 3, 4, 5], "the output is read as any folder"


def test_among_other_files(tables, tmp_path):
    folder, table, lines = tmp_path / "in", tmp_path / "in/deep/t", tmp_path / "in/a.jsonl"
    tables.append(table, ROWS, partition_by=["lang"])
    tables.delete(table, [1])
    write_lines(lines, [{"id": 8, "text": "lines"}])
    put(folder / "b.xyz", "?")
    found = open_sources([folder])
    assert kept_ids(found) == [2, 3, 4, 8] and found.skipped.counts == {"other_suffix": 1}
    assert all(split.relative.startswith("deep/t/") for split in found if split.format != "jsonl")
    chosen = open_sources([folder], glob="lang=en/*")
    assert [row["id"] for split in chosen for _, row in split.records()] == [2] and chosen.skipped.counts["not_matched"] >= 3
    assert len(open_sources([folder], format="parquet", glob="*.parquet")) > len(list(chosen)), "files, if that is said"
    la.dedup([folder / "deep", lines], id="id").write(tmp_path / "out/")
    assert kept_ids(tmp_path / "out") == [2, 3, 4, 8]


def test_parts_of_a_table_are_refused(tables, tmp_path, monkeypatch):
    table, text = tmp_path / "t", put(tmp_path / "a.txt", "a")
    tables.append(table, ROWS, partition_by=["lang"])
    (path,) = table.rglob("lang=en/*.parquet")
    for part in (path, path.parent, path.parent / "*.parquet", [path]):
        refused("is a file of the .* table .*: name the folder of the table, or", la.dedup, part)
        assert la.dedup(part, format="parquet").keep.tolist() == [True]
    with tarfile.open(tmp_path / "t.tar", "w") as archive:
        archive.add(table, "t")
    refused(r"t.tar has an? \w+ table inside: unpack it", la.dedup, tmp_path / "t.tar")
    refused("not the folder of a table", la.dedup, text, format=tables.kind)
    refused("are not written", open_sources([table])[0].form.write, None, [], {}, error=la.errors.OutputError)
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    install = rf"pip install 'lookalike\[{tables.kind}\]'"
    refused(f"is not installed: {install}", la.dedup, table, error=la.errors.MissingExtraError)
    refused(f"no file is read; .*{install}", la.dedup, tmp_path, glob="*.parquet")


@pytest.mark.parametrize("command", ["dedup", "pairs", "repeats", "plan"])
def test_one_missing_file_leaves_the_others(tables, table, tmp_path, command, capsys):
    (path,) = table.rglob("*.parquet")
    for first in (5, 9):
        tables.append(table, made(first, f"text {first}", "one more"))
    path.unlink()
    needed = "table needs this file, of 4 rows, and it is not there"
    assert needed in run(capsys, command, table)[2]
    more = ["--json"] if command in ("dedup", "plan") else []
    code, out, told = run(capsys, command, table, "--on-error", "skip", *more)
    assert code == 0 and needed in out + told and str(path) in out + told and ('"documents": 4' in out or not more)
    assert command != "dedup" or json.loads(out)["skipped"]["by_reason"] == {"unreadable": 1}
    aside = [one.rename(tmp_path / one.name) for one in table.rglob("*.parquet")]
    assert len(aside) == 2 and "no file can be read: 3 left out" in run(capsys, command, table, "--on-error", "skip")[2]


def test_what_the_table_needs_is_missing(tables, table, tmp_path):
    (path,) = table.rglob("*.parquet")
    with closing(la.dedup(table)) as result:
        path.rename(tmp_path / "aside")
        refused("No such file", result.write, tmp_path / "out/")
    refused("needs this file, of 4 rows, and it is not there .*format= (delta|iceberg):VERSION", la.dedup, table)
    (tmp_path / "aside").rename(path)
    log = [*sorted(table.glob("_delta_log/*0.json")), *sorted(table.glob("metadata/*.metadata.json"))][-1]
    whole = log.read_bytes()
    for damaged in (b"", b"{", whole[:-40], b"\xff" + whole):
        put(log, damaged)
        refused("the (Delta|Iceberg) table,? .*cannot be read", la.dedup, table)
    log.unlink()
    if tables.kind == "delta":
        refused("cannot be read", la.dedup, table)


def test_a_job_goes_on_with_the_version_that_it_began_with(tables, table, tmp_path):
    version, how = tables.version(table), {"work": tmp_path / "work", "id": "id"}
    la.dedup(table, **how)
    tables.delete(table, [1])
    refused("input", la.dedup, table, **how, error=la.LookalikeError)
    with closing(la.dedup(table, format=version, **how)) as result:
        assert sorted(result.kept["id"].to_pylist()) == [1, 2, 3, 4]


def test_saved_results_and_sketches_read_the_version_again(tables, table, tmp_path, capsys):
    tables.append(table, made(5, f"{TEXTS[0]} again"))
    with closing(la.dedup(table, id="id", threshold=0.5)) as result:
        removed = result.removed["id"].to_pylist()
        assert removed in ([1], [5]), "files, of which there are two, are read in the order of their names"
        result.save(tmp_path / "saved")
        result.save_sketches(tmp_path / "sketches")
    tables.delete(table, [1])
    code, out, _ = run(capsys, "show", tmp_path / "saved", removed[0])
    assert code == 0 and "ants" in out
    assert la.dedup([TEXTS[0]], against=tmp_path / "sketches").keep.tolist() == [False]


def test_on_a_store(tables, tmp_path, bucket):
    table = tmp_path / "t"
    tables.append(table, ROWS, partition_by=["lang"])
    tables.delete(table, [2])
    with copied(table) as url:
        assert [row["id"] for row in rows_of(str(url))] == [1, 3, 4]
        refused("is a file of the", open_sources, [f"{url}/**/lang=en/*.parquet"])
