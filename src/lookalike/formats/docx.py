"""Word documents, of 2007 or later."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("docx", kinds=("zip",))
