"""Folders of sketches that an earlier job saved, and how they become inputs of another.

One or more files of Parquet have a row for each document that the job kept, in the order of its inputs; there are a description
(``DESCRIPTION``) and the secret of the digests. Texts are saved beside, or stay in their files, if they came from some.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from ..choices import EncodingErrors
from ..errors import InputDataError, ParameterError
from ..files.atomic import reporting
from ..files.descriptions import Count, Description, FileName, check_trusted, damaged, places_named, read_description
from ..files.disk import SIDECAR, recover
from ..files.folder import folder_of
from ..files.inputs import entries_in
from ..files.names import GivenPath, show_path, suffix_of
from ..files.places import NO_DEVICE, FoundFile, place_at, place_of
from ..files.publication import JOURNAL
from ..files.secrets import SECRET
from ..files.store import PLANNED
from ..files.streams import asking, why
from ..files.urls import WEB, AnyPath, Status, Url, as_url, is_inside, path_of
from ..formats.database import queried
from ..formats.format import Format
from ..formats.memory import as_sources
from ..formats.registry import format_named, names_by_suffix
from ..formats.sources import Files, open_sources
from ..formats.split import Inputs, Split
from .counts import Counts, RowsName
from .sketch_rows import DESCRIPTION, GENERATIONS, ROWS, Saved, SavedRows, is_saved
from .texts import SAVED

FORMAT = 1
ROW_BYTES = 16  # of a digest, which cannot be compressed
_Slots = Annotated[int, Meta(ge=1, le=1 << 20)]
Trusted = GivenPath | Sequence[GivenPath]
_UNFINISHED = {PLANNED, SECRET, SIDECAR, ROWS}
_LISTED = 8  # files of one folder that are not asked for one by one
_OLD = re.compile(r"\.(.+)\.[0-9a-f]{8}-[0-9a-f]{8}\.old")  # a folder that is being replaced: see ``files.disk``


class _Rows(Struct):
    """A file of sketches."""

    name: RowsName
    rows: Count
    bytes: Count


class _File(Struct):
    """A file that documents came from."""

    name: FileName
    path: FileName
    bytes: Count
    modified_ns: int


class _Input(Struct):
    """An input, and how many of the rows are its documents."""

    name: FileName
    rows: Count
    format: str | None
    files: Annotated[list[_File], Meta(min_length=1)] | None  # None: their texts are saved
    named: bool = False  # default ids have its name, not the row alone; files say this themselves
    texts: bool = False  # saved beside: files only say what documents are called


class _Settings(Struct):
    """Of the settings, those that are read before it is known that all agree with the job's."""

    method: str
    verify: str
    html: bool
    encoding_errors: EncodingErrors
    permutations: _Slots | None = None
    bands: _Slots | None = None
    rows: _Slots | None = None


class Sketches(Struct):
    """What the description of saved sketches says."""

    secret: str
    settings: _Settings
    text: str | Annotated[tuple[str, ...], Meta(min_length=1)]
    id: str | None
    text_ids: bool
    files: list[_Rows]
    inputs: list[_Input]
    counts: Counts | None = None  # of jobs that counted


def as_references(
    data: Any, *, but: str | None = None, trust: Trusted = (), query: str | None = None, **how: Any
) -> list[Split]:  # fmt: skip
    """Return references as inputs, opened as ``how`` says: those of saved sketches first, others as ``as_sources`` does.

    ``but``: a folder that is to be replaced, and is left out where it is in one that is named.
    """
    replaced = None if but is None else path_of(but)
    if isinstance(replaced, Path):
        with reporting(replaced):
            recover(replaced)
    items = data if isinstance(data, list | tuple) else [data]
    texts = items is data and not any(isinstance(one, os.PathLike) for one in items)  # of which the first is no such folder
    if not isinstance(data, Files) and not (all if texts else any)(map(saved_in, items or [None])):
        sources = as_sources(data, **how, others=None, name="against")
        return sources if query is None else queried(sources, query)
    folders = [(path, saved_in(path)) for path in items]
    saved = dict.fromkeys(
        folder
        for path, found in folders
        for folder in found
        if replaced is None or _is(folder, path_of(path)) or not _is(folder, replaced)
    )
    others = [path for path, found in folders if not found]
    rest = open_sources(others, **how) if others else Inputs()
    if query is not None:
        rest = Inputs(queried(rest, query), rest.skipped)
    trusted = places_named(trust)
    return Inputs([*(split for folder in saved for split in open_saved(folder, trusted)), *rest], rest.skipped)


def _is(folder: AnyPath, other: AnyPath) -> bool:
    return is_inside(folder, other) and is_inside(other, folder)


def saved_in(path: Any) -> Sequence[AnyPath]:
    """Return the folders of saved sketches that a path means: itself, or those in it, by name; none if it is no such path."""
    if not isinstance(path, str | os.PathLike):
        return []
    if (url := as_url(path)) is not None:
        return folders_at(url)
    folder = Path(path)
    try:
        if (folder / DESCRIPTION).is_file():
            return [folder]
        entries = sorted(folder.iterdir()) if folder.is_dir() else []
        inside = [entry for entry in entries if not entry.name.startswith(".") and entry.name != GENERATIONS]
        found = [entry for entry in inside if (entry / DESCRIPTION).is_file()]
    except (OSError, ValueError):
        return []
    for entry in entries:
        old = _OLD.fullmatch(entry.name)
        if old and (entry / DESCRIPTION).is_file() and not (folder / old[1]).exists():
            raise InputDataError(
                f" is missing: a run was killed while replacing it; run it again, "
                f"or rename {show_path(entry)} to {show_path(old[1])}",
                folder / old[1],
            )
    if any(entry.name == JOURNAL for entry in entries):
        raise InputDataError(
            f"a job was killed while it published its outputs; to finish it, run: lookalike history list {show_path(folder)}",
            folder,
        )
    if found and len(found) < len(inside):
        raise mixed(folder, found[0].name, next(entry for entry in inside if entry not in found).name)
    return found


def described_in(folder: AnyPath) -> Description[Sketches]:
    """Return the description of a folder of saved sketches."""
    path = folder / DESCRIPTION
    with asking(path):
        return read_description(path, Sketches, FORMAT, "saved sketches")


def open_saved(
    folder: AnyPath,
    trusted: Sequence[AnyPath] | None,
    checksum: str | None = None,
    texts: bool = True,
) -> list[Split]:
    """Return the documents of a folder as inputs, one for each input that they came from.

    Without ``texts`` these are not read, and nothing is asked about the files that have them.
    """
    path, described = folder / DESCRIPTION, described_in(folder)
    if checksum not in (None, described.checksum):  # before any place that it names is looked at
        raise InputDataError(
            "these are not the sketches that the result was made with, so the texts can differ; run dedup again", path
        )
    said = described.typed
    saved = Saved(
        folder=folder.absolute(), name=show_path(folder), checksum=described.checksum, token=said.secret,
        settings=described.said["settings"], text=said.text, id=said.id, text_ids=said.text_ids,
        files=tuple((file.name, file.rows) for file in said.files), counts=(said.counts.name,) if said.counts else (),
    )  # fmt: skip
    _check_files(saved, said)
    return list(_splits(saved, said.inputs, None if described.own or not texts else trusted, texts))


def _check_files(saved: Saved, said: Sketches) -> None:
    """Check that the files of a folder are there, as long as they were, and have a row for each document."""
    done = 0
    try:
        for done, size in enumerate(folder_of(saved.folder).sizes([file.name for file in said.files])):
            file = said.files[done]
            if size != file.bytes:
                raise damaged(saved.path(file.name), f"{file.bytes:,} bytes were written, {size:,} are there")
            if size < ROW_BYTES * file.rows:
                raise damaged(saved.path(file.name), f"{size:,} bytes cannot hold {file.rows:,} rows")
    except OSError as error:
        raise InputDataError(f"cannot be read: {why(error)}", error.filename or saved.folder) from None
    if sum(file.rows for file in said.files) != sum(one.rows for one in said.inputs):
        raise damaged(saved.path(DESCRIPTION), "the inputs have not as many documents as the files have rows")


def _splits(saved: Saved, inputs: Sequence[_Input], trusted: Sequence[AnyPath] | None, texts: bool) -> Iterator[Split]:
    """Yield the inputs of a folder, each with its rows; where there are none, one without rows."""
    if not inputs:
        yield Split(form=SAVED, name=saved.name, relative=saved.name, data=SavedRows(saved, 0, 0, None, True))
    names = dict.fromkeys(file.path for one in inputs if not one.texts for file in one.files or ())
    for name in names:
        check_trusted(saved.folder, [name], trusted)
    begin, known = 0, _statuses([path_of(name) for name in names]) if texts else None
    for one in inputs:
        end, origin = begin + one.rows, None
        places: tuple[FoundFile, ...] = ()
        if one.files is not None:
            form, asked = _format_of(saved, one), None if one.texts else known
            found = tuple(_unchanged(saved, asked, path_of(file.path), file) for file in one.files)
            (origin,) = form.splits(found)
            places = () if one.texts else found
        data = SavedRows(saved, begin, end, origin, one.texts or origin is None)
        yield Split(form=SAVED, name=one.name, relative=one.name, places=places, named=one.named, data=data)
        begin = end


def _format_of(saved: Saved, one: _Input) -> Format:
    try:
        form = format_named(str(one.format))
    except ParameterError as error:
        raise damaged(saved.path(DESCRIPTION), error) from None
    if len(one.files or ()) > 1 and not form.rows_are_files:
        raise damaged(saved.path(DESCRIPTION), f"{one.name} is several files of the format {one.format}")
    return form


def description_of(split: Split) -> FoundFile:
    """Return the file that describes the folder of some saved documents."""
    saved: Saved = split.data.saved
    name = f"{saved.name}/{DESCRIPTION}"
    with asking(name):
        return place_of(saved.path(DESCRIPTION), name, name)


def files_of_saved(splits: Sequence[Split]) -> list[AnyPath]:
    """Return the folders of saved sketches among some inputs, and the files in them."""
    saved: dict[AnyPath, Saved] = {split.data.saved.folder: split.data.saved for split in splits if is_saved(split)}
    names = ("", DESCRIPTION, SECRET, SIDECAR)
    return [one.path(name) for one in saved.values() for name in (*names, *(name for name, _ in one.files), *one.counts)]


def described_place(place: FoundFile) -> dict[str, Any]:
    """Return what is kept of a file: its name as it was given, where it is, and what tells whether it changed."""
    return {
        "name": place.name, "path": os.fspath(place.path.absolute()), "bytes": place.size, "modified_ns": place.modified_ns,
    }  # fmt: skip


def _unchanged(saved: Saved, known: dict[AnyPath, Status] | None, path: AnyPath, file: _File) -> FoundFile:
    """Return the file that documents came from, if it is as it was when they were sketched; None is ``known``: as it was."""
    if known is None:
        return FoundFile(path, path.name, file.name, None, False, file.bytes, file.modified_ns, NO_DEVICE, 0)
    needs = (
        f"{saved.name} needs this file: restore it, save the sketches again, or forget them ('lookalike history forget', "
        "History.forget)"
    )
    try:
        place = place_at(path, path.name, file.name, known[path]) if path in known else place_of(path, path.name, file.name)
    except (OSError, ValueError) as error:
        reason = why(error) if isinstance(error, OSError) else error
        raise InputDataError(f"cannot be read: {reason}; {needs}", path) from None
    if (place.size, place.modified_ns) != (file.bytes, file.modified_ns):
        raise InputDataError(f"has changed since it was sketched; {needs}", path)
    return place


def folders_at(url: Url) -> list[Url]:
    """Return the folders of saved sketches that a URL means: itself, or those in it, by name, but unfinished ones."""
    if url.scheme in WEB:
        return []
    with asking(url):
        described = (url / DESCRIPTION).entry()
    if described is not None and not described.is_folder:
        return [url]
    return [] if suffix_of(url.name, names_by_suffix()) else _inside(url)  # of many files each costs one request, not two


def _inside(folder: Url) -> list[Url]:
    names: dict[str, set[str]] = {}
    for entry in entries_in(folder, recursive=True):
        if not entry.is_folder:
            first, _, rest = entry.url.key.removeprefix(f"{folder.key}/").partition("/")
            names.setdefault(first, set()).add(rest)
    found = [name for name, held in names.items() if DESCRIPTION in held]
    visible = (name for name in names if not name.startswith(".") and name not in (*found, GENERATIONS))
    others = [name for name in visible if not _is_unfinished(names[name])]
    if found and others:
        raise mixed(folder, found[0], others[0])
    return [folder / name for name in sorted(found)]


def _is_unfinished(names: set[str]) -> bool:
    """Tell whether a folder is one of sketches that is not whole."""
    return PLANNED in names and {name.partition("/")[0] for name in names} <= _UNFINISHED


def mixed(folder: AnyPath, found: str, other: str) -> InputDataError:
    """The error for a folder that holds saved sketches and something else."""
    return InputDataError(
        f" holds saved sketches ({show_path(found)}) and something else ({show_path(other)}): "
        "name the folders of sketches one by one, or move the rest",
        folder,
    )


def _statuses(paths: Sequence[AnyPath]) -> dict[AnyPath, Status]:
    """Return what a store says of files that will be asked for, where several are in one folder, which is listed once."""
    folders = Counter(path.parent for path in paths if isinstance(path, Url) and path.scheme not in WEB)
    many = [folder for folder, n in folders.items() if n >= _LISTED]
    return {entry.url: entry.status for folder in many for entry in entries_in(folder) if not entry.is_folder}
