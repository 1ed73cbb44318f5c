"""Texts of documents of each kind, and why hostile ones have none."""

from document_files import WORD, docx, eml, epub, odt, pdf, zipped
from raising import assert_raises

from lookalike.extraction import UnreadableError
from lookalike.extraction.worker import KINDS

CHANGED = (
    f'<w:p xmlns:w="{WORD}"><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>'
    f'<w:p xmlns:w="{WORD}"><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>'
    "<w:p><w:pPr><w:tabs><w:tab/><w:tab/></w:tabs></w:pPr></w:p>"
)
TWICE = (
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice><w:p><w:r><w:t>boxed'
    "</w:t></w:r></w:p></mc:Choice><mc:Fallback><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
)
BOXED = (
    "<w:txbxContent><w:p><w:r><w:t>in a</w:t><w:tab/><w:t>box</w:t></w:r></w:p><w:p><w:r><w:t>said twice</w:t></w:r></w:p>"
    "</w:txbxContent>"
)
TRACKED = "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
COMMENT = "<office:annotation><text:p>a comment</text:p></office:annotation>"
LONG = " ".join(f"word{number}" for number in range(100))
SUBJECT = "A subject\n\n"


def parts(kind, *texts):
    """A message of parts."""
    inside = "".join(f"--x\r\nContent-Type: text/{kind}; charset=utf-8\r\n\r\n{text}\r\n" for kind, text in texts)
    return eml(f"{inside}--x--", f"multipart/{kind}; boundary=x")


def alternatives(*texts):
    return parts("alternative", *texts)


MESSAGES = (  # and their texts below the subject
    (eml("Hello."), "Hello.\n"),
    (eml("Grüße", "text/plain").replace("Grüße".encode(), "Grüße".encode("latin-1")), "Grüße\n"),
    (eml("Привет, мир", "text/plain"), "Привет, мир\n"),
    (eml("Привет", "text/plain; charset=us-ascii"), "Привет\n"),
    (eml("Hello.", "text/plain; charset=of-nobody"), "Hello.\n"),
    (eml("<p>Hello <b>you</b>.</p>", "text/html"), "Hello you."),
    (parts("mixed", ("html", "<p>The body.</p>"), ("plain", "A footer")), "The body.\n\nA footer"),
    (parts("mixed", ("plain", "first"), ("plain", "second")), "first\n\nsecond"),
    (alternatives(("plain", " "), ("html", "<p>The body.</p>")), "The body."),
    (alternatives(("html", "<p>The body.</p>"), ("plain", "Body")), "Body"),
    (alternatives(("plain", "word1."), ("html", f"<p>{LONG}")), LONG),
    (alternatives(("plain", "word1."), ("x-amp-html", f"<p>{LONG}")), LONG),
    (alternatives(("plain", LONG.upper()), ("html", f"<p>{LONG}")), LONG.upper()),
)


def test_texts():
    for kind, content, text in (
        ("pdf", pdf("One two\nthree.", "Caf\u00e9"), "One two\nthree.\fCaf\u00e9"),
        ("pdf", pdf("an exam-\nple of Anglo-\nSaxon"), "an example of Anglo-Saxon"),
        ("docx", docx("One &amp; two", "a</w:t><w:tab/><w:noBreakHyphen/><w:t>b"), "One & two\na\t-b"),
        ("docx", docx("new", before=CHANGED), "\n\n\nnew"),
        ("docx", docx("new", before=TWICE), "boxed\nnew"),
        ("docx", docx("one</w:t></w:r><w:r>" + BOXED + "<w:t> two"), "in a\tbox\nsaid twice\none  two"),
        ("odt", odt("One<text:s/>two<text:tab/>three", "a<text:span>b</text:span>c"), "One two\tthree\nabc"),
        ("odt", odt("one<text:span><text:p>boxed</text:p></text:span> two"), "boxed\none two"),
        ("odt", odt(f"before {COMMENT}after", before=TRACKED), "before after"),
        ("epub", epub("First</p><p>one.", "Second chapter."), "First\n\none.\fSecond chapter."),
        *(("eml", message, SUBJECT + text) for message, text in MESSAGES),
    ):
        assert KINDS[kind](content) == text


def unreadable(said, kind, content):
    assert_raises(UnreadableError, said, KINDS[kind], content)


def test_what_cannot_be_read(monkeypatch):
    damaged = bytearray(docx("One two three " * 40))
    damaged[damaged.index(b"word/document.xml") + 25] ^= 0xFF
    for said, kind, content in (
        ("is not a readable PDF", "pdf", b"%PDF-1.4 and no more"),
        ("is not a readable PDF|has no text", "pdf", pdf("One")[:300]),
        (r"has no text \(2 pages\): if it is scanned", "pdf", pdf("", "")),
        ("is not a ZIP file", "docx", b"no zip"),
        ("is not a ZIP file", "docx", docx("One")[:-30]),
        ("has no member word/document.xml", "docx", zipped(other_xml="<x/>")),
        ("is not well-formed XML", "docx", zipped(word__document_xml="<x><y></x>")),
        ("word/document.xml (cannot be unpacked|is not well-formed)", "docx", bytes(damaged)),
        ("is not well-formed XML", "odt", zipped(content_xml="<a>" * 20)),
        ("has no member", "epub", zipped(**{"META-INF__container_xml": "<x/>"})),
        ("has no e-mail header", "eml", b"\n\nno header"),
    ):
        unreadable(said, kind, content)
    monkeypatch.setattr("lookalike.extraction.office.MOST_XML", 1 << 20)
    bomb = docx("a" * (2 << 20))
    assert len(bomb) < 10_000
    unreadable("has more than 1 MB when it is unpacked", "docx", bomb)


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
    chapter, locked = CHAPTER.format("utf-8"), "META-INF__encryption_xml"
    cipher = "<encryption><EncryptedData><CipherData><CipherReference URI='{0}'/></CipherData></EncryptedData></encryption>"
    for readable in (book(chapter, package=""), book(chapter, **{locked: cipher.format("font.ttf")})):
        assert KINDS["epub"](readable) == "Grüße"
    unreadable("is encrypted", "epub", book(b"\x93\x01", **{locked: cipher.format("a.xhtml")}))
    empty = zipped(**{"META-INF__container_xml": '<x><rootfile full-path="b.opf"/></x>', "b_opf": "<package/>"})
    unreadable("names no chapters", "epub", empty)
