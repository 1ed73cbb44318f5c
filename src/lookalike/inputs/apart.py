"""Inputs and references must be different files, and inputs documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InputDataError
from ..files.folder import AnyPath
from ..files.inputs import real_of
from ..files.names import shown
from .saved_at import DESCRIPTION, ROWS
from .saved_texts import is_saved


def file_in_both(sources: Sequence[Any], against: Sequence[Any]) -> str | None:
    """Return the name of a file that is among two lists of sources, or None. Hard links are files of their own."""
    known: dict[tuple[int, int], set[str]] = {}
    for place in (place for source in against for place in getattr(source, "places", ())):
        known.setdefault((place.device, place.inode), set()).add(real_of(place.path))
    for place in (place for source in sources for place in getattr(source, "places", ())) if known else ():
        if real_of(place.path) in known.get((place.device, place.inode), ()):
            return str(place.name)
    return None


def check_apart(sources: Sequence[Any], against: Sequence[Any]) -> None:
    """Refuse a file that is both an input and a reference: all of its documents would be removed."""
    check_documents(sources)
    name = file_in_both(sources, against)
    if name is not None:
        holders = [one for one in against if is_saved(one) and file_in_both(sources, [one])]
        where = f" (its sketches are in {holders[0].data.saved.name})" if holders else ""
        way = "leave out the one or the other" if holders else "name it in one of the two places"
        raise InputDataError(
            f"{name} is both an input and a reference{where}: every document would be its own duplicate; {way}"
        )


def check_documents(sources: Sequence[Any]) -> None:
    """Refuse saved sketches where documents are read."""
    for source in sources:
        for place in () if is_saved(source) else getattr(source, "places", ()):
            if (folder := _folder_of_sketches(place.path)) is not None:
                raise InputDataError(
                    f"{shown(folder)} holds saved sketches, which have no texts: name the documents; sketches are references, "
                    "for --against of dedup and pairs (against=)"
                )


def _folder_of_sketches(path: AnyPath) -> AnyPath | None:
    """Return the folder of saved sketches that a file is one of; None if it is none."""
    if path.parent.name == ROWS:
        folder: AnyPath = path.parent.parent
    elif path.name.startswith("sketches-"):
        folder = path.parent
    else:
        return None
    return folder if (folder / DESCRIPTION).exists() else None
