"""File formats by suffix, compressed streams, and files that appear whole or not at all."""

from __future__ import annotations

import gzip
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
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
    compression = compression_of(path)
    try:
        stream: Any
        if compression == "gzip":
            stream = gzip.open(path, "rb")
        elif compression == "zstd":
            stream = pa.input_stream(str(path), compression="zstd")
        else:
            stream = open(path, "rb", buffering=0)
        with stream:
            while block := stream.read(n_bytes):
                yield block
    except (EOFError, gzip.BadGzipFile) as error:
        raise InputDataError(f"{path}: the {compression} data is damaged or cut short ({error})") from None
    except OSError as error:
        reason = error.strerror or f"the data is damaged or cut short ({error})"
        raise InputDataError(f"{path}: cannot be read: {reason}") from None


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
def _reporting(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into an OutputError that names the output."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        if isinstance(error, InputDataError):
            raise
        reason = error.strerror or str(error)
        raise OutputError(f"{path}: cannot be written: {reason}; nothing was left behind") from None


def check_output(path: str | Path, force: bool) -> Path:
    """Return the path if it may be written to.

    Raises
    ------
    OutputError
        If it exists and ``force`` is not set, or its folder cannot be written to.
    """
    path = Path(path)
    if path.exists():
        if not force:
            raise OutputError(f"{path} exists; pass --force (force=True) to replace it, or choose another name")
        if is_single_file(path) == path.is_dir():
            kind = ("one file", "directory") if path.is_dir() else ("a directory", "file")
            raise OutputError(f"the output {path} means {kind[0]}, but a {kind[1]} of that name exists")
    parent = next(p for p in (path.absolute(), *path.absolute().parents) if p.is_dir())
    if not os.access(parent, os.W_OK):
        raise OutputError(f"{path}: no permission to write into {parent}")
    return path


def _temporary(path: Path) -> Path:
    """Return a name to write under; what a process that is gone had written for the same path is removed."""
    for left in path.parent.glob(f".{escape(path.name)}.*.tmp"):
        process = left.name.removesuffix(".tmp").rpartition(".")[2].partition("-")[0]
        if process.isdigit() and not _runs(int(process)):
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it runs, and is another user's
    return True


@contextmanager
def atomic_file(path: Path, *, compress: bool = True) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name only when all is written; compression follows the suffix, unless unwanted."""
    with _reporting(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _temporary(path)
        try:
            compression = compression_of(path) if compress else None
            with open(temporary, "wb") as raw:
                if compression == "gzip":
                    with gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream:
                        yield stream  # type: ignore[misc]
                elif compression == "zstd":
                    with pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd") as stream:
                        yield stream
                else:
                    yield raw
                if not raw.closed:
                    raw.flush()
                    os.fsync(raw.fileno())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise


@contextmanager
def atomic_directory(path: Path) -> Iterator[Path]:
    """Give a folder to write into that becomes ``path`` when all is written; an existing folder's files are replaced."""
    with _reporting(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _temporary(path)
        temporary.mkdir()
        try:
            yield temporary
            if path.exists():
                for file in sorted(p for p in temporary.rglob("*") if p.is_file()):
                    target = path / file.relative_to(temporary)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    os.replace(file, target)
            else:
                os.replace(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
