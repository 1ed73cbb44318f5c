"""Long strings of JSON as UTF-8, a part at a time: as one Python string they could take four times as much memory."""

from __future__ import annotations

import re

import msgspec

LONG = 1 << 20  # bytes of a line whose text is decoded so
CHUNK = 1 << 16
_decode = msgspec.json.Decoder(str).decode
_HIGH = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")


def text_of(raw: msgspec.Raw) -> bytearray | None:
    """Return a string of JSON as UTF-8; None is null."""
    data = memoryview(raw)
    if data[0] != 0x22:
        msgspec.json.decode(data, type=None)
        return None
    begin, end, n_bytes = 1, len(data) - 1, 0
    found = bytearray(end)  # no text is longer than what it is written as, and one buffer is given back as a whole
    while begin < end:
        stop = _boundary(data, min(begin + CHUNK, end), end)
        part = _decode(b'"%b"' % bytes(data[begin:stop])).encode()
        found[n_bytes : n_bytes + len(part)] = part
        begin, n_bytes = stop, n_bytes + len(part)
    del found[n_bytes:]
    return found


def _boundary(data: memoryview, at: int, end: int) -> int:
    """Return the first place from ``at`` on at which no character, escape or pair of escapes is cut."""
    while at < end:
        before = bytes(data[max(0, at - 12) : at])
        if data[at] & 0xC0 == 0x80:
            at += 1  # inside a character
        elif b"\\" not in before:
            return at
        elif data[at] == 0x5C and before[-1] != 0x5C and not _HIGH.fullmatch(before[-6:]):
            return at  # an escape begins, and not the second half of a pair
        else:
            at += 1
    return end
