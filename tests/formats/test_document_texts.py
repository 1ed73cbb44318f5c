"""Which documents are left out and named, as jobs see them; what their texts are is in jobs."""

from itertools import product
from pathlib import Path

import pytest
from document_files import WORD, archive, docx, drawn, pdf
from formats.jobs import put

import lookalike as la

FORM = "Application of a member of the society for the study of rivers"


@pytest.fixture
def read(tmp_path, caplog):
    """Return a function that reads files: texts of those that are compared, and why others are not."""

    def read(suffix, **files):
        folder = tmp_path / suffix
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            put(folder / f"{name}.{suffix}", content)
        caplog.clear()
        rows = la.dedup(folder, at_most=1000).clean().to_pylist()
        said = (one.getMessage().removeprefix(f"left out: {folder}/") for one in caplog.records)
        why = dict(one.split(f".{suffix} ", 1) for one in said)
        texts = {Path(row["id"]).stem: row["text"].strip("\n") for row in rows}
        assert texts.keys() | why.keys() == files.keys() and not texts.keys() & why.keys()
        return texts, why

    return read


PICTURE = b"q 595 0 0 %d 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q "


def test_pages_of_pictures_beside_text_are_left_out_and_named(read):
    """But for a cover and plates in a book, and what OCR found no text on."""
    whole, half, words = PICTURE % 842, PICTURE % 421, FORM + ", in ten words and some more"
    found = whole + b"3 Tr " + drawn(words)
    texts, why = read(
        "pdf",
        cover=pdf(whole, *[words] * 9), photo=pdf(whole + drawn(words)), title=pdf(words, half + drawn("A title")),
        ocr=pdf(found, whole, found), little=pdf(whole + b"3 Tr " + drawn("A page")), blank=pdf(words, "", words),
        long=pdf(words, *[whole + drawn(FORM.replace(" ", ""))] * 3), first=pdf(whole, words), last=pdf(words, half), stamped=pdf(words, whole + drawn("Page 2")),
        stamps=pdf(*[whole + drawn("Scanned with a program")] * 2), nameless=pdf(words, "\x01\x03\x04"), no_words=pdf("\x01 -"),
    )  # fmt: skip
    assert set(texts) == {"cover", "photo", "title", "ocr", "little", "blank", "long"} and texts["little"] == "A page"
    ocr = "if it is scanned, OCR adds it, as ocrmypdf does"
    named = "has hardly any text, only pictures, on {} of 2, the first of them page {}: " + ocr
    assert why == {name: named.format("1 page", 2) for name in ("last", "stamped", "nameless")} | {
        "first": named.format("1 page", 1), "stamps": named.format("2 pages", 1), "no_words": f"has no text (1 page): {ocr}"
    }  # fmt: skip


def test_documents_inside_documents_are_read_to_some_depth(read):
    made = [docx("Imported.")]
    for _ in range(10):
        at, inside = '<w:altChunk r:id="aFChunk"/>', {"word/a.docx": made[-1]}
        made.append(docx("After.", before=at, related={"aFChunk": "a.docx"}, **inside))
    texts, why = read("docx", whole=made[1], nested=made[-1])
    assert texts == {"whole": "Imported.\nAfter."} and [*why] == ["nested"]


TYPE = '<!DOCTYPE d [<!ENTITY a "words of an entity">]>'


@pytest.mark.parametrize("before", ["", f"<!--{'x' * 100_000}-->", "\n<?pi?>\n"])
def test_a_document_type_is_refused_wherever_it_stands(read, before):
    """In any encoding; the last has no mark of the order of bytes."""
    word = f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>&a;</w:t></w:r></w:p></w:body></w:document>'
    members = "docx:word/document.xml", "docx:_rels/.rels", "odt:content.xml", "epub:META-INF/container.xml"
    for encoding, member in product(("utf-8", "utf-16", "iso-8859-1", "utf-16-le"), members):
        declared = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding != "utf-16-le" else "<?pi?>"
        suffix, _, name = member.partition(":")
        text = f"{declared}{before}{TYPE}{word if name.startswith('word') else '<a>&a;</a>'}"
        texts, why = read(suffix, a=archive({name: text.encode(encoding)}))
        assert not texts and why["a"].endswith("declares a document type, which it should not")
