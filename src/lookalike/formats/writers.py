"""Writing rows out as they came in, and tables of results: what all formats share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from ..errors import OutputError, ParameterError
from ..files import outputs
from ..files.atomic import atomic_file
from ..files.folders import SIDECAR, NewFolder, atomic_directory
from ..files.names import suffix_of
from ..files.outputs_at import check_apart_at
from ..files.urls import as_url
from ..values.arrow import give_back
from ._format import Format
from ._registry import formats_by_suffix
from ._selection import Selection
from ._split import Record
from .memory import made_split, table_split
from .merged_parquet import together

__all__ = ["Selection", "check_apart", "check_before", "check_output", "describe", "format_of", "means_folder", "table_of",
           "write_rows", "write_table"]  # fmt: skip


def _single(output: str | Path) -> Format | None:
    """Return the format of an output that means one file for all inputs; None if it means a folder."""
    known = formats_by_suffix()
    suffix = suffix_of(output, known)
    if suffix is None or known[suffix].rows_are_files or str(output).endswith("/"):
        return None
    return known[suffix]


def means_folder(output: str | Path) -> bool:
    """Tell whether an output means a folder that receives a file per input, not one file for all of them."""
    return _single(output) is None


def format_of(output: Path) -> Format:
    """Return the format that an output file's suffix names."""
    known = formats_by_suffix()
    suffix = suffix_of(output, known)
    if suffix is None or known[suffix].rows_are_files:
        raise ParameterError(
            f"{output}: the suffix must be one of {', '.join(s for s, form in known.items() if not form.rows_are_files)}"
        )
    return known[suffix]


def check_output(output: str | Path, force: bool) -> Path:
    """Return the path to write rows to, symbolic links followed, if it may be written to.

    Parameters
    ----------
    output : str or path
        One file if its suffix is known and such a file can hold several rows, else a folder.
    force : bool
        Whether an existing output may be replaced.

    Raises
    ------
    OutputError
        If it exists and ``force`` is not set, is of another kind, holds files that are not ours, or cannot be written to.
    ParameterError
        If it is a URL.
    """
    form = _single(output)
    if form is not None and type(form).write is Format.write:
        raise OutputError(f"{output}: files of the format {form.name} cannot be written; name another suffix")
    described = form is not None and not form.holds_provenance
    return outputs.check_output(output, force, single=form is not None, described=described, suffixes=formats_by_suffix())


def check_apart(output: str | Path, splits: Sequence[Any], also: Sequence[str | Path] = ()) -> None:
    """Check that an output, and ``also`` what else will be written, meet no input and not one another.

    Raises
    ------
    OutputError
        If they do.
    """
    places = [place for split in splits for place in getattr(split, "places", ())]
    if (url := as_url(output)) is not None:
        check_apart_at(url, places, also)
    else:
        outputs.check_apart(output, places, also, single=_single(output) is not None)


def check_before(
    output: str | Path, splits: Sequence[Any], references: Sequence[Any] = (), also: Sequence[str | Path] = ()
) -> None:
    """Check, before any work, that an output meets no input and no other output, and gives each input a name of its own.

    Raises
    ------
    OutputError
        If it does not.
    """
    check_apart(output, [*splits, *references], also)
    if _single(output) is None:
        outputs.check_names([name for split in splits for name in split.form.names_in_folder(split)])


def write_table(
    output: str | Path, table: Any, provenance: Record, *, sources: Sequence[Any] = (), force: bool = False
) -> None:
    """Write a table of results, in the format that the suffix names.

    It is one of Arrow's, or has a length, a ``schema`` and ``batches()``, which are made as they are written.

    Raises
    ------
    OutputError
        If the file exists and ``force`` is not set, is one of the ``sources``, or cannot be written; nothing half written is
        left.
    """
    path = check_output(output, force)
    form = format_of(path)
    check_apart(output, sources)
    split = table_split(table, path.name) if isinstance(table, pa.Table) else made_split(table, path.name)
    selection = Selection(split, np.ones(len(table), np.bool_))
    _write_file(path, form, [selection], provenance)


def write_rows(
    output: str | Path,
    selections: Sequence[Selection],
    provenance: Record,
    *,
    sources: Sequence[Any] = (),
    force: bool = False,
) -> None:
    """Write selected rows: into one file if ``output`` has a known suffix, else into a directory, a file per input.

    Parameters
    ----------
    output : str or path
    selections : sequence of Selection
    provenance : dict
    sources : sequence of Split
        All that was read, reference documents included: none of it may be written over.
    force : bool
        Replace an existing output. A directory is replaced as a whole, and only where an earlier run wrote all that is in it.

    Raises
    ------
    OutputError
        If the output exists and ``force`` is not set, meets an input, or cannot be written; nothing half written is left.
    """
    path = check_output(output, force)
    check_apart(output, sources)
    give_back()
    form = _single(output)
    if form is not None:
        for selection in selections:
            if not len(selection.mask):
                selection.split.check_unchanged()
        _write_file(path, form, [selection for selection in selections if len(selection.mask)] or selections[:1], provenance)
        return
    outputs.check_names([name for selection in selections for name in selection.split.form.names_in_folder(selection.split)])
    with atomic_directory(path) as folder:
        for selection in selections:
            selection.split.form.write_alike(folder, selection, provenance)
        describe(folder, provenance)


def table_of(selections: Sequence[Selection]) -> pa.Table:
    """Return selected rows as one Arrow table, which is held in memory.

    Raises
    ------
    InputDataError
        If an input has changed, or a value fits no column.
    """
    schema, tables, _ = together(selections)
    found = pa.concat_tables([schema.empty_table(), *tables])
    return found.replace_schema_metadata(schema.metadata)


def describe(folder: NewFolder, provenance: Record) -> None:
    """Write, last of all, how a folder was made and which files are in it."""
    described = provenance | {"files": sorted(folder.files)}
    with folder.file(SIDECAR) as stream:
        _write_json(stream, described)


def _write_file(path: Path, form: Format, selections: Sequence[Selection], provenance: Record) -> None:
    """Write one file for all inputs, and one beside it that says how it was made, unless the first does."""
    with ExitStack() as stack:
        if not form.holds_provenance:  # on the disk before the output has its name, so that a full disk cannot part the two
            beside = stack.enter_context(atomic_file(path.with_name(path.name + SIDECAR)))
            _write_json(beside, provenance)
            beside.flush()
        with atomic_file(path, compress=form.compressible) as stream:
            form.write(stream, selections, provenance)


def _write_json(stream: BinaryIO, provenance: Record) -> None:
    stream.write(json.dumps(provenance, indent=2).encode() + b"\n")
