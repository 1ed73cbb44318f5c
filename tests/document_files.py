"""Small files of the formats that need a parser, made by hand."""

import io
import zipfile

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
KINDS = {
    "html": "text/html",
    "txt": "text/plain",
    "rtf": "application/rtf",
    "mht": "message/rfc822",
    "bin": "application/x-own",
}
OFFICE, TEXT = (f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" for name in ("office", "text"))

STORY = " ".join(f"The river number {n} rises in the hills and falls into the sea after {7 * n} miles." for n in range(20))
OTHER = " ".join(f"The road number {n} leaves the town and ends at the coast after {9 * n} turns." for n in range(20))


def pdf(*pages):
    """Return a PDF with a page of lines for each text; bytes draw a page themselves."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages)))
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)), HELVETICA]
    for i, page in enumerate(pages):
        where = b"/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R" % (5 + 2 * i)
        objects += [b"<</Type/Page/Parent 2 0 R%s>>" % where, stream(page if isinstance(page, bytes) else drawn(page))]
    return pdf_of(*objects)


HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"


def drawn(text):
    lines = [line.encode("cp1252").hex().encode() for line in text.split("\n")]
    return b"BT /F1 10 Tf 12 TL 40 780 Td " + b" ".join(b"<%s> Tj T*" % line for line in lines) + b" ET"


def stream(content, more=b""):
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (more, len(content), content)


def pdf_of(*objects):
    """Return a PDF of objects, numbered from 1, of which the first is the catalog."""
    out, places = b"%PDF-1.7\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end


def archive(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, content in members.items():
            stream.writestr(name, content)
    return out.getvalue()


def zipped(**members):
    """Return a zip file; a double underscore in a name stands for a slash, a single one for a point."""
    return archive({name.replace("__", "/").replace("_", "."): content for name, content in members.items()})


def docx(*paragraphs, before="", related=None, **members):
    """Return a Word document; ``before`` is XML at its beginning, ``related`` what it refers to: kinds, each with a member."""

    def relations(found):
        listed = ""
        for kind, target in found.items():
            mode = "External" if "://" in target else "Internal"
            listed += f'<Relationship Id="{kind}" Type="{RELATIONS}/{kind}" Target="{target}" TargetMode="{mode}"/>'
        return f'<Relationships xmlns="{PACKAGE}/relationships">{listed}</Relationships>'

    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    defaults = "".join(f'<Default Extension="{suffix}" ContentType="{kind}"/>' for suffix, kind in KINDS.items())
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">{defaults}</Types>',
        "_rels/.rels": relations({"officeDocument": "word/document.xml"}),
        "word/_rels/document.xml.rels": relations(related or {}),
        "word/document.xml": f'<w:document xmlns:w="{WORD}" xmlns:r="{RELATIONS}"><w:body>{before}{body}</w:body></w:document>',
    }
    return archive(parts | members)


def odt(*paragraphs, before=""):
    """Return an OpenDocument text; ``before`` is XML at its beginning."""
    body = "".join(f"<text:p>{text}</text:p>" for text in paragraphs)
    spaces = f'xmlns:office="{OFFICE}" xmlns:text="{TEXT}"'
    return archive({"content.xml": f"<office:document-content {spaces}>{before}{body}</office:document-content>"})


def epub(*chapters):
    """Return a book, whose chapters stand in its package in another order than they are read in."""
    names = [f"c{i}.xhtml" for i in range(len(chapters))]
    items = "".join(f'<item id="{name}" href="{name}"/>' for name in reversed(names))
    order = "".join(f'<itemref idref="{name}"/>' for name in names)
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{order}</spine></package>'
    container = '<container><rootfiles><rootfile full-path="in/book.opf"/></rootfiles></container>'
    pages = {f"in/{name}": f"<html><body><p>{text}</p></body></html>" for name, text in zip(names, chapters, strict=True)}
    return archive({"META-INF/container.xml": container, "in/book.opf": package, **pages})


def record(kind, uri, body, content_type="application/http; msgtype=response", **more):
    """Return a record of WARC."""
    head = {"WARC-Type": kind, "WARC-Target-URI": uri, "WARC-Date": "2026-11-01T00:00:00Z", "WARC-Record-ID": f"<urn:{uri}>",
            "Content-Type": content_type, **more, "Content-Length": len(body)}  # fmt: skip
    return b"WARC/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in head.items()).encode() + b"\r\n" + body + b"\r\n\r\n"


def eml(text, kind="text/plain; charset=utf-8", subject="A subject"):
    return f"From: a@b.c\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\nContent-Type: {kind}\r\n\r\n{text}\r\n".encode()
