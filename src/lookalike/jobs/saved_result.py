"""Results in folders: tables of plain Parquet, and a description."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from .. import __version__
from ..errors import InputDataError
from ..files.folders import SIDECAR, NewFolder, atomic_directory
from ..files.names import shown
from ..files.outputs import check_apart, check_output
from ..files.store import FINISHED, JOB
from ..files.urls import check_on_disk
from ..inputs.overrides import Overrides
from ..values.tables import DECISIONS
from .rows import HeldRows, ParquetRows, Rows, collect
from .saved_inputs import INPUTS
from .settings import Settings
from .summary import Summary

DESCRIPTION = "result.json"
FORMAT = 1
_NEEDED = {"decisions": {*DECISIONS.names, "id"}, "pairs": {"left", "right", "left_id", "right_id", "resemblance"}}


def save_result(
    folder: str | Path, tables: Mapping[str, Rows], facts: Mapping[str, Any], settings: Settings, *, sources: Sequence[Any],
    force: bool,
) -> None:  # fmt: skip
    """Save tables, facts and settings to a new folder.

    Raises
    ------
    OutputError
        If the folder exists and ``force`` is not set, holds files of others, meets an input, or cannot be written.
    """
    path = check_folder(folder, sources, force)
    with atomic_directory(path, replace=force) as new:
        files = {f"{name}.parquet": _write(new, f"{name}.parquet", rows) for name, rows in tables.items()}
        given = {field.name: getattr(settings, field.name) for field in fields(Settings)}
        overrides = settings.overrides
        given |= {"overrides": None if overrides is None else {"name": overrides.name, **overrides.to_dict()}}
        given |= {"tokenizer": None, "work": None if settings.work is None else shown(os.fspath(settings.work))}
        said = {"lookalike": __version__, "format": FORMAT, "files": files, "settings": given, **facts}
        with new.file(DESCRIPTION) as stream:
            stream.write(json.dumps({"checksum": _checksum(said), **said}, indent=2).encode() + b"\n")
        described = facts["provenance"] | {"files": sorted(new.files)}
        with new.file(SIDECAR) as stream:
            stream.write(json.dumps(described, indent=2).encode() + b"\n")


def check_folder(folder: str | Path, sources: Sequence[Any], force: bool, also: Sequence[str | Path] = ()) -> Path:
    """Return the folder to save to, if it may be written to and meets neither an input nor another output.

    Raises
    ------
    OutputError
        If it does, exists and ``force`` is not set, or holds files of others.
    """
    path = check_output(folder, force, single=False)
    check_apart(os.fspath(folder) + "/", [place for source in sources for place in source.places], also, single=False)
    return path


def _write(folder: NewFolder, name: str, rows: Rows) -> dict[str, Any]:
    """Write a table, a batch at a time; return how many rows it has, and its digest."""
    import pyarrow.parquet as pq  # here, for what is not needed to start

    n_rows = 0
    with folder.file(name) as stream, pq.ParquetWriter(stream, rows.schema, compression="zstd") as writer:
        for batch in rows.batches():
            writer.write_batch(batch)
            n_rows += batch.num_rows
    return {"rows": n_rows, "blake2b": _digest(folder.path / name)}


def _digest(path: Path) -> str:
    from hashlib import file_digest  # here, for what is not needed to start

    with open(path, "rb") as stream:
        return file_digest(stream, "blake2b").hexdigest()


def _checksum(said: Mapping[str, Any]) -> str:
    """Return a checksum of a description, whatever the order of its keys."""
    from hashlib import blake2b

    return blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()


def load_result(folder: str | Path, held: bool = True) -> dict[str, Any]:
    """Return what ``Result`` is made of, as it was saved.

    Parameters
    ----------
    folder : str or path
    held : bool, default True
        Whether decisions and pairs are read into memory; otherwise they are read from the file whenever they are asked for.

    Raises
    ------
    InputDataError
        If there is no saved result, it is damaged or changed, or of a newer version.
    """
    path, name = Path(folder), shown(folder)
    try:
        said = json.loads((path / DESCRIPTION).read_bytes())
        checksum = said.pop("checksum")
        form, version = said["format"], said["lookalike"]
    except (FileNotFoundError, NotADirectoryError):
        check_on_disk(folder, "and a saved result is read from this machine: copy it")
        if any((path / file).exists() for file in (JOB, FINISHED)):
            what = "a work folder (--work) is not a saved result"
        else:
            what = f"not a saved result: it has no {DESCRIPTION}"
        raise InputDataError(f"{name}: {what}; 'lookalike dedup ... --save DIR' (Result.save) makes one") from None
    except OSError as error:
        raise InputDataError(f"{name}/{DESCRIPTION}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputDataError(f"{name}/{DESCRIPTION}: damaged, or not the description of a saved result") from None
    if isinstance(form, int) and form > FORMAT:
        raise InputDataError(f"{name}: saved by lookalike {version}, which this version ({__version__}) cannot read: upgrade")
    if checksum != _checksum(said):
        raise InputDataError(f"{name}/{DESCRIPTION}: damaged or changed: the checksum does not match")
    try:
        tables = {
            parameter: _read(path, f"{table}.parquet", said["files"], needed, held)
            for (table, needed), parameter in zip(_NEEDED.items(), ("decisions", "matches"), strict=True)
        }
        inputs = None
        if "inputs.parquet" in said["files"]:  # older versions did not note them
            inputs = collect(_read(path, "inputs.parquet", said["files"], set(INPUTS.names)))
        summary = dict(said["summary"])
        summary["least_alike"] = [tuple(call) for call in summary["least_alike"]]
        facts = {key: said[key] for key in ("against", "provenance")} | {"summary": Summary(**summary), "inputs": inputs}
        settings = {"overrides": None} | said["settings"]
        if settings["overrides"] is not None:
            settings["overrides"] = Overrides(**settings["overrides"])
        return tables | facts | {"settings": Settings(**settings)}
    except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
        if isinstance(error, InputDataError):
            raise
        raise InputDataError(f"{name}: damaged: it does not describe a result ({error!r:.80})") from None


def _read(folder: Path, name: str, files: Mapping[str, Any], needed: set[str], held: bool = True) -> Rows:
    """Read a table that is as it was saved."""
    try:
        if _digest(folder / name) != files[name]["blake2b"]:
            raise InputDataError(f"{shown(folder / name)}: damaged or changed: it is not the file that was saved")
        rows = ParquetRows(folder / name)
    except OSError as error:
        raise InputDataError(f"{shown(folder / name)}: cannot be read: {error.strerror}") from None
    if missing := needed - set(rows.schema.names):
        raise InputDataError(f"{shown(folder / name)}: damaged: it has no column {min(missing)!r}")
    return HeldRows(collect(rows)) if held else rows
