import os
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from formats.jobs import refused, table_at
from formats.lakes import ROWS, TEXTS, IcebergTables, add_deletes, described_anew, kept_ids, read, rows_of

import lookalike as la
from lookalike.formats.iceberg import _vector


@pytest.fixture
def tables(tmp_path):
    return IcebergTables(tmp_path)


def test_renamed_and_widened(tables, tmp_path):
    from pyiceberg.types import LongType

    table = tmp_path / "t"
    rows = pa.table({"id": pa.array([1, 2], "int32"), "text": TEXTS[:2], "gone": [0, 0], "doc": [{"a": "x", "b": 1}, None]})
    tables.append(table, rows)
    with tables.opened(table).update_schema(allow_incompatible_changes=True) as schema:
        schema.rename_column("text", "body")
        schema.delete_column("gone")
        schema.update_column("id", LongType())
        schema.rename_column("doc.a", "c")
    with tables.opened(table).update_schema() as schema:
        schema.rename_column("doc.b", "a")  # as another was called
    assert rows_of(table) == [
        {"id": 1, "body": TEXTS[0], "doc": {"c": "x", "a": 1}}, {"id": 2, "body": TEXTS[1], "doc": None},
    ]  # fmt: skip
    assert read(table, "body", others=("doc.c",)) == [(1, TEXTS[0], "x"), (2, TEXTS[1], None)]
    assert kept_ids(table, text="body") == [1, 2]
    scan = tables.opened(table).scan(row_filter="id > 1", selected_fields=("id", "body"))
    assert la.dedup(scan, text="body", id="id").clean().to_pylist() == [{"id": 2, "body": TEXTS[1]}]


def test_position_deletes(tables, table):
    add_deletes(table, tables.opened(table), [1, 2, 2])
    assert [row["id"] for row in rows_of(table)] == [1, 4] and read(table) == [(1, TEXTS[0]), (4, TEXTS[3])]
    assert kept_ids(table) == [1, 4]


def test_files_without_ids(tables, table, tmp_path):
    table_at(table / "data/added.parquet", {"lang": ["it"], "text": ["added as it was"], "id": [9]})
    tables.opened(table).add_files([f"file://{table}/data/added.parquet"])
    with tables.opened(table).update_schema() as schema:
        schema.rename_column("lang", "language")
    assert [(row["id"], row["language"]) for row in rows_of(table)][-2:] == [(4, None), (9, "it")]
    assert read(table, others=("language",))[-1] == (9, "added as it was", "it")
    nested = tmp_path / "nested"
    tables.append(nested, ROWS.slice(0, 1).append_column("doc", pa.array([{"a": "x", "b": 1}])))
    table_at(nested / "data/added.parquet", {"id": [9], "text": ["added"], "lang": ["it"], "doc": [{"a": "y"}]})
    tables.opened(nested).add_files([f"file://{nested}/data/added.parquet"])
    said = r"data/added\.parquet: a file of the Iceberg table without field ids"
    refused(said, lambda: la.dedup(nested, id="id").write(tmp_path / "out.parquet"))


def test_hostile_iceberg_tables(tables, tmp_path):
    def fresh(name):
        tables.append(tmp_path / name, ROWS)
        return tmp_path / name, tables.opened(tmp_path / name)

    for name, rows, said in (
        ("beyond", [1, 1 << 40], "damaged: it deletes rows that"),
        ("equality", [1], "equality deletes, which are not read: write the table again"),
    ):
        folder, table = fresh(name)
        add_deletes(folder, table, rows, equality=name == "equality")
        refused(said, la.dedup, folder)
    folder, table = fresh("code")
    described_anew(folder, table, lambda held: held["properties"].update({"py-io-impl": "os.system"}))
    assert len(rows_of(folder)) == 4, "the table cannot name code"
    for i, where in enumerate(
        ["s3://elsewhere/list.avro", "file:///etc/hostname", f"file://{tmp_path}/code/../x.avro", "{folder}//etc/hostname"]
    ):
        folder, table = fresh(f"outside{i}")
        place = where.format(folder=folder)
        described_anew(folder, table, lambda held, place=place: held["snapshots"][-1].update({"manifest-list": place}))
        refused("names a file outside of its folder", la.dedup, folder)


@pytest.mark.parametrize(
    "which", ["data/*.parquet", "metadata/snap-*.avro", "metadata/*-m0.avro", "metadata/version-hint.text"]
)
def test_links_and_pipes_in_a_table(table, tmp_path, which):
    (path,) = [*table.glob(which)] or [table / which]
    path.unlink(missing_ok=True)
    os.mkfifo(tmp_path / "pipe")
    path.symlink_to(tmp_path / "pipe")
    refused("names a file outside of its folder", la.dedup, table)
    path.unlink()
    os.mkfifo(path)
    refused("lists this as a file, but it is not one", la.dedup, table)


def test_a_deletion_vector_names_no_more_rows_than_there_are():
    """Each bitmap stands for 2^32 rows, and each key for as many bitmaps before it: both are checked before."""
    roaring = pytest.importorskip("pyroaring", reason="needs pyroaring, to make deletion vectors")

    def blob(*bitmaps):
        data = b"DVDV" + struct.pack("<Q", len(bitmaps))
        data += b"".join(struct.pack("<I", key) + roaring.BitMap(rows).serialize() for key, rows in bitmaps)
        return struct.pack(">I", len(data)) + data + b"\0crc"

    def rows_of_blob(content, n_rows):
        return np.concatenate(list(_vector(content, n_rows, "v"))).tolist()

    assert rows_of_blob(blob((0, [1, 5, 70_000])), 70_001) == [1, 5, 70_000]
    assert rows_of_blob(blob((0, [3]), (2, [1])), 1 << 40) == [3, (2 << 32) + 1]
    for content in (blob((0, [1, 70_000])), blob((2_000_000_000, [0])), blob((0, range(1 << 31)))):
        refused("damaged: it deletes rows that the file does not have", rows_of_blob, content, 70_000)


def test_which_file_describes_an_iceberg_table(tables, table):
    tables.delete(table, [1])
    first, *_, last = sorted((table / "metadata").glob("*.metadata.json"))
    refused("has no data files", la.dedup, first)
    assert len(rows_of(last)) == 3
    (table / "metadata/version-hint.text").write_text("7")
    refused("version-hint.text names '7', which is not there", la.dedup, table)
    (table / "metadata/v7.metadata.json").write_bytes(last.read_bytes())
    assert len(rows_of(table)) == 3
    (table / "metadata/version-hint.text").unlink()
    (table / f"metadata/{last.name[:5]}-other.metadata.json").write_bytes(last.read_bytes())
    (table / "metadata/v7.metadata.json").unlink()
    refused("several have the highest number", la.dedup, table)
    assert Path(last).exists()
