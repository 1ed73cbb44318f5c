"""WARC and WET files: a document is a page or text that was fetched, or text made of one."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, cast

import pyarrow as pa

from ..errors import InputDataError
from ..extraction import UnreadableError
from ..files.folder import Unfinished
from ..files.names import packed
from ..files.streams import BLOCK, MOST, read_blocks
from .format import EXPANSION, Format, Selection
from .parsed import ParsedRecords
from .split import Record, Split

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

_HEADERS = {"uri": "WARC-Target-URI", "date": "WARC-Date", "record_id": "WARC-Record-ID",
            "language": "WARC-Identified-Content-Language"}  # fmt: skip
_FIELDS = ("id", "text", *_HEADERS, "content_type")
_MARKUP = ("text/html", "application/xhtml+xml")
_PACKED = 1 << 14  # bytes that are unpacked at a time
_HEADERS_BYTES = 1 << 17  # that a record may have before its content
_PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": partial(gzip.compress, mtime=0),
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


_UNKNOWN = b"u"  # the kind of what headers of HTTP would say
_USUAL = {name.lower(): name for name in (b"WARC-Type", b"Content-Type", b"Content-Length")}
_NAMES = re.compile(rb"(?<=\n)(?:" + b"|".join(_USUAL) + rb")(?=:)", re.I)
_LENGTH = re.compile(rb"\nContent-Length:[ \t]*(\d{1,18})[ \t]*\r")
_CODINGS = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "deflate", "br": "brotli", "zstd": "zstd"}


class Warc(ParsedRecords):
    """Records of responses, resources and conversions that hold text; the id column is the URI and the date.

    Rows are numbered from 1. Pages are parsed in processes of their own; "warc:all" is the format of those whose menus count.
    """

    compressible = False
    fields = _FIELDS
    extra, package = "warc", "fastwarc"

    def __init__(self, name: str, *suffixes: str) -> None:
        self.name, self.suffixes, self.kind = name, suffixes, name

    def with_boilerplate(self) -> Format:
        return Warc("warc:all")

    def detailed(self, detail: str) -> Format:
        return self.with_boilerplate() if detail == "all" else super().detailed(detail)

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Judge (rows, bytes of text) by the size of the file."""
        size = split.place.size * (EXPANSION if split.name.endswith((".gz", ".zst")) else 1)
        return max(1, size // 50_000), size // 5

    def write_alike(self, folder: Unfinished, selection: Selection, provenance: Record) -> None:
        """Write the selected records as they are, compressed one by one, and those that tell how they were fetched."""
        from fastwarc.warc import WarcRecordType

        split = selection.split
        if selection.added is not None:
            raise InputDataError(f"{split.name}: WARC records cannot be annotated; name an output file such as annotated.jsonl")
        split.check_unchanged()
        (name,) = self.names_in_folder(split)
        pack = _PACK.get(name.rpartition(".")[2], bytes)
        wanted, number = selection.mask, 0
        with folder.file(name, compress=False) as raw:
            for record, told in zip(_records(split, parse_http=False), _records(split), strict=True):
                if split.limit.faults and number >= selection.last:
                    break
                if _kind(told):
                    selection.check_count(number + 1) if number == len(wanted) else None
                    chosen, number = wanted[number], number + 1
                else:
                    chosen = record.record_type == WarcRecordType.warcinfo
                if chosen:
                    whole = BytesIO()
                    record.write(whole)
                    raw.write(pack(whole.getvalue()))
        selection.check_count(number)
        split.check_unchanged()

    def documents(self, split: Split) -> Iterator[tuple[Record, bytes | UnreadableError | None]]:
        """Yield what is known of each document, and its bytes after a letter that says whether they are a page."""
        most = split.limit.most
        for number, record in enumerate(filter(_kind, _records(split)), 1):
            given = record.headers
            row: Record = {name: given.get(header) for name, header in _HEADERS.items()}
            kind = record.http_content_type if record.is_http else given.get("Content-Type")
            row |= {"id": f"{row['uri']} {row['date']}", "content_type": kind}
            if _kind(record) == _UNKNOWN:
                yield row, UnreadableError("has headers of HTTP that are damaged or too long")
                continue
            content = _content_of(record, most + 1)
            if len(content) > most and not split.limit.skip:
                raise split.too_large(f"row {number}")
            yield row, None if len(content) > most else _kind(record) + _as_utf8(content, record.http_charset)


class _Bytes:
    """The bytes of a file, decompressed, as they are asked for, and the last of them again."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._waiting = blocks, memoryview(b"")
        self._last, self.size = b"", 0

    def read(self, n: int = -1) -> bytes:
        if not self._waiting:
            self._waiting = memoryview(next(self._blocks, b""))
        part = bytes(self._waiting[: n if n > 0 else None])
        self._waiting = self._waiting[len(part) :]
        self._last = (self._last + part)[-max(_HEADERS_BYTES, 2 * len(part)) :]
        self.size += len(part)
        return part

    def tell(self) -> int:
        return self.size

    def end_of_headers(self, begin: int) -> int:
        """Return where the headers end that begin at a place."""
        first = self.size - len(self._last)
        end = self._last.find(b"\r\n\r\n", max(0, begin - first))
        return first + end + 4 if end >= 0 else begin


def _usually_named(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the blocks of a file with the names of headers in the case that FastWARC knows; any other is as good.

    From what does not begin as a record does, all is left as it is.
    """
    waiting, content = b"", 0
    for block in blocks:
        waiting += block
        begin, parts = 0, []
        while True:
            parts.append(waiting[begin : begin + content])
            begin, content = begin + len(parts[-1]), content - len(parts[-1])
            end = waiting.find(b"\r\n\r\n", begin, begin + _HEADERS_BYTES) + 4
            if content or (end < 4 and len(waiting) < begin + _HEADERS_BYTES):
                break
            head = _NAMES.sub(lambda name: _USUAL[name[0].lower()], waiting[begin:end])
            length = _LENGTH.search(head) if head.startswith(b"WARC/") else None
            parts.append(head)
            begin, content = max(begin, end), int(length[1]) + len(b"\r\n\r\n") if length else MOST
        waiting = waiting[begin:]
        if together := b"".join(parts):
            yield together
    if waiting:
        yield waiting


def _records(split: Split, parse_http: bool = True) -> Iterator[WarcRecord]:
    """Yield the records of a file; damage, or an end before that of a record, is an error that names the place."""
    from fastwarc.warc import ArchiveIterator

    source, begin, end = _Bytes(_usually_named(read_blocks(split.place.path, noted=split.noted))), 0, 0
    why: object = "it ends within a record"
    try:
        for record in ArchiveIterator(cast("BinaryIO", source), stream_detect=False, parse_http=False):
            begin = record.stream_pos
            end = source.end_of_headers(begin) + int(record.headers.get("Content-Length") or 0)
            if parse_http:
                with suppress(OSError):  # headers of HTTP that are damaged, which is one record's affair
                    record.parse_http()
            yield record
        while source.read(BLOCK):
            pass
        if end <= source.size <= end + len(b"\r\n\r\n"):
            return
    except BaseException as error:  # of FastWARC, too, whose panics are no Exception
        if isinstance(error, InputDataError) or not (
            isinstance(error, OSError | ValueError | EOFError) or type(error).__name__ == "PanicException"
        ):
            raise
        why = error
    raise InputDataError(f"{split.name}: damaged WARC data in or after the record at byte {begin} of its content: {why}")


def _kind(record: WarcRecord) -> bytes:
    """Return a letter for the kind of text that a record holds; none if it holds none."""
    from fastwarc.warc import WarcRecordType

    if record.record_type == WarcRecordType.conversion:
        return b"t"
    if record.record_type not in (WarcRecordType.response, WarcRecordType.resource):
        return b""
    if record.is_http and not record.is_http_parsed:
        return _UNKNOWN
    kind = (record.http_content_type if record.is_http else record.headers.get("Content-Type")) or ""
    kind = kind.partition(";")[0].strip().lower()
    return b"h" if kind in _MARKUP else b"t" if kind.startswith("text/") and kind != "text/dns" else b""


def _content_of(record: WarcRecord, most: int) -> bytes:
    """Return the content of a record, up to so many bytes, as it was before servers packed it.

    Crawlers unpack it, too, and leave what servers said of it: what is not packed as it says is taken as it is.
    """
    content = b"".join(_pieces(record.reader.read, most))
    given = record.http_headers if record.is_http else None
    if given is None or len(content) >= most:
        return content
    if "chunked" in (given.get("Transfer-Encoding") or "").lower():
        content = _whole(content)
    for coding in reversed((given.get("Content-Encoding") or "").lower().split(",")):
        name = _CODINGS.get(coding.strip())
        if name is not None:
            content = _unpacked(content, name, most)
    return content


def _pieces(read: Callable[[int], bytes], most: int) -> Iterator[bytes]:
    """Read up to so many bytes, not all at once: FastWARC makes room for as many as are asked for."""
    while most > 0 and (block := read(min(most, BLOCK))):
        most -= len(block)
        yield block


def _whole(content: bytes) -> bytes:
    """Put chunks together; what is not in chunks is returned as it is."""
    found, at = [], 0
    while head := re.compile(rb"([0-9a-fA-F]{1,15})[^\r\n]*\r\n").match(content, at):
        size = int(head[1], 16)
        found.append(content[head.end() : head.end() + size])
        at = head.end() + size + 2
        if size == 0:
            break
    return b"".join(found) if at else content


def _unpacked(content: bytes, name: str, most: int) -> bytes:
    """Decompress up to so many bytes: those before damage, or all as they are if none are packed and they look like text."""
    found = b""
    try:
        if name in ("gzip", "deflate"):  # deflated with a header of zlib, or, as some servers send it, without
            bits = 16 if name == "gzip" else 0 if content[:1] == b"x" else -2 * zlib.MAX_WBITS
            unpacking = zlib.decompressobj(zlib.MAX_WBITS + bits)
            for begin in range(0, len(content), _PACKED):
                found += unpacking.decompress(content[begin : begin + _PACKED], most - len(found))
                if len(found) == most:
                    break
        else:
            with pa.CompressedInputStream(pa.BufferReader(content), name) as stream:
                for block in _pieces(stream.read, most):
                    found += block
    except (OSError, zlib.error):
        return found or (b"" if b"\0" in content[:BLOCK] else content)
    return found


def _as_utf8(content: bytes, charset: str | None) -> bytes:
    """Return bytes in UTF-8, if they are of the charset that the server named."""
    if charset is None:
        return content
    # Browsers read Latin-1 as the code page of Windows, whose quotation marks many pages have.
    latin = charset.lower().replace("_", "-") in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii")
    for name in ("cp1252", charset) if latin and not content.isascii() else (charset,):
        with suppress(LookupError, ValueError):
            return content.decode(name).encode()
    return content


FORMAT = Warc("warc", *packed(".warc", ".wet"))
