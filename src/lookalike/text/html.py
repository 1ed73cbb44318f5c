"""Text of web pages, of HTML and XHTML alike: the meaning of roles, names and encodings; ``native/pages.cpp`` scans.

Pages are read as the HTML standard does, but that no text is lost where they have faults: nothing is swallowed by an element
that lacks its end, and nothing is left out of the main text but blocks that have theirs.
"""

from __future__ import annotations

import re
from contextlib import suppress
from html import unescape

from .. import core
from ..errors import ParameterError

_DIGITS = re.compile(r"&#\d{8,};?")  # of no character, and too many for Python
_DECLARED = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)", re.ASCII)  # of XHTML
_CHARSET = re.compile(rb"charset\s*+=\s*+[\"']?+\s*+([\w.:-]+)", re.I)
_TWO_BYTES = (  # without a mark of the order of bytes
    (re.compile(rb"(?:\s\0)*(?:<\0|[^\0]\0[^\0]\0[^\0]\0)"), "utf-16-le"),
    (re.compile(rb"(?:\0\s)*(?:\0<|\0[^\0]\0[^\0]\0[^\0])"), "utf-16-be"),
)
_HEAD = 1 << 20  # bytes in which a page says its encoding
_MOSTLY = 4  # characters that are whole for one that is not

_ROLE = re.compile(rb"(?:^|[\s\"'])role\s*+=\s*+[\"']?+\s*+([a-z]+)", re.I)
_MAIN, _LEFT_OUT = 1, 2
_ROLES = {b"main": _MAIN} | dict.fromkeys((b"nav", b"navigation", b"contentinfo", b"search", b"menubar"), _LEFT_OUT)
_NAMES = re.compile(rb"(?:^|[\s\"'])(?:class|id|aria-label)\s*=\s*(\"[^\"]*|'[^']*|[^\s\"']*)")
_MENU = re.compile(
    rb"(?:nav|navigation|(?:nav|menu|side)-?bar|menu|breadcrumbs?|toc|table-?of-?contents|pagination|pager|prev-?next|related)"
    rb"(?:$|[\s\"'_-])"
)


def html_to_text(html: str, *, boilerplate: bool = False) -> str:
    """Return the text of a web page: no tags, scripts, styles or comments.

    Parameters
    ----------
    html : str
        HTML or XHTML, a page or a part of one.
    boilerplate : bool, default False
        Keep menus and the like too. Without them two pages of a site are not near-duplicates for their frame alone.
        Where hardly any main text is found, all text is returned.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If ``html`` is no str.

    Notes
    -----
    The text is all character data of the page, in its order, but that of scripts, styles, titles, templates, frames and
    ``noscript``. Blocks, cells and line breaks part words; other tags do not. References to characters (``&eacute;``) are
    decoded, in texts without tags, too. Which blocks are no main text is told by their elements, roles, names and links: see
    "Text of web pages" in the reference of files. It takes time in proportion to the size.

    Examples
    --------
    >>> import lookalike as la
    >>> la.html_to_text("<html><script>x()</script><body><main><p>One two.</p></main></body></html>")
    'One two.'
    """
    if not isinstance(html, str):
        raise ParameterError("must be a str", "html", html)
    return read_page(html.encode("utf-8", "surrogatepass"), boilerplate)[0].decode("utf-8", "surrogatepass")


def read_page(html: bytes, boilerplate: bool) -> tuple[bytes, bool]:
    """Return the text of a page, and whether that is all of it for lack of main text, which was asked for; in UTF-8."""
    return core.read_page(html, boilerplate, _decoded, _role_of, _is_menu)


def _role_of(attributes: bytes) -> int:
    """Return whether an element is given the role of main text, or one that is none; 0: neither."""
    given = _ROLE.search(attributes)
    return _ROLES.get(given[1].lower(), 0) if given else 0


def _decoded(reference: bytes) -> bytes:
    """Return the characters that a reference stands for."""
    text = reference.decode("utf-8", "surrogatepass")
    try:
        return unescape(text).encode("utf-8", "surrogatepass")
    except ValueError:
        return unescape(_DIGITS.sub("\ufffd", text)).encode("utf-8", "surrogatepass")


def _is_menu(attributes: bytes) -> bool:
    """Tell whether a class, an id or a label says that an element is a menu or the like."""
    return any(map(_MENU.search, _NAMES.findall(attributes.lower())))


def page_of(content: bytes) -> str:
    """Return a page whose encoding is not given: UTF-8 if it can be that, else what it says itself, or looks like.

    Text of another encoding is hardly ever valid UTF-8, but for encodings of escapes, and of two bytes a character; nor mostly
    valid, as what was cut within a character is.
    """
    if b"\x1b" not in content and b"\0" not in content:
        with suppress(UnicodeDecodeError):
            return content.decode("utf-8-sig")
        text = content.decode("utf-8-sig", "replace")
        n_faults = text.count("\ufffd")
        if len(text) - len(text.encode("ascii", "ignore")) > (_MOSTLY + 1) * n_faults:
            return text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5

    name = next((name for pattern, name in _TWO_BYTES if pattern.match(content)), None)
    if name is None:
        declared = _declared(content)
        name = declared and map_encoding_to_html5(declared, fallback_utf8=False)
    if name is None or (name.startswith("utf-") and b"\0" not in content):  # which it is not
        name = detect_encoding(content, from_html_meta=False) or "utf-8"
    with suppress(LookupError, UnicodeDecodeError):
        return content.decode(name).removeprefix("\ufeff")
    return str(bytes_to_str(content, name, "replace"))


def _declared(content: bytes) -> str | None:
    """Return the encoding that a page says, wherever it does, or as XML."""
    if found := _DECLARED.match(content):
        return found[1].decode()
    found = next(filter(None, map(_CHARSET.search, core.list_metas(content[:_HEAD]))), None)
    return None if found is None else found[1].decode()
