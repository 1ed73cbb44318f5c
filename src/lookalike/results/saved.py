"""Results in folders: tables of plain Parquet, and a description."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Required, TypedDict

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Meta, Struct

from .. import __version__
from ..choices import Evidence
from ..errors import InputDataError
from ..files.descriptions import Count, damaged, encoded, places_named, read_description
from ..files.disk import SIDECAR, OutputFolder, atomic_directory, check_apart, check_output
from ..files.job import FINISHED, JOB
from ..files.names import describe_skipped, show_path
from ..files.urls import check_on_disk
from ..formats.split import Split
from ..inputs.overrides import Overrides
from ..inputs.sketch_rows import DESCRIPTION as SKETCHES
from ..inputs.sketches import Trusted
from ..inputs.texts import SAVED
from ..settings.settings import Settings
from ..steps.decide import REASONS
from ..text.ignored import Ignored
from ..values.arrow import string, strings, to_numpy
from ..values.tables import COLUMN, SOURCE_BITS, check_values
from .inputs import INPUTS, SavedInputs
from .members import FOR_ANOTHER
from .rows import ParquetRows, Rows, TableRows, collect, decisions_schema, pairs_schema, second_columns
from .summary import Share, Summary, count

DESCRIPTION = "result.json"
FORMAT = 1
_MOST = 1 << 62
_STAY = ("kept", "reference", "spared")
_OF_REMOVED, _SCORES = ("duplicate_of", "duplicate_is_reference"), ("resemblance", "standard_error", "distance")
_IDS = (pa.int64(), pa.string(), pa.large_string())
_NULLABLE = (*_OF_REMOVED, *_SCORES, "source", "keeper", "duplicate_source", "cluster", "override")


class _Table(Struct):
    """A table, and what it was when it was saved."""

    rows: Count
    blake2b: str


class _Input(TypedDict, total=False):
    """The fields of an input's identity that are read."""

    name: Required[str]
    sketches: str
    checksum: Any  # a format of another package may have one of any type
    files: Count
    bytes: Count | None


class _Audit(TypedDict):
    """What an audit measured."""

    audited: Count
    of: Count
    seed: Annotated[int, Meta(ge=0)]
    with_near_duplicates: Count
    found: Count
    missed: Count
    recall: Share | None
    low: Share | None
    high: Share | None
    examples: list[Any]


class _Provenance(Struct):
    """How a result was made, and from what."""

    inputs: list[_Input]


class _Ignored(Struct):
    """What is saved of shingles that did not count."""

    shingles: int
    digest: str
    names: tuple[str, ...]


class _Result(Struct):
    """What the description of a result says."""

    lookalike: str
    files: dict[str, _Table]
    settings: dict[str, Any]
    evidence: Evidence
    against: bool
    summary: Summary
    provenance: _Provenance


def save_result(
    folder: str | Path, tables: Mapping[str, Rows], facts: Mapping[str, Any], settings: Settings, *, sources: Sequence[Split],
    own: bool, force: bool,
) -> None:  # fmt: skip
    """Save tables, facts and settings to a new folder; unless ``own``, somebody else chose the files that it names."""
    path = check_folder(folder, sources, force)
    with atomic_directory(path, replace=force) as new:
        files = {f"{name}.parquet": _write(new, f"{name}.parquet", rows) for name, rows in tables.items()}
        given = {field.name: getattr(settings, field.name) for field in fields(Settings)}
        overrides, ignored = settings.overrides, settings.ignore
        given |= {
            "overrides": None if overrides is None else {"name": overrides.name, **overrides.to_dict()},
            "ignore": None if ignored is None else {"names": ignored.names, **ignored.to_dict()},
            "tokenizer": None,
            "trust": [],
            "work": None if settings.work is None else show_path(os.fspath(settings.work)),
        }
        said = {"lookalike": __version__, "format": FORMAT, "files": files, "settings": given, **facts}
        with new.file(DESCRIPTION) as stream:
            stream.write(encoded(said, own))
        described = facts["provenance"] | {"files": sorted(new.files)}
        with new.file(SIDECAR) as stream:
            stream.write(json.dumps(described, indent=2).encode() + b"\n")


def check_folder(folder: str | Path, sources: Sequence[Split], force: bool, also: Sequence[str | Path] = ()) -> Path:
    """Return the folder to save to, if it may be written to and meets neither an input nor another output."""
    path = check_output(folder, force, single=False)
    check_apart(os.fspath(folder) + "/", [place for source in sources for place in source.places], also, single=False)
    return path


def _write(folder: OutputFolder, name: str, rows: Rows) -> dict[str, Any]:
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


def _regular(path: Path) -> Path:
    """Return the path of a file, unless it is a pipe or a device, for which a reader would wait."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(0, "not a file")
    return path


def load_result(folder: str | Path, held: bool = True, trust: Trusted = ()) -> dict[str, Any]:
    """Return what ``Result`` is made of, as it was saved."""
    path = Path(folder)
    try:
        described = read_description(path / DESCRIPTION, _Result, FORMAT, "a saved result")
    except OSError:
        check_on_disk(folder, "and a saved result is read from this machine: copy it")
        is_job = any((path / file).exists() for file in (JOB, FINISHED))
        there = f"it has no {DESCRIPTION}" if path.is_dir() else "no such folder"
        what = "a work folder is not a saved result" if is_job else f"not a saved result: {there}"
        raise InputDataError(f"{what}; 'lookalike dedup ... --save DIR' or Result.save makes one", folder) from None
    said = described.typed
    settings = _settings_in(path, said)
    facts = {"settings": settings, "summary": said.summary, "against": said.against, "provenance": described.said["provenance"]}
    with _file(path, "inputs", said) as rows:
        inputs = collect(rows)
        _check_inputs(inputs, len(said.provenance.inputs))
    trusted = None if described.own else places_named(trust)
    facts["inputs"] = SavedInputs(inputs, path.absolute(), trusted, [one.get("checksum") for one in said.provenance.inputs])
    n, second = said.summary.documents + said.summary.reference, second_columns(settings.finder)
    with _file(path, "decisions", said) as rows:
        kind = rows.schema.field("id").type
        wanted = decisions_schema(kind, second, said.evidence == "all", settings)
        if kind not in _IDS or not rows.schema.equals(wanted) or rows.n_rows != n:
            raise ValueError(f"it has {rows.n_rows:,} rows of {rows.schema.to_string()!r:.200}")
        facts["decisions"] = decisions = TableRows(collect(rows)) if held else rows
        _check_decisions(decisions, n, said.summary.reference, len(said.provenance.inputs))
        counts = count(decisions, said.summary.reference, settings.slices or ())
        if any(getattr(said.summary, name) != value for name, value in counts.items()):
            raise ValueError(f"it has other counts than the summary in {DESCRIPTION}")
    with _file(path, "pairs", said) as rows:
        if not rows.schema.equals(pairs_schema(kind, second)):
            raise ValueError(f"it has rows of {rows.schema.to_string()!r:.200}")
        facts["matches"] = TableRows(collect(rows)) if held else rows
        for batch in facts["matches"].batches():
            check_values(batch, _bounds(n))
            if not pc.all(pc.not_equal(batch["left"], batch["right"]), min_count=0).as_py():
                raise ValueError("it has a pair of one document")
    return facts


def _settings_in(folder: Path, said: _Result) -> Settings:
    """Return the settings of a result, after checking them and the summary."""
    if unknown := said.settings.keys() - {field.name for field in fields(Settings)}:
        names = ", ".join(sorted(unknown))
        raise InputDataError(
            f"saved by lookalike {said.lookalike}, with settings that {__version__} does not have: {names}",
            folder / DESCRIPTION,
        )
    try:
        given = {"overrides": None, "ignore": None} | said.settings
        if given["overrides"] is not None:
            given["overrides"] = msgspec.convert(given["overrides"], Overrides)
        if given["ignore"] is not None:
            ignored = msgspec.convert(given["ignore"], _Ignored)
            given["ignore"] = Ignored(ignored.shingles, ignored.digest, ignored.names)
        if type(given["seed"]) is not int:  # "random" is one that a job has drawn
            raise ValueError(f"the seed is {given['seed']!r:.40}")
        settings = Settings(**given)
        if settings.evidence != said.evidence or (said.summary.reference and not said.against):
            raise ValueError("the settings are of another result than the summary")
        msgspec.convert(said.summary.audit, _Audit | None)
        _ = str(said.summary), describe_skipped(said.summary.skipped)
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise damaged(folder / DESCRIPTION, error) from None
    return settings


@contextmanager
def _file(folder: Path, name: str, said: _Result) -> Iterator[ParquetRows]:
    """Open a table, after comparing its digest; every error names the file."""
    path = folder / f"{name}.parquet"
    try:
        if _digest(_regular(path)) != said.files[path.name].blake2b:
            raise InputDataError("damaged or changed: it is not the file that was saved", path)
        yield ParquetRows(path)
    except InputDataError:
        raise
    except FileNotFoundError as error:
        raise InputDataError(f"cannot be read: {error.strerror}", path) from None
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException) as error:
        raise damaged(path, error) from None


def _check_inputs(inputs: pa.Table, n: int) -> None:
    """Check that all inputs are there, in their order."""
    if not inputs.schema.equals(INPUTS):
        raise ValueError(f"it has rows of {inputs.schema.to_string()!r:.200}")
    for batch in inputs.to_batches():
        check_values(batch, {"source": (0, n - 1), "bytes": (0, _MOST)}, ("format", "path", "bytes", "modified_ns"))
    steps = np.diff(to_numpy(inputs["source"]), prepend=-1, append=n)
    saved = inputs.filter(pc.equal(inputs["format"], string(SAVED.name)))["path"].to_pylist()
    if not ((steps >= 0) & (steps <= 1)).all() or (n and steps[0] != 1):
        raise ValueError("its column source has not all inputs in their order")
    if any(path is None or not path.endswith(f"/{SKETCHES}".encode()) for path in saved):
        raise ValueError("the saved sketches are not a folder")


def _bounds(n: int) -> dict[str, tuple[float, float]]:
    """Return the least and greatest number of each column, for so many documents."""
    of_documents = dict.fromkeys(("order", "keeper", "leader", "left", "right"), (0, n - 1))
    counts = dict.fromkeys(
        ("position", "row", "number", "bytes", "n_exact", "n_duplicates", "n_sources", "distance"), (0, _MOST)
    )
    return of_documents | counts | {"resemblance": (0.0, 1.0 + 1e-9), "standard_error": (0.0, 1.0)}


def _check_decisions(decisions: Rows, n: int, n_reference: int, n_sources: int) -> None:
    """Check that decisions agree with each other: each document comes once, and who stands for it is kept."""
    here, stays, stands, named = (np.zeros(n, np.bool_) for _ in range(4))  # by order
    first, last = 0, -1
    for batch in decisions.batches():
        carried = [name for name in batch.schema.names if name.startswith(COLUMN)]
        check_values(batch, _bounds(n), ("id", *_NULLABLE, *carried))
        order, position = to_numpy(batch["order"]), to_numpy(batch["position"])
        reason = to_numpy(pc.index_in(batch["reason"], strings(REASONS)), -1)
        kept, removed = (np.isin(reason, [REASONS.index(name) for name in some]) for some in (_STAY, FOR_ANOTHER))
        keeper = to_numpy(batch["keeper"], -1).astype(np.int64)
        rows = np.arange(first, first + len(batch))
        names = ("reference", "skipped", "key", "spared")
        reference, skipped, by_key, spared = (reason == REASONS.index(name) for name in names)
        scored = removed & ~by_key
        agree = [
            reason >= 0, to_numpy(batch["kept"]) == kept, (keeper >= 0) == (kept | removed),
            (keeper == order) == (kept & ~spared),
            np.where(rows < n_reference, reference | skipped, ~reference), (rows < n_reference) == (order < n_reference),
            np.diff(position, prepend=last) > 0,
            *(to_numpy(batch[name].is_valid()) == removed for name in _OF_REMOVED),
            *(to_numpy(batch[name].is_valid()) == scored for name in batch.schema.names if name in _SCORES),
            to_numpy(batch["cluster"].is_valid()) == (kept | removed), to_numpy(batch["id"].is_valid()) | skipped,
        ]  # fmt: skip
        if not np.logical_and.reduce(agree).all():
            raise ValueError("its rows contradict themselves")
        here[order], stays[order], stands[order] = True, kept & ~spared, to_numpy(batch["n_duplicates"]) > 0
        named[keeper[removed]] = True
        first, last = first + len(batch), int(position[-1])
    if last >> SOURCE_BITS >= n_sources or not here.all() or (named & ~stays).any() or (named != stands).any():
        raise ValueError("its rows contradict each other, or the inputs")
