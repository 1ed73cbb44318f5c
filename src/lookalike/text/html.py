"""Text of web pages."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from ..errors import MissingExtraError
from .texts import Texts, from_strings

_MARKUP = re.compile(r"<!--|<[!?/][^<>]*+>|<([a-zA-Z][^\s<>/]*+)[^<>]*+>")  # never looks back: linear time
_SILENT_END = {name: re.compile(rf"</{name}", re.IGNORECASE) for name in ("script", "style")}


def _extractor() -> Any:
    try:
        import trafilatura
    except ImportError as error:
        raise MissingExtraError(f"{error.name or 'trafilatura'} is not installed: pip install 'lookalike[html]'") from None
    return trafilatura


def _parsed(html: str) -> Any:
    """Return the element tree of a page, or None where the parser gave up and left out a part of it."""
    from lxml.etree import LxmlError
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(collect_ids=False, default_doctype=False, encoding="utf-8", remove_comments=True, remove_pis=True,
                        huge_tree=True)  # fmt: skip
    try:
        tree = document_fromstring(html.replace("\0", " ").encode("utf-8", "replace"), parser=parser)
    except LxmlError:  # nothing in it but comments and the like
        return None
    return None if any(error.level_name == "FATAL" for error in parser.error_log) else tree


def _all_text(html: str) -> str:
    """Return what stands between the tags of a page, scripts and styles left out, without a parser."""
    parts, at = [], 0
    while found := _MARKUP.search(html, at):
        parts.append(html[at : found.start()])
        at = found.end()
        if found[0] == "<!--":
            end = html.find("-->", at)
            at = len(html) if end < 0 else end + 3
        elif found[1] and found[1].lower() in _SILENT_END:
            closing = _SILENT_END[found[1].lower()].search(html, at)
            at = closing.start() if closing else len(html)
    return " ".join(unescape(" ".join([*parts, html[at:]])).split())


def html_to_text(html: str, *, boilerplate: bool = False) -> str:
    """Return the text of a web page: no tags, scripts, styles or comments.

    Parameters
    ----------
    html : str
    boilerplate : bool, default False
        Keep menus and the like too. Without them two pages of a site are not near-duplicates for their frame alone.
        Where no main text is found, or the page is nested too deeply to be parsed, all text is returned.

    Returns
    -------
    str

    Raises
    ------
    MissingExtraError
        If the extra ``html`` is not installed.

    Notes
    -----
    The work is done by Trafilatura, about 5 MB of HTML a second.

    References
    ----------
    Barbaresi, "Trafilatura: a web scraping library and command-line tool for text discovery and extraction", ACL 2021.

    Examples
    --------
    >>> import lookalike as la
    >>> la.html_to_text("<html><script>x()</script><body><main><p>One two.</p></main></body></html>")
    'One two.'
    """
    library = _extractor()
    if "<" not in html:
        return html
    tree = _parsed(html)
    if tree is None:
        return _all_text(html)
    try:
        main = None if boilerplate else library.extract(tree, include_comments=False, fast=True)
    except RecursionError:  # lists in lists, hundreds of them
        main = None
    return main or library.html2txt(tree if boilerplate else _parsed(html)) or _all_text(html)


def extract_texts(pages: Texts) -> Texts:
    """Return the main text of each page; bytes that are not UTF-8 count as replacement characters."""
    return from_strings(html_to_text(pages.row(row).decode("utf-8", "replace")) for row in range(len(pages)))
