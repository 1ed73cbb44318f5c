"""Names of files: as text, by suffix, and of all files below a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path


def shown(path: str | os.PathLike[str]) -> str:
    """Return a path as text that can be printed and stored: bytes that are not UTF-8 become escapes such as ``\\xe9``."""
    name = os.fspath(path)
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # no name that a file can have
        return name.encode("utf-8", "backslashreplace").decode("utf-8")


def suffix_of(path: str | os.PathLike[str], known: Iterable[str]) -> str | None:
    """Return the longest of some known suffixes that a file name ends with, in any case, or None."""
    name = Path(path).name.lower()
    return max((suffix for suffix in known if name.endswith(suffix) and name != suffix), key=len, default=None)


def walk(folder: Path, enter: Callable[[os.DirEntry[str]], bool] | None = None) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield (name relative to the folder, entry) of everything below a folder, links not followed.

    Parameters
    ----------
    folder : Path
    enter : callable, optional
        Whether to look into a folder; default: into each.
    """
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        with os.scandir(folder / inside) as entries:
            for entry in entries:
                name = f"{inside}{entry.name}"
                yield name, entry
                if entry.is_dir(follow_symlinks=False) and (enter is None or enter(entry)):
                    waiting.append(f"{name}/")
