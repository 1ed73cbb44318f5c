"""E-mail messages, one in each file."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("eml")
