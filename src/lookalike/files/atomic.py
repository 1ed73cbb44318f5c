"""Files that appear whole or not at all, and temporary files whose writers were killed."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import OutputError
from .names import GivenPath
from .streams import compressed
from .urls import check_on_disk

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.EBADF, errno.ENOSYS)
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES)
_LONGEST = 200  # bytes of a name that fit into the name of a temporary file
_TURNS, _TURN = 100, 0.05  # how often, and at which distance in seconds, a lock is asked for


@contextmanager
def reporting(path: GivenPath) -> Iterator[None]:
    """Turn the operating system's refusals into an OutputError that names the output."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot be written: {reason}; nothing was left behind", path) from None


def sync(path: Path) -> None:
    """Bring what a file or folder has to the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_folder(path: Path) -> None:
    """Make the names in a folder survive a loss of power, on file systems that can."""
    try:
        sync(path)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise OutputError(f"the folder cannot be synced to the disk: {error.strerror}", path) from None


def make_folders(path: Path) -> None:
    """Make a folder and all missing folders above it, and make their names survive a loss of power."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def temporary_prefix(path: Path) -> str:
    """How names of temporary files for a path begin on this machine; a locked one belongs to a writer that runs."""
    name = path.name if len(os.fsencode(path.name)) <= _LONGEST else f"{zlib.crc32(os.fsencode(path.name)):08x}"
    return f".{name}.{zlib.crc32(_host().encode()):08x}-"


def _host() -> str:
    return os.uname().nodename


def lock_at_once(file: int) -> bool:
    """Lock an open file or folder; return whether nobody else holds it, on file systems that have no locks too."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def create_temporary(path: Path, *, folder: bool = False) -> tuple[Path, int]:
    """Make a temporary file, or folder, beside a path; return its name and the lock, which is to be closed in the end."""
    while True:
        temporary = path.with_name(f"{temporary_prefix(path)}{os.urandom(4).hex()}.tmp")
        if folder:
            temporary.mkdir()
        try:
            file = os.open(temporary, os.O_RDONLY if folder else os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileNotFoundError:
            if not folder:
                raise
            continue  # whoever removes leftovers was faster
        if lock_at_once(file) and os.path.lexists(temporary):
            return temporary, file
        os.close(file)  # whoever removes leftovers was faster than the lock


def leftovers(path: Path, ending: str) -> Iterator[tuple[Path, int]]:
    """Yield (name, lock) of what writers of this machine left behind for a path when they were killed."""
    wanted = re.compile(re.escape(temporary_prefix(path)) + "[0-9a-f]{8}" + re.escape(ending))
    with suppress(OSError):  # what cannot be looked at stays
        for name in [name for name in os.listdir(path.parent) if wanted.fullmatch(name)]:
            found = path.with_name(name)
            file = os.open(found, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                with suppress(OSError):  # it is in use, or it cannot be known whether it is
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    yield found, file
            finally:
                os.close(file)


def remove_leftovers(path: Path) -> None:
    """Remove temporary files and folders for a path whose writers were killed."""
    import shutil  # here, for what is not needed to start

    for left, _ in leftovers(path, ".tmp"):
        with suppress(OSError):  # it may be another user's
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def output_exists(path: Path) -> OutputError:
    """The error for an output whose name somebody else took while a job ran."""
    return OutputError(
        " was written by another process while this job ran, and was left unchanged: choose another name, or pass "
        "--force (force=True) to replace it; a job with a work folder keeps its state, and continues when run again",
        path,
    )


def _take_name(temporary: Path, path: Path) -> None:
    """Give a file a name that nothing has, or raise FileExistsError."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: an empty file reserves the name
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            os.replace(temporary, path)
        except OSError:
            path.unlink()
            raise
    else:
        temporary.unlink()


def locked(path: Path) -> int | None:
    """Open a file or folder that a job is about to replace, when no other job is; return it, with the lock.

    It stays locked until all is there that belongs to it; None, soon, where locks do not work or somebody else holds one.
    """
    for _ in range(_TURNS):
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            raise
        except OSError:
            return None
        with suppress(FileNotFoundError):
            if lock_at_once(file) and os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        os.close(file)
        time.sleep(_TURN)
    return None


def _replace_in_turn(temporary: Path, path: Path) -> None:
    """Replace a file, but not while the job that wrote it is about to write its description."""
    while True:
        try:
            current = locked(path)
        except FileNotFoundError:
            if path.is_symlink():  # it leads nowhere, and no file can take its name
                return os.replace(temporary, path)
            with suppress(FileExistsError):
                return _take_name(temporary, path)
            continue
        try:
            return os.replace(temporary, path)
        finally:
            if current is not None:
                os.close(current)


@contextmanager
def atomic_file(
    path: Path,
    *,
    compress: bool = True,
    mode: int | None = None,
    replace: bool = True,
    beside: tuple[Path, bytes] | None = None,
) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name only when all of it is on the disk."""
    check_on_disk(path, "where this is not written: write on this machine, and copy what is written")
    with reporting(path):
        make_folders(path.parent)
        temporary, lock = create_temporary(path)
        try:
            if mode is not None:
                os.fchmod(lock, mode)
            with open(os.dup(lock), "wb") as raw, compressed(raw, path if compress else None) as stream:
                yield stream
            os.fsync(lock)
            with ExitStack() as both:
                if beside is not None:
                    described = both.enter_context(atomic_file(beside[0]))
                    described.write(beside[1])
                    described.flush()  # before the file has its name, so that a full disk cannot part the two
                if not replace:
                    try:
                        _take_name(temporary, path)
                    except FileExistsError:
                        raise output_exists(path) from None
                elif beside is not None:
                    _replace_in_turn(temporary, path)
                else:
                    os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(lock)
        sync_folder(path.parent)
