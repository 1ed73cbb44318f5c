"""Electronic books."""

from .parsed import ParsedFiles

FORMAT = ParsedFiles("epub", kinds=("zip",), extra="html", package="resiliparse")
