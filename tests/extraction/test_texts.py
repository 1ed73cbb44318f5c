"""Texts of documents of each kind, and why hostile ones have none."""

import pytest
from document_files import WORD, docx, eml, epub, odt, pdf, zipped
from formats.jobs import refused

from lookalike.extraction import UnreadableError
from lookalike.extraction.worker import KINDS

DELETED = f'<w:p xmlns:w="{WORD}"><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>'
TWICE = (
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice><w:p><w:r><w:t>boxed'
    "</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
)
BOXED = (
    "<w:txbxContent><w:p><w:r><w:t>in a</w:t><w:tab/><w:t>box</w:t></w:r></w:p><w:p><w:r><w:t>said twice</w:t></w:r></w:p>"
    "</w:txbxContent>"
)
TRACKED = "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"


MOVED = f'<w:p xmlns:w="{WORD}"><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>'
COMMENT = "<office:annotation><text:p>a comment</text:p></office:annotation>"


LONG = " ".join(f"word{number}" for number in range(100))


def parts(kind, *texts):
    """A message of parts."""
    inside = "".join(f"--x\r\nContent-Type: text/{kind}; charset=utf-8\r\n\r\n{text}\r\n" for kind, text in texts)
    return eml(f"{inside}--x--", f"multipart/{kind}; boundary=x")


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
        ("docx", docx("b", before=MOVED), "\nb"),
        ("docx", docx("a</w:t><w:noBreakHyphen/><w:t>b"), "a-b"),
        ("docx", docx("a", before="<w:p><w:pPr><w:tabs><w:tab/><w:tab/></w:tabs></w:pPr></w:p>"), "\na"),
        ("docx", docx("one</w:t></w:r><w:r>" + BOXED + "<w:t> two"), "in a\tbox\nsaid twice\none  two"),
        ("odt", odt("one<text:span><text:p>boxed</text:p></text:span> two"), "boxed\none two"),
        ("odt", odt("new", before=TRACKED), "new"),
        ("odt", odt(f"before {COMMENT}after"), "before after"),
        ("epub", epub("First chapter.", "Second chapter."), "First chapter.\fSecond chapter."),
        ("epub", epub("First</p><p>one."), "First\n\none."),
        ("eml", eml("Hello."), "A subject\n\nHello.\n"),
        ("eml", eml("Grüße", "text/plain").replace("Grüße".encode(), "Grüße".encode("latin-1")), "A subject\n\nGrüße\n"),
        ("eml", eml("Привет, мир", "text/plain"), "A subject\n\nПривет, мир\n"),
        ("eml", eml("Привет", "text/plain; charset=us-ascii"), "A subject\n\nПривет\n"),
        ("eml", parts("mixed", ("html", "<p>The body.</p>"), ("plain", "A footer")), "A subject\n\nThe body.\n\nA footer"),
        ("eml", parts("mixed", ("plain", "first"), ("plain", "second")), "A subject\n\nfirst\n\nsecond"),
        ("eml", parts("alternative", ("plain", " "), ("html", "<p>The body.</p>")), "A subject\n\nThe body."),
        ("eml", parts("alternative", ("html", "<p>The body.</p>"), ("plain", "Body")), "A subject\n\nBody"),
        ("eml", parts("alternative", ("plain", "word1."), ("html", f"<p>{LONG}")), f"A subject\n\n{LONG}"),
        ("eml", parts("alternative", ("plain", "word1."), ("x-amp-html", f"<p>{LONG}")), f"A subject\n\n{LONG}"),
        ("eml", parts("alternative", ("plain", LONG.upper()), ("html", f"<p>{LONG}")), f"A subject\n\n{LONG.upper()}"),
        ("eml", parts("related", ("html", "<p>Body.</p>"), ("plain", "of a picture")), "A subject\n\nBody."),
        ("eml", eml("<p>Hello <b>you</b>.</p>", "text/html"), "A subject\n\nHello you."),
        ("eml", eml("Hello.", "text/plain; charset=of-nobody"), "A subject\n\nHello.\n"),
    ],
)
def test_texts(kind, content, text):
    assert KINDS[kind](content) == text


@pytest.mark.parametrize(
    ("kind", "content", "why"),
    [
        ("pdf", b"%PDF-1.4 and no more", "is not a readable PDF"),
        ("pdf", pdf("One")[:300], "is not a readable PDF|has no text"),
        ("pdf", pdf("", ""), r"has no text \(2 pages\): if it is scanned"),
        ("docx", b"no zip", "is not a ZIP file"),
        ("docx", docx("One")[:-30], "is not a ZIP file"),
        ("docx", zipped(other_xml="<x/>"), "has no member word/document.xml"),
        ("docx", zipped(word__document_xml="<x><y></x>"), "is not well-formed XML"),
        ("odt", zipped(content_xml="<a>" * 20), "is not well-formed XML"),
        ("epub", zipped(**{"META-INF__container_xml": "<x/>"}), "has no member"),
        ("eml", b"\n\nno header", "has no e-mail header"),
    ],
)
def test_what_cannot_be_read(kind, content, why):
    refused(why, KINDS[kind], content, error=UnreadableError)


def book(chapter, package="http://www.idpf.org/2007/opf", **more):
    """A book of one chapter of these bytes."""
    opf = f'<package xmlns="{package}"><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>'
    roots = '<rootfile full-path="x.pdf" media-type="application/pdf"/><rootfile full-path="b.opf" media-type="application/oebps-package+xml"/>'
    container = f"<container><rootfiles>{roots}</rootfiles></container>"
    return zipped(**{"META-INF__container_xml": container, "b_opf": opf, "a_xhtml": chapter, **more})


CHAPTER = '<?xml version="1.0" encoding="{0}"?><html><head><title/></head><body><p>Grüße</p></body></html>'


def test_chapters_of_any_encoding():
    for encoding in ("utf-8", "utf-16", "iso-8859-1"):
        assert KINDS["epub"](book(CHAPTER.format(encoding).encode(encoding))) == "Grüße", encoding
    chapter = CHAPTER.format("utf-8")
    assert KINDS["epub"](book(chapter, package="")) == "Grüße"
    locked = "<encryption><EncryptedData><CipherData><CipherReference URI='{0}'/></CipherData></EncryptedData></encryption>"
    assert KINDS["epub"](book(chapter, **{"META-INF__encryption_xml": locked.format("font.ttf")})) == "Grüße"
    encrypted = book(b"\x93\x01", **{"META-INF__encryption_xml": locked.format("a.xhtml")})
    empty = zipped(**{"META-INF__container_xml": '<x><rootfile full-path="b.opf"/></x>', "b_opf": "<package/>"})
    for content, why in ((encrypted, "is encrypted"), (empty, "names no chapters")):
        refused(why, KINDS["epub"], content, error=UnreadableError)


def test_a_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr("lookalike.extraction.office.MOST_XML", 1 << 20)
    bomb = docx("a" * (2 << 20))
    assert len(bomb) < 10_000
    refused("has more than 1 MB when it is unpacked", KINDS["docx"], bomb, error=UnreadableError)


def test_a_damaged_member():
    content = bytearray(docx("One two three " * 40))
    content[content.index(b"word/document.xml") + 25] ^= 0xFF
    said = "word/document.xml (cannot be unpacked|is not well-formed)"
    refused(said, KINDS["docx"], bytes(content), error=UnreadableError)
