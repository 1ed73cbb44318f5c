"""Formulas of the docs, written in TeX between dollars, become MathML, which browsers set themselves; no page loads from a network."""

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
_LOADED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="?((?:https?:)?//[^\s">]*)')


def on_page_content(html: str, **_: Any) -> str:
    """Replace the formulas of a page; mkdocs calls this."""
    return _FORMULA.sub(lambda found: convert(unescape(found[3]), display="block" if found[2] == "[" else "inline"), html)


def on_post_page(output: str, page: Any, **_: Any) -> None:
    """Refuse a page that would load something from a network; mkdocs calls this."""
    if found := _LOADED.search(output):
        raise PluginError(f"{page.file.src_uri} loads {found[1]}")
