"""Tables of Iceberg, read by what the package ``pyiceberg`` makes of their metadata."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..errors import InputDataError
from ..files.inputs import entries_in
from ..files.names import first_few
from ..files.tables import METADATA
from ..files.urls import AnyPath, Url
from ..values import Int64Array
from ..values.arrow import to_numpy
from .lake import DataFile, Snapshot, TableFormat, alike, inside, opening, outside

if TYPE_CHECKING:
    from pyiceberg.io import FileIO
    from pyiceberg.manifest import DataFile as ListedFile
    from pyiceberg.table import StaticTable

_ID = b"PARQUET:field_id"


class Iceberg(TableFormat):
    """Iceberg tables of Parquet files, with position deletes and deletion vectors; without equality deletes."""

    name = "iceberg"
    extra, package = "iceberg", "pyiceberg"
    sign = "folders with metadata/*.metadata.json, or such a file"

    def latest(self, root: AnyPath) -> str:
        """Return the name of the file that describes a table, without its end.

        It is the one that ``version-hint.text`` names, or else that of the highest number: a catalog alone knows it.
        """
        folder = root / "metadata"
        names = {e.url.name for e in entries_in(folder)} if isinstance(folder, Url) else {p.name for p in folder.iterdir()}
        known = {name.removesuffix(METADATA): name for name in names if name.endswith(METADATA)}
        if "version-hint.text" in names:
            hint = inside("metadata/version-hint.text", root).read_bytes()[:1000].decode("utf-8", "replace").strip()
            found = known.keys() & {hint, f"v{hint}", hint.removesuffix(METADATA)}
            problem = f"version-hint.text names {hint!r:.80}, which is not there"
        else:
            numbers = {name: int((re.match(r"v?(\d{1,18})", name) or (0, -1))[1]) for name in known}
            found = {name for name, number in numbers.items() if number == max(numbers.values())}
            problem = f"several have the highest number: {first_few(found)}"
        if len(found) != 1:
            raise InputDataError(
                f"cannot tell which file in metadata/ is the current one ({problem}): name the "
                ".metadata.json file that your catalog has",
                root,
            )
        return found.pop()

    def snapshot(self, root: AnyPath, version: str) -> Snapshot:
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        with opening("Iceberg", root, version):
            table = _table(root, version)
            own, location = table.schema(), _bare(table.metadata.location)
            tasks = list(table.scan().plan_files())
            for task in tasks:
                if task.file.file_format.value != "PARQUET":
                    raise InputDataError(
                        f"the Iceberg table has {task.file.file_format.value} files; only Parquet files are read", root
                    )
            rows = {task.file.file_path: task.file.record_count for task in tasks}
            deletes = {one.file_path: one for task in tasks for one in task.delete_files}
            deleted = {path: _deleted(table.io, one, rows) for path, one in deletes.items()}
            files = {}
            for task in tasks:
                path = task.file.file_path
                some = [there[path] for one in task.delete_files if path in (there := deleted[one.file_path])]
                files[_inside(path, location, root)] = DataFile(
                    np.unique(np.concatenate([np.empty(0, np.int64), *some])), _constants(table, task.file), rows[path]
                )
            mapping = table.metadata.name_mapping()
            names = {} if mapping is None else {name: str(one.field_id) for one in mapping.root for name in one.names}
            plain, keyed = schema_to_pyarrow(own, include_field_ids=False), schema_to_pyarrow(own)
        return Snapshot(plain, list(keyed), files, names)

    def key(self, own: pa.Field, of_file: bool) -> str:
        known = (own.metadata or {}).get(_ID)
        return str(own.name) if known is None else str(known.decode())

    def sources(self, snapshot: Snapshot, schema: pa.Schema, name: str) -> tuple[list[pa.Field], dict[str, pa.Field]]:
        """Return the columns of the table, and those of a file by the names that they have there; without ids by the names."""
        if any(_ID in (one.metadata or {}) for one in schema):
            return super().sources(snapshot, schema, name)
        own = {snapshot.names.get(one.name, one.name): one for one in schema}
        fields, found = list(snapshot.schema), {}
        for keyed, plain in zip(snapshot.fields, fields, strict=True):
            source = own.get(self.key(keyed, False), own.get(keyed.name))
            if source is None:
                continue
            if pa.types.is_nested(source.type) and not alike(self, source, plain):
                raise InputDataError(
                    f"a file of the Iceberg table without field ids, whose column {source.name!r} differs from the "
                    "table's in the fields inside it: write the table again, as compaction does",
                    name,
                )
            found[plain.name] = source
        return fields, found


def _bare(location: str) -> str:
    """Return a location without the scheme of local files."""
    return re.sub(r"^file:/*", "/", location).rstrip("/")


def _inside(location: str, table: str, root: AnyPath) -> str:
    """Return the name, in a table's folder, of a file whose location begins as the table's, which may have been moved."""
    name = _bare(location).removeprefix(f"{table}/")
    if name == _bare(location):
        raise outside(root, location)
    inside(name, root)
    return name


def _table(root: AnyPath, version: str) -> StaticTable:
    """Open a table as a file describes it, which can name neither code nor files outside of the folder."""
    from pyarrow.fs import LocalFileSystem
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import StaticTable

    def opened(name: str) -> PyArrowFile:
        path = inside(name, root)
        system, key = (path.filesystem, path.inside) if isinstance(path, Url) else (LocalFileSystem(), str(path))
        return PyArrowFile(location=str(path), path=key, fs=system)

    described = opened(f"metadata/{version}{METADATA}")
    metadata = FromInputFile.table_metadata(described)
    location = _bare(metadata.location)

    class Inside(PyArrowFileIO):
        def new_input(self, location_of_file: str) -> PyArrowFile:
            return opened(_inside(location_of_file, location, root))

    return StaticTable(("table",), metadata, described.location, Inside(), NoopCatalog("table"))


def _deleted(io: FileIO, listed: ListedFile, rows: dict[str, int]) -> dict[str, Int64Array]:
    """Return the rows that a file of deletes names, of files with so many rows, by their locations."""
    import pyarrow.parquet as pq
    from pyiceberg.table.puffin import PuffinFile

    found: defaultdict[str, list[Int64Array]] = defaultdict(list)
    with io.new_input(listed.file_path).open() as stream:
        if listed.file_format.value == "PUFFIN":
            file = PuffinFile(stream.read())
            for blob in file.footer.blobs:
                path = blob.properties["referenced-data-file"]
                found[path] += _vector(file.get_blob_payload(blob), rows.get(path, 0), f"{listed.file_path}, of {path}")
        elif listed.file_format.value == "PARQUET":
            with pq.ParquetFile(stream) as deletes:
                for batch in deletes.iter_batches(columns=["file_path", "pos"], use_threads=False):
                    paths, places = batch.column("file_path").dictionary_encode(), to_numpy(batch.column("pos"))
                    codes = to_numpy(paths.indices)
                    for code, path in enumerate(paths.dictionary.to_pylist()):
                        found[path].append(places[codes == code])
        else:
            raise InputDataError(f"deletes in files of {listed.file_format.value} are not read", listed.file_path)
    joined = {path: np.concatenate(some) for path, some in found.items() if path in rows}
    for path, places in joined.items():
        if len(places) and not 0 <= int(places.min()) <= int(places.max()) < rows[path]:
            raise InputDataError(f"damaged: it deletes rows that {path} does not have", listed.file_path)
    return joined


def _vector(blob: bytes, n_rows: int, name: str) -> Iterator[Int64Array]:
    """Yield the rows that a deletion vector names; a few bytes can stand for billions.

    It is its length (big endian), a magic number, a number of bitmaps, each with the upper 32 bits of its rows.
    """
    from pyroaring import BitMap

    body = memoryview(blob)[8 : 4 + int.from_bytes(blob[:4], "big")]
    at = 8
    for _ in range(int.from_bytes(body[:8], "little")):
        high = int.from_bytes(body[at : at + 4], "little") << 32
        bitmap = BitMap.deserialize(bytes(body[at + 4 :]))
        at += 4 + len(bitmap.serialize())
        if bitmap and high + bitmap.max() >= n_rows:
            raise InputDataError("damaged: it deletes rows that the file does not have", name)
        yield high + np.fromiter(bitmap, np.int64, len(bitmap))


def _constants(table: StaticTable, listed: ListedFile) -> dict[str, Any]:
    """Return the values of columns that a file may lack: those of its partition, and defaults."""
    from pyiceberg.transforms import IdentityTransform

    known = {own.name: own.initial_default for own in table.schema().fields if own.initial_default is not None}
    names = {own.field_id: own.name for own in table.schema().fields}
    for place, part in enumerate(table.specs()[listed.spec_id or 0].fields):
        if isinstance(part.transform, IdentityTransform) and part.source_id in names:
            known[names[part.source_id]] = listed.partition[place]
    return known


FORMAT = Iceberg()
