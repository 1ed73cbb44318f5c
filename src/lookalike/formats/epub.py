"""Electronic books."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("epub", ".epub", kinds=("zip",), extra="html", package="resiliparse")
