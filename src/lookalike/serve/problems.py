"""Errors as problem details (RFC 9457)."""

from __future__ import annotations

from http import HTTPStatus

import msgspec

PROBLEM = b"application/problem+json"


class Details(msgspec.Struct):
    """What went wrong with a request: a problem of RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str


class Problem(Exception):  # noqa: N818
    """A request cannot be answered.

    Parameters
    ----------
    status : int
        The HTTP status.
    detail : str
        What was expected, what came, and what to do; without any text of a document.
    **headers : str
        More headers of the answer, with underscores in place of hyphens.
    """

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = [(name.replace("_", "-").lower().encode(), value.encode("latin-1")) for name, value in headers.items()]

    def body(self, request_id: str) -> bytes:
        """Return the body of the answer."""
        title = HTTPStatus(self.status).phrase
        return msgspec.json.encode(Details("about:blank", title, self.status, self.detail, request_id))


def busy(what: str) -> Problem:
    """Return the problem of a full queue: try again in a second."""
    return Problem(429, f"{what}; try again in a second", retry_after="1")


def invalid(detail: str) -> Problem:
    """Return the problem of a body that is well formed and cannot be worked on."""
    return Problem(422, detail)
