"""Writing rows out as they came in, and tables of results: what all formats share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import InputDataError, OutputError, ParameterError
from ..files import disk
from ..files.ahead import map_ahead
from ..files.atomic import atomic_file
from ..files.disk import SIDECAR, as_listed
from ..files.folder import Folder, UnfinishedFolder, folder_of
from ..files.names import list_suffixes, show_path, suffix_of
from ..files.urls import as_url, check_writable
from ..values.arrow import give_back
from .columnar import ColumnarFormat
from .format import Format
from .format import Selection as Selection
from .frames import LazyRows
from .memory import check_types, made_split, table_split
from .merged_parquet import together
from .registry import format_named, known_suffixes, names_by_suffix
from .saved_data_sets import described
from .split import FinalError, Limit, Record, Split


def is_stdout(output: object) -> bool:
    """Tell whether an output means standard output, which takes JSON lines."""
    return output == "-"


def _single(output: str | Path) -> Format | None:
    """Return the format of an output that means one file for all inputs; None if it means a folder."""
    if is_stdout(output):
        return format_named("jsonl")
    known = names_by_suffix()
    suffix = suffix_of(output, known)
    form = None if suffix is None or str(output).endswith("/") else format_named(known[suffix])
    return None if form is None or form.rows_are_files else form


def means_folder(output: str | Path) -> bool:
    """Tell whether an output means a folder that receives a file per input, not one file for all of them."""
    return _single(output) is None


def folder_like(output: str | Path) -> str:
    """Return the name of an output without its suffixes: how a folder could be called."""
    before, slash, name = show_path(output).rpartition("/")
    return f"{before}{slash}{name.partition('.')[0] or 'clean'}"


def check_folder_name(output: str | Path) -> None:
    """Check that a new output folder is meant as one: that its name has no suffix, or ends with a slash."""
    suffix = os.path.splitext(output)[1]
    if len(suffix) < 2 or str(output).endswith("/") or os.path.isdir(output):
        return
    known = suffix.lower() in names_by_suffix()
    why = f"unrecognized suffix {show_path(suffix)}" if not known else f"a {suffix} file holds one document"
    like = folder_like(output)
    raise ParameterError(
        f"{show_path(output)}: {why}: write {like}.jsonl, or {like}/ for a folder (a name that ends with / is always a folder)"
    )


def format_of(output: str | Path) -> Format:
    """Return the format that an output file's suffix names."""
    form = _single(output.rstrip("/") if isinstance(output, str) else output)
    if form is None:
        known = known_suffixes().items()
        written = {name: suffixes for name, suffixes in known if type(format_named(name)).write is not Format.write}
        raise ParameterError(f"{show_path(output)}: the suffix must be one of {list_suffixes(written)}")
    return form


def check_output(output: str | Path, force: bool) -> None:
    """Check that rows may be written to an output."""
    if _single(output) is None:
        check_folder(output, force)
    else:
        check_table(output, force)


def check_table(output: str | Path, force: bool) -> Path:
    """Return the path of an output that is one file, symbolic links followed, if it may be written to."""
    if is_stdout(output):
        return Path("-")
    form = format_of(output)
    if type(form).write is Format.write:
        raise OutputError(f"files of the format {form.name} cannot be written; name another suffix", output)
    return disk.check_output(
        output, force, single=True, described=not form.holds_provenance, suffixes=names_by_suffix()
    )  # fmt: skip


def check_folder(output: str | Path, force: bool) -> Folder:
    """Return the folder to write rows into, if it may be written."""
    check_writable(output)
    folder = folder_of(output)
    if as_url(output) is None or not folder.exists():
        check_folder_name(output)
    return folder.check(force, suffixes=names_by_suffix())


def check_apart(output: str | Path, splits: Sequence[Split], also: Sequence[str | Path] = ()) -> None:
    """Check that an output, and ``also`` what else will be written, meet no input and not one another."""
    if is_stdout(output):
        return
    places = [place for split in splits for place in split.places]
    if _single(output) is None:
        folder_of(output).check_apart(places, also)
    else:
        disk.check_apart(output, places, also, single=True)


def check_before(
    output: str | Path, splits: Sequence[Split], references: Sequence[Split] = (), also: Sequence[str | Path] = ()
) -> None:
    """Check, before any work, that an output meets no input and no other output, and gives each input a name of its own."""
    check_apart(output, [*splits, *references], also)
    if _single(output) is None:
        check_names([name for split in splits for name in split.form.names_in_folder(split)])


def check_names(names: Sequence[str]) -> None:
    """Check that files written into one folder get different names, none of them that of the description."""
    taken = set()
    for name in names:
        if name == SIDECAR:
            raise OutputError(
                f"an input is named {SIDECAR}, as the description of the output folder is; "
                "rename the input, or write one file such as out.jsonl"
            )
        if name in taken:
            raise OutputError(
                f"two inputs would be written as {show_path(name)}; rename one, or write one file such as out.jsonl"
            )
        taken.add(name)
    for name in names:
        folder = os.path.dirname(name)
        while folder:
            if folder in taken:
                raise OutputError(
                    f"one input would be written as the file {show_path(folder)}, another into a folder of that name; "
                    "rename one, or write one file such as out.jsonl"
                )
            folder = os.path.dirname(folder)


def check_editing(output: str | Path, splits: Sequence[Split], adding: bool = False) -> None:
    """Check, before any work, that a part of each text can be left out of an output, or columns added to its rows."""
    if means_folder(output):
        for split in splits:
            if not split.form.can_edit_text or (adding and split.form.rows_are_files):
                what = "nothing can be added to" if adding else "no part of a text can be removed from"
                raise OutputError(
                    f"{what} files of the format {split.form.name}: write rows to one file, such as clean.jsonl", split.name
                )


def check_room(output: str | Path, splits: Sequence[Split], limit: Limit) -> None:
    """Check, before any work, that all columns of the inputs can be written to an output within the limit."""
    form = _single(output)
    converted = form is not None and not isinstance(form, ColumnarFormat)

    def check(split: Split) -> None:
        if isinstance(split.form, ColumnarFormat) and split.places:
            try:
                split.form.check_writing(replace(split, limit=limit), converted)
            except FinalError:
                raise
            except InputDataError:
                if not limit.faults:
                    raise

    list(map_ahead(check, ((split.remote_bytes > 0, split) for split in splits)))
    if isinstance(form, ColumnarFormat):
        check_types(form, splits)


def write_table(
    output: str | Path, table: pa.Table | LazyRows, provenance: Record, *, sources: Sequence[Split] = (), force: bool = False
) -> None:
    """Write a table as its suffix says; "-": as JSON lines."""
    path = check_table(output, force)
    check_apart(output, sources)
    split = table_split(table, path.name) if isinstance(table, pa.Table) else made_split(table, path.name)
    selection = Selection(split, np.ones(len(table), np.bool_))
    _write_file(path, format_of(output), [selection], provenance, force)


def write_rows(
    output: str | Path,
    selections: Sequence[Selection],
    provenance: Record,
    *,
    sources: Sequence[Split] = (),
    force: bool = False,
) -> None:
    """Write selected rows: into one file if ``output`` has a known suffix, else into a folder, a file per input."""
    read = [  # others may not be readable at all
        some for some in selections if some.last or not some.split.limit.faults or some.split.form.keep_unread
    ]
    selections, form = read or selections[:1], _single(output)
    if form is None:
        _write_folder(output, selections, provenance, sources, force)
    else:
        path = check_table(output, force)
        check_apart(output, sources)
        give_back()
        for selection in selections:
            if not len(selection.mask):
                selection.split.check_unchanged()
        some = [selection for selection in selections if len(selection.mask)] or selections[:1]
        _write_file(path, form, some, provenance, force)


def _write_folder(
    output: str | Path, selections: Sequence[Selection], provenance: Record, sources: Sequence[Split], force: bool
) -> None:  # fmt: skip
    """Write a file per input into a folder."""
    place = check_folder(output, force)
    check_apart(output, sources)
    for some in selections:
        if some.cuts is not None or some.added is not None:
            check_editing(output, [some.split], some.added is not None)
    names = [name for selection in selections for name in selection.split.form.names_in_folder(selection.split)]
    check_names(names)
    give_back()
    beside = list(described(selections, provenance))
    with place.publish([*names, *(name for name, _ in beside)], replace=force) as folder:
        for selection in selections:
            selection.split.form.write_kept_file(folder, selection, provenance)
        for name, content in beside:
            with folder.file(name) as stream:
                stream.write(_as_json(content))
        describe(folder, provenance)


def _attributes_name(split: Split) -> str:
    """Return the name of the file for the attributes of an input: its own, if such a file holds JSON."""
    if split.form.rows_are_files:
        raise OutputError(
            f"attributes are for files of rows; {split.name} is a document itself: write -o annotated.jsonl with "
            "--annotate (annotate=)"
        )
    known = known_suffixes()  # the files of Dolma, which are lines, end in .json.gz
    return split.relative if suffix_of(split.relative, known["jsonl"] + known["json"]) else f"{split.relative}.jsonl"


def check_attributes(output: str | Path, splits: Sequence[Split]) -> None:
    """Check, before any work, that attributes of all inputs can be written to an output."""
    if not means_folder(output):
        raise OutputError(
            f"attributes are a file for each input: name a folder, such as {folder_like(output)}/; got {show_path(output)}"
        )
    check_names([_attributes_name(split) for split in splits])


def write_attributes(
    output: str | Path, selections: Sequence[Selection], provenance: Record, *, sources: Sequence[Split], force: bool
) -> None:
    """Write for each input a file of JSON lines, ``{"id": ..., "attributes": {...}}``, made of what is added to each row."""
    import msgspec  # here, for what is not needed to start

    splits = [selection.split for selection in selections]
    check_attributes(output, splits)
    place = check_folder(output, force)
    check_apart(output, sources)
    with place.publish([_attributes_name(split) for split in splits], replace=force) as folder:
        for selection in selections:
            with folder.file(_attributes_name(selection.split)) as stream:
                for row in selection.added_rows():
                    stream.write(msgspec.json.encode({"id": row.pop("id"), "attributes": row}) + b"\n")
        describe(folder, provenance)


def table_of(selections: Sequence[Selection]) -> pa.Table:
    """Return selected rows as one Arrow table, which is held in memory."""
    schema, tables, _ = together(selections)
    found = pa.concat_tables([schema.empty_table(), *tables])
    return found.replace_schema_metadata(schema.metadata)


def describe(folder: UnfinishedFolder, provenance: Record) -> None:
    """Write, last of all, how a folder was made and which files are in it."""
    described = provenance | {"files": as_listed(folder.files)}
    with folder.file(SIDECAR) as stream:
        stream.write(_as_json(described))


def _write_file(path: Path, form: Format, selections: Sequence[Selection], provenance: Record, force: bool) -> None:
    """Write one file for all inputs, and one beside it that says how it was made, unless the first does."""
    if is_stdout(str(path)):
        _print(form, selections, provenance)
        return
    beside = None if form.holds_provenance else (path.with_name(path.name + SIDECAR), _as_json(provenance))
    with atomic_file(path, compress=form.compressible, replace=force, beside=beside) as stream:
        form.write(stream, selections, provenance)


class _Lines:
    """A stream, and whether the line that was written last is without its line feed."""

    def __init__(self, stream: Any) -> None:
        self._stream, self.open = stream, False

    def write(self, data: bytes) -> int:
        self.open = not data.endswith(b"\n") if data else self.open
        return int(self._stream.write(data))


def _print(form: Format, selections: Sequence[Selection], provenance: Record) -> None:
    if not hasattr(sys.stdout, "buffer"):
        raise OutputError("standard output does not accept bytes here: write to a file")
    try:
        sys.stdout.flush()
        lines: Any = _Lines(sys.stdout.buffer)
        form.write(lines, selections, provenance)
        if lines.open:  # as it was at the end of a file: others print to this stream, too
            lines.write(b"\n")
        sys.stdout.buffer.flush()
    except (OutputError, BrokenPipeError):  # who reads no more wants no message
        raise
    except OSError as error:
        raise OutputError(f"standard output cannot be written: {error.strerror}") from None


def _as_json(provenance: Record) -> bytes:
    return json.dumps(provenance, indent=2).encode() + b"\n"
