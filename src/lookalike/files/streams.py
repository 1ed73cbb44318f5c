"""Streams of bytes: compressed or not, in blocks, in lines; copies of what can be read only once."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from ..errors import InputDataError, OutputError, ParameterError
from .names import shown, suffix_of
from .remote import ATTEMPTS
from .urls import Url

BLOCK = 4 << 20
PAGES = 1 << 20
MOST = 1 << 60  # bytes; more than any line has
WINDOW = 128 << 20  # bytes that decompression may hold; it is what Arrow allows zstd
_COMPRESSIONS = {".gz": "gzip", ".tgz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".tbz2": "bz2", ".xz": "xz", ".txz": "xz"}
_XZ_PRESET = 3  # takes 32 MB to write; the usual one 94
_TOO_LARGE = ("too much memory", "Memory usage limit")  # in what decompressors say
_PASSING = ("SLOW_DOWN", "NETWORK_CONNECTION", "INTERNAL_FAILURE", "SERVICE_UNAVAILABLE", "THROTTLING", "HTTP status 5")
_STORES = ("AWS Error", "google::cloud", "Azure", "HTTP error")  # in what Arrow says of their refusals
Noted = Callable[[int], None] | None


class DamagedError(InputDataError):
    """The compressed data of a file is damaged; ``what`` says how, as what follows the name of the file."""

    def __init__(self, path: Path | Url, what: str) -> None:
        super().__init__(f"{shown(path)}: {what}")
        self.what = what


def compression_of(path: str | Path | Url) -> str | None:
    """Return "gzip", "zstd", "bz2", "xz" or None by the last suffix of a name, whatever is before it."""
    return _COMPRESSIONS.get(Path(path if isinstance(path, str) else path.name).suffix.lower())


def read_blocks(path: Path | Url, n_bytes: int | None = None, noted: Noted = None) -> Iterator[bytes]:
    """Yield a file decompressed, in blocks; before each ``noted`` is told how many bytes were read for it, as on the disk.

    Who gives ``n_bytes`` wants the first block alone.
    """
    return _read(path, n_bytes, compression_of(path), noted)


def read_raw(path: Path | Url) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks, as they are."""
    return _read(path, None, None)


def _read(path: Path | Url, n_bytes: int | None, compression: str | None, noted: Noted = None) -> Iterator[bytes]:
    try:
        with open_stream(path, n_bytes, arrow=compression == "zstd") as raw, _decompressed(raw, compression) as stream:
            done = 0
            while block := stream.read(n_bytes or BLOCK):
                if noted is not None:
                    noted(raw.tell() - done)
                    done = raw.tell()
                yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DamagedError(path, f"the {compression} data is damaged or cut short ({error})") from None
    except OSError as error:
        damaged = compression is not None and not (error.strerror or of_store(error))
        reason = f"the data is damaged or cut short ({error})" if damaged else why(error)
        if damaged and any(said in str(error) for said in _TOO_LARGE):
            reason = (
                f"its {compression} data takes more than {WINDOW >> 20} MB of memory to decompress; decompress it first, or "
                "compress it with a smaller window (zstd --long=27, xz -9, or less)"
            )
        said = f"cannot be read: {reason}"
        raise (DamagedError(path, said) if damaged else InputDataError(f"{shown(path)}: {said}")) from None


def open_stream(path: Path | Url, n_bytes: int | None = None, *, arrow: bool = False) -> Any:
    """Open a file that is read from its beginning, to its end or for so many bytes: its bytes, or what Arrow takes for it."""
    if isinstance(path, Url):
        return path.open_stream(n_bytes)
    return pa.OSFile(os.fsencode(path)) if arrow else open(path, "rb", buffering=0)


def open_anywhere(path: Path | Url) -> Any:
    """Open a file whose bytes are read here and there."""
    return path.open_anywhere(following=True) if isinstance(path, Url) else open(path, "rb", buffering=0)


def of_store(error: Exception) -> bool:
    """Tell whether an error is a store's, and says nothing of what a file holds."""
    return isinstance(error, OSError) and any(name in str(error) for name in _STORES)


def why(error: OSError) -> str:
    """Return what an error says, and what to do if a store refuses access, or fails however often it is asked."""
    said = error.strerror or str(error)
    if "ACCESS_DENIED" in said:
        return f"{said}; check the credentials of this process, and what they permit"
    if any(name in said for name in _PASSING):
        later = "run the job again later (with a work folder it goes on: --resume (resume=True))"
        return f"{said}; it was asked {ATTEMPTS} times: {later}"
    return said


def _decompressed(raw: Any, compression: str | None) -> Any:
    if compression == "gzip":
        return gzip.GzipFile(fileobj=raw)
    if compression in ("bz2", "xz"):
        return _Unpacked(raw, _bz2 if compression == "bz2" else _xz)
    return raw if compression is None else pa.input_stream(raw, compression=compression)


def _bz2() -> tuple[Any, type[Exception]]:
    """Return what decompresses one stream, and what it raises."""
    import bz2  # here, for what is not needed to start

    return bz2.BZ2Decompressor(), OSError


def _xz() -> tuple[Any, type[Exception]]:
    """Return what decompresses one stream, and what it raises."""
    import lzma  # here, for what is not needed to start

    return lzma.LZMADecompressor(memlimit=WINDOW), lzma.LZMAError


class _Unpacked(io.RawIOBase):
    """What a file of one or more bz2 or xz streams holds; no more is decompressed than is asked for."""

    def __init__(self, raw: Any, make: Callable[[], tuple[Any, type[Exception]]]) -> None:
        self._raw, self._make = raw, make
        self._one, self._failure = make()

    def read(self, n_bytes: int = -1) -> bytes:
        """Return up to so many bytes; none at the end."""
        while True:
            packed = b""
            if self._one.eof:
                packed = self._one.unused_data.lstrip(b"\0")  # xz pads with zeros
                while not packed and (more := self._raw.read(PAGES)):
                    packed = more.lstrip(b"\0")
                if not packed:
                    return b""
                self._one, _ = self._make()
            elif self._one.needs_input and not (packed := self._raw.read(PAGES)):
                raise EOFError("the end of the stream is missing")
            try:
                block: bytes = self._one.decompress(packed, n_bytes)
            except self._failure as error:
                raise OSError(str(error)) from None
            if block:
                return block


class LongLine(bytes):
    """Stands for a line that is too long to be held: no bytes, but how many they were, and how many of them quotation marks."""

    n_bytes: int
    n_quotes: int


def long_line(n_bytes: int, n_quotes: int = 0) -> LongLine:
    """Return what stands for a line of so many bytes."""
    line = LongLine()
    line.n_bytes, line.n_quotes = n_bytes, n_quotes
    return line


def read_lines(
    path: Path | Url, most: int | None = None, *, skip: bool = False, noted: Noted = None
) -> Iterator[list[bytes]]:  # fmt: skip
    """Yield lists of lines, each with its line feed (the last may lack it), a list a block."""
    return lines_of(read_blocks(path, noted=noted), MOST if most is None else most, skip)


def lines_of(blocks: Iterable[bytes], most: int, skip: bool) -> Iterator[list[bytes]]:
    """Yield the lines in blocks, as ``read_lines`` does."""
    pieces: list[bytes] = []
    held, quotes = 0, 0  # quotes: of a line that is too long, and held no more
    for block in blocks:
        first = block.find(b"\n") + 1
        if first:
            last = block.rfind(b"\n") + 1
            lines = _split(block[first:last]) if last > first else []
            if last - first > most:
                lines = [line if len(line) <= most else long_line(len(line), line.count(b'"')) for line in lines]
            pieces.append(block[:first])
            held += first
            lines.insert(0, b"".join(pieces) if held <= most else long_line(held, quotes + _count(pieces)))
            pieces, held, quotes = [block[last:]], len(block) - last, 0
            if not skip and not all(lines):
                yield lines[: lines.index(b"") + 1]
                return
            yield lines
            del lines  # a long one is not held while the next is read
        else:
            pieces.append(block)
            held += len(block)
        if held > most:
            quotes += _count(pieces)
            pieces = []
            if not skip:
                yield [long_line(held, quotes)]
                return
    if held:
        yield [b"".join(pieces) if held <= most else long_line(held, quotes)]


def _count(pieces: list[bytes]) -> int:
    return sum(piece.count(b'"') for piece in pieces)


def _split(data: bytes) -> list[bytes]:
    """Split at line feeds alone, keeping them; ``data`` ends with one."""
    return [line + b"\n" for line in data[:-1].split(b"\n")]


@contextmanager
def compressed(raw: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """Give a stream into an open file that compresses by the suffix of its path."""
    compression = compression_of(path)
    if compression == "gzip":
        with gzip.GzipFile("", "wb", 6, raw, mtime=0) as stream:
            yield stream  # type: ignore[misc]
    elif compression == "bz2":
        import bz2  # here, for what is not needed to start

        with bz2.BZ2File(raw, "wb") as stream:
            yield stream  # type: ignore[misc]
    elif compression == "xz":
        import lzma  # here, for what is not needed to start

        with lzma.LZMAFile(raw, "wb", preset=_XZ_PRESET) as stream:
            yield stream  # type: ignore[misc]
    elif compression == "zstd":
        with pa.CompressedOutputStream(pa.PythonFile(raw, "w"), "zstd") as stream:
            yield stream
    else:
        yield raw


class Spool:
    """A temporary copy of what can be read only once, such as a pipe; it is removed when nobody needs it any more."""

    def __init__(self, name: str, blocks: Iterable[bytes], number: tuple[int, int], suffix: str) -> None:
        import tempfile  # here, for what is not needed to start

        self.file: Any = None
        self.name = self.relative = name
        self.number = number
        try:
            self.file = tempfile.NamedTemporaryFile(prefix="lookalike-", suffix=suffix)
            for block in blocks:
                self.file.write(block)
            self.file.flush()
        except OSError as error:
            if of_store(error):
                raise
            where = self.file.name if self.file is not None else "no folder for temporary files"
            with_room = "name a folder with room for it in TMPDIR, or give files"
            raise OutputError(f"{name} cannot be stored in {where}: {error.strerror or error}; {with_room}") from None
        _spools[self.number] = self
        weakref.finalize(self, self.file.close)


_spools: weakref.WeakValueDictionary[tuple[int, int], Spool] = weakref.WeakValueDictionary()
_read_once: list[Any] = []  # standard inputs that nothing is left of


def spool(
    name: str, format: str | None, formats: Mapping[str, Sequence[str]], status: os.stat_result | None = None
) -> Spool:  # fmt: skip
    """Copy standard input ("-"), a pipe or a terminal to a temporary file, since rows are read twice."""
    label = "stdin" if name == "-" else shown(name)
    known = suffix_of(name, [suffix for some in formats.values() for suffix in some])
    if format is None and known is None:
        what = "standard input" if name == "-" else label
        *first, last = formats
        raise ParameterError(
            f"{what} has no suffix: say with {name!r} what it holds: --format (format=) {', '.join(first)} or {last}"
        )
    end = known or (Path(name).suffix if compression_of(name) else "")
    status = _stdin_status() if name == "-" else status
    assert status is not None
    number = status.st_dev, status.st_ino
    if number in _spools:
        raise InputDataError(f"{label} is given twice, but can be read only once; save it to a file, and name that")
    if name == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise InputDataError("standard input is closed")
        if any(known_input is sys.stdin for known_input in _read_once):
            raise InputDataError(
                "'-' is given twice, but standard input can be read only once; save it to a file, and name that"
            )
        _read_once.append(sys.stdin)
        copy = Spool(label, iter(partial(sys.stdin.buffer.read, PAGES), b""), number, end)
    else:
        if stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not _ends(name)):
            raise InputDataError(f"{label} is a device, not a file")
        try:
            with open(name, "rb") as stream:
                copy = Spool(label, iter(partial(stream.read, PAGES), b""), number, end)
        except OutputError:
            raise
        except OSError as error:
            raise InputDataError(f"{label}: cannot be read: {error.strerror}; to read from a socket, pipe it to '-'") from None
    copy.name = label
    copy.relative = Path(name).name if known else f"{'stdin' if name == '-' else Path(name).name}.{format}"
    return copy


def _stdin_status() -> os.stat_result:
    """Return what tells standard input from other pipes; one that is no file counts as a device of its own."""
    try:
        return os.fstat(sys.stdin.fileno())
    except (OSError, ValueError, AttributeError):
        return os.stat_result((0, id(sys.stdin), -1, *[0] * 7))


def _ends(name: str) -> bool:
    """Tell a terminal and the null device from devices whose data never end."""
    if os.path.samefile(name, os.devnull):
        return True
    with open(name, "rb", buffering=0) as stream:
        return stream.isatty()
