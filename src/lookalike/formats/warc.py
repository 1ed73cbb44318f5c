"""WARC and WET files: a document is a page or text that was fetched, or text made of one."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import pyarrow as pa

from ..errors import InputDataError
from ..files.folder import Unfinished
from ..files.names import packed
from ..files.streams import BLOCK, read_blocks
from .format import EXPANSION, Format, Selection
from .parsed import ParsedRecords
from .split import Record, Split

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

_HEADERS = {"uri": "WARC-Target-URI", "date": "WARC-Date", "record_id": "WARC-Record-ID",
            "language": "WARC-Identified-Content-Language"}  # fmt: skip
_FIELDS = ("id", "text", *_HEADERS, "content_type")
_MARKUP = ("text/html", "application/xhtml+xml")
_HEADERS_BYTES = 1 << 17  # that a record may have before its content
_PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": partial(gzip.compress, mtime=0),
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


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

    def expected(self, split: Split, text: str) -> tuple[int, int]:
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

    def documents(self, split: Split) -> Iterator[tuple[Record, bytes | None]]:
        """Yield what is known of each document, and its bytes after a letter that says whether they are a page."""
        most = split.limit.most
        for number, record in enumerate(filter(_kind, _records(split, auto_decode="all")), 1):
            given = record.headers
            row: Record = {name: given.get(header) for name, header in _HEADERS.items()}
            kind = record.http_content_type if record.is_http else given.get("Content-Type")
            row |= {"id": f"{row['uri']} {row['date']}", "content_type": kind}
            content: bytes = record.reader.read(most + 1)
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


def _records(split: Split, **how: Any) -> Iterator[WarcRecord]:
    """Yield the records of a file; damage, or an end before that of a record, is an error that names the place."""
    from fastwarc.warc import ArchiveIterator

    source, begin, end = _Bytes(read_blocks(split.place.path, noted=split.noted)), 0, 0
    why: object = "it ends within a record"
    try:
        for record in ArchiveIterator(cast("BinaryIO", source), stream_detect=False, **({"parse_http": True} | how)):
            begin = record.stream_pos
            end = source.end_of_headers(begin) + int(record.headers.get("Content-Length") or 0)
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
    kind = (record.http_content_type if record.is_http else record.headers.get("Content-Type")) or ""
    kind = kind.partition(";")[0].strip().lower()
    return b"h" if kind in _MARKUP else b"t" if kind.startswith("text/") else b""


def _as_utf8(content: bytes, charset: str | None) -> bytes:
    """Return bytes in UTF-8, if they are of the charset that the server named."""
    try:
        return content if charset is None else content.decode(charset).encode()
    except (LookupError, ValueError):
        return content


FORMAT = Warc("warc", *packed(".warc", ".wet"))
