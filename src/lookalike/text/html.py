"""Text of web pages, of HTML and XHTML alike: a scanner of tags, and the rules of what is text, and main text.

The scanner reads pages as the HTML standard does, but that it loses no text where they have faults: nothing is swallowed by an
element that lacks its end, and nothing is left out of the main text but blocks that have theirs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from html import unescape

_TAG = re.compile(
    r"<(?:(/?)([a-z][^\s/>]*+)((?:[^>=]++|=\s*(?:\"[^\"]*\"|'[^']*')?)*+)>"  # a tag; quoted values may have a ">"
    r"|(!--|!\[CDATA\[)|!doctype[^\[>]*\[[^\]]*\]\s*>|[!?/][^>]*>)",
    re.I,
)
_ENDS = {"!--": re.compile(r"--!?>"), "![CDATA[": re.compile(r"]]>")}
_UNQUOTED = re.compile(r"=\s*[^\s\"']+$")
_DIGITS = re.compile(r"&#\d{8,};?")  # of no character, and too many for Python

_CODE = frozenset({"script", "style", "title"})  # left open, what follows up to the next tag is theirs
_SHOWN = frozenset({"textarea", "xmp"})
_UNPARSED = {  # elements in which nothing is a tag but their own end; templates, in which tags are, are inert
    name: re.compile(rf"<(/?)(?:[\w.-]+:)?{name}(?=[\s/>])", re.I)
    for name in (*_CODE, *_SHOWN, "noscript", "noframes", "iframe", "template")
}
_NO_CODE = re.compile(r"\s*</?[a-z]|.*?</?(?:head|body)\b", re.I | re.S)
_NEXT_TAG = re.compile(r"</?[a-z][\w:-]*(?:\s[^<>]*)?/?>|<!--", re.I)

_DECLARED = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)", re.ASCII)  # of XHTML
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.ASCII | re.I)
_TWO_BYTES = (  # without a mark of the order of bytes
    (re.compile(rb"(?:\s\0)*(?:<\0|[^\0]\0[^\0]\0[^\0]\0)"), "utf-16-le"),
    (re.compile(rb"(?:\0\s)*(?:\0<|\0[^\0]\0[^\0]\0[^\0])"), "utf-16-be"),
)
_HEAD = 1 << 20  # bytes in which a page says its encoding
_MOSTLY = 4  # characters that are whole for one that is not

_SPACE = " \t\n\f\r"
_SPACES = re.compile(r"[ \t\n\f\r]+")
_GAPS = ("", " ", "\t", "\n", "\n\n")  # what parts texts
_PARTING = (  # the elements that part them so, and links
    "a",
    "button input select",
    "td th",
    """address article aside body br caption center dd details dialog dir div dt fieldset figcaption figure footer form frameset
    head header hgroup hr html legend li main menu nav optgroup option search section summary tbody textarea tfoot thead title
    tr""",
    "blockquote dl h1 h2 h3 h4 h5 h6 listing ol p plaintext pre table ul xmp",
)
_GAP = {name: gap for gap, names in enumerate(_PARTING) for name in names.split()}

_LITTLE, _MUCH = 5, 300  # times as much text as the main text, and characters, links apart, that make this suspicious
_PARTS = ("article", "section", "main", "blockquote")
_BLOCKS = frozenset({*_PARTS, "aside", "div", "dl", "footer", "form", "header", "menu", "nav", "ol", "table", "ul"})
_ROLE = re.compile(r"(?:^|[\s\"'])role\s*=\s*[\"']?\s*([a-z]+)", re.I)
_MENU = re.compile(
    r"(?:^|[\s\"'])(?:class|id|aria-label)\s*=\s*(?:\"[^\"]*?|'[^']*?|[^\s\"']*?)"
    r"(?:nav|navigation|(?:nav|menu|side)-?bar|menu|breadcrumbs?|toc|table-?of-?contents|pagination|pager|prev-?next|related)"
    r"(?:$|[\s\"'_-])",
    re.I,
)
_MAIN, _LEFT_OUT = "main", "left out"
_ROLES = {"main": _MAIN, "nav": _LEFT_OUT}  # of elements by name, and by the role that is given them
_ROLES |= dict.fromkeys(("navigation", "contentinfo", "search", "menubar"), _LEFT_OUT)


def html_to_text(html: str, *, boilerplate: bool = False) -> str:
    """Return the text of a web page: no tags, scripts, styles or comments.

    Parameters
    ----------
    html : str
        HTML or XHTML, a whole page or a part of one.
    boilerplate : bool, default False
        Keep menus and the like too. Without them two pages of a site are not near-duplicates for their frame alone.
        Where hardly any main text is found, all text is returned.

    Returns
    -------
    str

    Notes
    -----
    The text is all character data of the page, in its order, but that of scripts, styles, titles, templates, frames and
    ``noscript``. Blocks, cells and line breaks part words; other tags do not. References to characters (``&eacute;``) are
    decoded, in texts without tags, too. Which blocks are no main text is told by their elements, roles, names and links: see
    "Text of web pages" in the reference of files. It takes time in proportion to the size: a second for 25 to 60 MB.

    Examples
    --------
    >>> import lookalike as la
    >>> la.html_to_text("<html><script>x()</script><body><main><p>One two.</p></main></body></html>")
    'One two.'
    """
    return read_page(html, boilerplate)[0]


def read_page(html: str, boilerplate: bool) -> tuple[str, bool]:
    """Return the text of a page, and whether that is all of it for lack of main text, which was asked for."""
    if "<" not in html:
        return _decoded(html), False
    page = _Page()
    page.feed(html)
    every = "".join(page.out).strip(_SPACE)
    if boilerplate:
        return every, False
    main = "".join(page.main_pieces()).strip(_SPACE)
    if not main or page.size - page.linked + page.beside > max(_MUCH, _LITTLE * len(main)):
        return every, every != main
    return main, False


def _decoded(text: str) -> str:
    """Return text with references to characters decoded."""
    if "&" not in text:
        return text
    try:
        return unescape(text)
    except ValueError:
        return unescape(_DIGITS.sub("\ufffd", text))


def _tokens(html: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the text before each tag, "/" if this ends an element, the element's name, and its attributes as they stand."""
    at, last = 0, html.rfind(">") + 1
    endless: set[str] = set()  # of what there is no end any more
    tags = _TAG.finditer(html, 0, last)
    while tag := next(tags, None):
        begin, end = tag.span()
        text, at = html[at:begin], end
        slash, name, attributes, mark = tag.groups("")
        name = name.lower()
        if ":" in name:  # of a namespace
            name = name.rpartition(":")[2]
        if "&" in text:
            text = _decoded(text)
        yield text, slash, name, attributes
        if mark:
            found = None if mark in endless else _ENDS[mark].search(html, end - 2 if mark == "!--" else end)
            if not found:
                endless.add(mark)
                continue
            at = found.end()
            if mark != "!--":
                yield html[end : found.start()], "", "", ""
        elif name in _UNPARSED and not slash:
            stop, at = _unparsed(html, name, attributes, end, endless)
            if name in _SHOWN:
                yield html[end:stop] if name == "xmp" else _decoded(html[end:stop]), "", "", ""
        else:
            continue
        tags = _TAG.finditer(html, at, last)
    yield _decoded(html[at:]), "", "", ""


def _unparsed(html: str, name: str, attributes: str, at: int, endless: set[str]) -> tuple[int, int]:
    """Return where the content of an element ends in which nothing is a tag, and where to read on.

    One that lacks its end, or is closed by the slash in its own tag, has no content but, if it is left open, code.
    """
    whole, given = _is_whole(attributes), attributes.lower()
    if "shadowroot" in given:  # a template that is shown
        return at, at
    next_one = _UNPARSED[name]
    found = None if name in endless else next_one.search(html, at)
    if name == "script" and found and not found[1] and not whole and not _NO_CODE.match(html, at, found.start()):
        while found and not found[1]:  # code that writes tags
            found = next_one.search(html, found.end())
    if found and found[1]:
        return found.start(), found.start()
    if not found:
        endless.add(name)
    if name in _CODE and not whole and "src" not in given:
        after = _NEXT_TAG.search(html, at)
        return at, after.start() if after else len(html)
    return at, at


def _is_whole(attributes: str) -> bool:
    """Tell whether an element ends where it begins, by a slash that is not part of a value."""
    return attributes.endswith("/") and not _UNQUOTED.search(attributes)


class _Page:
    """The text of a page in pieces, and which of them are main text."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.size = self.linked = self.beside = 0  # characters, those in links, and those that are left out and in none
        self._open: list[tuple[str, str, str, int, int, int]] = []  # name, role, attributes, and what there was before
        self._opened: Counter[str] = Counter()
        self._mains: list[tuple[int, int]] = []
        self._left: list[tuple[int, int]] = []

    def feed(self, html: str) -> None:
        """Read a page."""
        out, size, linked, gap, pre, link = self.out, 0, 0, 0, False, False
        for text, slash, name, attributes in _tokens(html):
            words = text if pre else text.strip(_SPACE)
            if words:
                if not gap and not pre and text[0] in _SPACE:
                    gap = 1
                if not pre and ("\n" in words or "  " in words or "\t" in words or "\r" in words):
                    words = _SPACES.sub(" ", words)
                if gap and out:
                    out.append(_GAPS[gap])
                out.append(words)
                gap = 1 if not pre and text[-1] in _SPACE else 0
                size += len(words)
                if link:
                    linked += len(words)
            elif text and not gap:
                gap = 1
            this = _GAP.get(name)
            if this is None:
                continue
            if this > gap:
                gap = this
            if name == "a":
                link = not slash and "href" in attributes
            elif name in _BLOCKS:
                self.size, self.linked = size, linked
                if slash:
                    self._end(name)
                    size, linked = self.size, self.linked
                elif not attributes or not _is_whole(attributes):
                    self._begin(name, attributes)
            elif name in ("pre", "listing"):
                pre = not slash and not _is_whole(attributes)
        self.size, self.linked = size, linked

    def _begin(self, name: str, attributes: str) -> None:
        """Begin a block."""
        given = _ROLE.search(attributes) if "role" in attributes.lower() else None
        role = (given and _ROLES.get(given[1].lower())) or _ROLES.get(name, "")
        if name == "footer" and not any(map(self._opened.__getitem__, _PARTS)):  # of the page
            role = role or _LEFT_OUT
        if name in ("aside", "footer"):
            attributes += " id=menu"  # which they are, if they are mostly links
        self._open.append((name, role, attributes, len(self.out), self.size, self.linked))
        self._opened[name] += 1

    def _end(self, name: str) -> None:
        """End the innermost block of a name, and what was left open in it, which is not left out."""
        while self._opened[name]:
            last, role, attributes, begin, size, linked = self._open.pop()
            self._opened[last] -= 1
            if role == _MAIN:
                _put(self._mains, begin, len(self.out))
            elif last == name and not (self._mains and self._mains[-1][0] >= begin):
                links = 2 * (self.linked - linked) > self.size - size
                if role == _LEFT_OUT or (links and _MENU.search(attributes)):
                    _put(self._left, begin, len(self.out))
                    self.beside += (self.size - size) - (self.linked - linked)
                    self.size, self.linked = size, linked  # so that what is around it is judged by the rest
            if last == name:
                break

    def main_pieces(self) -> Iterator[str]:
        """Yield the main text: what is in the elements that hold it, or else all, without what is left out."""
        for _, role, _, begin, _, _ in self._open[::-1]:
            if role == _MAIN:
                _put(self._mains, begin, len(self.out))
        left = iter([*self._left, (len(self.out), 0)])
        first, after = next(left)
        for begin, end in self._mains or [(0, len(self.out))]:
            while first < end:
                if first >= begin:
                    yield from self.out[begin:first]
                    begin = after
                first, after = next(left)
            yield from self.out[begin:end]


def _put(ranges: list[tuple[int, int]], begin: int, end: int) -> None:
    """Add a range, in place of those within it."""
    while ranges and ranges[-1][0] >= begin:
        ranges.pop()
    ranges.append((begin, end))


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
    tags = _tokens(content[:_HEAD].decode("latin-1"))
    metas = (_CHARSET.search(attributes) for _, _, name, attributes in tags if name == "meta")
    return next((found[1] for found in metas if found), None)
