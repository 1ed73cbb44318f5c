"""What is done with files on a disk and on an object store alike."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .atomic import atomic_file
from .urls import Url, as_url

if TYPE_CHECKING:
    import pyarrow.parquet as pq

AnyPath = Path | Url


def path_of(given: str | os.PathLike[str]) -> AnyPath:
    """Return what is meant by a path: a URL if it is one, otherwise a path from the root, which workers elsewhere find too."""
    return as_url(given) or Path(given).absolute()


def is_inside(path: AnyPath, folder: AnyPath) -> bool:
    """Tell whether a path is that of a folder, or inside of it."""
    if isinstance(path, Url) or isinstance(folder, Url):
        return f"{os.fspath(path).rstrip('/')}/".startswith(f"{os.fspath(folder).rstrip('/')}/")
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def parquet_file(path: AnyPath) -> pq.ParquetFile:
    """Open a Parquet file, of which row groups are read whole."""
    import pyarrow.parquet as pq

    if isinstance(path, Url):
        return pq.ParquetFile(path.open_anywhere(), pre_buffer=True)
    return pq.ParquetFile(path)


def put(path: AnyPath, data: bytes) -> None:
    """Write a small file, which is there whole or not at all."""
    if isinstance(path, Url):
        path.write_bytes(data)
        return
    with atomic_file(path, compress=False) as stream:
        stream.write(data)


@contextmanager
def new_file(path: AnyPath) -> Iterator[Any]:
    """Give a stream into a new file, which is on the disk, or whole on the store, in the end.

    Of one that is not written to its end a part may be left.
    """
    if isinstance(path, Url):
        with path.create() as stream:
            yield stream
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(os.fsencode(path), "wb") as stream:
        yield stream
    with open(path, "rb") as written:
        os.fsync(written.fileno())


def new_folder(path: AnyPath) -> None:
    """Make an empty folder; on a store, where it is there while something is in it, nothing is removed."""
    if not isinstance(path, Url):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True, exist_ok=True)


def files_in(path: AnyPath, ending: str) -> list[AnyPath]:
    """Return the files in a folder, if there is one, whose names have an ending."""
    if isinstance(path, Url):
        return [entry.url for entry in path.entries() if entry.url.name.endswith(ending)]
    return [file for file in path.glob("*") if file.name.endswith(ending)]


def remove_tree(path: AnyPath) -> None:
    """Remove a folder and what is in it, as far as that can be done."""
    if not isinstance(path, Url):
        shutil.rmtree(path, ignore_errors=True)
        return
    for _ in range(2):  # a task that is late may write while others are removed
        try:
            path.filesystem.delete_dir(path.inside)
        except OSError:
            return
