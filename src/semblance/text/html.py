"""Text of web pages."""

from __future__ import annotations

from typing import Any

from ..errors import MissingExtraError
from .texts import Texts, from_strings


def _extractor() -> Any:
    try:
        import trafilatura
    except ImportError as error:
        raise MissingExtraError(f"{error.name or 'trafilatura'} is not installed: pip install 'semblance[html]'") from None
    return trafilatura


def html_to_text(html: str, *, boilerplate: bool = False) -> str:
    """Return the text of a web page: no tags, scripts, styles or comments.

    Parameters
    ----------
    html : str
    boilerplate : bool, default False
        Keep menus and the like too. Without them two pages of a site are not near-duplicates for their frame alone.
        Where no main text is found, all text is returned.

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
    >>> import semblance as sb
    >>> sb.html_to_text("<html><script>x()</script><body><main><p>One two.</p></main></body></html>")
    'One two.'
    """
    library = _extractor()
    if "<" not in html:
        return html
    main = None if boilerplate else library.extract(html, include_comments=False, fast=True)
    return main or library.html2txt(html) or ""


def extract_texts(pages: Texts) -> Texts:
    """Return the main text of each page; bytes that are not UTF-8 count as replacement characters."""
    return from_strings(html_to_text(pages.row(row).decode("utf-8", "replace")) for row in range(len(pages)))
