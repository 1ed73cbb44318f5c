"""Files of one section (``.layout``): named arrays that are written whole, and read or mapped one at a time."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .atomic import atomic_file
from .layout import ARRAYS, Kind, Streamed, open_regular, read_pieces, read_section, write_section

_BLOCK = 1 << 20


def write_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any] | Streamed], meta: dict[str, Any] | None = None, *, kind: Kind = ARRAYS,
    replace: bool = True,
) -> None:  # fmt: skip
    """Write arrays to a file that gets its name only when all is on the disk: see ``atomic_file``."""
    with atomic_file(path, compress=False, replace=replace) as stream:
        write_section(stream.fileno(), 0, kind, arrays, meta or {}, sync=False)


class ArrayFile(Mapping[str, NDArray[Any]]):
    """The arrays of one file; each is read, and compared with its checksum, when it is asked for."""

    def __init__(self, path: Path, kind: Kind = ARRAYS) -> None:
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
        """Go through the names."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of arrays."""
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        """Tell whether there is an array of that name, without reading it."""
        return name in self._entries

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Read one array."""
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
