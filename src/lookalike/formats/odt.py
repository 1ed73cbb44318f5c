"""OpenDocument texts."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("odt", kinds=("zip",))
