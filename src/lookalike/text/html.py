"""Text of web pages."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import accumulate

from ..errors import MissingExtraError

_FEW = 3000  # elements whose main text takes less than a second, however they are nested
_MOST_STEPS = 10_000_000  # from elements to those around them, of which main text takes 80 ns each
_SWALLOWS = re.compile(r"<(title|script|style|textarea|noscript|xmp)\b([^<>]*)/>", re.I)
# Elements that nest: not those that have no end, or that the next of their kind ends.
_NESTED = re.compile(
    r"<(/?)(?!/?(?:area|base|br|col|dd|dt|hr|img|input|li|link|meta|option|p|param|path|source|td|th|tr|track|wbr)\b)[a-z]",
    re.I,
)


def html_to_text(html: str, *, boilerplate: bool = False) -> str:
    """Return the text of a web page: no tags, scripts, styles or comments.

    Parameters
    ----------
    html : str
    boilerplate : bool, default False
        Keep menus and the like too. Without them two pages of a site are not near-duplicates for their frame alone.
        Where no main text is found, or the page is nested too deeply to look for it, all text is returned.

    Returns
    -------
    str

    Raises
    ------
    MissingExtraError
        If the extra ``html`` is not installed.

    Notes
    -----
    The work is done by Resiliparse, about 50 MB of HTML a second, 160 with boilerplate. Pages that were made to be slow take
    time that grows as the square of their size; jobs parse pages in processes of their own, which have limits.

    References
    ----------
    Bevendorff, Stein, Hagen and Potthast, "Elastic ChatNoir: Search Engine for the ClueWeb and the Common Crawl", ECIR 2018.

    Examples
    --------
    >>> import lookalike as la
    >>> la.html_to_text("<html><script>x()</script><body><main><p>One two.</p></main></body></html>")
    'One two.'
    """
    try:
        from resiliparse.extract.html2text import extract_plain_text
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{error.name or 'resiliparse'} is not installed: pip install 'lookalike[html]'") from None
    if "<" not in html:
        return html
    html = html.encode("utf-8", "replace").decode()  # halves of pairs are no characters
    if html[:200].lstrip("\ufeff \r\n\t").startswith("<?xml"):  # where <title/> is whole; as HTML it would swallow the page
        html = _SWALLOWS.sub(r"<\1\2></\1>", html)
    # A frame that lacks its end would swallow the page; in <noscript>, which browsers skip, nobody notices. Nor has it a text.
    html = html.replace("<iframe", "<wbr").replace("<IFRAME", "<wbr")
    main = not boilerplate and not _is_deep(html)
    text = extract_plain_text(html, main_content=True, list_bullets=False, alt_texts=False) if main else ""
    return str(text.strip() or extract_plain_text(html, main_content=False, list_bullets=False, alt_texts=False).strip())


def _is_deep(html: str) -> bool:
    """Tell whether it would take too long to find the main text: that looks at all elements around each."""
    elements = html.count("<") - html.count("</")
    if elements < _FEW:
        return False
    depth = max(accumulate(-1 if closing else 1 for closing in _NESTED.findall(html)), default=0)
    return depth * elements > _MOST_STEPS


def page_of(content: bytes) -> str:
    """Return a page whose encoding is not given: UTF-8 if it can be that, else what it says itself, or looks like.

    Text of another encoding is hardly ever valid UTF-8, but for encodings of escapes, and of two bytes a character.
    """
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    if b"\x1b" not in content and b"\0" not in content:
        with suppress(UnicodeDecodeError):
            return content.decode("utf-8-sig")
    return str(bytes_to_str(content, detect_encoding(content, from_html_meta=True) or "utf-8"))
