"""Saved sketches on object stores: which folders there are, and what the store says of the files that they rest on."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

from ..errors import InputDataError
from ..files.disk import SIDECAR
from ..files.folder import AnyPath
from ..files.inputs import NO_DEVICE, Place, asked, entries_in, place_of
from ..files.names import shown, suffix_of
from ..files.secrets import SECRET
from ..files.store import PLANNED
from ..files.urls import Status, Url
from ..formats.registry import formats_by_suffix

DESCRIPTION = "sketches.json"
ROWS = "_sketches"
"""The folder, inside that of sketches on a store, of the files with rows; it is hidden, so that none is taken for documents."""
_UNFINISHED = {PLANNED, SECRET, SIDECAR, ROWS}
_LISTED = 8  # files of one folder that are not asked for one by one


def folders_at(url: Url) -> list[Url]:
    """Return the folders of saved sketches that a URL means: itself, or those in it, by name.

    A folder in it that is being written, or that a run left unfinished, is passed over.
    """
    described = asked(url, (url / DESCRIPTION).entry)
    if described is not None and not described.is_folder:
        return [url]
    return [] if suffix_of(url.name, formats_by_suffix()) else _inside(url)  # of many files each costs one request, not two


def _inside(folder: Url) -> list[Url]:
    """Return the folders of saved sketches in a folder."""
    names: dict[str, set[str]] = {}
    for entry in entries_in(folder, recursive=True):
        if not entry.is_folder:
            first, _, rest = entry.url.key.removeprefix(f"{folder.key}/").partition("/")
            names.setdefault(first, set()).add(rest)
    found = [name for name, held in names.items() if DESCRIPTION in held]
    others = [
        name for name, held in names.items()
        if not name.startswith(".") and name not in found and not _is_unfinished(held)
    ]  # fmt: skip
    if found and others:
        raise mixed(folder, found[0], others[0])
    return [folder / name for name in sorted(found)]


def _is_unfinished(names: set[str]) -> bool:
    """Tell whether a folder is one of sketches that is not whole."""
    return PLANNED in names and {name.partition("/")[0] for name in names} <= _UNFINISHED


def mixed(folder: AnyPath, found: str, other: str) -> InputDataError:
    """The error for a folder that holds saved sketches and something else."""
    return InputDataError(
        f"{shown(folder)} holds saved sketches ({shown(found)}) and something else ({shown(other)}): "
        "name the folders of sketches one by one, or move the rest"
    )


def sizes_in(folder: AnyPath, names: Sequence[str]) -> Iterator[int]:
    """Yield the sizes of files in a folder."""
    if not isinstance(folder, Url):
        for name in names:
            status = (folder / name).stat()
            if not stat.S_ISREG(status.st_mode):
                raise OSError(0, "not a file", os.fspath(folder / name))
            yield status.st_size
        return
    known = {entry.url: entry.status for entry in folder.entries(recursive=True) if not entry.is_folder}
    for name in names:
        yield (known.get(folder / name) or (folder / name).stat()).st_size


class Found:
    """Files that sketches rest on, looked up; those in one folder of a store are asked for together.

    Parameters
    ----------
    paths : sequence of Path or Url
        All that will be asked for.
    """

    def __init__(self, paths: Sequence[AnyPath]) -> None:
        folders: dict[Url, int] = {}
        for path in paths:
            if isinstance(path, Url):
                folders[path.parent] = folders.get(path.parent, 0) + 1
        self._known: dict[Url, Status] = {}
        for folder, n in folders.items():
            if n >= _LISTED:
                self._known |= {entry.url: entry.status for entry in entries_in(folder) if not entry.is_folder}

    def place(self, path: AnyPath, relative: str, name: str) -> Place:
        """Return a file as an input has it."""
        if isinstance(path, Url) and (status := self._known.get(path)) is not None:
            return Place(path, relative, name, None, False, *status, NO_DEVICE, path.number)
        return place_of(path, relative, name)
