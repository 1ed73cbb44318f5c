"""Tables of Delta Lake and Iceberg are read as one version has them, not as their folders do."""

import json
import pickle
import shutil
import tarfile
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from cli.commands import run
from formats.lakes import DeltaTables, IcebergTables, add_deletes, column, delta_log, described_anew, vector
from object_store import copied

import lookalike as la
from lookalike.formats import format as formats
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

TEXTS = [f"document number {i} is about {word} and nothing else at all" for i, word in enumerate(["ants", "bees", "cats", "dogs"])]
ROWS = pa.table({"id": [1, 2, 3, 4], "text": TEXTS, "lang": ["de", "en", "de", None]})


@pytest.fixture(params=["delta", "iceberg"])
def tables(request, tmp_path):
    """What makes and changes tables."""
    if request.param == "delta":
        pytest.importorskip("deltalake", reason="needs the package deltalake")
        return DeltaTables()
    pytest.importorskip("pyiceberg", reason="needs the package pyiceberg")
    pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy, for a catalog")
    return IcebergTables(tmp_path)


def rows_of(path, **given):
    """All rows, by id."""
    return sorted((row for split in open_sources([path], **given) for _, row in split.records()), key=lambda row: row["id"])


def read(path, text="text", id="id", others=(), **given):
    """Ids, texts and other columns as a job reads them."""
    found = []
    for split in open_sources([path], **given):
        for batch in split.batches(Columns(text, id, others)):
            found += zip(
                list(batch.ids if isinstance(batch.ids, list) else batch.ids.to_pylist()),
                [batch.texts.row(i).decode() for i in range(len(batch.texts))],
                *(list(some if isinstance(some, list) else some.to_pylist()) for some in batch.others.values()),
                strict=True,
            )
    return sorted(found)


def test_deleted_rows_stay_deleted(tables, tmp_path):
    table = tmp_path / "t"
    tables.append(table, ROWS)
    tables.append(table, pa.table({"id": [5], "text": ["one more"], "lang": ["fr"]}))
    tables.delete(table, [2, 3])
    assert len(list(table.rglob("*.parquet"))) == 3, "the file that was replaced is still there"
    assert [row["id"] for row in rows_of(table)] == [1, 4, 5]
    assert read(table) == [(1, TEXTS[0]), (4, TEXTS[3]), (5, "one more")]
    result = la.dedup(table, id="id")
    assert sorted(result.kept["id"].to_pylist()) == [1, 4, 5]
    assert {entry["table"].partition(" ")[0] for entry in result.provenance["inputs"]} == {tables.kind}
    (split, *_) = open_sources([table])
    assert pickle.loads(pickle.dumps(split.form)).name == split.form.name


def test_other_versions(tables, tmp_path):
    table = tmp_path / "t"
    tables.append(table, ROWS)
    before, version = tables.opened(table), tables.version(table)
    tables.delete(table, [1])
    assert [row["id"] for row in rows_of(table, format=version)] == [1, 2, 3, 4]
    for given, kept in ((before, [1, 2, 3, 4]), (tables.opened(table), [2, 3, 4])):
        assert sorted(la.dedup(given, id="id").kept["id"].to_pylist()) == kept
    assert sorted(la.dedup(ROWS, against=tables.opened(table), id="id").kept["id"].to_pylist()) == [1]
    with pytest.raises(la.LookalikeError, match="cannot be read|is a number"):
        open_sources([table], format=f"{tables.kind}:77")
    with pytest.raises(la.LookalikeError, match="cannot be read|is a number"):
        open_sources([table], format=f"{tables.kind}:none")


def test_an_old_name_of_a_table_means_what_is_there_now(tables, tmp_path):
    table = tmp_path / "t"
    tables.append(table, ROWS)
    assert len(rows_of(table)) == 4
    shutil.copytree(table, tmp_path / "kept")
    tables.delete(table, [1, 2])
    shutil.rmtree(tmp_path / "kept")
    shutil.copytree(table, tmp_path / "kept")
    assert len(rows_of(tmp_path / "kept")) == 2, "copies are read where they are, and nothing is remembered of what was there"


def test_added_and_partitioned(tables, tmp_path):
    table = tmp_path / "t"
    tables.append(table, ROWS, partition_by=["lang"])
    tables.append(table, pa.table({"id": [5], "text": ["a new one"], "lang": ["a/b %"], "n": [7]}))
    assert [(row["id"], row["lang"], row["n"]) for row in rows_of(table)] == [
        (1, "de", None), (2, "en", None), (3, "de", None), (4, None, None), (5, "a/b %", 7),
    ]  # fmt: skip
    assert read(table, others=("n",))[-1] == (5, "a new one", 7)
    with closing(la.dedup(table, id="id", within="lang", keep="largest:n")) as result:
        result.write(tmp_path / "out/")
        result.write(tmp_path / "out.parquet")
        result.write(tmp_path / "out.jsonl")
    assert sorted(map(str, pq.read_table(tmp_path / "out.parquet")["lang"].to_pylist())) == ["None", "a/b %", "de", "de", "en"]
    partitioning = "hive" if tables.kind == "delta" else None  # whose data files do not have the column
    hive = ds.dataset(tmp_path / "out", partitioning=partitioning, exclude_invalid_files=True).to_table()
    assert sorted(map(str, hive["lang"].to_pylist())) == ["None", "a/b %", "de", "de", "en"]
    folders = {path.parent.name for path in (tmp_path / "out").rglob("*.parquet")}
    assert folders == {path.parent.name for path in table.rglob("*.parquet")}
    again = la.dedup(tmp_path / "out", id="id", within="lang")
    assert again.kept.num_rows == 5, "the output is read as any folder"


def test_among_other_files(tables, tmp_path):
    table = tmp_path / "in/deep/t"
    tables.append(table, ROWS, partition_by=["lang"])
    tables.delete(table, [1])
    (tmp_path / "in/a.jsonl").write_text(json.dumps({"id": 8, "text": "lines"}) + "\n")
    (tmp_path / "in/b.xyz").write_text("?")
    found = open_sources([tmp_path / "in"])
    assert sorted(la.dedup(found, id="id").kept["id"].to_pylist()) == [2, 3, 4, 8]
    assert found.skipped.counts == {"other_suffix": 1}
    assert all(split.relative.startswith("deep/t/") for split in found if split.format != "jsonl")
    found = open_sources([tmp_path / "in"], glob="lang=en/*")
    assert [row["id"] for split in found for _, row in split.records()] == [2] and found.skipped.counts["not_matched"] >= 3
    assert len(open_sources([tmp_path / "in"], format="parquet", glob="*.parquet")) > len(list(found)), "files, if that is said"
    result = la.dedup([tmp_path / "in/deep", tmp_path / "in/a.jsonl"], id="id")
    result.write(tmp_path / "out/")
    assert sorted(la.dedup(tmp_path / "out", id="id").kept["id"].to_pylist()) == [2, 3, 4, 8]


def test_parts_of_a_table_are_refused(tables, tmp_path, monkeypatch):
    table = tmp_path / "t"
    tables.append(table, ROWS, partition_by=["lang"])
    (path,) = table.rglob("lang=en/*.parquet")
    for part in (path, path.parent, path.parent / "*.parquet", [path]):
        with pytest.raises(la.InputDataError, match="is a file of the .* table .*: name the folder of the table, or"):
            la.dedup(part)
        assert la.dedup(part, format="parquet").keep.tolist() == [True]
    with tarfile.open(tmp_path / "t.tar", "w") as archive:
        archive.add(table, "t")
    with pytest.raises(la.InputDataError, match=r"t.tar has an? \w+ table in it: unpack it"):
        la.dedup(tmp_path / "t.tar")
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(la.InputDataError, match="not the folder of a table"):
        la.dedup(tmp_path / "a.txt", format=tables.kind)
    with pytest.raises(la.OutputError, match="are not written"):
        open_sources([table])[0].form.write(None, [], {})
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    with pytest.raises(la.MissingExtraError, match=rf"is not installed: pip install 'lookalike\[{tables.kind}\]'"):
        la.dedup(table)
    with pytest.raises(la.InputDataError, match=rf"no file is read; .*pip install 'lookalike\[{tables.kind}\]'"):
        la.dedup(tmp_path, glob="*.parquet")


def test_what_the_table_needs_is_missing(tables, tmp_path):
    table = tmp_path / "t"
    tables.append(table, ROWS)
    (path,) = table.rglob("*.parquet")
    with closing(la.dedup(table)) as result:
        path.rename(tmp_path / "aside")
        with pytest.raises(la.InputDataError, match="No such file"):
            result.write(tmp_path / "out/")
    with pytest.raises(la.InputDataError, match=r"needs this file, and it is not there .*--format (delta|iceberg):VERSION"):
        la.dedup(table)
    (tmp_path / "aside").rename(path)
    log = [*sorted(table.glob("_delta_log/*0.json")), *sorted(table.glob("metadata/*.metadata.json"))][-1]
    whole = log.read_bytes()
    for damaged in (b"", b"{", whole[:-40], b"\xff" + whole):
        log.write_bytes(damaged)
        with pytest.raises(la.InputDataError, match="the (Delta|Iceberg) table,? .*cannot be read"):
            la.dedup(table)
    log.unlink()
    if tables.kind == "delta":
        with pytest.raises(la.InputDataError, match="cannot be read"):
            la.dedup(table)


def test_a_job_goes_on_with_the_version_that_it_began_with(tables, tmp_path):
    table = tmp_path / "t"
    tables.append(table, ROWS)
    version = tables.version(table)
    la.dedup(table, work=tmp_path / "work", id="id")
    tables.delete(table, [1])
    with pytest.raises(la.LookalikeError, match="input"):
        la.dedup(table, work=tmp_path / "work", id="id", resume=True)
    with closing(la.dedup(table, format=version, work=tmp_path / "work", id="id", resume=True)) as result:
        assert sorted(result.kept["id"].to_pylist()) == [1, 2, 3, 4]


def test_saved_results_and_sketches_read_the_version_again(tables, tmp_path, capsys):
    table = tmp_path / "t"
    tables.append(table, pa.concat_tables([ROWS, pa.table({"id": [5], "text": [f"{TEXTS[0]} again"], "lang": ["de"]})]))
    with closing(la.dedup(table, id="id", threshold=0.5)) as result:
        assert result.keep.tolist() == [True] * 4 + [False]
        result.save(tmp_path / "saved")
        result.save_sketches(tmp_path / "sketches")
    tables.delete(table, [1])
    code, out, _ = run(capsys, "show", tmp_path / "saved", "5")
    assert code == 0 and "ants" in out
    assert la.dedup([TEXTS[0]], against=tmp_path / "sketches").keep.tolist() == [False]


def test_on_a_store(tables, tmp_path, bucket):
    table = tmp_path / "t"
    tables.append(table, ROWS, partition_by=["lang"])
    tables.delete(table, [2])
    with copied(table) as url:
        assert [row["id"] for row in rows_of(str(url))] == [1, 3, 4]
        with pytest.raises(la.InputDataError, match="is a file of the"):
            open_sources([f"{url}/**/lang=en/*.parquet"])


MAPPED = {"id": "c1", "text": "c2", "doc": "c3", "lang": "c4"}


def mapped_table(folder, deleted, rows=10, claims=None):
    """A Delta table with a deletion vector and renamed columns, one of them a struct."""
    table = pa.table(
        {"c2": [f"text {i}" for i in range(rows)], "c1": pa.array(range(rows), pa.int32()),
         "c3": [{"c31": f"body {i}", "c32": i} for i in range(rows)], "dropped": [0] * rows}
    )  # fmt: skip
    inside = {"type": "struct", "fields": [column("body", "string", "c31", 5), column("new", "string", "c33", 6)]}
    fields = [column("id", "long", "c1"), column("text", "string", "c2", 2), column("doc", inside, "c3", 3), column("lang", "string", "c4", 4)]
    more = {"partitionValues": {"c4": "de"}} | ({"deletionVector": vector(deleted)} if deleted else {})
    return delta_log(
        folder, [("x y/p.parquet", table, more)], fields, ["deletionVectors", "columnMapping"], ["lang"],
        {"delta.columnMapping.mode": "name"}, claims,
    )  # fmt: skip


@pytest.mark.parametrize("deleted", [[], [0], [2, 3, 4, 9], list(range(10))], ids=str)
def test_deletion_vectors_and_mapped_columns(tmp_path, deleted):
    pytest.importorskip("deltalake", reason="needs the package deltalake")
    pytest.importorskip("pyroaring", reason="needs pyroaring, to make deletion vectors")
    table = mapped_table(tmp_path / "t", deleted)
    kept = [i for i in range(10) if i not in deleted]
    wanted = [{"id": i, "text": f"text {i}", "doc": {"body": f"body {i}", "new": None}, "lang": "de"} for i in kept]
    assert rows_of(table) == wanted
    assert read(table, "doc.body", others=("lang", "doc.new", "text")) == [(i, f"body {i}", "de", None, f"text {i}") for i in kept]
    assert read(table, "lang") == [(i, "de") for i in kept] and read(table, "doc.new") == [(i, "") for i in kept]
    (split,) = open_sources([table])
    assert split.expected("text")[0] == len(kept)
    numbers = [n for batch in split.batches(Columns()) for n in batch.numbers.tolist()]
    assert numbers == [i + 1 for i in kept] == [number for number, _ in split.records()]
    pieces = split.form.pieces(split, 1)
    assert len(pieces) == 4
    ends = [first + sum(len(batch.texts) for batch in piece.batches(Columns())) for first, piece in pieces]
    assert ends == [*(first for first, _ in pieces[1:]), len(kept)], "pieces go on where those before end"
    assert la.dedup(table, text="doc.body", width=1, id="id").kept["id"].to_pylist() == kept
    assert split.form.schema(split) == pa.schema(
        [("id", pa.int64()), ("text", pa.string()), ("doc", pa.struct([("body", pa.string()), ("new", pa.string())])),
         ("lang", pa.string())]
    )  # fmt: skip


def test_hostile_delta_tables(tmp_path):
    pytest.importorskip("deltalake", reason="needs the package deltalake")
    pytest.importorskip("pyroaring", reason="needs pyroaring, to make deletion vectors")
    rows, fields = pa.table({"text": ["a", "b"]}), [column("text", "string")]
    secret = tmp_path / "secret.parquet"
    pq.write_table(rows, secret)
    for i, path in enumerate(["../secret.parquet", str(secret), f"file://{secret}", "x/..%2F..%2Fsecret.parquet"]):
        with pytest.raises(la.InputDataError, match="names a file outside of its folder"):
            la.dedup(delta_log(tmp_path / f"outside{i}", [("p.parquet", rows, {"path": path})], fields))
    with pytest.raises(la.InputDataError, match="needs variantType.*is not supported|cannot be read"):
        la.dedup(delta_log(tmp_path / "unknown", [("p.parquet", rows, {})], fields, ["variantType"]))
    for i, (deleted, claims) in enumerate([([1 << 38], None), ([1 << 38], (1 << 38) + 1), ([5], None)]):
        with pytest.raises(la.InputDataError, match="deletion vectors of the Delta table are damaged, or take too much memory"):
            la.dedup(mapped_table(tmp_path / f"bomb{i}", deleted, 2, claims))
    with pytest.raises(la.InputDataError, match="column 'text': values do not fit into int64"):
        list(open_sources([delta_log(tmp_path / "typed", [("p.parquet", rows, {})], [column("text", "long")])])[0].records())
    (tmp_path / "empty/_delta_log").mkdir(parents=True)
    pq.write_table(rows, tmp_path / "empty/p.parquet")
    with pytest.raises(la.InputDataError, match="the Delta table cannot be read"):
        la.dedup(tmp_path / "empty")


@pytest.fixture
def iceberg(tmp_path):
    """What makes Iceberg tables."""
    pytest.importorskip("pyiceberg", reason="needs the package pyiceberg")
    pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy, for a catalog")
    return IcebergTables(tmp_path)


def test_renamed_and_widened(iceberg, tmp_path):
    from pyiceberg.types import LongType

    table = tmp_path / "t"
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "text": TEXTS[:2], "gone": [0, 0], "doc": [{"a": "x", "b": 1}, None]})
    iceberg.append(table, rows)
    with iceberg.opened(table).update_schema(allow_incompatible_changes=True) as schema:
        schema.rename_column("text", "body")
        schema.delete_column("gone")
        schema.update_column("id", LongType())
        schema.rename_column("doc.a", "c")
    with iceberg.opened(table).update_schema() as schema:
        schema.rename_column("doc.b", "a")  # as another was called
    assert rows_of(table) == [
        {"id": 1, "body": TEXTS[0], "doc": {"c": "x", "a": 1}}, {"id": 2, "body": TEXTS[1], "doc": None},
    ]  # fmt: skip
    assert read(table, "body", others=("doc.c",)) == [(1, TEXTS[0], "x"), (2, TEXTS[1], None)]
    assert la.dedup(table, text="body", id="id").kept["id"].to_pylist() == [1, 2]
    scan = iceberg.opened(table).scan(row_filter="id > 1", selected_fields=("id", "body"))
    assert la.dedup(scan, text="body", id="id").clean().to_pylist() == [{"id": 2, "body": TEXTS[1]}]


def test_position_deletes(iceberg, tmp_path):
    table = tmp_path / "t"
    iceberg.append(table, ROWS)
    add_deletes(table, iceberg.opened(table), [1, 2, 2])
    assert [row["id"] for row in rows_of(table)] == [1, 4] and read(table) == [(1, TEXTS[0]), (4, TEXTS[3])]
    assert la.dedup(table, id="id").kept["id"].to_pylist() == [1, 4]


def test_files_without_ids(iceberg, tmp_path):
    table = tmp_path / "t"
    iceberg.append(table, ROWS)
    pq.write_table(pa.table({"lang": ["it"], "text": ["added as it was"], "id": [9]}), table / "data/added.parquet")
    iceberg.opened(table).add_files([f"file://{table}/data/added.parquet"])
    with iceberg.opened(table).update_schema() as schema:
        schema.rename_column("lang", "language")
    assert [(row["id"], row["language"]) for row in rows_of(table)][-2:] == [(4, None), (9, "it")]
    assert read(table, others=("language",))[-1] == (9, "added as it was", "it")


def test_hostile_iceberg_tables(iceberg, tmp_path):
    def fresh(name):
        iceberg.append(tmp_path / name, ROWS)
        return tmp_path / name, iceberg.opened(tmp_path / name)

    with pytest.raises(la.InputDataError, match="damaged: it deletes rows that"):
        folder, table = fresh("beyond")
        add_deletes(folder, table, [1, 1 << 40])
        la.dedup(folder)
    with pytest.raises(la.InputDataError, match="equality deletes, which are not read: write the table again"):
        folder, table = fresh("equality")
        add_deletes(folder, table, [1], equality=True)
        la.dedup(folder)
    folder, table = fresh("code")
    described_anew(folder, table, lambda held: held["properties"].update({"py-io-impl": "os.system"}))
    assert len(rows_of(folder)) == 4, "the table cannot name code"
    for i, where in enumerate(["s3://elsewhere/list.avro", "file:///etc/hostname", f"file://{tmp_path}/code/../x.avro"]):
        folder, table = fresh(f"outside{i}")
        described_anew(folder, table, lambda held, where=where: held["snapshots"][-1].update({"manifest-list": where}))
        with pytest.raises(la.InputDataError, match="names a file outside of its folder"):
            la.dedup(folder)


def test_which_file_describes_an_iceberg_table(iceberg, tmp_path):
    folder = tmp_path / "t"
    iceberg.append(folder, ROWS)
    iceberg.delete(folder, [1])
    first, *_, last = sorted((folder / "metadata").glob("*.metadata.json"))
    with pytest.raises(la.InputDataError, match="has no data files"):
        la.dedup(first)
    assert len(rows_of(last)) == 3
    (folder / "metadata/version-hint.text").write_text("7")
    with pytest.raises(la.InputDataError, match="version-hint.text names '7', which is not there"):
        la.dedup(folder)
    (folder / "metadata/v7.metadata.json").write_bytes(last.read_bytes())
    assert len(rows_of(folder)) == 3
    (folder / "metadata/version-hint.text").unlink()
    (folder / f"metadata/{last.name[:5]}-other.metadata.json").write_bytes(last.read_bytes())
    (folder / "metadata/v7.metadata.json").unlink()
    with pytest.raises(la.InputDataError, match="several have the highest number"):
        la.dedup(folder)
    assert Path(last).exists()
