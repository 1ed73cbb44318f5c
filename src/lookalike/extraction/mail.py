"""Text of e-mail messages."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart

from . import UnreadableError


def text_of(content: bytes) -> str:
    """Return the subject and the text of a message, of HTML where there is no plain text; attachments are left out."""
    message = message_from_bytes(content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    if not message.keys():
        raise UnreadableError("has no header of an e-mail")
    body = message.get_body(("plain", "html"))
    text = "" if body is None else _content_of(body)
    if body is not None and body.get_content_subtype() == "html":
        from ..text.html import html_to_text

        text = html_to_text(text, boilerplate=True)
    return f"{message.get('subject', '')}\n\n{text}".replace("\r\n", "\n")


def _content_of(part: MIMEPart) -> str:
    """Return the text of a part; of a character set that is not known, as Latin letters."""
    try:
        return str(part.get_content())
    except (LookupError, ValueError):
        payload = part.get_payload(decode=True)
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
