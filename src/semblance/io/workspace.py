"""Where a long job keeps its parts: in memory while they fit, in a folder else or where it is to survive a crash.

A part is a few named arrays, written once. In a folder each is a file of its own (``.array_files``), there whole or not
at all; ``job.json`` says what the job is. A job that was killed finds the parts it had finished.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from zlib import crc32

from numpy.typing import NDArray

from ..errors import IndexFormatError, OutputError, ParameterError
from .array_files import ArrayFile, write_arrays
from .formats import atomic_file

JOB, LOCK, SUFFIX = "job.json", "lock", ".part"
OPEN_FILES = 512  # whose headers are remembered
Arrays = Mapping[str, NDArray[Any]]


def _is_ours(name: str) -> bool:
    """Tell whether a file of a work folder is one that a workspace writes."""
    return name == JOB or name.endswith(SUFFIX) or (name.startswith(".") and name.endswith(".tmp"))


def differences(old: Any, new: Any, name: str = "") -> list[str]:
    """Say in which entries two nested dictionaries differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        return [d for k in keys for d in differences(old.get(k), new.get(k), f"{name}.{k}" if name else str(k))]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [d for i, (a, b) in enumerate(zip(old, new, strict=True)) for d in differences(a, b, f"{name}[{i}]")]
    return [] if old == new else [f"{name} was {old!r:.200}, is {new!r:.200}"]


class Workspace:
    """Named parts of one job.

    Parameters
    ----------
    folder : path, optional
        Where they go, and stay until ``close``; else they stay in memory until ``move_to_disk``.
    job : dict, optional
        What tells this job from another, for a folder that may be resumed.
    resume : bool
        Go on with what the folder holds.

    Raises
    ------
    ParameterError
        If the folder holds a job and ``resume`` is not set, another job, or files of another kind.
    OutputError
        If it cannot be written, or another process works in it.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, job: dict[str, Any] | None = None, resume: bool = False
    ) -> None:
        self._held: dict[str, Arrays] = {}
        self._next: dict[str, int] = {}
        self._file = lru_cache(OPEN_FILES)(ArrayFile)
        self._unlock: weakref.finalize[..., Any] | None = None
        self._remove: weakref.finalize[..., Any] | None = None
        self.folder: Path | None = None
        if folder is not None:
            self._open(Path(folder), json.loads(json.dumps(job or {})), resume)

    def _open(self, folder: Path, job: dict[str, Any], resume: bool) -> None:
        self._made_folder = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            names = [p.name for p in folder.iterdir() if p.name != LOCK]
            if JOB not in names and not all(map(_is_ours, names)):
                raise ParameterError(f"{folder}: holds other files than those of a job; name an empty or a new folder")
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
            self._unlock = weakref.finalize(self, os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(f"{folder}: another process works in this folder") from None
        except OSError as error:
            raise OutputError(f"{folder}: cannot be used as work folder: {error.strerror}") from None
        if JOB in names:
            if not resume:
                raise ParameterError(f"{folder}: holds an unfinished job; pass --resume (resume=True) to go on with it, "
                                     "or name another folder")  # fmt: skip
            changed = differences(self._read_job(folder / JOB), job)
            if changed:
                raise ParameterError(
                    f"{folder}: holds a job with other parameters or inputs: {'; '.join(changed[:5])}; "
                    "run with the old ones, or name another folder"
                )
        for path in folder.iterdir():
            if _is_ours(path.name) and (JOB not in names or path.name.endswith(".tmp")):
                path.unlink()
        self.folder = folder
        if JOB not in names:
            text = json.dumps(job, sort_keys=True)
            with atomic_file(folder / JOB) as stream:
                stream.write(json.dumps({"job": job, "crc32": crc32(text.encode())}).encode())

    @staticmethod
    def _read_job(path: Path) -> dict[str, Any]:
        try:
            held = json.loads(path.read_bytes())
            job: dict[str, Any] = held["job"]
            if crc32(json.dumps(job, sort_keys=True).encode()) == held["crc32"]:
                return job
        except (OSError, ValueError, KeyError, TypeError):
            pass
        raise IndexFormatError(f"{path}: damaged; empty the folder and start again")

    @property
    def on_disk(self) -> bool:
        """Whether parts go to a folder."""
        return self.folder is not None

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{name}{SUFFIX}"

    def move_to_disk(self) -> None:
        """Write what is held in memory to a temporary folder, and all later parts too."""
        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="semblance-"))
            self._made_folder = True
            self._remove = weakref.finalize(self, shutil.rmtree, self.folder, True)
            for name in list(self._held):
                write_arrays(self._path(name), self._held.pop(name))

    def put(self, name: str, arrays: Arrays) -> None:
        """Keep a part.

        Raises
        ------
        OutputError
            If the folder cannot be written to.
        """
        if self.folder is None:
            self._held[name] = arrays
        else:
            write_arrays(self._path(name), arrays)

    def get(self, name: str) -> Arrays:
        """Return a part; what lies in a file is read, and checked, array by array, when it is asked for.

        Raises
        ------
        IndexFormatError
            If the file is missing or damaged.
        """
        return self._held[name] if self.folder is None else self._file(self._path(name))

    def __contains__(self, name: str) -> bool:
        """Tell whether a part is there."""
        return name in self._held if self.folder is None else self._path(name).exists()

    def numbered(self, stem: str) -> list[str]:
        """Return the names ``stem-000000``, ``stem-000001``, ... that are there, up to the first that is not."""
        names: list[str] = []
        while (name := f"{stem}-{len(names):06}") in self:
            names.append(name)
        return names

    def append(self, stem: str, arrays: Arrays) -> None:
        """Keep a part under the next number of its kind."""
        number = self._next[stem] if stem in self._next else len(self.numbered(stem))
        self.put(f"{stem}-{number:06}", arrays)
        self._next[stem] = number + 1

    def discard(self, stem: str) -> None:
        """Remove all parts whose names begin so."""
        self._next.clear()
        for name in [n for n in self._held if n.startswith(stem)]:
            del self._held[name]
        if self.folder is not None:
            self._file.cache_clear()
            for path in self.folder.glob(f"{stem}*{SUFFIX}"):
                path.unlink()

    def close(self) -> None:
        """Remove all parts, and the folder where it was made for them."""
        self._held.clear()
        if self.folder is not None:
            (self.folder / JOB).unlink(missing_ok=True)  # first: without it what remains after a crash is known as waste
            for path in self.folder.iterdir():
                if _is_ours(path.name) or path.name == LOCK:
                    path.unlink()
            if self._unlock is not None:
                self._unlock()
            if self._made_folder:
                with suppress(OSError):  # somebody put something else there
                    os.rmdir(self.folder)
            if self._remove is not None:
                self._remove.detach()
