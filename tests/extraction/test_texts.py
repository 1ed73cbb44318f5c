"""What can only be made by hand of documents; what texts they have is in jobs."""

from itertools import product

import pytest
from document_files import WORD, archive, docx
from raising import assert_raises

from lookalike.extraction import UnreadableError
from lookalike.extraction.worker import KINDS


def unreadable(said, kind, content):
    assert_raises(UnreadableError, said, KINDS[kind], content)


def test_members_that_are_damaged_or_large(monkeypatch):
    damaged, bomb = bytearray(docx("One two three " * 40)), docx("a" * (2 << 20))
    damaged[damaged.index(b"word/document.xml") + 25] ^= 0xFF
    unreadable("word/document.xml (cannot be unpacked|is not well-formed)", "docx", bytes(damaged))
    unreadable("is not a ZIP file", "docx", docx("One")[:-30])
    monkeypatch.setattr("lookalike.extraction.office.MOST_XML", 1 << 20)
    assert len(bomb) < 10_000
    unreadable("has more than 1 MB when it is unpacked", "docx", bomb)


def test_documents_inside_documents_are_read_to_some_depth():
    made = [docx("Imported.")]
    for _ in range(10):
        made.append(docx("After.", inside=made[-1]))
    assert KINDS["docx"](made[1]) == "Imported.\nAfter."
    unreadable("holds text as a part of no known kind .word/a.docx., which is not read", "docx", made[-1])


TYPE = '<!DOCTYPE d [<!ENTITY a "words of an entity">]>'


@pytest.mark.parametrize("before", ["", f"<!--{'x' * 100_000}-->", "\n<?pi?>\n"])
def test_a_document_type_is_refused_wherever_it_stands(before):
    """In any encoding; the last has no mark of the order of bytes."""
    word = f'<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>&a;</w:t></w:r></w:p></w:body></w:document>'
    members = "docx:word/document.xml", "docx:_rels/.rels", "odt:content.xml", "epub:META-INF/container.xml"
    for encoding, member in product(("utf-8", "utf-16", "iso-8859-1", "utf-16-le"), members):
        declared = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding != "utf-16-le" else "<?pi?>"
        kind, _, name = member.partition(":")
        text = f"{declared}{before}{TYPE}{word if name.startswith('word') else '<a>&a;</a>'}"
        said = "declares a document type, which it should not$"
        unreadable(said, kind, archive({name: text.encode(encoding)}))
