"""File formats by suffix, compressed streams, and files that appear whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import gzip
import os
import re
import secrets
import shutil
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from ..errors import InputDataError, OutputError

SUFFIXES = {
    ".parquet": ("parquet", None),
    ".jsonl": ("jsonl", None),
    ".jsonl.gz": ("jsonl", "gzip"),
    ".jsonl.zst": ("jsonl", "zstd"),
    ".csv": ("csv", None),
    ".txt": ("txt", None),
}
FORMATS = ("parquet", "jsonl", "csv", "txt")
BLOCK = 4 << 20
SIDECAR = "_semblance.json"  # where an output says how it was made: beside it, or in its folder
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.EBADF, errno.ENOSYS)
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES)
_LONGEST = 200  # bytes of a name that fit into the name of a temporary file


def suffix_of(path: str | Path) -> str | None:
    """Return the known suffix that a file name ends with, or None."""
    name = Path(path).name.lower()
    return next((s for s in sorted(SUFFIXES, key=len, reverse=True) if name.endswith(s) and name != s), None)


def is_single_file(output: str | Path) -> bool:
    """Tell whether an output path means one file for all inputs; otherwise it means a directory."""
    suffix = suffix_of(output)
    return suffix is not None and suffix != ".txt" and not str(output).endswith("/")


def compression_of(path: str | Path) -> str | None:
    """Return "gzip", "zstd" or None by the last suffix of a name, whatever stands before it."""
    return {".gz": "gzip", ".zst": "zstd"}.get(Path(path).suffix.lower())


def read_blocks(path: Path, n_bytes: int = BLOCK) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in blocks.

    Raises
    ------
    InputDataError
        If the file cannot be opened or its compression is damaged.
    """
    return _read(path, n_bytes, compression_of(path))


def read_raw(path: Path, n_bytes: int = BLOCK) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks, as they are.

    Raises
    ------
    InputDataError
        If the file cannot be read.
    """
    return _read(path, n_bytes, None)


def _read(path: Path, n_bytes: int, compression: str | None) -> Iterator[bytes]:
    try:
        stream: Any
        if compression == "gzip":
            stream = gzip.open(path, "rb")
        elif compression == "zstd":
            stream = pa.input_stream(pa.OSFile(os.fsencode(path)), compression="zstd")
        else:
            stream = open(path, "rb", buffering=0)
        with stream:
            while block := stream.read(n_bytes):
                yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputDataError(f"{shown(path)}: the {compression} data is damaged or cut short ({error})") from None
    except OSError as error:
        reason = error.strerror or f"the data is damaged or cut short ({error})"
        raise InputDataError(f"{shown(path)}: cannot be read: {reason}") from None


def read_lines(path: Path) -> Iterator[list[bytes]]:
    """Yield lists of lines, each with its line feed (the last may lack it), a list a block; lines may have any length."""
    pieces: list[bytes] = []
    for block in read_blocks(path):
        head, feed, rest = block.rpartition(b"\n")
        if not feed:
            pieces.append(block)
            continue
        yield _split(b"".join(pieces) + head + feed)
        pieces = [rest]
    last = b"".join(pieces)
    if last:
        yield [last]


def _split(data: bytes) -> list[bytes]:
    """Split at line feeds alone, keeping them; ``data`` ends with one."""
    return [line + b"\n" for line in data[:-1].split(b"\n")]


@contextmanager
def reporting(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into an OutputError that names the output."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{shown(path)}: cannot be written: {reason}; nothing was left behind") from None


def shown(path: str | Path) -> str:
    """Return a path as text that can be printed and stored: bytes that are not UTF-8 become escapes such as ``\\xe9``."""
    name = os.fspath(path)
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # no name that a file can have
        return name.encode("utf-8", "backslashreplace").decode("utf-8")


def sync_folder(path: Path) -> None:
    """Make the names in a folder survive a loss of power, on file systems that can.

    Raises
    ------
    OutputError
        If the disk reports an error.
    """
    try:
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise OutputError(f"{shown(path)}: the folder cannot be synced to the disk: {error.strerror}") from None


def make_folders(path: Path) -> None:
    """Make a folder and all missing folders above it, and make their names survive a loss of power."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def check_output(path: str | Path, force: bool, *, single: bool | None = None) -> Path:
    """Return the path to write to, symbolic links followed, if it may be written to.

    Parameters
    ----------
    path : str or path
    force : bool
        Whether an existing output may be replaced.
    single : bool, optional
        Whether it is one file; default: what its suffix says.

    Raises
    ------
    OutputError
        If it exists and ``force`` is not set, is of another kind, holds files that are not ours, or cannot be written to.
    """
    from .outputs import check_folder, check_sidecar, recover

    rows = single is None
    if single is None:
        single = is_single_file(path)
    given, path = shown(path), Path(path)
    try:
        if path.is_symlink():
            path = Path(os.path.realpath(path))
            if rows and suffix_of(path) != suffix_of(given):
                raise OutputError(f"{given} is a link to {shown(path)}, whose suffix is another one; name that file instead")
        if not single:
            recover(path)
        with suppress(FileNotFoundError):
            mode = path.stat().st_mode
            if not force:
                raise OutputError(f"{given} exists; pass --force (force=True) to replace it, or choose another name")
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise OutputError(f"{given} is a pipe or a device; an output must be a file or a folder")
            if single == stat.S_ISDIR(mode):
                kind = ("one file", "directory") if single else ("a directory", "file")
                raise OutputError(f"the output {given} means {kind[0]}, but a {kind[1]} of that name exists")
            if not single:
                check_folder(path)
        if single and rows and suffix_of(path) != ".parquet":
            check_sidecar(path)
        parent = next(p for p in path.absolute().parents if os.path.lexists(p))
        if not stat.S_ISDIR(parent.stat().st_mode):
            raise OutputError(f"{given}: cannot be written: {shown(parent)} is not a folder")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise OutputError(f"{given}: no permission to write into {shown(parent)}")
        remove_leftovers(path)
    except OutputError:
        raise
    except (OSError, ValueError) as error:
        raise OutputError(f"{given}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return path


def _temporary_prefix(path: Path) -> str:
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
        temporary = path.with_name(f"{_temporary_prefix(path)}{secrets.token_hex(4)}.tmp")
        if folder:
            temporary.mkdir()
        file = os.open(temporary, os.O_RDONLY if folder else os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if lock_at_once(file) and os.path.lexists(temporary):
            return temporary, file
        os.close(file)  # whoever removes leftovers was faster than the lock


def leftovers(path: Path, ending: str) -> Iterator[tuple[Path, int]]:
    """Yield (name, lock) of what writers of this machine left behind for a path when they were killed."""
    wanted = re.compile(re.escape(_temporary_prefix(path)) + "[0-9a-f]{8}" + re.escape(ending))
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
    for left, _ in leftovers(path, ".tmp"):
        with suppress(OSError):  # it may be another user's
            shutil.rmtree(left) if left.is_dir() else left.unlink()


@contextmanager
def compressed(raw: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """Give a stream into an open file that compresses by the suffix of its path."""
    compression = compression_of(path)
    if compression == "gzip":
        with gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream:
            yield stream  # type: ignore[misc]
    elif compression == "zstd":
        with pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd") as stream:
            yield stream
    else:
        yield raw


@contextmanager
def atomic_file(path: Path, *, compress: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name only when all of it is on the disk.

    Compression follows the suffix, unless unwanted.
    """
    with reporting(path):
        make_folders(path.parent)
        temporary, lock = create_temporary(path)
        try:
            with open(os.dup(lock), "wb") as raw, compressed(raw, path) if compress else nullcontext(raw) as stream:
                yield stream
            os.fsync(lock)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(lock)
        sync_folder(path.parent)
