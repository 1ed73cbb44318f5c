"""Text of e-mail messages."""

from __future__ import annotations

from contextlib import suppress
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart

from . import UnreadableError


def text_of(content: bytes) -> str:
    """Return the subject and the text of a message, of HTML where there is no plain text; attachments are left out."""
    message = message_from_bytes(content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    if not message.keys():
        raise UnreadableError("has no header of an e-mail")
    subject = ""
    with suppress(ValueError, LookupError):  # of a subject that is damaged
        subject = str(message.get("subject", "")).encode("utf-8", "replace").decode()
    return f"{subject}\n\n{_text_of_part(message)}".replace("\r\n", "\n")


def _text_of_part(part: MIMEPart) -> str:
    """Return the text of a part: of alternatives the first that has one, plain ones before others; of others all, in order."""
    kind = part.get_content_type()
    if part.get_content_disposition() == "attachment" or kind == "message/rfc822":
        return ""
    if not part.is_multipart():
        return _content_of(part, kind) if kind in ("text/plain", "text/html") else ""
    inside = [one for one in part.iter_parts() if isinstance(one, MIMEPart)]
    if kind == "multipart/alternative":
        inside.sort(key=lambda one: one.get_content_type() != "text/plain")
        return next(filter(str.strip, map(_text_of_part, inside)), "")
    texts = map(_text_of_part, inside[:1] if kind == "multipart/related" else inside)
    return "\n\n".join(text for text in texts if text.strip())


def _content_of(part: MIMEPart, kind: str) -> str:
    """Return the text of a part; where it is not of the character set it names, or names none, of the one it looks like."""
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    text = None
    with suppress(LookupError, ValueError):
        text = payload.decode(part.get_content_charset() or "ascii")
    if text is None:
        text = _guessed(payload)
    if kind == "text/html":
        from ..text.html import html_to_text

        return html_to_text(text, boilerplate=True)
    return text


def _guessed(payload: bytes) -> str:
    """Return text of an unknown character set: UTF-8, or what it looks like, where the package that tells is installed."""
    try:
        from ..text.html import page_of

        return page_of(payload)
    except ImportError:
        return payload.decode("utf-8" if payload.isascii() else "latin-1", "replace")
