"""Mailboxes of many e-mails (mbox). Kept messages are written as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from ..errors import InputDataError
from ..files.folder import UnfinishedFolder
from ..files.streams import read_blocks
from .format import Selection
from .parsed import ParsedRecords
from .split import FinalError, Record, Split

_BEGIN = re.compile(rb"From [^\n]{0,999}\n(?:>From [^\n]{0,199}\n){0,5}[!-9;-~]{1,99}[ \t]*:")
_POSTMARKS = re.compile(rb"\A[^\n]*(?:\n|\Z)(?:>From [^\n]*\n)*")
_BEFORE = b"\xef\xbb\xbf\r\n\t "  # that a mailbox may begin with
_SEPARATOR = re.compile(rb"\n" + _BEGIN.pattern)
_HEAD_END, _LENGTH = re.compile(rb"\n\r?\n"), re.compile(rb"\ncontent-length[ \t]*:[ \t]*(\d{1,12})[ \t]*\r?\n", re.I)
_ENDS = re.compile(rb"[\r\n]{0,4}(?:\Z|" + _BEGIN.pattern + rb")")  # of a message, if its length is right
_AFTER_EMPTY = (b"\n", b"\n\r")
_DATE = re.compile(rb"(?=.*\d:\d\d)(?:.*\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b.*\b(?:19|20)\d\d\b|.*\b(?:19|20)\d\d-\d\d-\d\d)")
_EDGE = 2200  # bytes, more than a separator has
_HEADERS = {"id": b"message-id", "date": b"date", "from": b"from", "subject": b"subject"}
_MOST_HEADERS = 1 << 16  # bytes that are looked at


class Mbox(ParsedRecords):
    """E-mails, each after a line that begins with "From "; the id column is the message's own.

    Such a line is followed by a header, and has the date and time of arrival in it, if the first of the mailbox has; if not, it
    follows an empty line. Any other is a part of the message that it is in; so are all before the end that its length says,
    if a message, or nothing, follows there. What the mailbox begins with, and is no message, is always written.
    """

    name, kind = "mbox", "eml"
    fields = ("id", "text", "date", "from", "subject")
    keep_unread = True
    row_bytes, text_share = 20_000, 0.2

    def documents(self, split: Split) -> Iterator[tuple[Record, bytes | None]]:
        for number, message in enumerate(_messages(split), 1):
            if message is None and not split.limit.skip:
                raise split.too_large(row=number)
            content = None if message is None else _POSTMARKS.sub(b"", message.lstrip(_BEFORE), 1)
            yield _headers_of(content or b""), content

    def copied(self, selection: Selection, folder: UnfinishedFolder, name: str) -> int:
        """Write the selected messages, and those that cannot be read."""
        number, written = 0, selection.mask if selection.left is None else selection.mask | selection.left
        with folder.file(name) as stream:
            for number, message in enumerate(_up_to_faults(selection.split), 1):
                selection.check_count(number) if number > len(selection.mask) else None
                if written[number - 1] or (number == 1 and message and not _BEGIN.match(message.lstrip(_BEFORE))):
                    stream.write(message or b"")
        return number


def _up_to_faults(split: Split) -> Iterator[bytes | None]:
    """Yield the messages, where faults are passed over up to what cannot be read."""
    try:
        yield from _messages(split)
    except FinalError:
        raise
    except InputDataError:
        if not split.limit.faults:
            raise


def _messages(split: Split) -> Iterator[bytes | None]:
    """Yield each message, with the line before it; None for one that is too large."""
    held, large, sought, dated = bytearray(), False, 0, None
    for block in chain(read_blocks(split.place.path, noted=split.on_read), (b"",)):
        held += block
        if dated is None:
            if block and len(held) < _EDGE:
                continue
            first = held.lstrip(_BEFORE)
            if held and not first.startswith(b"From "):
                raise InputDataError(
                    f"not a mailbox: it must begin with 'From ', but begins with {bytes(held[:20])!r}", split.name
                )
            sought = len(held) - len(first)
            dated = _DATE.match(first.partition(b"\n")[0]) is not None
        end = len(held) - (_EDGE if block else 0)
        begin, waits = 0, False
        for place in [found.start() + 1 for found in _SEPARATOR.finditer(held, sought)]:
            after_empty = not dated and held[max(begin, place - 3) : place - 1].endswith(_AFTER_EMPTY)
            if place <= end and (after_empty or _DATE.match(held, place)):
                said = 0 if large else _said_end(held, begin, place)
                if place < said <= begin + split.limit.most and said > end and block:  # whether it is right is seen there
                    end, waits = place - 1, True
                    break
                if place < said <= len(held) and _ENDS.match(held, said):
                    continue
                yield None if large or place - begin > split.limit.most else bytes(held[begin:place])
                begin, large = place, False
        sought = max(end, begin, sought)
        if begin:
            del held[:begin]
            sought = max(0, sought - begin)
        if len(held) > split.limit.most and len(held) > _EDGE and not waits:
            large = True
            sought = max(0, sought - len(held) + _EDGE)
            del held[:-_EDGE]
    if held:
        yield None if large else bytes(held)


def _said_end(held: bytearray, begin: int, stop: int) -> int:
    """Return where the message that begins at a place ends as its length says, if it says one before another place; else 0."""
    head = _HEAD_END.search(held, begin, stop)
    said = None if head is None else _LENGTH.search(held, begin, head.end())
    return 0 if head is None or said is None else head.end() + int(said[1])


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
