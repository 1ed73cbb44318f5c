"""Text of documents that need a parser, taken out in processes of their own, which a hostile file can end, but not the job."""


class UnreadableError(Exception):
    """A document has no text that its parser could get at; the message says why, as what follows the name of a file."""


class AllText(str):
    """All text of a web page, for lack of main text, which was asked for."""

    __slots__ = ()


def page_text(markup: str, boilerplate: bool = False) -> str:
    """Return the text of a page, which may be ``AllText``."""
    from ..text.html import read_page  # here, for what is not needed to start

    text, for_lack = read_page(markup, boilerplate)
    return AllText(text) if for_lack else text
