"""What the packages of Delta Lake and Iceberg write, and what they do not, made by hand."""

import base64
import json
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import rows_in
from json_lines import write_lines

import lookalike as la
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


TEXTS = [
    f"document number {i} is about {word} and nothing else at all" for i, word in enumerate(["ants", "bees", "cats", "dogs"])
]
ROWS = pa.table({"id": [1, 2, 3, 4], "text": TEXTS, "lang": ["de", "en", "de", None]})


class Tables:
    def delete(self, folder, ids):
        self.opened(folder).delete(f"id in ({', '.join(map(str, ids))})")


class DeltaTables(Tables):
    kind = "delta"

    def __init__(self, place):
        self._package = pytest.importorskip("deltalake", reason="needs the package deltalake")

    def append(self, folder, table, **options):
        self._package.write_deltalake(folder, table, mode="append", schema_mode="merge", **options)

    def opened(self, folder):
        return self._package.DeltaTable(folder)

    def version(self, folder):
        return f"delta:{self.opened(folder).version()}"


class IcebergTables(Tables):
    kind = "iceberg"

    def __init__(self, place):
        pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy, for a catalog")
        catalog = pytest.importorskip("pyiceberg.catalog.sql", reason="needs the package pyiceberg")
        self._catalog = catalog.SqlCatalog("c", uri=f"sqlite:///{place}/catalog.db", warehouse=f"file://{place}/unused")
        self._catalog.create_namespace("n")

    def _name(self, folder):
        return ("n", Path(folder).name)

    def append(self, folder, table, partition_by=()):
        if not self._catalog.table_exists(self._name(folder)):
            made = self._catalog.create_table(self._name(folder), table.schema, location=f"file://{folder}")
            with made.update_spec() as spec:
                for name in partition_by:
                    spec.add_identity(name)
        made = self.opened(folder)
        with made.update_schema() as schema:
            schema.union_by_name(table.schema)
        self.opened(folder).append(table)

    def opened(self, folder):
        return self._catalog.load_table(self._name(folder))

    def version(self, folder):
        return f"iceberg:{Path(self.opened(folder).metadata_location).name.removesuffix('.metadata.json')}"


def vector(rows, cardinality=None):
    from pyroaring import BitMap

    high = {}
    for row in rows:
        high.setdefault(row >> 32, []).append(row & 0xFFFFFFFF)
    data = struct.pack("<IQ", 1681511377, len(high))
    data += b"".join(struct.pack("<I", key) + BitMap(low).serialize() for key, low in sorted(high.items()))
    coded = base64.b85encode(data + b"\0" * (-len(data) % 4)).decode().translate(str.maketrans(B85, Z85))
    return {"storageType": "i", "pathOrInlineDv": coded, "sizeInBytes": len(data), "cardinality": cardinality or len(rows)}


def delta_log(folder, files, fields, features=(), partitions=(), configuration=None, claims=None):
    """Make a Delta table of one version by hand: ``files`` are (name, table, what else the log says of it)."""
    folder.mkdir(parents=True)
    (folder / "_delta_log").mkdir()
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": list(features),
        "writerFeatures": list(features),
    }
    schema = {"type": "struct", "fields": fields}
    described = {
        "id": "x", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(schema), "createdTime": 1,
        "partitionColumns": list(partitions), "configuration": configuration or {},
    }  # fmt: skip
    lines = [{"protocol": protocol}, {"metaData": described}]
    for name, table, more in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path, row_group_size=3)
        stats = json.dumps({"numRecords": claims or len(table)})
        added = {"path": name, "size": path.stat().st_size, "modificationTime": 1, "dataChange": True, "partitionValues": {}}
        lines.append({"add": added | {"stats": stats} | more})
    write_lines(folder / "_delta_log" / f"{0:020}.json", lines)
    return folder


def column(name, kind, physical=None, number=1):
    mapped = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical} if physical else {}
    return {"name": name, "type": kind, "nullable": True, "metadata": mapped}


def add_deletes(folder, table, rows, equality=False):
    """Let a new version of an Iceberg table delete rows of its only data file; return what describes it."""
    from pyiceberg.io.pyarrow import PyArrowFileIO
    from pyiceberg.manifest import (
        DataFile,
        DataFileContent,
        FileFormat,
        ManifestContent,
        ManifestEntry,
        ManifestEntryStatus,
        ManifestWriterV2,
        write_manifest_list,
    )  # fmt: skip
    from pyiceberg.typedef import Record

    class Deletes(ManifestWriterV2):
        def content(self):
            return ManifestContent.DELETES

    io, snapshot = PyArrowFileIO(), table.current_snapshot()
    (task,) = table.scan().plan_files()
    pq.write_table(
        pa.table({"file_path": [task.file.file_path] * len(rows), "pos": pa.array(rows, "int64")}),
        folder / "deletes.parquet",
    )
    listed = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES if equality else DataFileContent.POSITION_DELETES,
        file_path=f"file://{folder}/deletes.parquet", file_format=FileFormat.PARQUET, partition=Record(),
        record_count=len(rows), file_size_in_bytes=(folder / "deletes.parquet").stat().st_size, spec_id=0,
        equality_ids=[1] if equality else None,
    )  # fmt: skip
    manifest = io.new_output(f"file://{folder}/metadata/deletes.avro")
    with Deletes(table.spec(), table.schema(), manifest, snapshot.snapshot_id, "null") as writer:
        writer.add_entry(
            ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=snapshot.snapshot_id, data_file=listed)
        )
    made = f"file://{folder}/metadata/with-deletes.avro"
    with write_manifest_list(2, io.new_output(made), snapshot.snapshot_id, None, snapshot.sequence_number, "null") as out:
        out.add_manifests([*snapshot.manifests(io), writer.to_manifest_file()])
    return described_anew(folder, table, lambda held: held["snapshots"][-1].update({"manifest-list": made}))


def described_anew(folder, table, change):
    held = json.loads(Path(table.metadata_location.removeprefix("file://")).read_text())
    change(held)
    path = folder / "metadata/00099-changed.metadata.json"
    path.write_text(json.dumps(held))
    return path


def rows_of(path, **given):
    return sorted((row for split in open_sources([path], **given) for _, row in split.records()), key=lambda row: row["id"])


def kept_ids(data, **given):
    return sorted(la.dedup(data, id="id", **given).kept["id"].to_pylist())


def read(path, text="text", id="id", others=(), **given):
    splits = path if isinstance(path, list) else open_sources([path], **given)
    rows = (row for split in splits for row in rows_in(split.batches(Columns(text, id, others))))
    return sorted((name, data.decode(), *more) for _, data, name, *more in rows)
