"""A page out of its parts: one HTML file, which asks the network for nothing and runs no script but ours."""

from __future__ import annotations

import json
import pkgutil
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Any

from .. import __version__
from ..errors import MissingExtraError

SECTIONS = (
    ("verdict", "The verdict"), ("least", "The least similar"), ("scores", "How similar, and how much is found"),
    ("groups", "Groups"), ("beside", "Side by side"), ("audit", "Judge a sample"), ("sources", "By source"),
    ("lengths", "Lengths"), ("thresholds", "Other thresholds"), ("cost", "Time and memory"),
)  # fmt: skip
_ESCAPES = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def _part(name: str) -> str:
    """Return a file of this package."""
    content = pkgutil.get_data(__package__, name)
    assert content is not None
    return content.decode()


@cache
def _template() -> Any:
    """Return the template of the page."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtraError(f"{error.name or 'jinja2'} is not installed: pip install 'lookalike[report]'") from None
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_part("page.html"))


def as_json(value: Any) -> str:
    """Return JSON that can be in a script element, whatever its strings hold: none ends it, and none begins a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return "".join(_ESCAPES.get(c, c) for c in text) if any(c in text for c in _ESCAPES) else text


def _hash(text: str) -> str:
    """Return what a policy allows an element of this content by."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def check_installed() -> None:
    """Raise MissingExtraError if what the page is made with is not installed."""
    _template()


def render(title: str, context: dict[str, Any], data: dict[str, Any], words: Mapping[str, str]) -> bytes:
    """Return a page."""
    template = _template()
    from markupsafe import Markup

    style, script = _part("page.css"), _part("beside.js") + _part("page.js")
    digest = sha256(as_json(data).encode("utf-8", "replace")).hexdigest()  # under which a browser keeps judgements
    titles = {"least": words["least_title"], "groups": words["groups"]}
    made: str = template.render(
        title=title, version=__version__, sections=[(anchor, titles.get(anchor, name)) for anchor, name in SECTIONS],
        style=Markup(style), script=Markup(script), glossary=Markup(_part("glossary.html")),  # ours
        data=Markup(as_json(data | {"digest": digest})),  # escaped
        hashes={"style": Markup(_hash(style)), "script": Markup(_hash(script))}, **context,
    )  # fmt: skip
    return made.encode("utf-8", "replace")
