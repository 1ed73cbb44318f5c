"""Text of PDF files, by PDFium."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from itertools import islice
from typing import Any

from ..wording import plural
from . import UnreadableError
from .office import elements

_COVER = 150  # letters that a portfolio has on its own page, at most: its documents are files inside
_BUTTON, _CHECK_BOX, _RADIO_BUTTON, _COMBO_BOX, _LIST_BOX, _SIGNATURE = 1, 2, 3, 4, 5, 7  # kinds of fields
_LONG = 20  # characters of a value that no other text of the page has by chance
_LINK, _POPUP, _WIDGET = 2, 16, 20  # kinds of annotations
_FEW = 40  # letters, fewer than a page that was read has, but what a scanner stamps on each
_PICTURED, _FULL, _MOST_UNREAD = 1 / 3, 0.8, 1 / 8  # of a page, that pictures cover; of the pages
_NAMELESS = re.compile("[\0\x01\x03-\x08\x0e-\x1f\ufffd\ue000-\uf8ff]")  # of fonts that do not tell which they are
_HIDDEN = 1 << 1
_NAMED = re.compile(rb"/V/((?:#[0-9A-Fa-f]{2}|[^\s/<>\[\](){}%#])+)")  # values that are no strings
_XFA_DATA = "{http://www.xfa.org/schema/xfa-data/1.0/}data"
_HYPHEN = re.compile("[\x02\ufffe]")  # which ended a line, by version of PDFium
_JOINED = re.compile("[\x02\ufffe](?=[^\\W\\d_A-Z])")


def text_of(content: bytes) -> str:
    """Return the text of all pages, a form feed between two; words that are hyphenated at the end of a line are joined.

    Annotations count, and the values of forms: as they are drawn, and after the page where they are not.
    """
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(content)
        document.init_forms()
    except pdfium.PdfiumError as error:
        why = str(error).rstrip(".")
        raise UnreadableError("needs a password" if "assword" in why else f"is not a readable PDF: {why}") from None
    filled_in = _values_of_xfa(document)
    chosen = cache(lambda: _field_values(document))
    pages = []
    for number in range(len(document)):
        try:
            pages.append(_text_of_page(document, number, chosen))
        except pdfium.PdfiumError as error:
            raise UnreadableError(f"page {number + 1} cannot be read: {str(error).rstrip('.')}") from None
    text = "\f".join(_HYPHEN.sub("-", _JOINED.sub("", page)) for page in pages).replace("\r\n", "\n")
    if what := _not_read(document, pages):
        raise UnreadableError(f"{what}: if it is scanned, OCR adds it, as ocrmypdf does")
    values = [f"{name}: {value}" for name, value in filled_in if not _is_drawn(value, text, text)]
    text = "\n".join([text, *values])
    n_files = pdfium.raw.FPDFDoc_GetAttachmentCount(document)
    if n_files and sum(map(str.isalnum, text)) < _COVER:
        raise UnreadableError(f"has hardly any text besides that of {plural(n_files, 'attached file')}: save and read these")
    return text


def _not_read(document: Any, pages: list[str]) -> str:
    """Say what of a document is pictures in place of text: all, or more pages than those of its cover and plates.

    Where other pages of pictures have text, OCR has read all of them, and found none on these.
    """
    n_letters = [sum(1 for _ in islice(filter(str.isalnum, page), _FEW)) for page in pages]  # more tell nothing
    if not any(n_letters):
        return f"has no text ({plural(len(pages), 'page')})"
    unread = []
    for i, n in enumerate(n_letters):
        if n < _FEW and _covered(document[i], pages[i]) > (_FULL if n else _PICTURED) and not _is_invisible(document[i]):
            unread.append(i + 1)
    if len(unread) <= _MOST_UNREAD * len(pages) or any(
        n >= _FEW and _covered(document[i], pages[i]) > _FULL for i, n in enumerate(n_letters)
    ):
        return ""
    where = f"{plural(len(unread), 'page')} of {len(pages)}, the first of them page {unread[0]}"
    return f"has hardly any text, only pictures, on {where}"


def _is_invisible(page: Any) -> bool:
    """Tell whether text of a page is not drawn, as that of OCR is not."""
    import pypdfium2.raw as raw

    texts = page.get_objects([raw.FPDF_PAGEOBJ_TEXT])
    return any(raw.FPDFTextObj_GetTextRenderMode(one) == raw.FPDF_TEXTRENDERMODE_INVISIBLE for one in texts)


def _covered(page: Any, text: str) -> float:
    """Return how much of a page pictures, or drawings that are all it has, cover; all, if its text is of unknown characters."""
    import pypdfium2.raw as raw

    has_words = any(map(str.isalnum, text))
    if not has_words and _NAMELESS.search(text):
        return 1.0
    kinds = [raw.FPDF_PAGEOBJ_IMAGE] if has_words else [raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM]
    width, height = page.get_size()
    bounds = [one.get_bounds() for one in page.get_objects(kinds, max_depth=1)]
    return float(sum((right - left) * (top - bottom) for left, bottom, right, top in bounds) / (width * height))


def _text_of_page(document: Any, number: int, chosen: Callable[[], dict[str, str]]) -> str:
    """Return the text of a page, its annotations drawn onto it, and what these say beside it."""
    import pypdfium2 as pdfium

    page = document[number]
    said = list(_said_by_annotations(document, page, chosen))
    if said:
        texts = page.get_textpage()
        text = texts.get_text_bounded()
        for place, _, value, bounds in reversed(said):  # which some programs leave on what they have drawn
            if value.strip() and bounds and _is_drawn(value, texts.get_text_bounded(*bounds), text):
                pdfium.raw.FPDFPage_RemoveAnnot(page, place)
        if pdfium.raw.FPDFPage_Flatten(page, pdfium.raw.FLAT_NORMALDISPLAY) == pdfium.raw.FLATTEN_FAIL:
            raise pdfium.PdfiumError("its annotations cannot be drawn")
        page.close()
        page = document[number]
    texts = page.get_textpage()
    lines = [texts.get_text_bounded()]
    for _, name, value, bounds in said:
        if value.strip() and not (bounds and _is_drawn(value, texts.get_text_bounded(*bounds), lines[0])):
            lines.append(f"{name}: {value}" if name else value)
    page.close()
    return "\n".join(lines)


def _is_drawn(value: str, there: str, on_page: str) -> bool:
    """Tell whether a value is among the text in its place, or a long one, which may not fit there, among that of the page."""
    squeezed, there, on_page = ("".join(text.split()) for text in (value, there, on_page))
    return squeezed in (on_page if len(squeezed) > _LONG else there)


def _said_by_annotations(
    document: Any, page: Any, chosen: Callable[[], dict[str, str]]
) -> Iterator[tuple[int, str, str, tuple[float, ...]]]:
    """Yield what annotations and fields say: the place among them, a name, a value, and where it is drawn; nowhere: ()."""
    import pypdfium2.raw as raw

    for place in range(raw.FPDFPage_GetAnnotCount(page)):
        one = raw.FPDFPage_GetAnnot(page, place)
        kind = raw.FPDFAnnot_GetSubtype(one)
        if kind not in (_LINK, _POPUP) and not raw.FPDFAnnot_GetFlags(one) & _HIDDEN:
            rect = raw.FS_RECTF()
            raw.FPDFAnnot_GetRect(one, rect)
            (left, right), (bottom, top) = sorted((rect.left, rect.right)), sorted((rect.bottom, rect.top))
            if kind == _WIDGET and document.formenv:
                name, value, is_drawn = _said_by_field(document.formenv, one, chosen)
                yield place, name, value or _rich(one, b"RV"), (left, bottom, right, top) if is_drawn else ()
            else:
                said = _string(raw.FPDFAnnot_GetStringValue, one, b"V" if kind == _WIDGET else b"Contents")
                yield place, "", said or _rich(one, b"RC"), (left, bottom, right, top)
        raw.FPDFPage_CloseAnnot(one)


def _said_by_field(form: Any, one: Any, chosen: Callable[[], dict[str, str]]) -> tuple[str, str, bool]:
    """Return name and value of a field, and whether drawing shows it, which does not tell the boxes and entries chosen."""
    import pypdfium2.raw as raw

    kind = raw.FPDFAnnot_GetFormFieldType(form, one)
    name = _string(raw.FPDFAnnot_GetFormFieldName, form, one)
    if kind in (_BUTTON, _SIGNATURE):
        return name, "", True
    if kind in (_CHECK_BOX, _RADIO_BUTTON):
        state = _string(raw.FPDFAnnot_GetStringValue, one, b"AS")
        if raw.FPDFAnnot_IsChecked(form, one):
            state = _string(raw.FPDFAnnot_GetFormFieldExportValue, form, one) or state
        elif not raw.FPDFAnnot_GetFormControlIndex(form, one) and _string(raw.FPDFAnnot_GetFormFieldValue, form, one) == "Off":
            state = chosen().get(name, state)  # programs choose without a state
            if state.isdigit() and int(state) < raw.FPDFAnnot_GetOptionCount(form, one):
                state = _string(raw.FPDFAnnot_GetOptionLabel, form, one, int(state))
        return name, "" if state == "Off" else state, False
    value = _string(raw.FPDFAnnot_GetFormFieldValue, form, one)
    if kind in (_COMBO_BOX, _LIST_BOX):
        entries = range(raw.FPDFAnnot_GetOptionCount(form, one))
        some = [entry for entry in entries if raw.FPDFAnnot_IsOptionSelected(form, one, entry)]
        value = ", ".join(_string(raw.FPDFAnnot_GetOptionLabel, form, one, entry) for entry in some) or value
    return name, value, kind != _LIST_BOX


def _field_values(document: Any) -> dict[str, str]:
    """Return the values of fields by name: in a copy whose boxes are texts, since PDFium says the states of boxes alone."""
    import pypdfium2 as pdfium

    document.save(saved := BytesIO(), flags=pdfium.raw.FPDF_REMOVE_SECURITY)
    texts = _NAMED.sub(_as_string, saved.getvalue().replace(b"/FT/Btn", b"/FT/Tx "))
    copy = pdfium.PdfDocument(texts.replace(b"startxref", b""))  # so that objects are looked for where they are now
    copy.init_forms()
    ask, form = pdfium.raw, copy.formenv
    fields = [ask.FPDFPage_GetAnnot(page, place) for page in copy for place in range(ask.FPDFPage_GetAnnotCount(page))]
    about = ((form, one) for one in fields)
    return {_string(ask.FPDFAnnot_GetFormFieldName, *it): _string(ask.FPDFAnnot_GetFormFieldValue, *it) for it in about}


def _as_string(found: re.Match[bytes]) -> bytes:
    name = re.sub(b"#(..)", lambda code: bytes.fromhex(code[1].decode()), found[1])
    return b"/V<%s>" % name.hex().encode()


def _rich(one: Any, key: bytes) -> str:
    """Return a text that is given with its looks alone, as XHTML."""
    import pypdfium2.raw as raw

    from ..text.html import html_to_text

    return html_to_text(_string(raw.FPDFAnnot_GetStringValue, one, key), boilerplate=True)


def _string(ask: Any, *about: Any) -> str:
    """Return what a function of PDFium says in UTF-16."""
    n_bytes = ask(*about, None, 0)
    said = (ctypes.c_ushort * (n_bytes // 2 + 1))()
    ask(*about, said, n_bytes)
    return bytes(said)[: max(0, n_bytes - 2)].decode("utf-16-le", "replace").replace("\r", "\n")


def _values_of_xfa(document: Any) -> list[tuple[str, str]]:
    """Return the names and values of a form of XFA; refuse one that no page shows, which PDFium cannot lay out."""
    import pypdfium2.raw as raw

    if document.get_formtype() not in (raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND):
        return []
    kinds = {
        raw.FPDFAnnot_GetSubtype(raw.FPDFPage_GetAnnot(page, place))
        for page in document
        for place in range(raw.FPDFPage_GetAnnotCount(page))
    }
    if document.get_formtype() == raw.FORMTYPE_XFA_FULL or _WIDGET not in kinds:
        raise UnreadableError("is an XFA form, which its pages do not show: print it to PDF")
    packets = []
    for place in range(raw.FPDF_GetXFAPacketCount(document)):
        n_bytes = ctypes.c_ulong()
        raw.FPDF_GetXFAPacketContent(document, place, None, 0, n_bytes)
        packets.append((ctypes.c_char * n_bytes.value)())
        raw.FPDF_GetXFAPacketContent(document, place, packets[-1], n_bytes, n_bytes)
    values: list[tuple[str, str]] = []
    for element in elements([packet.raw for packet in packets], "its form of XFA"):
        if element.tag == _XFA_DATA:
            said = ((one.tag.rpartition("}")[2], (one.text or "").strip()) for one in element.iter())
            values += [(name, value) for name, value in said if value]
    return values
