"""Which documents are left out and named, as jobs see them; what their texts are is in jobs."""

from itertools import product
from pathlib import Path

import pytest
from document_files import WORD, archive, docx
from formats.jobs import put

import lookalike as la


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
