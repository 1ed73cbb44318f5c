"""Mailboxes of many e-mails (mbox). Kept messages are written as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import InputDataError
from ..files.folder import Unfinished
from ..files.names import packed
from ..files.streams import compression_of, read_blocks
from .format import EXPANSION, Selection
from .parsed import ParsedRecords
from .split import Record, Split

_BEGIN = b"From "
_END = re.compile(rb"\n\r?\n(?=From )")  # of a message; the blank line is its own
_EDGE = len(b"\n\r\nFrom ") - 1  # bytes of one that a block may end with
_HEADERS = {"id": b"message-id", "date": b"date", "from": b"from", "subject": b"subject"}
_MOST_HEADERS = 1 << 16  # bytes that are looked at


class Mbox(ParsedRecords):
    """E-mails, each after a line that begins with "From " and follows an empty one; the id column is the message's own."""

    name, kind = "mbox", "eml"
    suffixes = packed(".mbox")
    fields = ("id", "text", "date", "from", "subject")
    keep_unread = True

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Judge (rows, bytes of text) by the size of the file."""
        size = split.place.size * (1 if compression_of(split.place.path) is None else EXPANSION)
        return max(1, size // 20_000), size // 5

    def documents(self, split: Split) -> Iterator[tuple[Record, bytes | None]]:
        for number, message in enumerate(_messages(split), 1):
            if message is None and not split.limit.skip:
                raise split.too_large(f"row {number}")
            content = None if message is None else message[message.find(b"\n") + 1 :]
            yield _headers_of(content or b""), content

    def write_alike(self, folder: Unfinished, selection: Selection, provenance: Record) -> None:
        """Write the selected messages as they are, and those that cannot be read."""
        split = selection.split
        if selection.added is not None:
            raise InputDataError(f"{split.name}: mailboxes cannot be annotated; name an output file such as annotated.jsonl")
        split.check_unchanged()
        (name,) = self.names_in_folder(split)
        number, written = 0, selection.mask if selection.left is None else selection.mask | selection.left
        with folder.file(name) as stream:
            for number, message in enumerate(selection.within(_messages(split)), 1):
                selection.check_count(number) if number > len(selection.mask) else None
                if written[number - 1]:
                    stream.write(message or b"")
        selection.check_count(number)
        split.check_unchanged()


def _messages(split: Split) -> Iterator[bytes | None]:
    """Yield each message, with the line before it; None for one that is too large."""
    held, large, begun = bytearray(), False, False
    for block in read_blocks(split.place.path, noted=split.noted):
        begin, first = max(0, len(held) - _EDGE), 0
        held += block
        if not begun and not _BEGIN.startswith(held[: len(_BEGIN)]):
            raise InputDataError(f"{split.name}: no mailbox: it must begin with 'From ', and does with {bytes(held[:20])!r}")
        begun = begun or len(held) >= len(_BEGIN)
        for end in [found.end() for found in _END.finditer(held, begin)]:
            yield None if large or end - first > split.limit.most else bytes(held[first:end])
            first, large = end, False
        del held[:first]
        if len(held) > split.limit.most:
            large = True
            del held[:-_EDGE]
    if held:
        yield None if large else bytes(held)


def _headers_of(content: bytes) -> Record:
    """Return what the headers say that are columns."""
    from email.errors import MessageError  # here, for what is not needed to start
    from email.header import decode_header, make_header

    found: dict[str, Any] = dict.fromkeys(_HEADERS)
    end = re.search(rb"\r?\n\r?\n", content[:_MOST_HEADERS])
    lines = re.sub(rb"\r?\n[ \t]+", b" ", content[: end.start() if end else _MOST_HEADERS]).splitlines()
    for line in lines:
        name, _, value = line.partition(b":")
        for field, header in _HEADERS.items():
            if found[field] is None and name.lower() == header:
                said = value.strip().decode("utf-8", "replace")
                try:
                    decoded = str(make_header(decode_header(said)))
                    found[field] = decoded.encode("utf-8", "replace").decode()  # halves of pairs are no characters
                except (ValueError, LookupError, MessageError):  # of a character set that is not known, or damaged
                    found[field] = said
    return found


FORMAT = Mbox()
