"""Where a long job keeps its parts: in memory while they fit; otherwise, or to survive a crash, in a folder.

A part is a few named arrays, written once. In a folder each is a file of its own (``.arrays``), there whole or not at all, that
names its job; ``job.json`` identifies that. A job that was killed finds what it had finished; files of others are left alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError, LookalikeError, OutputError
from .arrays import ArrayFile, write_arrays
from .atomic import atomic_file, make_folders, reporting, sync_folder
from .job import FINISHED, JOB, StoreWorkspace, check_same, damaged, encoded_job, job_in, no_job
from .layout import ChunkedArray
from .names import GivenPath, show_path
from .publication import Publication, recover
from .secrets import SECRET, known_secret, new_secret, read_secret, token_of, write_secret
from .urls import AnyPath, Url, as_url

LOCK, SUFFIX = "lock", ".part"
OUTPUTS = "outputs"  # the part that says which outputs are complete
OPEN_FILES = 512  # whose headers are remembered
_TEMPORARY = re.compile(r"\.(job\.json|secret|[a-z0-9.-]+\.part)\.[0-9a-f]{8}-[0-9a-f]{8}\.tmp")
Arrays = Mapping[str, NDArray[Any]]
Given = Mapping[str, NDArray[Any] | ChunkedArray]


def unfinished_job(folder: Path) -> dict[str, Any] | None:
    """Return what distinguishes the unfinished job that a folder holds; None if there is none that can be read."""
    try:
        job: dict[str, Any] = Workspace.read_job(folder / JOB)["job"]
    except IndexFormatError:
        return None
    return job


def written_before(
    folder: GivenPath, outputs: Iterable[str | None], trusted: Sequence[AnyPath] = ()
) -> list[str]:  # fmt: skip
    """Return those of some outputs that the job of a folder wrote that was killed, and that are as they were then.

    One that was about to appear when the job was killed appears first.
    """
    job = Path(folder) / JOB
    if os.path.exists(job):
        Workspace(folder, trusted=trusted).leave()
    try:
        token = Workspace.read_job(job if os.path.exists(job) else Path(folder) / FINISHED)["token"]
        part = ArrayFile(Path(folder) / f"{OUTPUTS}{SUFFIX}")
        known = json.loads(part["known"].tobytes()) if part.meta == {"job": token} else {}
        given = {one: _state(one) for one in outputs if one is not None}
        return [one for one, state in given.items() if state and known.get(os.path.realpath(one)) == state]
    except (OSError, ValueError, KeyError, AttributeError, RecursionError):  # damaged, or there is none
        return []


def _state(path: GivenPath) -> list[int]:
    """Return what tells a file or folder from one that replaces it; nothing if there is none."""
    with suppress(OSError):
        status = os.stat(path)
        return [status.st_dev, status.st_ino, status.st_mtime_ns]
    return []


class Workspace:
    """Named parts of a job: in a folder until ``close``, or in memory until ``move_to_disk``; ``job`` tells it from others."""

    def __init__(
        self,
        folder: GivenPath | None = None,
        job: dict[str, Any] | None = None,
        trusted: Sequence[AnyPath] = (),
    ) -> None:
        self._held: dict[str, Arrays] = {}
        self._next: dict[str, int] = {}
        self._file = lru_cache(OPEN_FILES)(ArrayFile)
        self._unlock: weakref.finalize[..., Any] | None = None
        self._remove: weakref.finalize[..., Any] | None = None
        self._written: set[str] = set()
        self._closed = False
        self.secret = new_secret()
        """Known to this job alone, and kept while it can be resumed."""
        self._token = token_of(self.secret)
        self.folder: Path | None = None
        if folder is not None:
            self._open(Path(folder), json.loads(json.dumps(job)))
            with self.left_on_error():
                recover(Path(folder), trusted)

    def _open(self, folder: Path, job: dict[str, Any] | None) -> None:
        name = show_path(folder)
        try:
            self._made_folder = not folder.exists()
            make_folders(folder)
            self._names(folder)
            self._lock(folder)
            names = self._names(folder)  # again: another process may have ended its job since
        except LookalikeError:
            raise
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OutputError(f"cannot be used as work folder: {reason}", name) from None
        finished = FINISHED in names and JOB not in names
        held = self.read_job(folder / (FINISHED if finished else JOB)) if names else None
        for left in filter(_TEMPORARY.fullmatch, os.listdir(folder)):  # nobody writes it: the lock is held
            with suppress(OSError):
                (folder / left).unlink()
        if held is not None:
            self._token = held["token"]
            self._written = {part for part in names if part.endswith(SUFFIX) and self._is_ours(folder / part)}
            if finished:  # and killed before all of it was removed
                self.folder = folder
                self._remove_parts()
                held, self._token = None, token_of(self.secret)
        if held is not None:
            if job is not None:
                check_same(name, held["job"], job)
            self.secret = known_secret(folder, self._token)
        self.folder = folder
        if held is None:
            write_secret(folder, self.secret)
            with atomic_file(folder / JOB) as stream:
                stream.write(encoded_job(job, self._token))

    @staticmethod
    def _names(folder: Path) -> list[str]:
        """Return what a folder holds beside the lock, if it is empty or has a job."""
        names = [name for name in os.listdir(folder) if name != LOCK and not _TEMPORARY.fullmatch(name)]
        if SECRET in names and (JOB in names or FINISHED in names or read_secret(folder) is not None):
            names.remove(SECRET)
        if names and JOB not in names and FINISHED not in names:
            raise no_job(folder, names)
        return names

    def _lock(self, folder: Path) -> None:
        """Lock a folder against other processes."""
        path = folder / LOCK
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        self._unlock = weakref.finalize(self, os.close, lock)
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            raise OutputError("not a file; name another work folder", path)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = os.path.samestat(os.fstat(lock), os.stat(path))
        except (BlockingIOError, FileNotFoundError):
            free = False
        if not free:
            raise OutputError("another process is using this folder", folder)

    def _is_ours(self, path: Path) -> bool:
        """Tell whether a file is a part of this job."""
        try:
            meta: Any = ArrayFile(path).meta if stat.S_ISREG(path.lstat().st_mode) else None
            return isinstance(meta, dict) and meta.get("job") == self._token
        except IndexFormatError:
            return False

    @staticmethod
    def read_job(path: Path) -> dict[str, Any]:
        """Return the job that a folder holds, and its token."""
        with suppress(OSError):
            found = job_in(path.read_bytes()) if stat.S_ISREG(path.lstat().st_mode) else None
            if found is not None:
                return found
        raise damaged(path)

    @property
    def tables(self) -> Path:
        """The folder of the job's tables, where an engine keeps such."""
        assert self.folder is not None
        return self.folder / "tables"

    @property
    def on_disk(self) -> bool:
        return self.folder is not None

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{name}{SUFFIX}"

    def move_to_disk(self) -> None:
        """Write what is held in memory to a temporary folder, and all later parts too."""
        if self.folder is None:
            import shutil  # here, for what is not needed to start
            import tempfile

            try:
                self.folder = Path(tempfile.mkdtemp(prefix="lookalike-"))
            except OSError as error:
                raise OutputError(
                    f"no temporary folder can be made: {error.strerror or error}; set TMPDIR, or pass --work (work=)"
                ) from None
            self._made_folder = True
            self._remove = weakref.finalize(self, shutil.rmtree, self.folder, True)
            for name in list(self._held):  # a thread that reads finds a part in memory until its file is there
                self._write(name, self._held[name])
                del self._held[name]

    def put(self, name: str, arrays: Given) -> None:
        if self.folder is None:
            self._held[name] = {key: a.whole() if isinstance(a, ChunkedArray) else a for key, a in arrays.items()}
        else:
            self._write(name, arrays)

    def _write(self, name: str, arrays: Given) -> None:
        path = self._path(name)
        self._check_own(path)
        self._written.add(path.name)
        write_arrays(path, arrays, {"job": self._token})

    def _check_own(self, path: Path) -> None:
        if path.name not in self._written and os.path.lexists(path):
            raise IndexFormatError(
                "damaged, or not a part of this job; empty the folder and start again, or name another folder", path
            )

    def get(self, name: str) -> Arrays:
        """Return a part; the arrays of a file are read, and checked, one by one when they are needed."""
        held = self._held.get(name)
        if held is not None:
            return held
        if self.folder is None:
            raise KeyError(name)
        self._check_own(self._path(name))
        return self._file(self._path(name))

    def __contains__(self, name: str) -> bool:
        return name in self._held or (self.folder is not None and self._path(name).exists())

    def numbered_names(self, stem: str) -> list[str]:
        """Return the names ``stem-000000``, ``stem-000001``, ... that are there, up to the first that is not."""
        names: list[str] = []
        while (name := f"{stem}-{len(names):06}") in self:
            names.append(name)
        return names

    def append(self, stem: str, arrays: Given) -> None:
        """Keep a part under the next number of its kind."""
        number = self._next[stem] if stem in self._next else len(self.numbered_names(stem))
        self.put(f"{stem}-{number:06}", arrays)
        self._next[stem] = number + 1

    @contextmanager
    def appearing(self, output: str, replace: bool) -> Iterator[tuple[str, bool]]:
        """Give the place to write an output to, and whether to replace what is there.

        A job that can be resumed knows its output from the moment that it appears, and can write it again.
        """
        if self._unlock is None or self._closed or as_url(output) is not None:
            yield output, replace
            return
        assert self.folder is not None
        with Publication(self.folder) as alone:
            hidden = alone.place(output, replace)
            yield hidden, False
            held = json.loads(self.get(OUTPUTS)["known"].tobytes()) if OUTPUTS in self else {}
            held[os.path.realpath(output)] = _state(hidden)
            self.put(OUTPUTS, {"known": np.frombuffer(json.dumps(held).encode(), np.uint8)})
            self._file.cache_clear()
            alone.publish()

    def discard(self, stem: str) -> None:
        """Remove all parts whose names begin so, the last one first: what a crash leaves of them has no gap."""
        self._next.clear()
        for name in [n for n in self._held if n.startswith(stem)]:
            del self._held[name]
        if self.folder is not None:
            self._file.cache_clear()
            gone = sorted((name for name in self._written if name.startswith(stem)), reverse=True)
            for name in gone:
                (self.folder / name).unlink(missing_ok=True)
                self._written.remove(name)
            if gone and self._unlock is not None:  # before others are made that a loss of power would mix with these
                sync_folder(self.folder)

    def _remove_parts(self) -> None:
        """Remove all parts of the job, and then what says that there is one."""
        assert self.folder is not None
        self._file.cache_clear()
        for name in sorted(self._written, key=f"{OUTPUTS}{SUFFIX}".__eq__):  # what says which are its outputs at the end
            (self.folder / name).unlink(missing_ok=True)
        self._written.clear()
        if self._unlock is not None:
            (self.folder / SECRET).unlink(missing_ok=True)
            sync_folder(self.folder)  # last of all goes what says whose the others were
        (self.folder / FINISHED).unlink(missing_ok=True)

    @contextmanager
    def left_on_error(self) -> Iterator[None]:
        """Unlock the folder if what is done in it fails: the error's traceback, which notebooks keep, would keep it locked."""
        try:
            yield
        except BaseException:
            self.leave()
            raise

    def leave(self) -> None:
        """Unlock the folder, and leave the job in it."""
        if self._unlock is not None:
            self._unlock()

    def close(self) -> None:
        """Remove all parts, and the folder if it was made for them."""
        self._held.clear()
        if self.folder is None or self._closed:
            return
        self._closed = True
        with reporting(self.folder):
            if self._unlock is not None:
                os.replace(self.folder / JOB, self.folder / FINISHED)  # first: what remains after a crash is known as waste
                sync_folder(self.folder)
            self._remove_parts()
            if self._unlock is not None:
                (self.folder / LOCK).unlink(missing_ok=True)
                self._unlock()
            if self._made_folder:
                with suppress(OSError):  # somebody put something else there
                    os.rmdir(self.folder)
            if self._remove is not None:
                self._remove.detach()


AnyWorkspace = Workspace | StoreWorkspace
Appearing = Callable[[str, bool], AbstractContextManager[tuple[str, bool]]]


def open_workspace(folder: AnyPath, job: dict[str, Any] | None, trusted: Sequence[AnyPath] = ()) -> AnyWorkspace:
    """Open a work folder on a disk or a store: see ``Workspace``; of any job if none is named."""
    return StoreWorkspace(folder, job) if isinstance(folder, Url) else Workspace(folder, job, trusted)


def begin_anew(folder: AnyPath) -> None:
    """Remove the unfinished job that a work folder holds, if there is one."""
    found = folder / JOB
    if found.exists():
        open_workspace(folder, None).close()
