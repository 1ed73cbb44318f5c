"""Text of documents that need a parser, taken out in processes of their own, which a hostile file can end, but not the job."""


class UnreadableError(Exception):
    """A document has no text that its parser could get at; the message says why, as what follows the name of a file."""


class AllText(bytes):
    """All text of a web page, for lack of main text, which was asked for."""

    __slots__ = ()


def page_text(markup: str, boilerplate: bool = False) -> bytes:
    """Return the text of a page in UTF-8, which may be ``AllText``."""
    from ..text.html import read_page  # here, for what is not needed to start

    text, for_lack = read_page(markup.encode("utf-8", "replace"), boilerplate)
    return AllText(text) if for_lack else text
