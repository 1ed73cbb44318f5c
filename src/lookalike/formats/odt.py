"""OpenDocument texts."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("odt", ".odt", kinds=("zip",))
