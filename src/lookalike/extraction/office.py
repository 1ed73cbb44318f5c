"""Text of DOCX, ODT and EPUB files: XML in a zip file, of which no more is unpacked than a text may have."""

from __future__ import annotations

import itertools
import posixpath
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from io import BytesIO
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from xml.parsers import expat

from ..wording import plural
from . import UnreadableError

MOST_XML = 256 << 20  # bytes of one member
MOST_OF_BOOK = 1 << 30  # bytes of all members that are read
_BLOCK = 1 << 16
_DEEPEST = 3  # documents in documents in documents
_WORD = (
    "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}",
    "{http://purl.oclc.org/ooxml/wordprocessingml/main}",
)
_FORMULAS = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/math}",
    "{http://purl.oclc.org/ooxml/officeDocument/math}",
)
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # for programs that know less: a copy
_OFFICE, _TEXT, _DRAWING, _FORM = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}" for name in ("office", "text", "drawing", "form")
)
_DRAWN = (  # diagrams, and titles in charts
    "{http://schemas.openxmlformats.org/drawingml/2006/main}",
    "{http://purl.oclc.org/ooxml/drawingml/main}",
)
_UNSAID = (_FALLBACK, *(f"{space}{name}" for space in _WORD for name in ("moveFrom", "del")))  # a copy; moved; deleted
_APART = ("footnoteReference", "endnoteReference", "txbxContent")  # from the words around it
_SAID_IN_WORD = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"} | dict.fromkeys(_APART, " ")
_WORD_ART = "{urn:schemas-microsoft-com:vml}textpath"
_SAID_IN_ODT = {f"{_TEXT}s": " ", f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_LINK = "{http://www.w3.org/1999/xlink}href"
_FORMULA = "{http://www.w3.org/1998/Math/MathML}"
_SILENT = (f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}note-citation", f"{_FORMULA}annotation")
_TYPED = ("text", "textarea", "formatted-text", "number", "date", "time", "combobox")  # fields of forms
_PACKAGE = "application/oebps-package+xml"
_PICTURE, _MOST_PICTURES = re.compile(r"<(?:[\w.-]+:)?(?:img|image)\s", re.I), 1 / 2  # of the chapters
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf", ".svg", ".webp", ".bin", ".jp2", ".wdp")


class _Archive:
    """A zip file, of whose members no more is unpacked than all may have."""

    def __init__(self, content: bytes) -> None:
        try:
            self._file = zipfile.ZipFile(BytesIO(content))
        except (zipfile.BadZipFile, NotImplementedError) as error:
            raise UnreadableError(f"is not a ZIP file: {error}") from None
        self.members = {_key(member.filename): member for member in self._file.infolist()}
        self._size = 0

    def __contains__(self, name: str) -> bool:
        return _key(name) in self.members

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield a member as it is unpacked."""
        name = name.lstrip("/")
        member = self.members.get(_key(name))
        if member is None:
            raise UnreadableError(f"has no member {name}")
        if member.flag_bits & 1:
            raise UnreadableError("is encrypted")
        size = 0
        try:
            with self._file.open(member) as stream:
                while block := stream.read(_BLOCK):
                    size += len(block)
                    self._size += len(block)
                    if size > MOST_XML:
                        raise UnreadableError(f"{name} has more than {MOST_XML >> 20:,} MB when it is unpacked")
                    if self._size > MOST_OF_BOOK:
                        raise UnreadableError(f"has more than {MOST_OF_BOOK >> 20:,} MB when it is unpacked")
                    yield block
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise UnreadableError(f"{name} cannot be unpacked: {error}") from None

    def elements(self, name: str, silent: Collection[str] = ()) -> Iterator[Element]:
        """Yield what ``elements`` does of a member."""
        return elements(self.blocks(name), name.lstrip("/"), silent)

    def checked(self, text: str) -> str:
        """Return a text; refuse an empty one of a file that holds pictures or other files, which are all it has to say."""
        n_files = sum(name.endswith(_PICTURES) and "thumbnail" not in name for name in self.members)
        if n_files and not text.strip():
            raise UnreadableError(f"has no text, only pictures or the like ({plural(n_files, 'file')}), which are not read")
        return text


def _key(name: str) -> str:
    """Return what members are looked up by: some programs write other cases, slashes and escapes than they refer to."""
    return unquote(name.replace("\\", "/")).lstrip("/").lower()


def elements(blocks: Iterable[bytes], name: str, silent: Collection[str] = ()) -> Iterator[Element]:
    """Yield the elements of XML as they end, but those within ``silent`` ones, which are emptied.

    A document type, which these files have not, could define endless entities; it stands before the first element.
    """
    parser: Any = XMLPullParser(["start", "end"])
    ahead: Any = expat.ParserCreate()
    begun, inside = False, 0

    def refuse(*_: object) -> None:
        raise UnreadableError(f"{name} declares a document type, which it should not")

    def begin(*_: object) -> None:
        nonlocal begun
        begun = True

    ahead.StartDoctypeDeclHandler, ahead.StartElementHandler = refuse, begin
    try:
        for block in blocks:
            if not begun:
                ahead.Parse(block)
            parser.feed(block)
            for event, element in parser.read_events():
                if element.tag in silent:
                    inside += 1 if event == "start" else -1
                    _empty(element)
                elif event == "end" and not inside:
                    yield element
        parser.close()
    except (ParseError, expat.ExpatError, ValueError, LookupError) as error:  # the last two of an encoding
        raise UnreadableError(f"{name} is not well-formed XML: {error}") from None


def _empty(element: Element) -> None:
    """Forget what is in an element, not the text that follows it."""
    tail = element.tail
    element.clear()
    element.tail = tail


def text_of_docx(content: bytes, depth: int = 0) -> str:
    """Return the paragraphs of a document and its notes, a line each; what was deleted with tracked changes is left out.

    Headers and footers are left out, unless there is nothing else.
    """
    archive = _Archive(content)
    main = next((part for kind, part in _relations(archive, "").values() if kind == "officeDocument"), "word/document.xml")
    related = _relations(archive, main).values()

    def said_in(*kinds: str) -> str:
        lines = (_said_in_part(archive, part, depth) for kind, part in [("", main), *related] if kind in kinds)
        return "\n".join(itertools.chain.from_iterable(lines))

    drawn = (_said_in_drawing(archive, part) for kind, part in related if kind in ("diagramData", "chart"))
    text = archive.checked("\n".join([said_in("", "footnotes", "endnotes"), *itertools.chain.from_iterable(drawn)]))
    return text if text.strip() else said_in("header", "footer")


def _said_in_part(archive: _Archive, part: str, depth: int) -> list[str]:
    """Return the paragraphs of a part of a document of Word."""
    related, lines, name = _relations(archive, part), [], ""
    for element in archive.elements(part, _UNSAID):
        name = _name_in(element, _WORD)
        if name == "p":
            lines.append("".join(_said_in_word(element)))
        elif name in ("altChunk", "subDoc"):
            lines.append(_imported(archive, element, related, depth))
        if name in ("p", "tbl", "tabs"):  # so paragraphs in one, of text boxes, are not said again; nor where tabs go to
            element.clear()
    if not name:  # of the root, which ends last
        raise UnreadableError(f"is not a Word document: {part.lstrip('/')} is none of its parts")
    return lines


def _said_in_drawing(archive: _Archive, part: str) -> Iterator[str]:
    """Yield the paragraphs of a diagram, and those of the titles of a chart."""
    for element in archive.elements(part):
        if _name_in(element, _DRAWN) == "p":
            line = "".join(one.text or "" for one in element.iter() if _name_in(one, _DRAWN) == "t")
            yield from filter(str.strip, [line])


def _relations(archive: _Archive, part: str) -> dict[str, tuple[str, str]]:
    """Return (kind, member) of what a part refers to, by id; of files elsewhere the member is empty."""
    folder, name = posixpath.split(part)
    source = f"{folder}/_rels/{name}.rels"
    found = {}
    for one in archive.elements(source) if source in archive else ():
        if one.tag.endswith("}Relationship"):
            there = posixpath.normpath(posixpath.join("/", folder, one.get("Target", "").replace("\\", "/")))
            kind = one.get("Type", "").rpartition("/")[2]
            found[one.get("Id", "")] = kind, "" if one.get("TargetMode") == "External" else there
    return found


def _imported(archive: _Archive, element: Element, related: dict[str, tuple[str, str]], depth: int) -> str:
    """Return the text of a part in another format, or of another document, that belongs in a place of a document."""
    from .mail import body_of, said_in

    _, name = related.get(next((value for key, value in element.items() if key.endswith("}id")), ""), ("", ""))
    if not name:
        raise UnreadableError("includes text from another file, which is not read")
    kind, content = _kind_of(archive, name), b"".join(archive.blocks(name))
    if content.startswith(b"PK") and depth < _DEEPEST:
        return text_of_docx(content, depth + 1)
    if kind in ("message/rfc822", "multipart/related"):
        return body_of(content)
    if content.lstrip().startswith(b"{\\rtf"):
        kind = "RTF"
    if kind in ("text/html", "application/xhtml+xml", "text/plain"):
        return said_in(content, kind)
    raise UnreadableError(f"holds text as {kind or 'a part of no known kind'} ({name.lstrip('/')}), which is not read")


def _kind_of(archive: _Archive, part: str) -> str:
    """Return the content type of a part: its own, or that of its suffix."""
    kinds = {}
    for one in archive.elements("[Content_Types].xml"):
        of = _key(one.get("PartName", "")) or "." + one.get("Extension", "").lower()
        kinds[of] = one.get("ContentType", "").partition(";")[0].strip().lower()
    return kinds.get(_key(part)) or kinds.get(posixpath.splitext(_key(part))[1], "")


def _name_in(element: Element, spaces: Collection[str]) -> str:
    """Return the name of an element of some name spaces; of others none."""
    space, _, name = element.tag.rpartition("}")
    return name if f"{space}}}" in spaces else ""


def _said_in_word(element: Element) -> Iterator[str]:
    """Yield what an element says; what is said beside the text of a line, apart from it."""
    name = _name_in(element, _WORD)
    if name == "t" or _name_in(element, _FORMULAS) == "t":
        yield element.text or ""
    elif name in ("ddList", "checkBox"):
        given = {_name_in(one, _WORD): one.get(one.tag.replace(_name_in(one, _WORD), "val"), "1") for one in element}
        state = given.get("result", given.get("checked", given.get("default", "0")))
        if name == "checkBox":
            yield "\u2610" if state in ("0", "false", "off") else "\u2612"
        else:
            entries = [
                one.get(one.tag.replace("listEntry", "val"), "") for one in element if _name_in(one, _WORD) == "listEntry"
            ]
            yield "".join(entries[int(state) : int(state) + 1])
    elif name == "sym":
        yield chr(int(element.get(element.tag.replace("sym", "char"), "20"), 16))
    elif element.tag == _WORD_ART:
        yield f" {element.get('string', '')} "
    elif name == "rt":
        yield " "
    yield _SAID_IN_WORD.get(name, "")
    for child in sorted(element, key=_is_reading) if name == "ruby" else element:
        yield from _said_in_word(child)
    if name == "rt":
        yield " "


def _is_reading(element: Element) -> bool:
    """Tell whether an element of a ruby says how the base is read, which stands before it."""
    return _name_in(element, _WORD) == "rt"


def text_of_odt(content: bytes) -> str:
    """Return the paragraphs and headings of a document, a line each; comments, and what was deleted, are left out.

    Headers and footers are left out, unless there is nothing else.
    """
    archive = _Archive(content)
    manifest = "META-INF/manifest.xml"
    if manifest in archive and b"encryption-data" in b"".join(archive.blocks(manifest)):
        raise UnreadableError("is encrypted")
    text = archive.checked("\n".join(_said_in_member(archive, "content.xml", {"content.xml"})))
    if text.strip() or "styles.xml" not in archive:
        return text
    return "\n".join(_said_in_member(archive, "styles.xml", {"styles.xml"}))


def _said_in_member(archive: _Archive, name: str, before: set[str]) -> list[str]:
    """Return the paragraphs of a part of a document, and the formulas and charts in it, which are parts of their own."""
    lines = []
    for element in archive.elements(name, _SILENT):
        if element.tag in (f"{_TEXT}p", f"{_TEXT}h"):
            lines.append("".join(_said_in_odt(element)))
            _empty(element)
        elif element.tag == f"{_FORMULA}math":
            lines.append("".join(element.itertext()))
            _empty(element)
        elif element.tag.startswith(_FORM):
            lines += filter(None, [_filled_in(element)])
        elif element.tag == f"{_DRAWING}object":
            inside = _key(posixpath.normpath(f"{element.get(_LINK, '')}/content.xml"))
            if inside in archive and inside not in before:
                before.add(inside)
                lines += _said_in_member(archive, inside, before)
    if name == "content.xml" and not element.tag.startswith(_OFFICE):
        raise UnreadableError("is not an OpenDocument text")
    return lines


def _said_in_odt(element: Element) -> Iterator[str]:
    """Yield what an element says; what is said beside the text of a line, apart from it."""
    is_apart = element.tag in (f"{_TEXT}note", f"{_TEXT}ruby-text") or element.tag.startswith(_DRAWING)
    yield " " if is_apart else _SAID_IN_ODT.get(element.tag, "")
    yield element.text or ""
    for child in element:
        yield from _said_in_odt(child)
        yield child.tail or ""
    yield " " if is_apart else ""


def _filled_in(element: Element) -> str:
    """Return what a control of a form was filled in with, or is by itself."""

    def current_value(name: str) -> str:
        return element.get(f"{_FORM}current-{name}", element.get(f"{_FORM}{name}", ""))

    if element.tag.removeprefix(_FORM) in _TYPED:
        return current_value("value")
    return element.get(f"{_FORM}label", "") if {current_value("selected"), current_value("state")} & {"true", "checked"} else ""


def text_of_epub(content: bytes) -> str:
    """Return the texts of the chapters in the order of reading, a form feed between two."""
    from ..text.html import html_to_text, page_of

    archive = _Archive(content)
    roots = [e for e in archive.elements("META-INF/container.xml") if e.tag.endswith("rootfile")]
    package = next((e.get("full-path", "") for e in sorted(roots, key=lambda e: e.get("media-type") != _PACKAGE)), "")
    items, order = {}, []
    for element in archive.elements(package):
        kind = element.tag.rpartition("}")[2]
        if kind == "item":
            items[element.get("id")] = element
        elif kind == "itemref":
            order.append(element.get("idref"))
    inside = [_chapter(items, one) for one in order]
    n_pictures = inside.count("")
    inside = [posixpath.normpath(posixpath.join(posixpath.dirname(package), name)) for name in inside if name]
    if not inside:
        raise UnreadableError("names no chapters")
    if "META-INF/encryption.xml" in archive:  # of fonts, too, which are no text
        told = archive.elements("META-INF/encryption.xml")
        if any(unquote(e.get("URI", "")) in inside for e in told if e.tag.endswith("CipherReference")):
            raise UnreadableError("is encrypted")
    chapters = []
    for name in inside:
        page = b"".join(archive.blocks(name))
        if not page.strip():
            raise UnreadableError(f"its chapter {name} is empty")
        markup = page_of(page)
        chapters.append(html_to_text(markup, boilerplate=True))
        n_pictures += not chapters[-1].strip() and _PICTURE.search(markup) is not None
    if n_pictures > _MOST_PICTURES * (n_chapters := len(order)) and any(map(str.strip, chapters)):
        raise UnreadableError(f"has {plural(n_pictures, 'chapter')} of pictures, of {n_chapters}, which are not read")
    return archive.checked("\f".join(chapters))


def _chapter(items: dict[str | None, Element], name: str | None) -> str:
    """Return the file of a chapter, or of what stands for one in a format that is not read; none of a picture."""
    before: set[str | None] = set()
    while True:
        item = items.get(name)
        if item is None or name in before:
            raise UnreadableError(f"names a chapter that it does not have: {name}")
        kind = item.get("media-type", "").lower()
        if not kind or any(known in kind for known in ("html", "xml", "oeb1-document")):
            return unquote(item.get("href", "").partition("#")[0])
        if item.get("fallback") is None and kind.startswith("image/"):
            return ""
        if item.get("fallback") is None:
            raise UnreadableError(f"has a chapter of {kind} ({item.get('href')}), which is not read")
        before.add(name)
        name = item.get("fallback")
