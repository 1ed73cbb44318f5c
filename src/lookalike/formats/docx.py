"""Word documents, of 2007 or later."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("docx", ".docx", ".docm", kinds=("zip",))
