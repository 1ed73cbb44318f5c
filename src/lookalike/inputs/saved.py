"""Folders of sketches that an earlier job saved, and how they become inputs of another.

Such a folder has one or more files of Parquet with a row for each document that the job kept, in the order of its inputs, a
description (``DESCRIPTION``), and the secret that the digests of texts were made with. Texts stay in the files that they came
from; those that came from no file are a column beside the sketches.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InputDataError
from ..files.anywhere import AnyPath, is_inside, path_of
from ..files.atomic import reporting
from ..files.folders import SIDECAR, recover
from ..files.names import shown
from ..files.places import Place, place_of
from ..files.secrets import SECRET
from ..files.skipped import Inputs
from ..files.streams import why
from ..files.urls import as_url
from ..formats._registry import format_named
from ..formats._split import Split
from ..formats.memory import as_sources
from ..formats.sources import open_sources
from .saved_at import DESCRIPTION, Found, folders_at, mixed, sizes_in
from .saved_rows import Saved, SavedRows
from .saved_texts import SAVED

FORMAT = 1
_OLD = re.compile(r"\.(.+)\.[0-9a-f]{8}-[0-9a-f]{8}\.old")  # a folder that is being replaced: see ``files.folders``


def as_references(
    data: Any, *, glob: str | Sequence[str] | None = None, format: str | None = None, delimiter: str | None = None
) -> list[Any]:  # fmt: skip
    """Return references as inputs: those of saved sketches first, then others, as ``as_sources`` takes them.

    Parameters
    ----------
    data
        What ``as_sources`` takes; a path may be a folder of saved sketches, or one that holds such folders and nothing else.
    glob, format, delimiter
        For those that are no saved sketches.

    Raises
    ------
    InputDataError
        If saved sketches are damaged, or what they rest on has changed; or as ``as_sources`` does.
    """
    items = list(data) if isinstance(data, list | tuple) else [data]
    if not isinstance(data, list | tuple) or any(isinstance(one, os.PathLike) for one in items):
        found = any(map(saved_in, items))
    else:  # of texts the first is no such folder
        found = bool(items) and all(map(saved_in, items))
    read = open_references if found else as_sources
    return read(items if found else data, glob=glob, format=format, delimiter=delimiter)


def open_references(
    paths: Sequence[str | os.PathLike[str]], *, glob: str | Sequence[str] | None = None, format: str | None = None,
    delimiter: str | None = None, but: str | None = None,
) -> Inputs:  # fmt: skip
    """Return references that paths mean as inputs: those of saved sketches first, then others, as ``open_sources`` takes them.

    Parameters
    ----------
    paths : sequence of path
    glob, format, delimiter : str, optional
    but : str, optional
        A folder of sketches that the job replaces: it does not count if it is in one of the folders that were named.

    Raises
    ------
    InputDataError
        As ``as_references`` does.
    """
    replaced = None if but is None else path_of(but)
    if isinstance(replaced, Path):
        with reporting(replaced):
            recover(replaced)
    folders = [(path, saved_in(path)) for path in paths]
    saved = dict.fromkeys(
        folder
        for path, found in folders
        for folder in found
        if replaced is None or _is(folder, path_of(path)) or not _is(folder, replaced)
    )
    others = [path for path, found in folders if not found]
    rest = open_sources(others, glob=glob, format=format, delimiter=delimiter) if others else Inputs()
    return Inputs([*(split for folder in saved for split in open_saved(folder)), *rest], rest.skipped)


def _is(folder: AnyPath, other: AnyPath) -> bool:
    """Tell whether two paths mean one folder."""
    return is_inside(folder, other) and is_inside(other, folder)


def saved_in(path: Any) -> Sequence[AnyPath]:
    """Return the folders of saved sketches that a path means: itself, or those in it, by name; none if it is no such path.

    Raises
    ------
    InputDataError
        If a folder holds such folders and something else, or one that a killed run was about to replace; or if an object store
        does not answer.
    """
    if not isinstance(path, str | os.PathLike):
        return []
    if (url := as_url(path)) is not None:
        return folders_at(url)
    folder = Path(path)
    try:
        if (folder / DESCRIPTION).is_file():
            return [folder]
        entries = sorted(folder.iterdir()) if folder.is_dir() else []
        inside = [entry for entry in entries if not entry.name.startswith(".")]
        found = [entry for entry in inside if (entry / DESCRIPTION).is_file()]
    except (OSError, ValueError):
        return []
    for entry in entries:
        old = _OLD.fullmatch(entry.name)
        if old and (entry / DESCRIPTION).is_file() and not (folder / old[1]).exists():
            raise InputDataError(
                f"{shown(folder / old[1])} is missing: a run was killed that was about to replace it; run that again, or "
                f"rename {shown(entry)} to {shown(old[1])}"
            )
    if found and len(found) < len(inside):
        raise mixed(folder, found[0].name, next(entry for entry in inside if entry not in found).name)
    return found


def checksum_of(said: Mapping[str, Any]) -> str:
    """Return a checksum of a description, whatever the order of its keys."""
    from hashlib import blake2b  # here, for what is not needed to start

    return blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16).hexdigest()


def _described(folder: AnyPath) -> tuple[dict[str, Any], str]:
    """Return the description of a folder, and its checksum."""
    name = shown(folder / DESCRIPTION)
    try:
        said = json.loads((folder / DESCRIPTION).read_bytes())
        checksum, form, version = said.pop("checksum"), said["format"], said["lookalike"]
    except OSError as error:
        raise InputDataError(f"{name}: cannot be read: {why(error)}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputDataError(f"{name}: damaged, or not the description of saved sketches") from None
    if isinstance(form, int) and form > FORMAT:
        raise InputDataError(f"{name}: saved by lookalike {version}, which this version ({__version__}) cannot read: upgrade")
    if checksum != checksum_of(said):
        raise InputDataError(f"{name}: damaged or changed: the checksum does not match")
    return said, checksum


def open_saved(folder: AnyPath) -> list[Split]:
    """Return the documents of a folder as inputs, one for each input that they came from.

    Raises
    ------
    InputDataError
        If a file is damaged or missing, or an input that the texts will be read from has changed or is gone.
    """
    said, checksum = _described(folder)
    try:
        saved = Saved(
            folder=folder.absolute(), name=shown(folder), checksum=checksum, token=said["secret"],
            settings=said["settings"], text=said["text"], id=said["id"], text_ids=said["text_ids"],
            files=tuple((file["name"], file["rows"]) for file in said["files"]),
        )  # fmt: skip
        _check_files(saved, said["files"])
        return list(_splits(saved, said["inputs"]))
    except (KeyError, TypeError) as error:
        raise InputDataError(f"{shown(folder / DESCRIPTION)}: damaged: it does not describe sketches ({error!r:.80})") from None


def _check_files(saved: Saved, files: list[dict[str, Any]]) -> None:
    """Check that the files of a folder are there, and as long as they were."""
    done = 0
    try:
        for done, size in enumerate(sizes_in(saved.folder, [file["name"] for file in files])):
            if size != files[done]["bytes"]:
                raise InputDataError(
                    f"{shown(saved.path(files[done]['name']))}: damaged: {files[done]['bytes']:,} bytes were written, "
                    f"{size:,} are there"
                )
    except OSError as error:
        raise InputDataError(f"{shown(error.filename or saved.folder)}: cannot be read: {why(error)}") from None


def _splits(saved: Saved, inputs: list[dict[str, Any]]) -> Iterator[Split]:
    """Yield the inputs of a folder, each with its rows; of a job that kept nothing, one without rows."""
    if not inputs:
        yield Split(form=SAVED, name=saved.name, relative=saved.name, data=SavedRows(saved, 0, 0, None))
    begin = 0
    found = Found([path_of(file["path"]) for said in inputs for file in said["files"] or ()])
    for said in inputs:
        end, origin = begin + said["rows"], None
        if said["files"] is not None:
            form = format_named(said["format"])
            places = [_unchanged(saved, found, file) for file in said["files"]]
            (origin,) = form.splits(places, form.Options())
        data = SavedRows(saved, begin, end, origin)
        yield Split(
            form=SAVED, name=said["name"], relative=said["name"], places=() if origin is None else origin.places, data=data
        )
        begin = end


def description_of(split: Split) -> Place:
    """Return the file that describes the folder of some saved documents.

    Raises
    ------
    InputDataError
        If it is gone.
    """
    saved: Saved = split.data.saved
    name = f"{saved.name}/{DESCRIPTION}"
    try:
        return place_of(saved.path(DESCRIPTION), name, name)
    except OSError as error:
        raise InputDataError(f"{name}: cannot be read: {why(error)}") from None


def files_of_saved(splits: Sequence[Any]) -> list[AnyPath]:
    """Return the folders of saved sketches among some inputs, and the files in them."""
    saved: dict[AnyPath, Saved] = {split.data.saved.folder: split.data.saved for split in splits if split.form is SAVED}
    names = ("", DESCRIPTION, SECRET, SIDECAR)
    return [one.path(name) for one in saved.values() for name in (*names, *(name for name, _ in one.files))]


def described_place(place: Place) -> dict[str, Any]:
    """Return what is kept of a file: its name as it was given, where it is, and what tells whether it changed."""
    return {
        "name": place.name, "path": os.fspath(place.path.absolute()), "bytes": place.size, "modified_ns": place.modified_ns,
    }  # fmt: skip


def _unchanged(saved: Saved, found: Found, file: dict[str, Any]) -> Place:
    """Return the file that documents came from, if it is as it was when they were sketched.

    Raises
    ------
    InputDataError
        If it is gone or has changed.
    """
    path = path_of(file["path"])
    needs = f"{saved.name} needs this file: restore it, or save the sketches again"
    try:
        place = found.place(path, path.name, file["name"])
    except OSError as error:
        raise InputDataError(f"{shown(path)}: cannot be read: {why(error)}; {needs}") from None
    if (place.size, place.modified_ns) != (file["bytes"], file["modified_ns"]):
        raise InputDataError(f"{shown(path)}: has changed since it was sketched; {needs}")
    return place
