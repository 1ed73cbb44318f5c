"""Which files on an object store an input means."""

from __future__ import annotations

import glob as globbing
import os
from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..errors import InputDataError
from .names import shown, suffix_of
from .streams import why
from .urls import Entry, Url

NO_DEVICE = -1
"""In place of the device that a file is on."""


def number_of(url: Url) -> int:
    """Return what tells a file on a store from others, in place of an inode."""
    return int.from_bytes(blake2b(str(url).encode("utf-8", "surrogateescape"), digest_size=8).digest()) >> 1


def real_of(path: Path | Url) -> str:
    """Return a path from the root, without symbolic links; of a URL one that the current folder is no part of."""
    return f"/{path}".replace("://", "/", 1).rstrip("/") if isinstance(path, Url) else os.path.realpath(path)


def asked(url: Url, ask: Callable[[], Any]) -> Any:
    """Return what a store answers.

    Raises
    ------
    InputDataError
        If it does not.
    """
    try:
        return ask()
    except OSError as error:
        raise InputDataError(f"{shown(url)}: cannot be read: {why(error)}") from None


def inside(folder: Url, pattern: str | None, suffixes: Collection[str], left: Callable[[str, str], None]) -> Iterator[Entry]:
    """Yield the files that a folder stands for, in the order of their names.

    Parameters
    ----------
    folder : Url
    pattern : str or None
        Which files are meant; None: those of known suffixes.
    suffixes : collection of str
    left : callable
        Told why each other file is left out, and its name.
    """
    for entry in asked(folder, lambda: list(folder.entries(recursive=True))):
        if entry.is_folder:
            continue
        parts = entry.url.key.removeprefix(folder.key).strip("/").split("/")
        name = str(entry.url)
        if any(part.startswith((".", "_")) for part in parts[:-1]):
            left("hidden_folder", name)
        elif parts[-1].startswith((".", "_")):
            left("hidden", name)
        elif pattern is not None and not _anywhere_below(parts, pattern):
            left("not_matched", name)
        elif pattern is None and suffix_of(parts[-1], suffixes) is None:
            left("other_suffix", name)
        else:
            yield entry


def _anywhere_below(parts: list[str], pattern: str) -> bool:
    """Tell whether the end of a name matches, as ``rglob`` does."""
    return any(_match(parts[start:], pattern.split("/")) for start in range(len(parts)))


def matching(url: Url) -> Iterator[Entry]:
    """Yield what a glob stands for, in the order of names: ``*`` and ``?`` within a name, ``**`` for any folders."""
    parts = url.key.split("/")
    fixed = next((number for number, part in enumerate(parts) if globbing.has_magic(part)), len(parts))
    top = Url(url.root, "/".join(parts[:fixed]), url.options)
    pattern = parts[fixed:]
    deep = "**" in pattern or len(pattern) > 1
    for entry in asked(url, lambda: list(top.entries(recursive=deep))):
        if _match(entry.url.key.split("/")[fixed:], pattern):
            yield entry


def _match(parts: list[str], pattern: list[str]) -> bool:
    """Tell whether the parts of a name match those of a pattern; hidden names match no pattern that does not say so."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return _match(parts, pattern[1:]) or (bool(parts) and not parts[0].startswith(".") and _match(parts[1:], pattern))
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    return fnmatchcase(parts[0], pattern[0]) and _match(parts[1:], pattern[1:])
