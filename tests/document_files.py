import io
import zipfile

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
REFERS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OFFICE, TEXT = (f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0" for name in ("office", "text"))

STORY = " ".join(f"The river number {n} rises in the hills and falls into the sea after {7 * n} miles." for n in range(20))
OTHER = " ".join(f"The road number {n} leaves the town and ends at the coast after {9 * n} turns." for n in range(20))


def pdf(text):
    lines = (b"<%s> Tj T*" % line.encode("cp1252").hex().encode() for line in text.split("\n"))
    return pdf_of(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>",
        stream(b"BT /F1 10 Tf 12 TL 40 780 Td %s ET" % b" ".join(lines)),
    )


def stream(content, more=b""):
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (more, len(content), content)


def pdf_of(*objects):
    """Objects are numbered from 1; the first is the catalog."""
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


def docx(*paragraphs, inside=None):
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    at, parts = ("", {}) if inside is None else ('<w:altChunk r:id="a"/>', {"word/a.docx": inside})
    refers = f'<Relationships xmlns="{PACKAGE}"><Relationship Id="a" Type="{REFERS}/aFChunk" Target="a.docx"/></Relationships>'
    whole = f'<w:document xmlns:w="{WORD}" xmlns:r="{REFERS}"><w:body>{at}{body}</w:body></w:document>'
    members = {"[Content_Types].xml": "<Types/>", "word/document.xml": whole, "word/_rels/document.xml.rels": refers}
    return archive(members | parts)


def odt(text):
    spaces = f'xmlns:office="{OFFICE}" xmlns:text="{TEXT}"'
    body = f"<office:document-content {spaces}><text:p>{text}</text:p></office:document-content>"
    return archive({"content.xml": body})


def epub(text):
    return archive(
        {
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
            "b.opf": '<package><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>',
            "a.xhtml": f"<html><body><p>{text}</p></body></html>",
        }
    )


def record(kind, uri, body, content_type="application/http; msgtype=response", **more):
    head = {"WARC-Type": kind, "WARC-Target-URI": uri, "WARC-Date": "2026-11-01T00:00:00Z", "WARC-Record-ID": f"<urn:{uri}>",
            "Content-Type": content_type, **more, "Content-Length": len(body)}  # fmt: skip
    return b"WARC/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in head.items()).encode() + b"\r\n" + body + b"\r\n\r\n"


def eml(text, subject="A subject"):
    return f"From: a@b.c\r\nSubject: {subject}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n".encode()
