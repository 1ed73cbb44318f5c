"""Inputs and references must be different files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..errors import InputDataError


def _paths(source: Any) -> set[str]:
    """Return the paths of the files of a source; none if it is in memory."""
    if source.format == "txt":
        return {os.path.realpath(source.label(number)) for number in range(1, source.expected("")[0] + 1)}
    return {os.path.realpath(source.path)} if hasattr(source, "path") else set()


def check_apart(sources: Sequence[Any], against: Sequence[Any]) -> None:
    """Refuse a file that is both an input and a reference: all of its documents would be removed.

    Raises
    ------
    InputDataError
        If there is one; the message names it.
    """
    known = set().union(*map(_paths, against))
    for source in sources:
        both = _paths(source) & known
        if both:
            raise InputDataError(
                f"{min(both)} is both an input and a reference: every document would be its own duplicate; "
                "name it in one of the two places"
            )
