"""Folders on object stores, of whose files one is written last, which says that the others are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import OutputError
from .names import shown
from .outputs_at import PLANNED, prepare, reporting_at
from .urls import Url


class NewFolderAt:
    """A folder on a store that is being written, and the files in it."""

    def __init__(self, path: Url) -> None:
        self.path = path
        self.files: list[str] = []

    @contextmanager
    def file(self, name: str) -> Iterator[Any]:
        """Open a new file, which is there, whole, after the last line."""
        with reporting_at(self.path / name), (self.path / name).create() as stream:
            yield stream
        self.files.append(name)

    def take(self, inside: str, sizes: Mapping[str, int]) -> None:
        """Take files into the folder that tasks wrote into one inside it, and remove what is there beside them."""
        with reporting_at(self.path):
            for entry in (self.path / inside).entries():
                name = f"{inside}/{entry.url.name}"
                if entry.status.st_size == sizes.get(name) and not entry.is_folder:
                    self.files.append(name)
                elif name not in sizes and not entry.is_folder:
                    entry.url.unlink(missing_ok=True)
            for name in sorted({*sizes} - {*self.files}):
                raise OutputError(
                    f"{shown(self.path / name)}: {sizes[name]:,} bytes were written, and are not there; write again"
                )
        self.files.append(f"{inside}/")  # all of it is ours, also what a task that is late may still write


@contextmanager
def folder_at(path: Url, names: Sequence[str], last: str) -> Iterator[NewFolderAt]:
    """Give a folder to write into, in place of what an earlier run wrote there."""
    prepare(path, [*names, last], last)
    yield NewFolderAt(path)
    with reporting_at(path):
        (path / PLANNED).unlink(missing_ok=True)
