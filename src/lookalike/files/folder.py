"""A folder on a disk or on an object store: here alone it is known how the two differ.

On a disk an output is written beside its place and renamed when it is whole; a store renames nothing: see ``.store``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import disk, store
from .atomic import atomic_file
from .disk import SIDECAR, OutputFolder
from .names import GivenPath
from .places import FoundFile
from .store import reporting_at
from .streams import arrow_file
from .urls import AnyPath, Url, as_url

if TYPE_CHECKING:
    import pyarrow.parquet as pq


class Disk:
    """A folder on a disk, which may not be there."""

    def __init__(self, given: GivenPath) -> None:
        self._given, self.path = os.fspath(given), Path(given)

    def exists(self) -> bool:
        return self.path.is_dir()

    def sizes(self, names: Sequence[str]) -> Iterator[int]:
        """Yield the bytes of files in it, all of which must be there."""
        for name in names:
            status = (self.path / name).stat()
            if not stat.S_ISREG(status.st_mode):
                raise OSError(0, "not a file", os.fspath(self.path / name))
            yield status.st_size

    def files(self, ending: str = "") -> list[AnyPath]:
        """Return the files in it, if it is there, whose names have an ending."""
        return [file for file in self.path.glob("*") if file.name.endswith(ending)]

    def clear(self) -> None:
        """Make it an empty folder."""
        self.remove()
        self.path.mkdir(parents=True, exist_ok=True)

    def remove(self) -> None:
        import shutil  # here, for what is not needed to start

        shutil.rmtree(self.path, ignore_errors=True)

    def check(self, force: bool, *, last: str = SIDECAR, suffixes: Collection[str] = ()) -> Disk:
        """Return where an output is to be written, links followed, if it may be."""
        return Disk(disk.check_output(self._given, force, single=False, suffixes=suffixes))

    def check_apart(self, places: Sequence[FoundFile], also: Sequence[GivenPath] = ()) -> None:
        """Check by device and number, whatever the names."""
        disk.check_apart(self._given, places, also, single=False)

    def publish(self, names: Sequence[str], *, replace: bool, last: str = SIDECAR) -> AbstractContextManager[OutputFolder]:
        """Give a folder to write files of these names into: beside it, and renamed in the end."""
        return disk.atomic_directory(self.path, replace=replace)

    @contextmanager
    def attempt(self, name: str) -> Iterator[OutputFolder]:
        """Give an attempt of a task a folder of its own inside that of tasks, from which the driver takes files."""
        (self.path / name).mkdir()
        yield OutputFolder(self.path / name, inside=name)


class Store:
    """A folder on an object store, where it is there while something is in it."""

    def __init__(self, url: Url) -> None:
        self.path = url

    def exists(self) -> bool:
        """Tell whether there is anything in it."""
        with reporting_at(self.path):
            entry = self.path.entry()
        return entry is not None and entry.is_folder

    def sizes(self, names: Sequence[str]) -> Iterator[int]:
        """Yield the bytes of files, which are asked for together."""
        known = {entry.url: entry.status for entry in self.path.entries(recursive=True) if not entry.is_folder}
        for name in names:
            yield (known.get(self.path / name) or (self.path / name).stat()).st_size

    def files(self, ending: str = "") -> list[AnyPath]:
        return [entry.url for entry in self.path.entries() if entry.url.name.endswith(ending)]

    def clear(self) -> None:
        """Do nothing: another driver may be writing there."""

    def remove(self) -> None:
        """Remove it, twice: a task that is late may write while others are removed."""
        for _ in range(2):
            try:
                self.path.filesystem.delete_dir(self.path.inside)
            except OSError:
                return

    def check(self, force: bool, *, last: str = SIDECAR, suffixes: Collection[str] = ()) -> Store:
        """Check whose files are there; ``last`` says that all of an output is."""
        store.check_output(self.path, force, last)
        return self

    def check_apart(self, places: Sequence[FoundFile], also: Sequence[GivenPath] = ()) -> None:
        """Check by names."""
        store.check_apart(self.path, places, also)

    def publish(
        self, names: Sequence[str], *, replace: bool, last: str = SIDECAR
    ) -> AbstractContextManager[store.OutputObjects]:
        """Give a folder to write files into, where they stay."""
        return store.new_folder(self.path, names, last)

    @contextmanager
    def attempt(self, name: str) -> Iterator[OutputFolder]:
        """Give a temporary folder, and copy what is whole: attempts of a task write the same under the same names."""
        import tempfile  # here, for what is not needed to start

        with tempfile.TemporaryDirectory(prefix="lookalike-") as made:
            folder = OutputFolder(Path(made))
            yield folder
            for file in folder.files:
                store.upload(folder.path / file, self.path / file)


Folder = Disk | Store
UnfinishedFolder = OutputFolder | store.OutputObjects
"""A folder that is being written."""


def folder_of(given: GivenPath) -> Folder:
    url = as_url(given)
    return Disk(given) if url is None else Store(url)


def parquet_file(path: AnyPath, *, checked: bool = False) -> pq.ParquetFile:
    """Open a Parquet file, of which row groups are read whole, their pages ``checked`` as they are read."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(arrow_file(path), pre_buffer=isinstance(path, Url), page_checksum_verification=checked)


def create(path: AnyPath) -> AbstractContextManager[Any]:
    """Give a stream into a new file, which is there whole or not at all."""
    return path.create() if isinstance(path, Url) else atomic_file(path, compress=False)


def put(path: AnyPath, data: bytes) -> None:
    """Write a small file, which is there whole or not at all."""
    with create(path) as stream:
        stream.write(data)
