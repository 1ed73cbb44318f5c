"""PDF files, of which PDFium gets the text."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("pdf", kinds=("pdf",), extra="pdf", package="pypdfium2")
