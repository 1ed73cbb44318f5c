"""Tables of Delta Lake, read by what the package ``deltalake`` makes of their log."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote
from uuid import UUID

import msgspec
import numpy as np
import pyarrow as pa

from ..errors import InputDataError, ParameterError
from ..files.inputs import entries_in
from ..files.names import first_few, show_path
from ..files.processes import limit_memory, start
from ..files.streams import arrow_file
from ..files.tables import LOGS
from ..files.urls import AnyPath, Url
from ..values import Int64Array
from ..values.arrow import to_numpy
from .lake import NONE, DataFile, Snapshot, TableFormat, inside, opening, outside

if TYPE_CHECKING:
    from deltalake import DeltaTable

_READ = {
    "columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "typeWidening-preview", "v2Checkpoint",
    "vacuumProtocolCheck",
}  # fmt: skip
MEMORY = 4 << 30
"""Bytes of address space of the process that reads deletion vectors: a few bytes can stand for any number of rows."""
_NUMBERED, _CHECKPOINT = re.compile(r"\d{20}(?=\.)"), re.compile(r"\.checkpoint(\.[-0-9a-f]{36})?\.(parquet|json)")
_NAMED = ["sidecar.path", "add.path", "add.deletionVector.storageType", "add.deletionVector.pathOrInlineDv"]
_Z85 = str.maketrans(
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
)
_DELETED = pa.schema([("path", pa.string()), ("row", pa.list_(pa.int64()))])
_PHYSICAL = b"delta.columnMapping.physicalName"


class Delta(TableFormat):
    """Delta tables, deletion vectors and mapped columns included."""

    name = "delta"
    extra, package = "delta", "deltalake"
    sign = "folders with _delta_log/"

    def latest(self, root: AnyPath) -> str:
        with opening("Delta", root):
            return str(_table(root, None).version())

    def snapshot(self, root: AnyPath, version: str) -> Snapshot:
        if not version.isdecimal():
            raise ParameterError(
                f"the version of a Delta table is a number, as in delta:12; got {version!r}", "format", version
            )
        with opening("Delta", root, f"version {version}"):
            table = _table(root, int(version))
            features = set(table.protocol().reader_features or ())
            if unknown := features - _READ:
                raise InputDataError(
                    f"reading the Delta table needs {', '.join(sorted(unknown))}, which is not supported: write "
                    "the table again without it",
                    root,
                )
            schema, adds = pa.schema(table.schema().to_arrow()), pa.table(table.get_add_actions())
            partitions = table.metadata().partition_columns
        deleted: dict[str, Int64Array] = {}
        if "deletionVectors" in features:
            deleted = _deleted_rows(str(root), int(version), _options(root), show_path(root))
        names = [_inside(path, root) for path in adds.column("path").to_pylist()]
        constants = adds.column("partition").to_pylist() if partitions else [{}] * len(names)
        if stray := set(deleted) - set(names):
            raise InputDataError(f"the Delta table deletes rows of files that are not there: {first_few(stray)}", root)
        counts = adds.column("num_records").to_pylist() if "num_records" in adds.column_names else [None] * len(names)
        files = {
            name: DataFile(deleted.get(name, NONE), known or {}, n)
            for name, known, n in zip(names, constants, counts, strict=True)
        }
        return Snapshot(pa.schema([own.remove_metadata() for own in schema]), list(schema), files)

    def key(self, own: pa.Field, of_file: bool) -> str:
        physical = None if of_file else (own.metadata or {}).get(_PHYSICAL)
        return str(own.name) if physical is None else str(physical.decode())


def _options(root: AnyPath) -> dict[str, str]:
    """Return how the store of a table is reached, where the environment does not say it."""
    known = dict(root.options) if isinstance(root, Url) else {}
    endpoint = known.get("endpoint_override", "")
    return {
        name: value
        for name, value in (
            ("aws_region", known.get("region", "")),
            ("aws_endpoint", endpoint),
            ("aws_allow_http", "true" if endpoint.startswith("http:") else ""),
        )
        if value
    }


def _table(root: AnyPath, version: int | None) -> DeltaTable:
    from deltalake import DeltaTable

    if not isinstance(root, Url) and unquote(path := str(root.absolute())) != path:
        raise InputDataError(
            "the package deltalake decodes sequences such as %41 in a path, and would open another folder: rename the "
            "folder, or read its files with --format parquet (format='parquet'), if no rows were deleted",
            root,
        )
    _check_log(root, version)
    return DeltaTable(str(root), version=version, storage_options=_options(root))


class _Vector(msgspec.Struct):
    storageType: str = ""  # noqa: N815
    pathOrInlineDv: str = ""  # noqa: N815


class _File(msgspec.Struct):
    path: str = ""
    deletionVector: _Vector | None = None  # noqa: N815


class _Action(msgspec.Struct):
    add: _File | None = None
    sidecar: _File | None = None


_DECODE = msgspec.json.Decoder(_Action).decode


def _check_log(root: AnyPath, version: int | None) -> None:
    """Refuse deletion vectors and parts of checkpoints outside of a table's folder, which the package would open."""
    log = root / LOGS["delta"]
    names = [e.url.name for e in entries_in(log)] if isinstance(log, Url) else [p.name for p in log.iterdir() if not p.is_dir()]
    files = {name: inside(f"{log.name}/{name}", root) for name in names if not isinstance(log, Url) or _NUMBERED.match(name)}
    numbers = {name: int(found[0]) for name in files if (found := _NUMBERED.match(name))}
    whole = [n for name, n in numbers.items() if _CHECKPOINT.fullmatch(name, 20) and (version is None or n <= version)]
    for name, number in numbers.items():
        if number >= max(whole, default=0):  # nothing before a checkpoint is read
            for action in _actions(files[name]):
                if action.sidecar is not None:
                    if set(action.sidecar.path) & set("/:%"):
                        raise outside(root, action.sidecar.path)
                    inside(f"{log.name}/_sidecars/{action.sidecar.path}", root)
                    for part in _actions(log / "_sidecars" / action.sidecar.path):
                        _check_vector(part, root)
                _check_vector(action, root)


def _actions(path: AnyPath) -> Iterator[_Action]:
    """Yield what a file of a log says of other files."""
    if path.name.endswith(".json"):
        yield from (_DECODE(line) for line in path.read_bytes().splitlines() if line.strip())
    elif path.name.endswith(".parquet"):
        import pyarrow.parquet as pq  # here, for what is not needed to start

        with pq.ParquetFile(arrow_file(path)) as file:
            for batch in file.iter_batches(1024, columns=_NAMED, use_threads=False):
                yield from msgspec.convert(batch.to_pylist(), list[_Action])


def _check_vector(action: _Action, root: AnyPath) -> None:
    vector = action.add and action.add.deletionVector
    if not vector or vector.storageType == "i":
        return
    place = vector.pathOrInlineDv
    if vector.storageType == "u":
        name = f"deletion_vector_{UUID(bytes=base64.b85decode(place[-20:].translate(_Z85)))}.bin"
        inside("/".join(filter(None, (place[:-20], name))), root)
    else:
        folder = f"{str(root) if isinstance(root, Url) else root.absolute().as_uri()}/"
        if not place.startswith(folder):
            raise outside(root, place)
        inside(unquote(place.removeprefix(folder)), root)


def _inside(path: str, root: AnyPath) -> str:
    """Return the name inside the table of a file that its log names by a relative URL."""
    if ":" in path.partition("/")[0]:
        raise outside(root, path)
    inside(name := unquote(path), root)
    return name


FORMAT = Delta()


def _deleted_rows(uri: str, version: int, options: dict[str, str], name: str) -> dict[str, Int64Array]:
    """Return the deleted rows of the files of a table, by the names of these in its folder."""
    given = (uri, str(version), *(f"{key}={value}" for key, value in options.items()))
    process = start("formats.delta", *given, errors=subprocess.PIPE)
    try:
        written, printed = process.communicate()
    finally:
        process.kill()
    if process.returncode:
        said = printed.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise InputDataError(
            f"the deletion vectors of the Delta table are damaged, or take too much memory "
            f"({said or f'status {process.returncode}':.500})",
            name,
        )
    found = pa.ipc.open_stream(written).read_all()
    rows = found.column("row")
    return {path: to_numpy(rows[place].values) for place, path in enumerate(found.column("path").to_pylist())}


def main(uri: str, version: int, options: dict[str, str]) -> None:
    """Write what is deleted to standard output."""
    limit_memory(MEMORY)
    from deltalake import DeltaTable

    table = DeltaTable(uri, version=version, storage_options=options)
    with pa.ipc.new_stream(sys.stdout.buffer, _DELETED) as out:
        for path, kept in zip(*pa.table(table.deletion_vectors()).columns, strict=True):
            rows = np.flatnonzero(~np.asarray(kept.values))
            columns = [[unquote(path.as_py()).removeprefix(unquote(table.table_uri))], [rows]]
            arrays = [pa.array(values, own.type) for values, own in zip(columns, _DELETED, strict=True)]
            out.write_batch(pa.RecordBatch.from_arrays(arrays, schema=_DELETED))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), dict(option.split("=", 1) for option in sys.argv[3:]))
