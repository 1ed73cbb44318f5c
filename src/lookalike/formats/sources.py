"""Opening inputs: which splits files, folders, globs, pipes and standard input are."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..errors import InputDataError, ParameterError
from ..files.names import suffix_of
from ..files.places import SNIFFED, Inputs, Place, Skipped, find_places
from ..files.streams import read_blocks
from ._format import Format
from ._registry import format_named, formats_by_suffix, known_suffixes
from ._split import ROOM, Batch, Columns, Limit, Split

__all__ = ["ROOM", "Batch", "Columns", "Limit", "Split", "open_sources"]


def open_sources(paths: Sequence[str | os.PathLike[str]], *, glob: str | None = None, format: str | None = None) -> Inputs:
    """Open files, folders, globs, pipes and "-" (standard input) for reading.

    Parameters
    ----------
    paths : sequence of str or path
    glob : str, optional
        Read only matching files in a folder; default: all with a known suffix.
    format : str, optional
        Name of a format, which overrides the suffix; needed for standard input.

    Returns
    -------
    Inputs
        A list of splits, which also counts the files that were left out.

    Raises
    ------
    InputDataError
        If a path does not exist or a format is not known.
    """
    named = None if format is None else format_named(format)
    known = formats_by_suffix()
    skipped = Skipped()
    splits: list[Split] = []
    files: dict[str, list[Place]] = {}  # of formats in which these are rows
    for place in find_places(paths, glob, format, known_suffixes(), skipped):
        suffix = suffix_of(place.path, known)
        form: Format | None = named or (known[suffix] if suffix else None)
        if form is None:
            raise InputDataError(f"{place.name}: unrecognized suffix (known: {', '.join(known)}); pass --format")
        if not form.rows_are_files:
            splits += form.splits([place], form.Options())
        elif place.found and not form.sniff(next(read_blocks(place.path, SNIFFED), b"")):
            skipped.add("binary", place.name)
        else:
            files.setdefault(form.name, []).append(place)
    for name, places in files.items():
        form = format_named(name)
        splits += form.splits(places, form.Options())
    if not splits:
        if "binary" in skipped.counts:
            raise InputDataError(f"no text was found: all files are binary, such as {skipped.names['binary'][0]}")
        raise ParameterError("no input: name files, folders, globs, or '-' for standard input")
    return Inputs(splits, skipped)
