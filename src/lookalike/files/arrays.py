"""Files of named arrays, in the one layout of sections (``.layout``).

``ArrayFile`` is one section that was written whole; its arrays are read, or mapped, one at a time. ``GrowingFile`` has a
section for each addition; one process adds at a time. Its first has no arrays: its ``meta`` says what the file holds.

A section is valid once its head is written, after its data have reached the disk. A head of zeros with no other head behind it
belongs to an addition that was cut off; it does not count, and the next addition takes its place.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import OutputError
from .atomic import atomic_file, sync_folder
from .layout import (
    ALIGN,
    ARRAYS,
    HEAD_SIZE,
    ChunkedArray,
    FileType,
    Section,
    find_magic,
    open_regular,
    read_pieces,
    read_section,
    write_section,
)

_BLOCK = 1 << 20


def write_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any] | ChunkedArray], meta: dict[str, Any] | None = None, *,
    kind: FileType = ARRAYS, replace: bool = True,
) -> None:  # fmt: skip
    """Write arrays to a file that gets its name only when all is on the disk: see ``atomic_file``."""
    with atomic_file(path, compress=False, replace=replace) as stream:
        write_section(stream.fileno(), 0, kind, arrays, meta or {}, sync=False)


class ArrayFile(Mapping[str, NDArray[Any]]):
    """The arrays of one file; each is read, and compared with its checksum, when it is asked for."""

    def __init__(self, path: Path, kind: FileType = ARRAYS) -> None:
        self.path = path
        self._kind = kind
        with open_regular(path, kind) as stream:
            self.size = os.fstat(stream.fileno()).st_size
            self._section = read_section(stream, path, kind)
        if (end := self._section.end) != self.size:
            raise kind.error(f"{path}: {'cut short' if self.size < end else 'damaged'}: {self.size:,} bytes, not {end:,}")
        self._entries = self._section.entries
        self.meta = self._section.meta

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        """Tell whether there is an array of that name, without reading it."""
        return name in self._entries

    def __getitem__(self, name: str) -> NDArray[Any]:
        most = max(1, self._entries[name].n_rows)
        with open_regular(self.path, self._kind) as stream:
            return next(read_pieces(stream, self.path, self._kind, self._section, name, most))

    def hold(self) -> None:
        """Map the file, so that it can be read even when its name is gone."""
        with open_regular(self.path, self._kind) as stream:
            if os.fstat(stream.fileno()).st_size != self.size:
                raise self._kind.error(f"{self.path}: changed while it was opened")
            self._mapping = mmap.mmap(stream.fileno(), self.size, access=mmap.ACCESS_READ)
            self._whole = np.frombuffer(self._mapping, np.uint8)

    def let_go(self) -> None:
        """Take the pages of a file that is held out of this process; they come again when they are touched."""
        if hasattr(mmap, "MADV_DONTNEED"):  # not where the system has no such advice
            self._mapping.madvise(mmap.MADV_DONTNEED)

    def map(self, name: str) -> NDArray[Any]:
        """Return one array of a file that is held without reading it: its pages come when they are touched, unchecked."""
        return self._entries[name].view(self._whole)

    def map_stack(self, names: list[str]) -> NDArray[Any]:
        """Return arrays of one length and dtype, each as far from the next, as the rows of one; as ``map`` does."""
        dtype, shape, first, _, _ = self._entries[names[0]]
        stride = self._entries[names[1]].begin - first if len(names) > 1 else 0
        return np.ndarray((len(names), *shape), dtype, self._whole.data, first, (stride, dtype.itemsize))

    def described(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Return dtype and shape of an array, as the header says: ("", ()) if there is none of that name."""
        entry = self._entries.get(name)
        return ("", ()) if entry is None else (entry.dtype.str, entry.shape)

    def check(self) -> None:
        """Read every array, a block at a time."""
        with open_regular(self.path, self._kind) as stream:
            for name, entry in self._entries.items():
                most = max(1, _BLOCK * entry.n_rows // max(1, entry.nbytes))
                for _ in read_pieces(stream, self.path, self._kind, self._section, name, most):
                    pass


Sections = tuple[Section, ...]


class GrowingFile:
    """The sections of one file, which the first addition makes; ``accepts`` (first section, each one) checks what they hold."""

    def __init__(self, path: Path, kind: FileType, accepts: Callable[[Section, Section], bool]) -> None:
        self.path = path
        self.kind = kind
        self._accepts = accepts
        self._turn = threading.Lock()
        self.sections: Sections = ()  # replaced, never changed: a reader goes on with what it took
        try:
            os.stat(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise kind.error(f"{path}: cannot be read: {error.strerror}") from None
        with open_regular(path, kind) as stream:
            self._scan(stream)

    def _scan(self, stream: BinaryIO) -> None:
        """Read the heads of all sections that were added to the end."""
        size, file = os.fstat(stream.fileno()).st_size, stream.fileno()
        if not size:
            raise self.kind.error(
                f"{self.path}: an empty file: another process may be making it, so try again; if it stays empty, remove it"
            )
        found = self._known(stream)
        n_known, end = len(found), found[-1].end if found else 0
        while end < size:
            try:
                section = read_section(stream, self.path, self.kind, end)
            except self.kind.error:
                if found and not any(os.pread(file, HEAD_SIZE, end)):
                    self._check_tail(stream, end)
                    break
                section = read_section(stream, self.path, self.kind, end)  # its head may just have been written
            found.append(section)
            end = section.end
        size = os.fstat(file).st_size  # another process may have added to it
        for section in found[n_known:]:
            if section.end > size:
                raise self.kind.error(f"{self.path}: cut short: the section at byte {section.begin:,} is not whole")
            if not self._accepts(found[0], section):
                raise self.kind.error(f"{self.path}: damaged: no {self.kind.name} are described at byte {section.begin:,}")
        self.sections = tuple(found)

    def _known(self, stream: BinaryIO) -> list[Section]:
        """Return the sections that were read before, if the file still begins and ends with them."""
        with suppress(self.kind.error):
            if all(read_section(stream, self.path, self.kind, s.begin) == s for s in (*self.sections[:1], *self.sections[-1:])):
                return list(self.sections)
        return []

    def _check_tail(self, stream: BinaryIO, end: int) -> None:
        """Check that a head of zeros is that of the last addition: behind a damaged one there can be the heads of others."""
        for place in find_magic(stream, end, self.kind.magic):
            with suppress(self.kind.error):
                if place % ALIGN == 0 and read_section(stream, self.path, self.kind, place):
                    break
        else:
            return
        if not any(os.pread(stream.fileno(), HEAD_SIZE, end)):  # else it has just been written
            raise self.kind.error(f"{self.path}: damaged: the head of the section at byte {end:,} is lost, others follow")

    def append(
        self, arrays: Mapping[str, NDArray[Any]], meta: dict[str, Any], fits: Callable[[dict[str, Any]], None]
    ) -> Sections:
        """Add a section; it counts once it is on the disk. Return all sections up to it."""
        with self._turn:
            try:
                return self._append(arrays, meta, fits)
            except BlockingIOError:
                raise OutputError("another process is appending to it; wait until it is done", self.path) from None
            except OSError as error:
                if isinstance(error, OutputError):
                    raise
                raise OutputError(f"cannot be written: {error.strerror}; the batch was not added", self.path) from None

    def _append(
        self, arrays: Mapping[str, NDArray[Any]], meta: dict[str, Any], fits: Callable[[dict[str, Any]], None]
    ) -> Sections:
        try:
            file, made = os.open(self.path, os.O_RDWR | os.O_NONBLOCK), False
        except FileNotFoundError:
            file, made = os.open(self.path, os.O_RDWR | os.O_NONBLOCK | os.O_CREAT, 0o666), True
        with os.fdopen(file, "r+b", buffering=0) as stream:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OutputError("not a regular file", self.path)
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not (self.path.exists() and os.path.samestat(os.fstat(file), os.stat(self.path))):
                raise OutputError("the file was removed or replaced while it was opened; try again", self.path)
            made = made and not os.fstat(file).st_size
            before = self.sections
            try:
                if made:
                    self.sections = (write_section(file, 0, self.kind, {}, meta, sync=False),)
                else:  # others may have appended since
                    self._scan(stream)
                fits(self.sections[0].meta)
                section = self._write(file, self.sections[-1].end, arrays)
            except BaseException:
                if made:
                    self.path.unlink(missing_ok=True)
                    self.sections = before
                raise
            self.sections = (*self.sections, section)
            return self.sections

    def _write(self, file: int, end: int, arrays: Mapping[str, NDArray[Any]]) -> Section:
        """Write a section where the last one ends, over what an addition that was cut off left there."""
        os.ftruncate(file, end)
        try:
            section = write_section(file, end, self.kind, arrays, {}, sync=True)
            if len(self.sections) == 1:
                sync_folder(self.path.absolute().parent)
        except OSError as error:
            try:
                os.ftruncate(file, end)
            except OSError:
                raise OutputError(
                    f"cannot be written: {error.strerror}; it cannot be truncated either, so the batch might be there "
                    f"when the file is opened again",
                    self.path,
                ) from None
            raise
        return section
