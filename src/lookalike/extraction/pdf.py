"""Text of PDF files, by PDFium."""

from __future__ import annotations

import re

from ..wording import counted
from . import UnreadableError

_HYPHEN = re.compile("[\x02\ufffe]")  # which ended a line, by version of PDFium
_JOINED = re.compile("[\x02\ufffe](?=[^\\W\\d_A-Z])")


def text_of(content: bytes) -> str:
    """Return the text of all pages, a form feed between two; words that are hyphenated at the end of a line are joined."""
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        why = str(error).rstrip(".")
        raise UnreadableError("needs a password" if "assword" in why else f"is no PDF that can be read: {why}") from None
    pages = []
    for number in range(len(document)):
        try:
            page = document[number]
            pages.append(page.get_textpage().get_text_bounded())
            page.close()
        except pdfium.PdfiumError as error:
            raise UnreadableError(f"page {number + 1} cannot be read: {str(error).rstrip('.')}") from None
    if not any(map(str.strip, pages)):
        raise UnreadableError(f"has no text ({counted(len(pages), 'page')}): if it is scanned, OCR adds it, as ocrmypdf does")
    return "\f".join(_HYPHEN.sub("-", _JOINED.sub("", page)) for page in pages).replace("\r\n", "\n")
