"""Files that are read: where they are and what they were when they were met; digests of them, and accounts kept beside them."""

from __future__ import annotations

import os
import stat
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, NamedTuple

from ..errors import OutputError
from .names import Skipped, is_marker
from .streams import BLOCK, Spool, asking, open_stream
from .urls import AnyPath, Status, Url

_ROOM = 64 << 20  # bytes of a disk that are left to others
_EXPANSION, _SMALL = 1000, 1 << 30  # an archive may become so many times as large, and so many bytes more
NO_DEVICE = -1
"""In place of the device that a file is on."""


class Unpacked:
    """A folder of temporary copies of what an archive holds; it is removed when nobody needs it any more."""

    def __init__(self, name: str, size: int, modified_ns: int) -> None:
        self._name, self._modified_ns = name, modified_ns
        self._left = _EXPANSION * size + _SMALL
        import shutil  # here, for what is not needed to start
        import tempfile

        try:
            self.path = Path(tempfile.mkdtemp(prefix="lookalike-"))
        except OSError as error:
            raise self._no_room(error.strerror or str(error)) from None
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def _no_room(self, reason: str) -> OutputError:
        return OutputError(
            f" cannot be unpacked into a temporary folder: {reason}; name a folder with room for it in TMPDIR", self._name
        )

    def copy(self, stream: IO[bytes], size: int, name: str) -> Path:
        """Copy a member of so many bytes to a file of that name, which has the archive's time of change."""
        import shutil  # here, for what is not needed to start

        path = self.path / name
        self._left -= size
        if self._left < 0:
            raise ValueError(f"it would become more than {_EXPANSION:,} times as large")
        try:
            if size > shutil.disk_usage(self.path).free - _ROOM:
                raise self._no_room(f"a file in it has {size:,} bytes, for which there is no room")
            with open(path, "wb") as copy:
                while block := stream.read(BLOCK):
                    copy.write(block)
        except OSError as error:
            if error.errno is None:  # what is read is damaged
                raise
            raise self._no_room(error.strerror or str(error)) from None
        os.utime(path, ns=(self._modified_ns, self._modified_ns))
        return path


class FoundFile(NamedTuple):
    """A file to read, and what it was when it was met."""

    path: AnyPath
    relative: str  # its name in output folders
    name: str  # in messages and ids
    root: AnyPath | None  # the folder it was found in
    found: bool  # by a folder or glob
    size: int
    modified_ns: int
    device: int
    inode: int
    spool: Spool | None = None  # the temporary copy of what can be read only once
    unpacked: Unpacked | None = None  # the temporary copies of what an archive holds, of which this is one
    table: str = ""  # what kind of table this folder is: "delta", "iceberg", or "iceberg:" and what describes it

    @property
    def is_temporary(self) -> bool:
        """Whether no later job, or other machine, can read it."""
        return self.spool is not None or self.unpacked is not None

    def names(self) -> Iterator[Path]:
        """Yield the path, or the archive's, and where it leads to if it is a symbolic link; none of what is on no disk."""
        path = self.path if self.unpacked is None else self.root
        if self.spool is None and isinstance(path, Path):
            yield path
            if path.is_symlink():
                yield Path(os.path.realpath(path))


def place_of(path: AnyPath, relative: str, name: str) -> FoundFile:
    """Return a file as an input has it."""
    status = path.stat()
    if isinstance(status, os.stat_result) and not stat.S_ISREG(status.st_mode):
        raise OSError(0, "not a file")
    return place_at(path, relative, name, status)


def place_at(
    path: AnyPath, relative: str, name: str, status: os.stat_result | Status, root: AnyPath | None = None, found: bool = False
) -> FoundFile:
    """Return what has a status as an input has it."""
    where = (status.st_dev, status.st_ino) if isinstance(status, os.stat_result) else number_of(path)
    return FoundFile(path, relative, name, root, found, status.st_size, status.st_mtime_ns, *where)


def number_of(path: AnyPath) -> tuple[int, int]:
    """Return what tells a file or folder from others, whatever it is called."""
    if isinstance(path, Url):
        return NO_DEVICE, path.number
    status = path.stat()
    return status.st_dev, status.st_ino


def digest_of(places: Sequence[FoundFile]) -> str | None:
    """Return the SHA-256 digest of a file; of several files, that of what ``sha256sum`` prints of them; None of no file."""
    from hashlib import file_digest, sha256  # here, for what is not needed to start

    lines = []
    for place in places:
        with asking(place.name), open_stream(place.path) as stream:
            digest = file_digest(stream, "sha256").hexdigest()
        if len(places) == 1:
            return digest
        lines.append(f"{digest}  {place.name}\n")
    return sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest() if lines else None


def without_sidecars(places: list[FoundFile], skipped: Skipped) -> list[FoundFile]:
    """Leave out, and count, accounts beside outputs, and what describes, or repeats, data sets of Hugging Face.

    ``*.json`` of the shell names them too. ``holding``: folders of ``.arrow`` files; ``saved``: of what describes some.
    """
    holding = {_seen_at(place).parent for place in places if place.relative.endswith(".arrow")}
    saved = {_seen_at(place).parent for place in places if _seen_at(place).name in ("state.json", "dataset_info.json")}
    found = []
    for place in places:
        path = _seen_at(place)
        name = path.name
        described = (
            (name in ("state.json", "dataset_info.json") and path.parent in holding)
            or (name == "dataset_dict.json" and any(one.parent == path.parent for one in holding))
            or (name.startswith("cache-") and name.endswith(".arrow") and path.parent in saved)
        )  # of map and filter: copies of the data
        if place.spool is None and (described or is_marker(name)):
            skipped.add("marker", place.name)
        else:
            found.append(place)
    return found


def _seen_at(place: FoundFile) -> PurePath | Url:
    return place.path if place.unpacked is None else PurePosixPath(place.name)
