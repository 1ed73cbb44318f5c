"""Text of e-mail messages."""

from __future__ import annotations

import re
from contextlib import suppress
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart

from . import UnreadableError

_PAGES = ("text/html", "application/xhtml+xml", "text/enriched", "text/richtext", "text/x-amp-html")
_LITTLE, _MUCH = 5, 300  # times as much text as a plain alternative, and characters, that tell that this stands for it only
_ADDRESS = re.compile(r"[a-z]{1,20}://\S+")
_FLOWED = re.compile(r"(?<!\n--) \r?\n(?![> \r\n])")  # where a program has parted a line, which goes on
_FILES = ("text/x-", "application/", "image/", "audio/", "video/", "font/", "model/")  # of programs, though some can be read


def text_of(content: bytes) -> str:
    """Return the subject and the text of a message, of HTML where there is no plain text; attachments are left out."""
    message = _message_of(content)
    text = _text_of_part(message)
    kinds = dict.fromkeys(part.get_content_type() for part in message.walk() if not part.is_multipart())
    if not text.strip() or all(kind.startswith(_FILES) and kind not in _PAGES for kind in kinds):
        raise UnreadableError(f"has no text besides its subject, only {', '.join(kinds)}")
    return f"{_header(message, 'subject')}\n\n{text}".replace("\r\n", "\n")


def body_of(content: bytes) -> str:
    """Return the text of a message without its subject, such as of a web page that is kept as one (MHTML)."""
    text = _text_of_part(_message_of(content)).replace("\r\n", "\n")
    if not text.strip():
        raise UnreadableError("holds a page without text")
    return text


def said_in(payload: bytes, kind: str, charset: str | None = None) -> str:
    """Return a text, or that of a page, of the character set that it looks like if it is not of the one that is named."""
    try:
        text = payload.decode(charset or "ascii")
    except (LookupError, ValueError):
        text = _guessed(payload)
    if kind in _PAGES:
        from ..text.html import html_to_text

        return html_to_text(text, boilerplate=True)
    return text


def _message_of(content: bytes) -> EmailMessage:
    message = message_from_bytes(content.lstrip(b"\xef\xbb\xbf\r\n"), policy=policy.default)
    assert isinstance(message, EmailMessage)
    if not message.keys():
        raise UnreadableError("has no e-mail header")
    return message


def _header(message: MIMEPart, name: str) -> str:
    with suppress(ValueError, LookupError):  # of a header that is damaged
        return str(message.get(name, "")).encode("utf-8", "replace").decode()
    return ""


def _text_of_part(part: MIMEPart) -> str:
    """Return the text of a part: of alternatives the first that has one, of others all, in order.

    Plain ones come before others, unless another says much more: a plain one may only say that the message is in HTML.
    """
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment" or kind == "message/external-body":
        return ""
    if not part.is_multipart():
        return _content_of(part, kind)
    inside = [one for one in part.iter_parts() if isinstance(one, MIMEPart)]
    if kind == "multipart/alternative":
        inside.sort(key=lambda one: ("text/plain", *_PAGES, one.get_content_type()).index(one.get_content_type()))
    elif (root := part.get_param("start")) is not None and kind == "multipart/related":
        inside.sort(key=lambda one: str(one.get("content-id")).strip("<> ") != str(root).strip("<> "))
    texts = filter(str.strip, map(_text_of_enclosed if part.get_content_maintype() == "message" else _text_of_part, inside))
    if kind == "multipart/alternative":
        first, second, *_ = [*texts, "", ""]
        return second if _says_more(second, first) else first
    return next(texts, "") if kind == "multipart/related" else "\n\n".join(texts)


def _says_more(text: str, other: str) -> bool:
    """Tell whether a text stands for an alternative that says little of it, or mostly other words, addresses apart."""
    words, others = (set(re.findall(r"\w+", _ADDRESS.sub("", one.casefold()))) for one in (text, other))
    return len(text) > max(_MUCH, _LITTLE * len(other)) or (bool(words) and 2 * len(others & words) < len(others))


def _text_of_enclosed(message: MIMEPart) -> str:
    """Return what a message in another says, and a report of delivery, whose fields stand where a message has its headers."""
    text, names = _text_of_part(message), ["From", "Subject"] if "from" in message else message.keys()
    if "from" in message and not text.strip():
        return ""
    return "\n\n".join(filter(str.strip, ["\n".join(f"{name}: {_header(message, name)}" for name in names), text]))


def _content_of(part: MIMEPart, kind: str) -> str:
    """Return the text of a part that has none inside; parts of several that cannot be told apart are one of plain text."""
    coding = _header(part, "content-transfer-encoding")
    if named := re.match(r"\s*([\w-]+)", coding):  # which the decoder does not know with more behind it
        part.replace_header("content-transfer-encoding", named[1])
    payload = part.get_payload(decode=True)
    is_text = kind in _PAGES or (part.get_content_maintype() in ("text", "multipart") and kind != "text/rtf")
    text = said_in(payload, kind, part.get_content_charset()) if is_text and isinstance(payload, bytes) else ""
    if str(part.get_param("format")).lower() == "flowed":
        return _FLOWED.sub("" if str(part.get_param("delsp")).lower() == "yes" else " ", text)
    return text


def _guessed(payload: bytes) -> str:
    """Return text of an unknown character set: UTF-8, or what it looks like, where the package that tells is installed."""
    try:
        from ..text.html import page_of

        return page_of(payload)
    except ImportError:
        return payload.decode("utf-8" if payload.isascii() else "latin-1", "replace")
