"""PDF files, of which PDFium gets the text."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("pdf", ".pdf", kinds=("pdf",), extra="pdf", package="pypdfium2")
