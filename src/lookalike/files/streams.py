"""Streams of bytes: compressed or not, in blocks, in lines; copies of what can be read only once."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import sys
import weakref
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from ..errors import InputDataError, MissingExtraError, OutputError, ParameterError
from .names import show_path, suffix_of
from .remote import ATTEMPTS
from .signatures import BEGINS, LOOKED_AT, described, encoding_of, is_texty, kind_of, packing_of
from .urls import AnyPath, Url

BLOCK = 4 << 20
PAGES = 1 << 20
SMALL = 1 << 16  # bytes of files that are read at once
MOST = 1 << 60  # bytes; more than any line has
WINDOW = 128 << 20  # bytes that decompression may hold; it is what Arrow allows zstd
_COMPRESSIONS = {".gz": "gzip", ".tgz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".tbz2": "bz2", ".xz": "xz", ".txz": "xz"}
_PACKED = 1 << 16  # bytes that are read at a time of what is compressed
_FEW = 1 << 10  # bytes of zstd that are decompressed at a time
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # before the dictionary of all zstd data that follows
_MOST_DICTIONARY = 16 << 20  # bytes
_MOST_FAILED = 16  # streams in a row
_XZ_PRESET = 3  # takes 32 MB to write; the usual one 94
_TOO_LARGE = ("too much memory", "Memory usage limit")  # in what decompressors say
_PASSING = ("SLOW_DOWN", "NETWORK_CONNECTION", "INTERNAL_FAILURE", "SERVICE_UNAVAILABLE", "THROTTLING", "HTTP status 5")
_STORES = ("AWS Error", "google::cloud", "Azure", "HTTP error")  # in what Arrow says of their refusals
OnRead = Callable[[int], None] | None


class DamagedError(InputDataError):
    """The data of a file is damaged, or not what its name says."""


class UnlikeError(DamagedError):
    """The first bytes of a file tell that it is of another kind than its name says."""


class Gap(bytes):
    """Stands for what is damaged, and was passed over: no bytes, but whether some of the data that is damaged came before."""

    begun: bool


def compression_of(path: str | AnyPath) -> str | None:
    """Return "gzip", "zstd", "bz2", "xz" or None by the last suffix of a name, whatever is before it."""
    name = os.path.basename(path) if isinstance(path, str) else path.name
    return _COMPRESSIONS.get(name[max(1, name.rfind(".")) :].lower())


def read_blocks(
    path: AnyPath, n_bytes: int | None = None, noted: OnRead = None, kinds: Collection[str] | None = (), gaps: bool = False
) -> Iterator[bytes]:  # fmt: skip
    """Yield a file decompressed, in blocks; before each ``noted`` is told how many bytes were read for it, as on the disk.

    The first bytes tell how it is compressed, whatever its name says, and what it is: text, or one of some ``kinds``, unless
    these are None. Text in UTF-16 or UTF-32 with a mark of the order of bytes becomes UTF-8. Who gives ``n_bytes`` wants the
    first block alone. With ``gaps`` damage is a ``Gap`` where compressed data begins anew after it.

    Raises
    ------
    UnlikeError
        If the first bytes are of another kind.
    DamagedError
        If compressed data is damaged or cut short.
    """
    if kinds is not None and (content := _small_text(path, min(n_bytes or BLOCK, SMALL))) is not None:
        if noted is not None:
            noted(len(content))
        return filter(None, [content])
    blocks = _read(path, n_bytes, kinds or (), noted, gaps)
    return blocks if kinds is None else _checked(path, blocks, kinds)


def _small_text(path: AnyPath, n_bytes: int) -> bytes | None:
    """Return a file on a disk of fewer bytes, if the first ones are a text's in UTF-8: many are read in half the time."""
    if isinstance(path, Url) or compression_of(path) is not None:
        return None
    try:
        with open(path, "rb", buffering=0) as file:
            content, size = file.read(n_bytes), os.fstat(file.fileno()).st_size
    except (OSError, ValueError):
        return None
    plain = len(content) == size < n_bytes and kind_of(content[:LOOKED_AT]) is None and encoding_of(content) is None
    return content if plain else None


def read_raw(path: AnyPath, n_bytes: int | None = None) -> Iterator[bytes]:
    """Yield the bytes of a file in blocks, as they are."""
    return _read(path, n_bytes, None)


def _checked(path: AnyPath, blocks: Iterator[bytes], kinds: Collection[str]) -> Iterator[bytes]:
    """Yield blocks of what begins as one of some kinds does, or as text, which becomes UTF-8."""
    decoder = None
    for number, block in enumerate(blocks):
        if not number:
            if (kind := kind_of(block[:LOOKED_AT])) not in (None, *kinds):
                raise UnlikeError(described(str(kind)), path)
            if (encoding := encoding_of(block)) is not None and not kinds:
                decoder = getincrementaldecoder(encoding)("surrogatepass")
        try:
            yield block if decoder is None else decoder.decode(block).encode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise DamagedError(f"the text is not {encoding}, as its first bytes say ({error.reason})", path) from None
    if decoder is not None and decoder.getstate()[0]:
        raise DamagedError(f"the text is cut short: it ends within a character of {encoding}", path)


def _read(
    path: AnyPath, n_bytes: int | None, kinds: Collection[str] | None, noted: OnRead = None, gaps: bool = False
) -> Iterator[bytes]:  # fmt: skip
    """Yield the blocks of a file, decompressed, if it is, unless ``kinds`` is None."""
    packing = None
    try:
        with open_stream(path, n_bytes) as raw:
            if kinds is not None:
                packing = _packing(raw, compression_of(path))
            with _decompressed(raw, packing, gaps) as stream:
                done = 0
                while True:
                    try:
                        block = stream.read(n_bytes or BLOCK)
                    except EOFError:
                        if not gaps or (block := stream.passed_over()) is None:
                            raise
                    else:
                        if not block:
                            return
                    if noted is not None:
                        noted(raw.tell() - done)
                        done = raw.tell()
                    yield block
    except (EOFError, OSError) as error:
        reason = why(error) if isinstance(error, OSError) else str(error)
        if packing is None or getattr(error, "strerror", None) or of_store(error):
            raise InputDataError(f"cannot be read: {reason}", path) from None
        if any(said in reason for said in _TOO_LARGE):
            raise DamagedError(
                f"cannot be read: its {packing} data takes more than {WINDOW >> 20} MB of memory to decompress; decompress it "
                "first, or compress it with a smaller window (zstd --long=27, xz -9, or less)",
                path,
            ) from None
        raise DamagedError(f"the {packing} data is damaged or cut short ({reason})", path) from None


def open_stream(path: AnyPath, n_bytes: int | None = None) -> Any:
    """Open a file; ``n_bytes``: of which only so many are read, from its beginning."""
    return path.open_stream(n_bytes) if isinstance(path, Url) else open(path, "rb", buffering=0)


def arrow_file(path: AnyPath) -> pa.NativeFile:
    """Open a file for Arrow, by the bytes of its name, which may not be UTF-8."""
    return path.open_anywhere() if isinstance(path, Url) else pa.OSFile(os.fsencode(path))


@contextmanager
def asking(path: AnyPath | str) -> Iterator[None]:
    """Turn what a disk or store refuses into an InputDataError that names a file or folder."""
    try:
        yield
    except OSError as error:
        raise InputDataError(f"cannot be read: {why(error)}", path) from None


@contextmanager
def reading(name: str, what: str, *also: type[Exception]) -> Iterator[None]:
    """Turn what Arrow refuses a file for, and other errors if they are named, into an InputDataError that names it."""
    try:
        yield
    except InputDataError:
        raise
    except (pa.ArrowException, OSError, ValueError, IndexError, *also) as error:
        if isinstance(error, MemoryError) and MemoryError not in also:
            raise
        if isinstance(error, OSError) and of_store(error):
            raise InputDataError(f"cannot be read: {why(error)}", name) from None
        raise InputDataError(f"{what}: {error}", name) from None


def of_store(error: Exception) -> bool:
    """Tell whether an error is a store's, and says nothing of what a file holds."""
    return isinstance(error, OSError) and any(name in str(error) for name in _STORES)


def why(error: OSError) -> str:
    """Return what an error says, and what to do if a store refuses access, or fails however often it is asked."""
    said = error.strerror or str(error)
    if "ACCESS_DENIED" in said:
        return f"{said}; check the credentials of this process and their permissions"
    if any(name in said for name in _PASSING):
        later = "run the job again later (with a work folder it continues)"
        return f"{said}; it was asked {ATTEMPTS} times: {later}"
    return said


def _packing(raw: Any, named: str | None) -> str | None:
    """Return how a file is compressed: as its first bytes say; or as its name does, if it is damaged."""
    head = raw.peek(LOOKED_AT) if isinstance(raw, io.BufferedReader) else raw.read(LOOKED_AT)
    raw.seek(0)
    packing = packing_of(head)
    if packing is None and named is not None and not (head and (kind_of(head) or is_texty(head[:LOOKED_AT]))):
        return named
    return packing


def _decompressed(raw: Any, packing: str | None, gaps: bool) -> Any:
    if packing is None:
        return nullcontext(raw)
    if packing == "zstd":
        dictionary = _dictionary(raw)
        if dictionary is None and (not gaps or find_spec("zstandard") is None):
            return pa.input_stream(raw, compression="zstd")
        return _Unpacked(raw, partial(_Zstd, _zstd(dictionary)), packing)
    return _Unpacked(raw, {"gzip": _Gzip, "bz2": _bz2, "xz": _xz}[packing], packing)


def inflated(content: bytes) -> Any:
    """Return what reads the content of some bytes: members of gzip, or data of zlib, or such without a header."""
    bits = zlib.MAX_WBITS * (1 if content[:1] in (b"\x1f", b"x") else -1)
    return _Unpacked(io.BytesIO(content), partial(_Gzip, bits + 32 * (bits > 0)), "gzip")


def _bz2() -> Any:
    import bz2  # here, for what is not needed to start

    return bz2.BZ2Decompressor()


def _xz() -> Any:
    import lzma  # here, for what is not needed to start

    return lzma.LZMADecompressor(memlimit=WINDOW)


class _Gzip:
    """What decompresses one member of gzip, as ``BZ2Decompressor`` does a stream."""

    def __init__(self, bits: int = zlib.MAX_WBITS + 16) -> None:
        self._one = zlib.decompressobj(bits)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._one, name)  # eof, unused_data

    @property
    def needs_input(self) -> bool:
        return not self._one.unconsumed_tail

    def decompress(self, packed: bytes, n_bytes: int) -> bytes:
        block: bytes = self._one.decompress(self._one.unconsumed_tail + packed, n_bytes)
        return block


class _Zstd:
    """What decompresses one frame of zstd, as ``BZ2Decompressor`` does a stream."""

    def __init__(self, make: Any) -> None:
        self._one, self._packed, self._waiting = make.decompressobj(), b"", b""

    @property
    def eof(self) -> bool:
        return bool(self._one.eof) and not self._waiting

    @property
    def needs_input(self) -> bool:
        return not self._packed and not self._waiting

    @property
    def unused_data(self) -> bytes:
        return bytes(self._one.unused_data) + self._packed

    def decompress(self, packed: bytes, n_bytes: int) -> bytes:
        """Return up to so many bytes; of a bomb, what is unpacked at a time becomes no more than 32 MB."""
        self._packed += packed
        parts, size, at = [self._waiting], len(self._waiting), 0
        while size < n_bytes and at < len(self._packed) and not self._one.eof:
            parts.append(self._one.decompress(self._packed[at : at + _FEW]))
            size, at = size + len(parts[-1]), at + _FEW
        self._packed, together = self._packed[at:], b"".join(parts)
        self._waiting = together[n_bytes:]
        return together[:n_bytes]


def _zstd(dictionary: bytes | None) -> Any:
    """Return what makes decompressors of zstd."""
    try:
        import zstandard
    except ModuleNotFoundError:
        raise MissingExtraError(
            "zstandard is not installed, for data with a dictionary: pip install 'lookalike[warc]'"
        ) from None
    known = None if dictionary is None else zstandard.ZstdCompressionDict(dictionary)
    return zstandard.ZstdDecompressor(known, max_window_size=WINDOW)


def _dictionary(raw: Any) -> bytes | None:
    """Return the dictionary that zstd data begins with, if it does; it is packed itself, or not."""
    head = raw.read(8)
    if head[:4] != _DICTIONARY:
        raw.seek(0)
        return None
    size = int.from_bytes(head[4:], "little")
    packed = raw.read(size) if size <= _MOST_DICTIONARY else b""
    if len(packed) < size:
        raise EOFError("its dictionary is too large, or cut short")
    if packing_of(packed) is None:
        return packed
    one = _Unpacked(io.BytesIO(packed), partial(_Zstd, _zstd(None)), "zstd")
    found = b"".join(iter(partial(one.read, _MOST_DICTIONARY), b""))
    if len(found) > _MOST_DICTIONARY:
        raise EOFError("its dictionary is too large")
    return found


class _Unpacked(io.RawIOBase):
    """What a file of one or more compressed streams holds; no more is decompressed than is asked for."""

    def __init__(self, raw: Any, make: Callable[[], Any], packing: str) -> None:
        self._raw, self._make, self._packing = raw, make, packing
        self._one, self._begin, self._begun, self._failed = make(), raw.tell(), False, 0

    def read(self, n_bytes: int = -1) -> bytes:
        """Return up to so many bytes; none at the end."""
        while True:
            packed = b""
            if self._one.eof:
                packed = self._one.unused_data.lstrip(b"\0")  # xz pads with zeros
                while not packed and (more := self._raw.read(_PACKED)):
                    packed = more.lstrip(b"\0")
                if not packed:
                    return b""
                self._begin_at(self._raw.tell() - len(packed))
                self._failed = 0
            elif self._one.needs_input and not (packed := self._raw.read(_PACKED)):
                raise EOFError("the end of the stream is missing")
            try:
                block: bytes = self._one.decompress(packed, n_bytes)
            except Exception as error:  # of each kind of data its own
                if isinstance(error, MemoryError):
                    raise
                raise EOFError(str(error)) from None
            if block:
                self._begun = True
                return block

    def _begin_at(self, place: int) -> None:
        self._one, self._begin, self._begun = self._make(), place, False

    def passed_over(self) -> Gap | None:
        """Go on where the next stream begins after one that is damaged; None if there is none, or nothing but more damage."""
        gap = Gap()
        gap.begun, self._failed = self._begun, self._failed + 1
        place = max(self._begin + 1, self._raw.tell() - 2 * _PACKED)
        self._raw.seek(place)
        window = b""
        while self._failed <= _MOST_FAILED and (more := self._raw.read(_PACKED)):
            window = window[-LOOKED_AT:] + more
            if (found := re.search(BEGINS[self._packing], window)) is not None:
                self._begin_at(self._raw.tell() - len(window) + found.start())
                self._raw.seek(self._begin)
                return gap
        return None


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
    path: AnyPath, most: int | None = None, *, skip: bool = False, noted: OnRead = None
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


def compressed(raw: BinaryIO, path: Path | None) -> AbstractContextManager[BinaryIO]:
    """Give a stream into an open file that compresses by the suffix of its path; None: that does not."""
    compression = None if path is None else compression_of(path)
    stream: Any = nullcontext(raw)
    if compression == "gzip":
        stream = gzip.GzipFile("", "wb", 6, raw, mtime=0)
    elif compression == "bz2":
        import bz2  # here, for what is not needed to start

        stream = bz2.BZ2File(raw, "wb")
    elif compression == "xz":
        import lzma  # here, for what is not needed to start

        stream = lzma.LZMAFile(raw, "wb", preset=_XZ_PRESET)
    elif compression == "zstd":
        stream = pa.CompressedOutputStream(pa.PythonFile(_Unclosed(raw), "w"), "zstd")
    return stream


class _Unclosed(io.RawIOBase):
    """A stream that is not closed with what is written into it."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._raw.write(data)


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
            raise OutputError(f" cannot be stored in {where}: {error.strerror or error}; {with_room}", name) from None
        _spools[self.number] = self
        weakref.finalize(self, self.file.close)


_spools: weakref.WeakValueDictionary[tuple[int, int], Spool] = weakref.WeakValueDictionary()
_read_once: list[Any] = []  # standard inputs that nothing is left of


def spool(
    name: str, format: str | None, formats: Mapping[str, Sequence[str]], status: os.stat_result | None = None
) -> Spool:  # fmt: skip
    """Copy standard input ("-"), a pipe or a terminal to a temporary file, since rows are read twice."""
    label = "stdin" if name == "-" else show_path(name)
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
        raise InputDataError(" is given twice, but can be read only once; save it to a file, and name that", label)
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
            raise InputDataError(" is a device, not a file", label)
        try:
            with open(name, "rb") as stream:
                copy = Spool(label, iter(partial(stream.read, PAGES), b""), number, end)
        except OutputError:
            raise
        except OSError as error:
            raise InputDataError(f"cannot be read: {error.strerror}; to read from a socket, pipe it to '-'", label) from None
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
