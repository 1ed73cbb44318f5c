"""What the text of a document is, and which documents are left out and named, as the jobs see it."""

from pathlib import Path

import pytest
from document_files import OFFICE, RELATIONS, TEXT, WORD, archive, docx, drawn, form, odt, pdf, stream
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


ROOT = f'<o:document xmlns:o="{OFFICE}" xmlns:text="{TEXT}">{{}}</o:document>'
STRICT = "http://purl.oclc.org/ooxml"
CHUNK = '<w:altChunk r:id="aFChunk"/>'
NOTES = f'<w:footnotes xmlns:w="{WORD}"><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>'
MHT = 'Content-Type: multipart/related; boundary="x"\n\n--x\nContent-Type: text/html\n\n<p>Imported.</p>\n--x--\n'


def test_parts_of_word_are_found_by_their_relationships(read):
    texts, why = read(
        "docx",
        usual=docx("One."),
        second=docx("One.", main="word/document2.xml"),
        top=docx("One.", main="body.xml"),
        absolute=docx("One.", main="/word/main.xml"),
        strict=docx("One.", space=f"{STRICT}/wordprocessingml/main", links=f"{STRICT}/officeDocument/relationships"),
        notes=docx("One.", related={"footnotes": "text/n.xml"}, **{"word/text/n.xml": NOTES}),
        not_notes=docx("One.", **{"word/footnotes.xml": NOTES}),
        header=docx("One.", related={"header": "h.xml"}, **{"word/h.xml": NOTES}),
        header_alone=docx("", related={"header": "h.xml"}, **{"word/h.xml": NOTES}),
        sheet=archive({"_rels/.rels": '<r xmlns="a"><Relationship Type="x/officeDocument" Target="book.xml"/></r>', "book.xml": "<b/>"}),
    )  # fmt: skip
    assert why == {"sheet": "is not a Word document: book.xml is none of its parts"}
    assert {name: text for name, text in texts.items() if text != "One."} == {
        "notes": "One.\nA note.",
        "header_alone": "A note.",
    }


def test_text_that_word_imports_is_read_or_the_document_is_left_out(read):
    def importing(name, content, at=CHUNK):
        return docx("After.", before=at, related={"aFChunk": name}, **({} if content is None else {f"word/{name}": content}))

    nested = docx("Imported.")
    for _ in range(9):
        nested = importing("a.docx", nested)
    texts, why = read(
        "docx",
        html=importing("a.html", "<html><body><p>Imported.</p></body></html>"),
        plain=importing("a.txt", "Imported: a < b."),
        mht=importing("a.mht", MHT),
        word=importing("a.docx", docx("Imported.")),
        cell=importing("a.html", "<p>Imported.", f"<w:tbl><w:tr><w:tc>{CHUNK}</w:tc></w:tr></w:tbl>"),
        rtf=importing("a.rtf", "{\\rtf1 Imported.}"),
        disguised=importing("a.html", "{\\rtf1 Imported.}"),
        unknown=importing("a.bin", "Imported."),
        missing=importing("a.html", None),
        linked=importing("https://example.org/a.html", None),
        subdocument=docx("After.", before='<w:subDoc r:id="subDocument"/>', related={"subDocument": "file://b.docx"}),
        nested=nested,
    )
    assert texts == {
        "html": "Imported.\nAfter.", "plain": "Imported: a < b.\nAfter.", "mht": "Imported.\nAfter.", "word": "Imported.\nAfter.",
        "cell": "Imported.\nAfter.",
    }  # fmt: skip
    assert why["rtf"] == "holds text as RTF (word/a.rtf), which is not read" and "RTF (word/a.html)" in why["disguised"]
    assert "application/x-own" in why["unknown"] and why["missing"] == "has no member word/a.html"
    assert why["linked"] == why["subdocument"] == "includes text from another file, which is not read"
    assert "nested" in why


def test_notes_ruby_and_boxes_do_not_glue_words(read):
    boxed = "<w:pict><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></w:pict>"
    note = '<w:footnoteReference w:customMarkFollows="1"/><w:t>1</w:t>'
    ruby = (
        "<w:ruby><w:rt><w:r><w:t>reading</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>base</w:t></w:r></w:rubyBase></w:ruby>"
        "<w:t>after</w:t>"
    )
    texts, _ = read(
        "docx", box=docx(f"one</w:t>{boxed}<w:t>two"), note=docx(f"word</w:t>{note}<w:t>"), ruby=docx(f"</w:t>{ruby}<w:t>")
    )
    assert {name: text.split() for name, text in texts.items()} == {
        "box": ["boxed", "one", "two"], "note": ["word", "1"], "ruby": ["base", "reading", "after"],
    }  # fmt: skip
    drawing, noted = 'xmlns:d="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"', "<text:p>A note.</text:p></text:note-body>"
    texts, _ = read(
        "odt",
        box=odt(f"one<d:frame {drawing}><d:text-box><text:p>boxed</text:p></d:text-box></d:frame>two"),
        shape=odt(f"one<d:custom-shape {drawing}><text:p>boxed</text:p></d:custom-shape>two"),
        note=odt(f"word<text:note><text:note-citation>1</text:note-citation><text:note-body>{noted}</text:note>after"),
        ruby=odt("<text:ruby><text:ruby-base>base</text:ruby-base><text:ruby-text>reading</text:ruby-text></text:ruby>after"),
    )
    assert {name: text.split() for name, text in texts.items()} == {
        "box": ["boxed", "one", "two"], "shape": ["boxed", "one", "two"], "note": ["A", "note.", "word", "after"],
        "ruby": ["base", "reading", "after"],
    }  # fmt: skip


def test_what_is_filled_in_and_formulas(read):
    chosen = (
        '<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="blue"/></w:ddList></w:ffData>'
    )
    formula = f'<m:oMath xmlns:m="{RELATIONS.rpartition("/")[0]}/math"><m:r><m:t>x = 1</m:t></m:r></m:oMath>'
    texts, _ = read("docx", list=docx(f"Colour: </w:t>{chosen}<w:t>"), formula=docx("", before=f"<w:p>{formula}</w:p>"))
    assert texts == {"list": "Colour: blue", "formula": "x = 1"}
    space = 'xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0"'
    controls = (
        '<form:text form:current-value="Anna"/><form:checkbox form:label="Member" form:current-state="checked"/>'
        '<form:checkbox form:label="Guest"/><form:option form:label="Rome" form:current-selected="true"/><form:option form:label="Paris"/>'
        '<form:option form:label="Oslo" form:selected="true"/><form:date form:value="1 May"/><form:hidden form:value="key"/>'
    )
    texts, _ = read("odt", form=odt("After.", before=f"<form:form {space}>{controls}</form:form>"))
    assert texts == {"form": "Anna\nMember\nRome\nOslo\n1 May\nAfter."}


def test_text_that_is_formatted_as_hidden_is_text(read):
    """Documents that differ in nothing else are no copies."""
    note = "a note of the author"
    hidden = f"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>{note}</w:t></w:r></w:p>"
    styled = f'<w:rPr><w:rStyle w:val="Hidden"/></w:rPr><w:t>{note}</w:t>'
    texts, _ = read("docx", run=docx("seen", before=hidden), style=docx(f"seen </w:t>{styled}<w:t>"))
    assert set(texts.values()) == {f"{note}\nseen", f"seen {note}"}
    texts, _ = read("odt", style=odt(f'seen<text:span text:style-name="Hidden"> {note}</text:span>'))
    assert texts == {"style": f"seen {note}"}
    ways = {"attribute": "hidden", "style": 'style="display:none"', "reader": 'aria-hidden="true"'}
    texts, _ = read("html", **{name: f"<p>seen</p><p {how}>{note}</p>".encode() for name, how in ways.items()})
    assert {" ".join(text.split()) for text in texts.values()} == {f"seen {note}"}


def test_boxes_to_check_and_other_signs(read):
    box = "<w:ffData><w:checkBox>{}</w:checkBox></w:ffData>"
    texts, _ = read(
        "docx",
        **{name: docx(f"I agree: </w:t>{box.format(state)}<w:t>") for name, state in {
            "checked": "<w:default w:val='0'/><w:checked/>", "unchecked": "<w:checked w:val='0'/>", "default": "<w:default w:val='1'/>"
        }.items()},
        listed=docx("</w:t><w:ffData><w:ddList><w:default w:val='1'/><w:listEntry w:val='a'/><w:listEntry w:val='b'/></w:ddList></w:ffData><w:t>"),
        sign=docx('one</w:t><w:sym w:font="Symbol" w:char="F061"/><w:t>two'),
        deleted=docx("new", before="<w:p><w:del><w:r><w:t>old</w:t></w:r></w:del></w:p>"),
        art=docx("", before='<w:p><w:r><v:textpath xmlns:v="urn:schemas-microsoft-com:vml" string="Art"/></w:r></w:p>'),
    )  # fmt: skip
    assert texts == {
        "checked": "I agree: \u2612", "unchecked": "I agree: \u2610", "default": "I agree: \u2612", "listed": "b",
        "sign": "one\uf061two", "deleted": "new", "art": " Art ",
    }  # fmt: skip


def test_formulas_diagrams_and_charts_of_other_parts(read):
    drawn = '<d xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:p><a:r><a:t>{}</a:t></a:r></a:p><a:p/></d>'
    texts, _ = read(
        "docx",
        diagram=docx("One.", related={"diagramData": "d/data1.xml"}, **{"word/d/data1.xml": drawn.format("Drawn")}),
        chart=docx("One.", related={"chart": "/odd%20place/c.xml"}, **{"odd place/c.xml": drawn.format("Title")}),
        alone=docx("", related={"diagramData": "d.xml"}, **{"word/d.xml": drawn.format("Alone")}),
    )
    assert texts == {"diagram": "One.\nDrawn", "chart": "One.\nTitle", "alone": "Alone"}
    spaces = f'xmlns:text="{TEXT}" xmlns:d="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:x="http://www.w3.org/1999/xlink"'
    shown = ROOT.format(f'<text:p {spaces}>See <d:frame><d:object x:href="./Object 1"/></d:frame></text:p>')
    formula = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi><mo>=</mo><mn>{}</mn><annotation>x</annotation></math>'
    )
    own = shown.replace("Object 1", ".")
    texts, why = read(
        "odt",
        one=archive({"content.xml": shown, "Object 1/content.xml": formula.format(1)}),
        two=archive({"content.xml": shown, "Object 1/content.xml": formula.format(2)}),
        chart=archive({"content.xml": shown, "Object 1/content.xml": ROOT.format("<text:p>A title</text:p>")}),
        itself=archive({"content.xml": own}),
        header=archive({"content.xml": ROOT.format(""), "styles.xml": ROOT.format("<text:p>A header</text:p>")}),
        locked=archive({"content.xml": b"\x93", "META-INF/manifest.xml": "<m><f><encryption-data/></f></m>"}),
        other=archive({"content.xml": "<a><p>One.</p></a>"}),
    )
    assert {name: text.split("See")[0].strip() for name, text in texts.items()} == {
        "one": "x=1", "two": "x=2", "chart": "A title", "itself": "", "header": "A header"
    }  # fmt: skip
    assert why == {"locked": "is encrypted", "other": "is not an OpenDocument text"}


def test_documents_of_pictures_are_left_out_and_blank_ones_are_empty(read):
    thumbnail = {"docProps/thumbnail.jpeg": b"jpeg"}
    scanned = docx("", **thumbnail, **{"word/media/a.png": b"png", "Pictures/a.png": b"png"})
    texts, why = read("docx", scanned=scanned, blank=docx(""), thumbnail=docx("", **thumbnail))
    assert texts == {"blank": "", "thumbnail": ""}
    assert why == {"scanned": "has no text, only pictures or the like (2 files), which are not read"}
    texts, why = read("odt", scanned=archive({"content.xml": ROOT.format(""), "Pictures/a.jpg": b"jpg"}), blank=odt())
    assert texts == {"blank": ""} and "pictures or the like (1 file)" in why["scanned"]


def book(spine, **more):
    """A book of a chapter "a", of which ``more`` are other items of its list and members."""
    items = {"a": ('"a b.xhtml"', "application/xhtml+xml"), "p": ('"p.pdf"', "application/pdf"), "i": ('"i.jpg"', "image/jpeg"),
             "s": ('"p.pdf" fallback="a"', "application/pdf"), "g": ('"gone.xhtml"', "application/xhtml+xml"),
             "e": ('"e.xhtml"', "application/xhtml+xml"), "c": ('"c.pdf" fallback="c"', "application/pdf")}  # fmt: skip
    listed = "".join(f'<item id="{name}" href={href} media-type="{kind}"/>' for name, (href, kind) in items.items())
    order = "".join(f'<itemref idref="{name}"/>' for name in spine)
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{listed}</manifest><spine>{order}</spine></package>'
    container = '<container><rootfiles><rootfile full-path="in/b.opf"/></rootfiles></container>'
    page = "<html><body><p>A chapter.</p></body></html>"
    return archive(
        {"META-INF/container.xml": container, "in/b.opf": package, "in/A B.xhtml": page, "in/e.xhtml": "", "in/i.jpg": b"j"}
        | more
    )


def test_books_that_lack_a_chapter_are_left_out_and_named(read):
    texts, why = read(
        "epub", whole=book("a"), picture=book("ia"), instead=book("s"), gone=book("ag"), unlisted=book("ax"), empty=book("ae"),
        other=book("ap"), circle=book("c"), none=book(""), scanned=book("aii"), pictures=book("a", **{"in/A B.xhtml": "<html><img src='i.jpg'/></html>"}),
    )  # fmt: skip
    assert texts == {"whole": "A chapter.", "picture": "A chapter.", "instead": "A chapter."}
    assert why == {
        "gone": "has no member in/gone.xhtml", "unlisted": "names a chapter that it does not have: x",
        "empty": "its chapter in/e.xhtml is empty", "other": "has a chapter of application/pdf (p.pdf), which is not read",
        "scanned": "has 2 chapters of pictures, of 3, which are not read", "circle": "names a chapter that it does not have: c", "none": "names no chapters",
        "pictures": "has no text, only pictures or the like (1 file), which are not read",
    }  # fmt: skip


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
