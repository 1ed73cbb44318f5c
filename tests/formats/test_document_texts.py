"""What the text of a document is, and which documents are left out and named, as the jobs see it."""

from pathlib import Path

import pytest
from document_files import WORD, archive, docx, drawn, form, pdf, stream
from formats.jobs import put

import lookalike as la

FORM = "Application of a member of the society for the study of rivers"
FIELD = "/Subtype/Widget/F 4/FT/Tx/T(name)/V({})/Rect[40 600 400 620]"
BOX = "/Subtype/Widget/F 4/FT/Btn/T({0})/V/{1}/AS/{1}/Rect[40 500 50 510]/AP<</N<</Yes 8 0 R/Off 8 0 R>>>>"
LOOKS = b"/Type/XObject/Subtype/Form/BBox[0 0 360 20]/Resources<</Font<</F1 5 0 R>>>>"


def radio(value, second="Fish", looks="/AP<</N<</{0} 9 0 R/Off 9 0 R>>>>"):
    """A form of two buttons, of which a field, not their states, says which one is chosen."""
    buttons = (f"/Subtype/Widget/F 4/Parent 8 0 R/Rect[40 500 50 510]{looks.format(name)}" for name in ("Soup", second))
    field = f"<</FT/Btn/Ff 49152/T(meal)/Kids[6 0 R 7 0 R]{value}>>"
    made = form(FORM, *buttons, objects=(field.encode(), stream(b"re f", LOOKS)))
    return made.replace(b"/Fields[6 0 R 7 0 R]", b"/Fields[8 0 R]      ")


@pytest.fixture
def read(tmp_path, caplog):
    """Return a function that reads files: texts of those that are compared, and why others are not."""

    def read(suffix, begin="", **files):
        folder = tmp_path / suffix
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            put(folder / f"{name}.{suffix}", content)
        caplog.clear()
        rows = la.dedup(folder, at_most=1000).clean().to_pylist()
        said = (one.getMessage().removeprefix(f"left out: {folder}/") for one in caplog.records)
        why = dict(one.split(f".{suffix} ", 1) for one in said)
        texts = {Path(row["id"]).stem: row["text"].removeprefix(begin).strip("\n") for row in rows}
        assert texts.keys() | why.keys() == files.keys() and not texts.keys() & why.keys()
        return texts, why

    return read


def test_values_of_forms_are_text(read):
    """As they are drawn; in lines of their own where nothing, or the same for all values, is drawn."""
    nothing = stream(b"0 0 5 5 re f", LOOKS)
    entries = (
        "/Subtype/Widget/F 4/FT/Ch/T(colours)/Ff 2097152/Opt[(red)(green)(blue)]/V[(red)(blue)]/I[0 2]/Rect[40 500 200 560]"
    )
    texts, why = read(
        "pdf",
        FORM,
        drawn=form(FORM, FIELD.format("1000") + "/AP<</N 7 0 R>>", objects=(stream(drawn("Anna Example", 2, 5), LOOKS),)),
        undrawn=form(FORM, FIELD.format("Bert Sample")),
        asked=form(FORM, FIELD.format("Cleo Muster"), more="/NeedAppearances true"),
        boxes=form(FORM, BOX.format("first", "Yes"), BOX.format("second", "Off"), objects=(nothing,)),
        others=form(FORM, BOX.format("first", "Off"), BOX.format("second", "Yes"), objects=(nothing,)),
        one=form(FORM, "/Subtype/Widget/F 4/FT/Ch/T(town)/Ff 131072/Opt[[(r)(Rome)][(p)(Paris)]]/V(p)/Rect[40 500 200 520]"),
        some=form(FORM, entries),
        hidden=form(FORM, FIELD.format("nobody sees it").replace("/F 4", "/F 2")),
        blank=form(FORM, FIELD.format("")),
        rich=form(FORM, FIELD.replace("/V({})", "/RV(<p>Dora <b>Exempla</b></p>)")),
        stateless=form(FORM, BOX.format("first", "Yes").replace("/AS/Yes/", "/"), objects=(nothing,)),
        chosen=radio("/V/Fish"),
        text=radio("/V(Fish)"),
        nothing=radio("/V/Off"),
        coded=radio("/V/Black#20tea", "Black#20tea"),
        listed=radio("/V/1/Opt[(Soup)(Fish)]", "1"),
        bare=radio("/V/Fish", "Fish", looks=""),
    )
    assert not why and texts == {
        "drawn": "Anna Example\nname: 1000", "undrawn": "Bert Sample", "asked": "Cleo Muster", "boxes": "first: Yes",
        "others": "second: Yes", "one": "Paris", "some": "red\ngreen\nblue\ncolours: red, blue", "hidden": "", "blank": "",
        "rich": "name: Dora Exempla", "stateless": "first: Yes", "chosen": "meal: Fish", "text": "meal: Fish", "nothing": "",
        "coded": "meal: Black tea", "listed": "meal: Fish", "bare": "meal: Fish",
    }  # fmt: skip


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


def test_annotations_are_text(read):
    remark = "/Subtype/FreeText/F 4/Contents(Typed over it)/DA(/F1 10 Tf)/Rect[40 600 200 620]"
    looks = stream(drawn("Typed over it", 2, 5), LOOKS)
    in_place = drawn(FORM) + drawn("Typed over it", 42, 605)
    texts, why = read(
        "pdf",
        FORM,
        note=form(
            FORM,
            "/Subtype/Text/F 28/Contents(Ask the author)/Rect[40 600 60 620]/Popup 7 0 R",
            "/Subtype/Popup/Rect[9 9 99 99]",
        ),
        undrawn=form(FORM, remark),
        drawn=form(FORM, f"{remark}/AP<</N 7 0 R>>", objects=(looks,)),
        stamp=form(FORM, "/Subtype/Stamp/F 4/Rect[40 600 200 620]/AP<</N 7 0 R>>", objects=(looks,)),
        twice=form(FORM, f"{remark}/AP<</N 7 0 R>>", objects=(looks,)).replace(stream(drawn(FORM)), stream(in_place)),
        mark=form(
            FORM, "/Subtype/Highlight/F 4/Contents(Application)/QuadPoints[40 775 92 775 40 792 92 792]/Rect[39 775 93 792]"
        ),
        link=form(FORM, "/Subtype/Link/Rect[40 600 60 620]/Contents(where it leads)"),
    )
    assert not why and texts == {
        "note": "Ask the author", "undrawn": "Typed over it", "drawn": "Typed over it", "stamp": "Typed over it",
        "twice": "Typed over it", "mark": "", "link": "",
    }  # fmt: skip


SHOWN = FIELD.format("as on the page")


def xfa(values, head="<x>", more="", field=SHOWN):
    """A form of two kinds, with values of XFA."""
    data = f'<d:datasets xmlns:d="http://www.xfa.org/schema/xfa-data/1.0/"><d:data>{values}</d:data></d:datasets>'
    packets = (stream(head.encode()), stream(data.encode()), stream(b"</x>"))
    listed = "/XFA[(preamble) 7 0 R(datasets) 8 0 R(postamble) 9 0 R]"
    return form("Please wait", field, more=listed, catalog=more, objects=packets)


def test_forms_that_need_another_program_are_left_out(read):
    texts, why = read(
        "pdf",
        same=xfa("<name>as on the page</name>"),
        more=xfa("<name>of this kind alone</name>"),
        dynamic=xfa("<name>a</name>", more="/NeedsRendering true"),
        bare=xfa("<name>a</name>", field="/Subtype/Link/Rect[1 1 9 9]"),
        entities=xfa("<name>&a;</name>", head='<!DOCTYPE x [<!ENTITY a "b">]><x>'),
        portfolio=form(
            "Open it in another program", catalog="/Names<</EmbeddedFiles<</Names[(a.txt) 6 0 R]>>>>",
            objects=(b"<</Type/Filespec/F(a.txt)/EF<</F 7 0 R>>>>", stream(b"its text", b"/Type/EmbeddedFile")),
        ),
    )  # fmt: skip
    assert texts == {
        "same": "Please wait\nas on the page",
        "more": "Please wait\nas on the page\nname: of this kind alone",
    }
    assert why == {
        "dynamic": "is an XFA form, which its pages do not show: print it to PDF",
        "bare": "is an XFA form, which its pages do not show: print it to PDF",
        "entities": "its form of XFA declares a document type, which it should not",
        "portfolio": "has hardly any text besides that of 1 attached file: save and read these",
    }


def test_documents_inside_documents_are_read_to_some_depth(read):
    made = [docx("Imported.")]
    for _ in range(10):
        at, inside = '<w:altChunk r:id="aFChunk"/>', {"word/a.docx": made[-1]}
        made.append(docx("After.", before=at, related={"aFChunk": "a.docx"}, **inside))
    texts, why = read("docx", whole=made[1], nested=made[-1])
    assert texts == {"whole": "Imported.\nAfter."} and [*why] == ["nested"]


TYPE = '<!DOCTYPE d [<!ENTITY a "words of an entity">]>'


@pytest.mark.parametrize("before", ["", f"<!--{'x' * 100_000}-->", "\n<?pi?>\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "utf-16-le"])  # the last without a mark
def test_a_document_type_is_refused_wherever_it_stands(read, encoding, before):
    declared = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding != "utf-16-le" else "<?pi?>"
    begin = f"{declared}{before}{TYPE}"
    word = f'{begin}<w:document xmlns:w="{WORD}"><w:body><w:p><w:r><w:t>&a;</w:t></w:r></w:p></w:body></w:document>'
    other = f"{begin}<a>&a;</a>"
    for member in ("docx:word/document.xml", "docx:_rels/.rels", "odt:content.xml", "epub:META-INF/container.xml"):
        suffix, _, name = member.partition(":")
        text = word if name.startswith("word") else other
        texts, why = read(suffix, a=archive({name: text.encode(encoding)}))
        assert not texts and why["a"].endswith("declares a document type, which it should not")
