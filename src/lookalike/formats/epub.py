"""Electronic books."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("epub", ".epub", extra="html", package="resiliparse")
