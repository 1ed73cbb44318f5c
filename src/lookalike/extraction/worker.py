"""The process that parses: reads documents from its standard input, answers with their texts.

Nothing is imported but the parser that is asked for. A document that takes too much processor time or memory ends the process;
the job starts another.
"""

from __future__ import annotations

import os
import re
import signal
import struct
import sys
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from ..files.processes import limit_memory, take_output
from . import AllText, UnreadableError, page_text

SECONDS = 60
"""Of processor time that a document may take."""
PAGE_SECONDS, PAGE_RATE = 5, 1e-6
"""Of processor time that a web page may take, and for each of its bytes: a hundred times what it usually takes."""
MEMORY = 1 << 30
"""Bytes of memory that a process may have."""
_CONTROL, _FEW, _HEAD = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f]"), 20, 1 << 12  # one in so many first characters is no text
ASKED = struct.Struct("<8sqq")  # the kind, the bytes of the document, the most bytes of its text
ANSWERED = struct.Struct("<cq")  # what comes, and its bytes
TEXT, ALL_TEXT, UNREADABLE, MISSING = b"t", b"a", b"u", b"m"


def _pdf(content: bytes) -> str:
    from .pdf import text_of

    return text_of(content)


def _docx(content: bytes) -> str:
    from .office import text_of_docx

    return text_of_docx(content)


def _odt(content: bytes) -> str:
    from .office import text_of_odt

    return text_of_odt(content)


def _epub(content: bytes) -> str:
    from .office import text_of_epub

    return text_of_epub(content)


def _eml(content: bytes) -> str:
    from .mail import text_of

    return text_of(content)


def _text_in(content: bytes) -> str:
    """Return the text of bytes of any encoding; refuse what is none."""
    from ..text.html import page_of

    text = page_of(content)
    if len(_CONTROL.findall(text, 0, _HEAD)) * _FEW > len(text[:_HEAD]):
        raise UnreadableError("is not text")
    return text


def _html(content: bytes, boilerplate: bool = False) -> bytes:
    return page_text(_text_in(content), boilerplate)


def _page(content: bytes, boilerplate: bool = False) -> bytes:
    return page_text(content.decode("utf-8", "replace"), boilerplate)


def _record(content: bytes, boilerplate: bool = False) -> str | bytes:
    """Return the text of a record of WARC, whose first byte says whether it is a page."""
    text = _text_in(content[1:])
    return page_text(text, boilerplate) if content[:1] == b"h" else text


KINDS: dict[str, Callable[[bytes], str | bytes]] = {
    "pdf": _pdf, "docx": _docx, "odt": _odt, "epub": _epub, "eml": _eml, "html": _html, "page": _page, "warc": _record,
}  # fmt: skip
KINDS |= {
    f"{name}:all": partial(parser, boilerplate=True) for name, parser in (("html", _html), ("page", _page), ("warc", _record))
}


def seconds_for(kind: str, size: int, most: float) -> float:
    """Return the processor time that a document may take; web pages take less than others."""
    return min(most, PAGE_SECONDS + size * PAGE_RATE) if kind.startswith(("html", "page", "warc")) else most


def answer(kind: str, content: bytes, most: int) -> tuple[bytes, bytes]:
    """Return what comes of a document: its text, why it has none, or which package is missing."""
    try:
        found = KINDS[kind](content)
        text = found if isinstance(found, bytes) else found.encode("utf-8", "replace")
    except UnreadableError as error:
        return UNREADABLE, str(error).encode("utf-8", "replace")
    except ModuleNotFoundError as error:
        return MISSING, (error.name or str(error)).encode()
    except MemoryError:
        return UNREADABLE, b"needs too much memory to be parsed"
    except RecursionError:
        return UNREADABLE, b"is nested too deeply"
    except Exception as error:  # whatever a parser makes of what others wrote
        return UNREADABLE, f"the parser failed: {type(error).__name__}: {error}"[:300].encode("utf-8", "replace")
    if len(text) > most:
        return UNREADABLE, f"has {len(text):,} bytes of text, more than the {most:,} that a document may have".encode()
    return ALL_TEXT if isinstance(found, AllText) else TEXT, text


def serve(asking: BinaryIO, answering: BinaryIO, seconds: float) -> None:
    """Answer until there are no more questions."""
    while len(head := asking.read(ASKED.size)) == ASKED.size:
        kind, size, most = ASKED.unpack(head)
        content = asking.read(size)
        name = kind.rstrip(b"\0").decode()
        allowed = seconds_for(name, size, seconds)
        signal.setitimer(signal.ITIMER_PROF, allowed)  # its signal, which nothing handles, ends the process
        what, payload = answer(name, content, most)
        signal.setitimer(signal.ITIMER_PROF, 0)
        answering.write(ANSWERED.pack(what, len(payload)))
        answering.write(payload)
        answering.flush()
        del content, payload


def main(seconds: float, memory: int) -> None:
    """Answer on the standard output."""
    limit_memory(memory)
    serve(sys.stdin.buffer, os.fdopen(take_output(), "wb"), seconds)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
