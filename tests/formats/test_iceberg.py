"""Iceberg tables as other programs write them, and as nobody should."""

import os
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.lakes import ROWS, TEXTS, IcebergTables, add_deletes, described_anew, read, rows_of

import lookalike as la
from lookalike.formats.iceberg import _vector


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
    nested = tmp_path / "nested"
    iceberg.append(nested, ROWS.slice(0, 1).append_column("doc", pa.array([{"a": "x", "b": 1}])))
    pq.write_table(pa.table({"id": [9], "text": ["added"], "lang": ["it"], "doc": [{"a": "y"}]}), nested / "data/added.parquet")
    iceberg.opened(nested).add_files([f"file://{nested}/data/added.parquet"])
    with pytest.raises(la.errors.InputDataError, match=r"data/added\.parquet: a file of the Iceberg table without field ids"):
        la.dedup(nested, id="id").write(tmp_path / "out.parquet")


def test_hostile_iceberg_tables(iceberg, tmp_path):
    def fresh(name):
        iceberg.append(tmp_path / name, ROWS)
        return tmp_path / name, iceberg.opened(tmp_path / name)

    with pytest.raises(la.errors.InputDataError, match="damaged: it deletes rows that"):
        folder, table = fresh("beyond")
        add_deletes(folder, table, [1, 1 << 40])
        la.dedup(folder)
    with pytest.raises(la.errors.InputDataError, match="equality deletes, which are not read: write the table again"):
        folder, table = fresh("equality")
        add_deletes(folder, table, [1], equality=True)
        la.dedup(folder)
    folder, table = fresh("code")
    described_anew(folder, table, lambda held: held["properties"].update({"py-io-impl": "os.system"}))
    assert len(rows_of(folder)) == 4, "the table cannot name code"
    for i, where in enumerate(
        ["s3://elsewhere/list.avro", "file:///etc/hostname", f"file://{tmp_path}/code/../x.avro", "{folder}//etc/hostname"]
    ):
        folder, table = fresh(f"outside{i}")
        place = where.format(folder=folder)
        described_anew(folder, table, lambda held, place=place: held["snapshots"][-1].update({"manifest-list": place}))
        with pytest.raises(la.errors.InputDataError, match="names a file outside of its folder"):
            la.dedup(folder)


@pytest.mark.parametrize(
    "which", ["data/*.parquet", "metadata/snap-*.avro", "metadata/*-m0.avro", "metadata/version-hint.text"]
)
def test_links_and_pipes_in_a_table(iceberg, tmp_path, which):
    folder = tmp_path / "t"
    iceberg.append(folder, ROWS)
    (path,) = [*folder.glob(which)] or [folder / which]
    path.unlink(missing_ok=True)
    os.mkfifo(tmp_path / "pipe")
    path.symlink_to(tmp_path / "pipe")
    with pytest.raises(la.errors.InputDataError, match="names a file outside of its folder"):
        la.dedup(folder)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(la.errors.InputDataError, match="lists this as a file, but it is not one"):
        la.dedup(folder)


def test_a_deletion_vector_names_no_more_rows_than_there_are():
    """Each bitmap stands for 2^32 rows, and each key for as many bitmaps before it: both are checked before they are unpacked."""
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
        with pytest.raises(la.errors.InputDataError, match="damaged: it deletes rows that the file does not have"):
            rows_of_blob(content, 70_000)


def test_which_file_describes_an_iceberg_table(iceberg, tmp_path):
    folder = tmp_path / "t"
    iceberg.append(folder, ROWS)
    iceberg.delete(folder, [1])
    first, *_, last = sorted((folder / "metadata").glob("*.metadata.json"))
    with pytest.raises(la.errors.InputDataError, match="has no data files"):
        la.dedup(first)
    assert len(rows_of(last)) == 3
    (folder / "metadata/version-hint.text").write_text("7")
    with pytest.raises(la.errors.InputDataError, match="version-hint.text names '7', which is not there"):
        la.dedup(folder)
    (folder / "metadata/v7.metadata.json").write_bytes(last.read_bytes())
    assert len(rows_of(folder)) == 3
    (folder / "metadata/version-hint.text").unlink()
    (folder / f"metadata/{last.name[:5]}-other.metadata.json").write_bytes(last.read_bytes())
    (folder / "metadata/v7.metadata.json").unlink()
    with pytest.raises(la.errors.InputDataError, match="several have the highest number"):
        la.dedup(folder)
    assert Path(last).exists()
