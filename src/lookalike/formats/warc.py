"""WARC and WET files: a document is a page or text that was fetched, or text made of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from ..errors import InputDataError
from ..extraction import UnreadableError
from ..extraction.parsers import Text
from ..files.folder import UnfinishedFolder
from ..files.signatures import BEGINS, LOOKED_AT, described, is_texty, kind_of, packing_of
from ..files.streams import BLOCK, DamagedError, Gap, compressed, inflated, read_blocks
from .format import Format, Selection
from .parsed import ParsedRecords
from .split import Record, Split

_COLUMNS = {"uri": "warc-target-uri", "date": "warc-date", "record_id": "warc-record-id",
            "language": "warc-identified-content-language"}  # fmt: skip
_PAGES = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml")
_XML = ("text/xml", "application/xml")
_UNTOLD = ("", "*/*", "unknown/unknown", "application/unknown")  # what servers say of what they do not know
_MOST_HEADERS = 1 << 17  # bytes
_WINDOW = 4 << 20  # bytes of a record of whatever size in which the next one is looked for
_SLACK = 4  # bytes by which a length may be wrong: an end of a line counted, or not, or two
_MOST_NAMED = 256  # bytes that tell the beginning of a record
_ENDS = (b"\r\n\r\n", b"\n\n")
_UNPACKED = "is damaged: its compressed data cannot be read"
_LENGTH = "is damaged: it has another length than it says"
_HEADERS = "is damaged: it says no length"
_DENSEST = 1032  # as many times as long becomes what is compressed, mostly
_BEGIN = re.compile(rb"WARC/\d+\.\d+[ \t]*\r?\n[!-9;-~]+[ \t]*:", re.I)
_HEAD_END = re.compile(rb"\n\r?\n")
_FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:[ \t]*(.*)")
_INTERIM = re.compile(rb"HTTP/\S*[ \t]+1\d\d\b", re.I)
_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|script|style|table|div|h1|p|a|b|br)[\s>/]",
    re.I | re.S,
)
_ONLY_FIELDS = re.compile(rb"(?:[!-9;-~]+[ \t]*:[^\n]*\n)+\r?\n")
_NO_TEXT = re.compile(rb"[\0-\x08\x10-\x1a\x1c-\x1f]")  # in any charset but those of UTF-16 and UTF-32
_FIRST_LINE = re.compile(rb"(?:HTTP|WARC)/", re.I)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\"';,\s]+)", re.I)
_CODINGS = {"gzip": "gzip", "x-gzip": "gzip", "deflate": "gzip", "br": "brotli", "zstd": "zstd"}
_CHUNK = re.compile(rb"\s*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")


class Warc(ParsedRecords):
    """Records of responses, resources and conversions that hold text; the id column is the URI and the date.

    Rows are numbered from 1. Pages are parsed in processes of their own; "warc:all" is the format of those whose menus count.
    """

    compressible = False
    fields = ("id", "text", *_COLUMNS, "content_type")
    extra, package = "warc", "resiliparse"
    row_bytes, text_share = 50_000, 0.2

    def __init__(self, name: str) -> None:
        self.name = self.kind = name

    def with_boilerplate(self) -> Format:
        return Warc("warc:all")

    def detailed(self, detail: str) -> Format:
        return self.with_boilerplate() if detail == "all" else super().detailed(detail)

    def copied(self, selection: Selection, folder: UnfinishedFolder, name: str) -> int:
        """Write the selected records, compressed one by one, and those that tell how they were fetched."""
        split, wanted, number = selection.split, selection.mask, 0
        with folder.file(name, compress=False) as raw:
            records = _records(split)
            while not (split.limit.faults and number >= selection.last) and (record := next(records, None)) is not None:
                if record.is_document:
                    selection.check_count(number + 1) if number == len(wanted) else None
                    chosen, number = wanted[number], number + 1
                else:
                    chosen = record.kind == "warcinfo" and not record.damage
                if chosen:
                    with compressed(raw, Path(name)) as stream:
                        stream.write(record.whole)
        return number

    def documents(self, split: Split) -> Iterator[tuple[Record, Text]]:
        """Yield what is known of each document, and its bytes after a letter that says whether they are a page."""
        for number, record in enumerate((record for record in _records(split) if record.is_document), 1):
            row: Record = {name: record.headers.get(header) for name, header in _COLUMNS.items()}
            row["uri"] = row["uri"] and row["uri"].strip("<>")
            name = (
                " ".join(filter(None, (row["uri"], row["date"])))
                if row["uri"]
                else f"the record at byte {record.begin} of the content"
            )
            row |= {"id": name, "content_type": record.content_type or None}
            try:
                yield row, UnreadableError(record.damage) if record.damage else _document(record, row, split, number)
            except UnreadableError as error:
                yield row, error


def _document(record: _Record, row: Record, split: Split, number: int) -> bytes | None:
    """Return what a document holds, after a letter that says whether it is a page; the record holds it no more."""
    content = _content_of(record, split.limit.most + 1)
    record.whole = b""
    if record.is_cut or len(content) > split.limit.most:
        if not split.limit.skip:
            raise split.too_large(row=number)
        return None
    if record.is_untold:
        row["content_type"] = "text/html" if _MARKUP.match(content) else "text/plain"
    if (kind := kind_of(content[:LOOKED_AT])) is not None:
        raise UnreadableError(described(kind).partition(":")[0])
    is_page = record.kind != "conversion" and _is_page(row["content_type"], content)
    return (b"h" if is_page else b"t") + _as_utf8(content, record.charset)


def _is_page(kind: str, content: bytes) -> bool:
    """Tell whether content is a page by its type, or, if it is XML, by how it begins."""
    return kind in _PAGES or (kind in _XML and _MARKUP.match(content) is not None)


@dataclass(slots=True)
class _Record:
    """A record: where it begins, its headers by their names in lower case, its bytes, of a large one the first."""

    begin: int
    damage: str = ""  # why it cannot be read
    headers: dict[str, str] = field(default_factory=dict)
    whole: bytes = b""
    first: int = 0  # where its content begins in these, after headers of HTTP, too
    last: int | None = None  # where it ends
    http: dict[str, str] | None = None
    is_cut: bool = False  # whether not all of its content is held

    @property
    def kind(self) -> str:
        """Its type: "response"."""
        return self.headers.get("warc-type", "").lower()

    @property
    def content_type(self) -> str:
        """The media type that was sent with the content, or that of a crawler that looked at it."""
        given = (self.headers if self.http is None else self.http).get("content-type", "")
        said = re.split(r"[;,\s]", given.strip(), maxsplit=1)[0].lower()
        return self.headers.get("warc-identified-payload-type", said).lower() if said in _UNTOLD else said

    @property
    def charset(self) -> str | None:
        """The character set that the server named."""
        found = None if self.http is None else _CHARSET.search(self.http.get("content-type", ""))
        return None if found is None else found[1]

    @property
    def is_untold(self) -> bool:
        """Whether nothing says what the content is."""
        return self.content_type in _UNTOLD or "/" not in self.content_type

    @property
    def is_document(self) -> bool:
        """Whether it is a page or another text, or may be one; not if it is known to be neither."""
        if self.damage or self.kind == "conversion":
            return True
        if self.kind not in ("response", "resource"):
            return False
        if not self.is_untold and self.content_type not in _XML:
            return self.content_type in _PAGES or (self.content_type.startswith("text/") and self.content_type != "text/dns")
        try:
            head = _content_of(self, LOOKED_AT)
        except UnreadableError:
            return kind_of(self.whole[self.first : self.last]) in (None, *BEGINS)
        is_text = self.content_type == "text/xml" or (self.is_untold and is_texty(head) and bool(head.strip()))
        return not kind_of(head) and (is_text or _MARKUP.match(head) is not None)


class _Bytes:
    """Bytes of blocks that are held; they end at what is damaged, as they do at the end of the file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self.held, self.begin = blocks, bytearray(), 0
        self.gap: Gap | None = None
        self.fault: DamagedError | None = None  # after which nothing is found
        self.ended = False

    def hold(self, n_bytes: int) -> bool:
        """Hold so many bytes, or all that there are; tell whether there are so many."""
        while len(self.held) < n_bytes and self.gap is None and not self.ended:
            try:
                block = next(self._blocks, None)
            except DamagedError as error:
                block, self.fault = None, error
            if block is None:
                self.ended = True
            elif isinstance(block, Gap):
                self.gap = block
            else:
                self.held += block
        return len(self.held) >= n_bytes

    def drop(self, n_bytes: int) -> bytes:
        """Hold so many bytes less, which are returned."""
        with memoryview(self.held) as held:
            dropped = bytes(held[:n_bytes])
        del self.held[:n_bytes]
        self.begin += len(dropped)
        return dropped

    def past_newlines(self, at: int) -> int:
        """Return where something else than the end of a line is held, or the end."""
        while self.hold(at + 1) and self.held[at] in b"\r\n":
            at += 1
        return at

    def pass_over(self) -> bool:
        """Drop what is held and comes before the next record; all, up to a gap or the end, if there is none."""
        while (found := _BEGIN.search(self.held)) is None:
            size = len(self.held)
            if not self.hold(size + 1):
                self.drop(size)
                return False
            self.drop(size - _MOST_NAMED)
            self.hold(BLOCK)
        self.drop(found.start())
        return True


def _records(split: Split) -> Iterator[_Record]:
    """Yield the records of a file, and one for what is damaged; an error names the place after which no other is found."""
    source = _Bytes(read_blocks(split.place.path, noted=split.on_read, gaps=True))
    most, possible = max(split.limit.most + 1, _WINDOW), split.place.size * _DENSEST
    told = False  # whether what is passed over was counted
    while True:
        source.drop(source.past_newlines(0))
        source.hold(_MOST_NAMED)
        begin = source.begin
        if _BEGIN.match(source.held):
            record = _record(source, most, possible)
            if record is None:
                raise source.fault or _damaged(split, begin, "it ends within a record, or what follows is none")
            told = bool(record.damage)
            yield record
        elif source.held.strip(b"\0 \r\n"):
            if not source.pass_over() and source.gap is None:
                raise source.fault or _damaged(split, begin, "no record begins there")
            if not told:
                yield _Record(begin, "is not a record")
            told = True
        elif source.held:
            source.drop(len(source.held))
        elif source.gap is not None:
            if not told:
                yield _Record(begin, _UNPACKED)
            told, source.gap = True, None
        elif source.fault is not None:
            raise source.fault
        else:
            return


def _damaged(split: Split, begin: int, why: str) -> InputDataError:
    return InputDataError(f"damaged WARC data in or after the record at byte {begin} of its content: {why}", split.name)


def _record(source: _Bytes, most: int, possible: int) -> _Record | None:
    """Return the record that begins what is held, with so many bytes of content at most; None if the file ends within it.

    Its length, which may not be ``possible``, is right if another record follows, or nothing. If it is not, the record ends
    where the next begins.
    """
    source.hold(_MOST_HEADERS)
    found = _HEAD_END.search(source.held, 0, _MOST_HEADERS)
    at = found.end() if found is not None else 1
    record = _Record(source.begin, headers=_headers(bytes(source.held[:at]), 0)[0])
    said = record.headers.get("content-length", "")
    length = int(said) if found is not None and re.fullmatch(r"[0-9]{1,18}", said) else None
    if length is not None and length > most and not (length > possible and _BEGIN.search(source.held, at)):
        source.hold(at + most)
        record.whole, record.first = source.drop(at + most), at
        record.is_cut = True
        left = length - most
        while left > 0 and source.hold(1):
            left -= len(source.drop(min(left, BLOCK)))
        if left <= 0:
            return _with_http(record)
        record.damage = _UNPACKED
        return record if source.gap is not None else None
    end = at + (length or 0)
    stop = source.past_newlines(end) if length is not None and source.hold(end) else None
    if stop is not None and (not source.hold(stop + 1) or source.held[end:stop] in _ENDS or _is_begun(source, stop)):
        if source.gap is not None and source.gap.begun and len(source.held) == stop:
            record.damage = _UNPACKED
    else:
        source.hold(at + min(length or 0, most) + _WINDOW)
        following = _BEGIN.search(source.held, at)
        stop = len(source.held) if following is None else following.start()
        text = at + len(source.held[at:stop].rstrip(b"\0\r\n"))
        if length is not None and max(text - end, end - stop) <= _SLACK and (end <= stop or source.held[:stop].endswith(_ENDS)):
            end = min(max(text, end), stop)
        elif following is not None or not (source.ended or source.gap):
            record.damage = _LENGTH if length is not None else _HEADERS
        elif source.gap is not None:
            record.damage = _UNPACKED
        else:
            return None
    record.whole, record.first, record.last = source.drop(stop), at, end
    return _with_http(record)


def _is_begun(source: _Bytes, at: int) -> bool:
    """Tell whether a record begins at a place."""
    source.hold(at + _MOST_NAMED)
    return _BEGIN.match(source.held, at) is not None


def _with_http(record: _Record) -> _Record:
    """Return a record with the headers of HTTP in it, and what is wrong with it."""
    if record.damage:
        return record
    if not record.kind:
        record.damage = "has no WARC-Type"
    elif "warc-segment-number" in record.headers:
        record.damage = "is a part of a page; other parts are in other records"
    elif record.kind == "response":
        is_http = record.headers.get("content-type", "").lower().startswith("application/http")
        while is_http or record.whole[record.first : record.first + 5].upper() == b"HTTP/":
            begin, head = record.first, record.whole[record.first : record.last][: _MOST_HEADERS + 1]
            record.http, size = _headers(head, 0)
            record.first += size
            if size > _MOST_HEADERS:
                record.damage = "has headers of HTTP that are damaged or too long"
            is_http = _INTERIM.match(record.whole, begin) is not None and record.first > begin
    return record


def _headers(data: bytes, begin: int) -> tuple[dict[str, str], int]:
    """Return the headers that begin at a place, by their names in lower case, the first of each; and where they end.

    They end with an empty line, or before a line that is none, unless all that follow up to an empty line are; the first may be
    a line of HTTP or WARC.
    """
    found: dict[str, str] = {}
    at, name = begin, ""
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        line = data[at:end].rstrip(b"\r\n")
        if not line:
            return found, end
        if (field := _FIELD.fullmatch(line)) is not None:
            name = field[1].decode().lower()
            if name not in found:
                found[name] = field[2].decode("utf-8", "replace").strip()
        elif line[:1] in b" \t" and name:
            found[name] += " " + line.decode("utf-8", "replace").strip()
        elif not _FIRST_LINE.match(line) and not _ONLY_FIELDS.match(data, end, end + _MOST_HEADERS):
            return found, at
        at = end
    return found, at


def _content_of(record: _Record, most: int) -> bytes:
    """Return the content of a record, up to so many bytes, as it was before servers packed it.

    Crawlers unpack it, too, and leave what servers said of it: text that is not packed as it says is taken as it is.
    """
    content = record.whole[record.first : record.last]
    if record.http is None or len(content) >= most > LOOKED_AT:
        return content[:most]
    if "chunked" in record.http.get("transfer-encoding", "").lower():
        content = _whole(content)
    for coding in reversed(record.http.get("content-encoding", "").lower().split(",")):
        name = _CODINGS.get(coding.strip())
        if name is not None:
            content = _unpacked(content, name, most)
    return _unpacked(content, "gzip", most) if packing_of(content) == "gzip" else content[:most]


def _pieces(read: Callable[[int], bytes], most: int) -> Iterator[bytes]:
    """Read up to so many bytes, not all at once."""
    while most > 0 and (block := read(min(most, BLOCK))):
        most -= len(block)
        yield block


def _whole(content: bytes) -> bytes:
    """Put chunks together; what is not in chunks is returned as it is; damage is an UnreadableError."""
    found: list[bytes] = []
    at = 0
    while (head := _CHUNK.match(content, at)) is not None:
        end = head.end() + int(head[1], 16)
        if end == head.end() and (found or not content[end:].strip()):
            return b"".join(found)
        if end == head.end() or end > len(content) or content[end : end + 1] not in (b"", b"\r", b"\n"):
            break
        found.append(content[head.end() : end])
        at = end
    if found and at < len(content):
        raise UnreadableError("is damaged: the chunks that its server sent are not whole")
    return b"".join(found) or content


def _unpacked(content: bytes, name: str, most: int) -> bytes:
    """Decompress up to so many bytes; a text that is not packed is returned as it is, and damage is an UnreadableError."""
    try:
        with inflated(content) if name == "gzip" else pa.CompressedInputStream(pa.BufferReader(content), name) as stream:
            return b"".join(_pieces(stream.read, most))
    except (EOFError, OSError):
        head = content[:LOOKED_AT]
        if is_texty(head) or not (kind_of(head) or _NO_TEXT.search(head)):
            return content
        raise UnreadableError(f"is damaged: what its server compressed ({name}) cannot be read to its end") from None


def _as_utf8(content: bytes, charset: str | None) -> bytes:
    """Return bytes in UTF-8, if they are of the charset that the server named."""
    if charset is None or _is_utf8(content):
        return content
    # Browsers read Latin-1 as the code page of Windows, whose quotation marks many pages have.
    latin = charset.lower().replace("_", "-") in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii")
    for name in ("cp1252", charset) if latin and not content.isascii() else (charset,):
        with suppress(LookupError, ValueError):
            return content.decode(name).encode()
    return content


def _is_utf8(content: bytes) -> bool:
    """Tell whether bytes are UTF-8, as text of another charset hardly ever is, whatever a server says of it."""
    with suppress(UnicodeDecodeError):
        return b"\x1b" not in content and not content.isascii() and bool(content.decode())
    return False


FORMAT = Warc("warc")
