"""Output folders on object stores, where nothing is renamed: files get their names as they are written, each whole or not.

``SIDECAR``, which lists them, comes last: a folder without it is not complete. Before the first file, ``PLANNED`` says which
there will be, so that the next run knows what one that was killed has left.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import OutputError
from ..wording import plural
from .disk import SIDECAR, files_in
from .names import GivenPath, first_few, show_path
from .places import FoundFile
from .streams import compressed, why
from .urls import Url, check_writable, is_inside, path_of

PLANNED = "_lookalike_unfinished.json"


@contextmanager
def reporting_at(url: Url, what: str = "cannot be written") -> Iterator[None]:
    """Turn a store's refusals into an OutputError that names the output, and says what it is not good for."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{what}: {why(error)}", url) from None


def _inside(folder: Url) -> dict[str, int]:
    """Return the files below a folder, by name, and their sizes."""
    found = (entry for entry in folder.entries(recursive=True) if not entry.is_folder)
    return {entry.url.key.removeprefix(f"{folder.key}/"): entry.status.st_size for entry in found}


def _known(names: Collection[str], listed: Collection[str]) -> set[str]:
    """Return those of some names that a list has: files, and all that is inside of folders, which end with a slash."""
    folders = tuple(name for name in listed if name.endswith("/"))
    return {name for name in names if name in listed or name.startswith(folders)}


def check_output(folder: Url, force: bool, last: str = SIDECAR) -> None:
    """Check that an output folder may be written: it is not there, or only what earlier runs wrote is in it."""
    check_writable(folder)
    with reporting_at(folder):
        entry = folder.entry()
        if entry is not None and not entry.is_folder:
            raise OutputError(" means a folder, but a file of that name exists", folder)
        names = set(_inside(folder))
        whole, begun = files_in(folder / SIDECAR), files_in(folder / PLANNED)
        foreign = sorted(names - _known(names, {SIDECAR, PLANNED, *(whole or []), *(begun or [])}))
        if foreign:
            raise OutputError(
                f" contains {plural(len(foreign), 'file')} that no earlier run wrote "
                f"({first_few(foreign)}): move them, or choose another name",
                folder,
            )
        if (last in names or (SIDECAR in names and PLANNED not in names)) and not force:
            raise OutputError(" exists; pass --force (force=True) to replace it, or choose another name", folder)


def check_apart(output: Url, places: Sequence[FoundFile], also: Sequence[GivenPath] = ()) -> None:
    """Check that an output folder meets no input and no other output."""
    for other in also:
        path = path_of(other)
        if is_inside(path, output) or is_inside(output, path):
            raise OutputError(f" and the output {show_path(output)} overlap; choose another name for one of them", other)
    for root in dict.fromkeys(place.root for place in places if isinstance(place.root, Url)):
        if is_inside(output, root):
            raise OutputError(
                f" is inside the input folder {show_path(root)}, which the next run would read; name a folder outside it",
                output,
            )
    for place in places:
        if is_inside(place.path, output):
            raise OutputError(f" is replaced as a whole, but contains the input {place.name}; name another folder", output)


def prepare(folder: Url, files: Sequence[str], last: str = SIDECAR) -> None:
    """Remove what earlier runs wrote into a folder, first the file that says that it is whole; say which will be written."""
    with reporting_at(folder):
        gone = {*(files_in(folder / SIDECAR) or []), *(files_in(folder / PLANNED) or [])}
        (folder / PLANNED).write_bytes(json.dumps({"files": sorted({*gone, *files})}).encode())
        for name in dict.fromkeys((last, SIDECAR)):
            (folder / name).unlink(missing_ok=True)
        there = _known(set(_inside(folder)), gone)  # a list may lack what was written just now
        for name in sorted(there | {name for name in gone if not name.endswith("/")}):
            (folder / name).unlink(missing_ok=True)


def upload(file: Path, url: Url) -> None:
    """Copy a file from the disk to a store, where it is whole or not at all."""
    with reporting_at(url):
        url.upload(file)


class OutputObjects:
    """A folder on a store that is being written, and the files in it."""

    def __init__(self, path: Url) -> None:
        self.path = path
        self.files: list[str] = []
        self._inside = ""
        self._taken: dict[str, int] = {}

    @contextmanager
    def file(self, name: str, *, compress: bool = True) -> Iterator[Any]:
        """Open a new file, which is there, whole, after the last line; compression is that of ``OutputFolder``."""
        path, packed = self.path / name, Path(name) if compress else None
        with reporting_at(path), path.create() as raw, compressed(raw, packed) as stream:
            yield stream
        self.files.append(name)

    def apart(self, folder: str, name: str) -> str:
        """Return the name of a file inside a folder that is hidden."""
        return f"{folder}/{name}"

    @contextmanager
    def tasks(self, inside: str = "") -> Iterator[Url]:
        """Give a folder inside this one, or this one itself, where what tasks write stays; check in the end what was taken."""
        self._inside = inside
        yield self.path / inside
        with reporting_at(self.path):
            found = _inside(self.path / inside)
            sizes = {f"{inside}/{name}" if inside else name: n_bytes for name, n_bytes in found.items()}
            for name, n_bytes in self._taken.items():
                entry = None if sizes.get(name) == n_bytes else (self.path / name).entry()  # a list may lack what is new
                size = n_bytes if sizes.get(name) == n_bytes else entry and entry.status.st_size
                if size != n_bytes:
                    there = "none" if size is None else f"{size:,}"
                    raise OutputError(f"{n_bytes:,} bytes were written, but {there} are there; write again", self.path / name)
            for name in sorted(sizes.keys() - self._taken.keys()) if inside else ():
                (self.path / name).unlink(missing_ok=True)
        self.files += sorted(self._taken)
        if inside:
            self.files.append(f"{inside}/")  # all of it is ours, also what a task that is late may still write

    def take(self, written: str, name: str, n_bytes: int) -> str:
        """Take a file that a task wrote, which keeps its name."""
        name = f"{self._inside}/{written}" if self._inside else written
        self._taken[name] = n_bytes
        return name


@contextmanager
def new_folder(path: Url, names: Sequence[str], last: str) -> Iterator[OutputObjects]:
    """Give a folder to write into, in place of what an earlier run wrote there."""
    prepare(path, [*names, last], last)
    yield OutputObjects(path)
    with reporting_at(path):
        (path / PLANNED).unlink(missing_ok=True)
