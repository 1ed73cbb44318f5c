"""How large one document may be, so that a cap on memory holds whatever the inputs are."""

from __future__ import annotations

from ..engines.memory import FLOOR, Memory, parse_bytes
from ..errors import ParameterError
from ..formats.split import ROOM, Limit

LARGEST = 10  # of which the largest document is one: the part of the memory whose texts, sets and copies fit into it
ON_ERROR = ("stop", "skip")


def check_skipping(on_error: str, max_document: int | str | None) -> None:
    """Raise ParameterError unless it is clear which documents are left out."""
    if on_error not in ON_ERROR:
        raise ParameterError(f"on_error must be one of {', '.join(ON_ERROR)}; got {on_error!r}")
    if on_error == "skip" and max_document is None:
        raise ParameterError("on_error='skip' needs max_document: its default depends on the memory, as no result may")


def limit_of(max_document: int | str | None, on_error: str, memory: Memory) -> Limit:
    """Return how large documents may be."""
    most = memory.cap // LARGEST
    wanted = most if max_document is None else parse_bytes(max_document, "max_document")
    if not 0 < wanted <= most:
        raise ParameterError(
            f"max_document must be from 1 byte to a tenth of the memory, {most / 1e6:,.0f} MB; got {wanted:,} bytes: "
            "raise --memory (memory=) with it"
        )
    return Limit(wanted, on_error == "skip", int((memory.cap - FLOOR) * ROOM))
