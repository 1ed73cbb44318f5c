"""What one request, and all of them together, may take."""

from __future__ import annotations

from dataclasses import dataclass

MOST_MATCHES = 100_000  # that one answer can have: texts times top
GROUP_TEXTS = 256  # of queries that are answered together; a larger request is answered alone
GROUP_BYTES = 1 << 18
DIRECT_BYTES = 1 << 16  # what takes a few milliseconds at most
COMMIT_TEXTS = 100_000  # of additions that are written together
HEAD_BYTES = 1 << 16
END_SECONDS = 6.0  # for open requests to end, once the server is told to
LINGER_SECONDS = 0.5  # for which /readyz says that it ends, at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a service.

    Parameters
    ----------
    body : int, default 16 MiB
        Bytes of a request's body.
    batch : int, default 1000
        Documents, texts or ids in one request.
    text : int, default 1 MiB
        Bytes of one text, in UTF-8.
    seconds : float, default 30
        For a request to arrive, and then to wait for its turn.
    waiting : int, default 1000
        Requests that wait for an answer, and as many again that wait to be written.
    held : int, default 256 MiB
        Bytes of all bodies that are in memory.
    """

    body: int = 16 << 20
    batch: int = 1000
    text: int = 1 << 20
    seconds: float = 30.0
    waiting: int = 1000
    held: int = 256 << 20
    connections: int = 20_000
