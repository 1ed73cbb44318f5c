"""Small files of the formats that need a parser, made by hand."""

import io
import zipfile

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE, TEXT = (f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" for name in ("office", "text"))


def pdf(*pages: str) -> bytes:
    """Return a PDF with a page of lines for each text."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages)))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)),
               b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"]  # fmt: skip
    for i, page in enumerate(pages):
        lines = [line.encode("cp1252").hex().encode() for line in page.split("\n")]
        drawn = b"BT /F1 10 Tf 12 TL 40 780 Td " + b" ".join(b"<%s> Tj T*" % line for line in lines) + b" ET"
        where = b"/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R" % (5 + 2 * i)
        objects.append(b"<</Type/Page/Parent 2 0 R%s>>" % where)
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn))
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end


def zipped(**members: str | bytes) -> bytes:
    """Return a zip file; a double underscore in a name stands for a slash, a single one for a point."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return out.getvalue()


def docx(*paragraphs: str, before: str = "") -> bytes:
    """Return a Word document; ``before`` is XML at its beginning."""
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    return zipped(word__document_xml=f'<w:document xmlns:w="{WORD}"><w:body>{before}{body}</w:body></w:document>')


def odt(*paragraphs: str, before: str = "") -> bytes:
    """Return an OpenDocument text; ``before`` is XML at its beginning."""
    body = "".join(f"<text:p>{text}</text:p>" for text in paragraphs)
    spaces = f'xmlns:office="{OFFICE}" xmlns:text="{TEXT}"'
    return zipped(content_xml=f"<office:document-content {spaces}>{before}{body}</office:document-content>")


def epub(*chapters: str) -> bytes:
    """Return a book, whose chapters stand in its package in another order than they are read in."""
    names = [f"c{i}.xhtml" for i in range(len(chapters))]
    items = "".join(f'<item id="{name}" href="{name}"/>' for name in reversed(names))
    order = "".join(f'<itemref idref="{name}"/>' for name in names)
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{order}</spine></package>'
    container = '<container><rootfiles><rootfile full-path="in/book.opf"/></rootfiles></container>'
    pages = {
        f"in__{name.replace('.', '_')}": f"<html><body><p>{text}</p></body></html>"
        for name, text in zip(names, chapters, strict=True)
    }
    return zipped(**{"META-INF__container_xml": container, "in__book_opf": package, **pages})


def eml(text: str, kind: str = "text/plain; charset=utf-8", subject: str = "A subject") -> bytes:
    """Return an e-mail message."""
    return f"From: a@b.c\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\nContent-Type: {kind}\r\n\r\n{text}\r\n".encode()
