"""Web pages: a document in each file, of which the main text is compared, or all."""

from __future__ import annotations

from .format import Format
from .parsed import ParsedFiles


class Pages(ParsedFiles):
    """Pages of any encoding; "html:all" is the format of those whose menus and the like count too."""

    def __init__(self, name: str) -> None:
        super().__init__(name, extra="html", package="resiliparse")

    def detailed(self, detail: str) -> Format:
        return self.with_boilerplate() if detail == "all" else super().detailed(detail)

    def with_boilerplate(self) -> Format:
        return Pages("html:all")


FORMAT = Pages("html")
