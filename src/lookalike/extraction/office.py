"""Text of DOCX, ODT and EPUB files: XML in a zip file, of which no more is unpacked than a text may have."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Collection, Iterator
from io import BytesIO
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from . import UnreadableError

MOST_XML = 256 << 20  # bytes of one member
MOST_OF_BOOK = 1 << 30  # bytes of all members that are read
_BLOCK = 1 << 16
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # for programs that know less: a copy
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STRICT = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_UNSAID = (_FALLBACK, f"{_WORD}moveFrom", f"{_STRICT}moveFrom")  # a copy, and what was moved elsewhere
_BREAKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_SILENT = (f"{_TEXT}tracked-changes", "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}annotation")
_PACKAGE = "application/oebps-package+xml"
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")


def _opened(content: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(BytesIO(content))
    except zipfile.BadZipFile as error:
        raise UnreadableError(f"is no zip file, as it should be: {error}") from None


def _blocks(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """Yield a member as it is unpacked, up to what one may have."""
    try:
        member = archive.getinfo(name)
    except KeyError:
        raise UnreadableError(f"has no member {name}") from None
    if member.flag_bits & 1:
        raise UnreadableError("is encrypted")
    size = 0
    try:
        with archive.open(member) as stream:
            while block := stream.read(_BLOCK):
                size += len(block)
                if size > MOST_XML:
                    raise UnreadableError(f"{name} has more than {MOST_XML >> 20:,} MB when it is unpacked")
                yield block
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise UnreadableError(f"{name} cannot be unpacked: {error}") from None


def _elements(archive: zipfile.ZipFile, name: str, silent: Collection[str] = ()) -> Iterator[Element]:
    """Yield the elements of a member as they end, but those within ``silent`` ones, which are emptied.

    A document type, which these files have not, could define endless entities.
    """
    parser: Any = XMLPullParser(["start", "end"])
    begin, inside = b"", 0
    try:
        for block in _blocks(archive, name):
            if len(begin) < _BLOCK:
                begin += block
                if b"<!DOCTYPE" in begin or b"<\0!\0D\0" in begin:
                    raise UnreadableError(f"{name} declares a document type, which it should not")
            parser.feed(block)
            for event, element in parser.read_events():
                if element.tag in silent:
                    inside += 1 if event == "start" else -1
                    _empty(element)
                elif event == "end" and not inside:
                    yield element
        parser.close()
    except ParseError as error:
        raise UnreadableError(f"{name} is not well-formed XML: {error}") from None


def _empty(element: Element) -> None:
    """Forget what is in an element, not the text that follows it."""
    tail = element.tail
    element.clear()
    element.tail = tail


def text_of_docx(content: bytes) -> str:
    """Return the paragraphs of a document and its notes, a line each; what was deleted with tracked changes is left out."""
    archive, lines = _opened(content), []
    for part in ("word/document.xml", *(name for name in _NOTES if name in archive.namelist())):
        for element in _elements(archive, part, _UNSAID):
            name = _name_in_word(element)
            if name == "p":
                lines.append("".join(map(_said_in_word, element.iter())))
            if name in ("p", "tbl", "tabs"):  # so paragraphs in one, of text boxes, are not said again; nor where tabs go to
                element.clear()
    return "\n".join(lines)


def _name_in_word(element: Element) -> str:
    """Return the name of an element of Word; of others none."""
    space, _, name = element.tag.rpartition("}")
    return name if f"{space}}}" in (_WORD, _STRICT) else ""


def _said_in_word(element: Element) -> str:
    name = _name_in_word(element)
    return element.text or "" if name == "t" else _BREAKS.get(name, "")


def text_of_odt(content: bytes) -> str:
    """Return the paragraphs and headings of a document, a line each; comments, and what was deleted, are left out."""
    lines = []

    def spoken(element: Element) -> Iterator[str]:
        spaces = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
        if element.tag == f"{_TEXT}s":
            yield " "
        elif element.tag in spaces:
            yield spaces[element.tag]
        else:
            yield element.text or ""
            for child in element:
                yield from spoken(child)
                yield child.tail or ""

    for element in _elements(_opened(content), "content.xml", _SILENT):
        if element.tag in (f"{_TEXT}p", f"{_TEXT}h"):
            lines.append("".join(spoken(element)))
            _empty(element)
    return "\n".join(lines)


def text_of_epub(content: bytes) -> str:
    """Return the texts of the chapters in the order of reading, a form feed between two."""
    from ..text.html import html_to_text, page_of

    archive, size = _opened(content), 0
    roots = [e for e in _elements(archive, "META-INF/container.xml") if e.tag.endswith("rootfile")]
    package = next((e.get("full-path", "") for e in sorted(roots, key=lambda e: e.get("media-type") != _PACKAGE)), "")
    files, order = {}, []
    for element in _elements(archive, package):
        kind = element.tag.rpartition("}")[2]
        if kind == "item":
            files[element.get("id")] = element.get("href", "")
        elif kind == "itemref":
            order.append(element.get("idref"))
    inside = [
        posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(files[one]))) for one in order if one in files
    ]
    if not inside:
        raise UnreadableError("names no chapters")
    if "META-INF/encryption.xml" in archive.namelist():  # of fonts, too, which are no text
        told = _elements(archive, "META-INF/encryption.xml")
        if any(unquote(e.get("URI", "")) in inside for e in told if e.tag.endswith("CipherReference")):
            raise UnreadableError("is encrypted")
    chapters = []
    for name in inside:
        page = b"".join(_blocks(archive, name))
        size += len(page)
        if size > MOST_OF_BOOK:
            raise UnreadableError(f"has more than {MOST_OF_BOOK >> 20:,} MB when it is unpacked")
        chapters.append(html_to_text(page_of(page), boilerplate=True))
    return "\f".join(chapters)
