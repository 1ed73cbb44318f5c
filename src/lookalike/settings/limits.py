"""How large one document may be, so that a cap on memory holds whatever the inputs are; how many may be removed."""

from __future__ import annotations

from collections.abc import Sequence

from ..engines.memory import FLOOR, Memory, parse_bytes
from ..errors import ParameterError
from ..formats.split import ROOM, Limit

LARGEST = 10  # of which the largest document is one: the part of the memory whose texts, sets and copies fit into it
TOKEN_BYTES = 160  # that each word takes of the largest documents while two of them are compared
BANDED_TOKEN_BYTES = 112  # where bands of MinHash find the two


def skips_oversized(on_error: str | None, max_document: int | str | None) -> bool:
    """Tell whether large documents are left out; never by the default limit, which depends on the memory, as no result may."""
    return on_error == "skip" and max_document is not None


def limit_of(
    max_document: int | str | None, on_error: str | None, memory: Memory, token_bytes: int = TOKEN_BYTES
) -> Limit:  # fmt: skip
    """Return how large documents may be, and what becomes of those that are larger or cannot be parsed."""
    most = memory.cap // LARGEST
    wanted = most if max_document is None else parse_bytes(max_document, "max_document")
    if not 0 < wanted <= most:
        raise ParameterError(
            f"--max-document (max_document) must be from 1 byte to a tenth of the memory, {most / 1e6:,.0f} MB; got "
            f"{wanted:,} bytes: raise --memory (memory=) with it",
            "max_document",
            wanted,
        )
    room, skips = int((memory.cap - FLOOR) * ROOM), on_error == "skip"
    tokens = (memory.cap - FLOOR) // token_bytes
    return Limit(wanted, skips_oversized(on_error, max_document), on_error != "stop", room, skips, tokens)


def shares_of(given: float | str | Sequence[float | str] | None) -> dict[str, float]:
    """Return which share of documents may be removed: of all ("") and of those with a value of a column, by its name."""
    shares = {}
    for one in given if isinstance(given, list | tuple) else [] if given is None else [given]:
        column, colon, share = str(one).rpartition(":")
        try:
            shares[column] = float(share)
        except ValueError:
            shares[column] = -1.0
        if not 0.0 <= shares[column] <= 1.0 or bool(colon) > bool(column):  # nor nan
            raise ParameterError(
                "must be a share between 0 and 1, such as 0.6, or lang:0.6 for each value of lang", "fail_if_removed", one
            )
    return shares
