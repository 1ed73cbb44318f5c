"""Inputs and references must be different files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..errors import InputDataError


def file_in_both(sources: Sequence[Any], against: Sequence[Any]) -> str | None:
    """Return the name of a file that is among two lists of sources, or None. Hard links are files of their own."""
    known: dict[tuple[int, int], set[str]] = {}
    for place in (place for source in against for place in getattr(source, "places", ())):
        known.setdefault((place.device, place.inode), set()).add(os.path.realpath(place.path))
    for place in (place for source in sources for place in getattr(source, "places", ())) if known else ():
        if os.path.realpath(place.path) in known.get((place.device, place.inode), ()):
            return str(place.name)
    return None


def check_apart(sources: Sequence[Any], against: Sequence[Any]) -> None:
    """Refuse a file that is both an input and a reference: all of its documents would be removed.

    Raises
    ------
    InputDataError
        If there is one; the message names it.
    """
    name = file_in_both(sources, against)
    if name is not None:
        raise InputDataError(
            f"{name} is both an input and a reference: every document would be its own duplicate; "
            "name it in one of the two places"
        )
