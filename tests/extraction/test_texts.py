"""Texts of documents of each kind, and why hostile ones have none."""

import pytest
from document_files import WORD, docx, eml, epub, odt, pdf, zipped

from lookalike.extraction import UnreadableError
from lookalike.extraction.worker import KINDS

DELETED = f'<w:p xmlns:w="{WORD}"><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>'
TWICE = (
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice><w:p><w:r><w:t>boxed'
    "</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
)
TRACKED = "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><x>&b;</x>'


@pytest.mark.parametrize(
    ("kind", "content", "text"),
    [
        ("pdf", pdf("One two\nthree.", "Caf\u00e9"), "One two\nthree.\fCaf\u00e9"),
        ("pdf", pdf("an exam-\nple of Anglo-\nSaxon"), "an example of Anglo-Saxon"),
        ("docx", docx("One &amp; two", "three"), "One & two\nthree"),
        ("docx", docx("new", before=DELETED), "\nnew"),
        ("docx", docx("new", before=TWICE), "boxed\nnew"),
        ("docx", docx("a</w:t><w:tab/><w:t>b"), "a\tb"),
        ("odt", odt("One<text:s/>two<text:tab/>three", "a<text:span>b</text:span>c"), "One two\tthree\nabc"),
        ("odt", odt("new", before=TRACKED), "new"),
        ("epub", epub("First chapter.", "Second chapter."), "First chapter.\fSecond chapter."),
        ("eml", eml("Hello."), "A subject\n\nHello.\n"),
        ("eml", eml("<p>Hello <b>you</b>.</p>", "text/html"), "A subject\n\nHello you."),
        ("eml", eml("Hello.", "text/plain; charset=of-nobody"), "A subject\n\nHello.\n"),
    ],
)
def test_texts(kind, content, text):
    assert KINDS[kind](content) == text


@pytest.mark.parametrize(
    ("kind", "content", "why"),
    [
        ("pdf", b"%PDF-1.4 and no more", "is no PDF that can be read"),
        ("pdf", pdf("One")[:300], "is no PDF that can be read|has no text"),
        ("pdf", pdf("", ""), r"has no text \(2 pages\): if it is scanned"),
        ("docx", b"no zip", "is no zip file"),
        ("docx", docx("One")[:-30], "is no zip file"),
        ("docx", zipped(other_xml="<x/>"), "has no member word/document.xml"),
        ("docx", zipped(word__document_xml="<x><y></x>"), "is not well-formed XML"),
        ("docx", zipped(word__document_xml=ENTITIES), "declares a document type"),
        ("odt", zipped(content_xml=ENTITIES.encode("utf-16")), "declares a document type"),
        ("odt", zipped(content_xml="<a>" * 20), "is not well-formed XML"),
        ("epub", zipped(**{"META-INF__container_xml": "<x/>"}), "has no member"),
        ("eml", b"\n\nno header", "has no header of an e-mail"),
    ],
)
def test_what_cannot_be_read(kind, content, why):
    with pytest.raises(UnreadableError, match=why):
        KINDS[kind](content)


def test_a_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr("lookalike.extraction.office.MOST_XML", 1 << 20)
    bomb = docx("a" * (2 << 20))
    assert len(bomb) < 10_000
    with pytest.raises(UnreadableError, match="has more than 1 MB when it is unpacked"):
        KINDS["docx"](bomb)


def test_a_damaged_member():
    content = bytearray(docx("One two three " * 40))
    content[content.index(b"document.xml") + 20] ^= 0xFF
    with pytest.raises(UnreadableError, match="word/document.xml (cannot be unpacked|is not well-formed)"):
        KINDS["docx"](bytes(content))
