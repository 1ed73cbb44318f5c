"""Which files on an object store an input means."""

from __future__ import annotations

import glob as globbing
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..errors import InputDataError
from .names import expanded, left_out, matches, shown
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


def has_odd_name(url: Url) -> bool:
    """Tell whether a part of a name is empty: Arrow lists such an object, and does not open it."""
    return url.key.startswith("/") or "//" in url.key


def asked(url: Url, ask: Callable[[], Any]) -> Any:
    """Return what a store answers."""
    try:
        return ask()
    except OSError as error:
        raise InputDataError(f"{shown(url)}: cannot be read: {why(error)}") from None


def inside(
    folder: Url, patterns: Sequence[str], suffixes: Collection[str], left: Callable[[str, str], None]
) -> Iterator[Entry]:
    """Yield the files that a folder stands for, in the order of their names."""
    for entry in asked(folder, lambda: list(folder.entries(recursive=True))):
        if entry.is_folder:
            continue
        parts = entry.url.key.removeprefix(folder.key).removeprefix("/").split("/")
        reason = "odd_name" if has_odd_name(entry.url) else left_out(parts, patterns, suffixes)
        if reason is not None:
            left(reason, str(entry.url))
        else:
            yield entry


def matching(url: Url) -> Iterator[Entry]:
    """Yield what a glob stands for, in the order of names: ``*`` and ``?`` within a name, ``**`` for any folders."""
    found: dict[str, Entry] = {}
    for pattern in expanded(url.key):
        parts = pattern.split("/")
        fixed = next((number for number, part in enumerate(parts) if globbing.has_magic(part)), len(parts) - 1)
        top = Url(url.root, "/".join(parts[:fixed]), url.options)
        deep = "**" in parts[fixed:] or len(parts) - fixed > 1
        for entry in asked(url, partial(_entries, top, deep)):
            if matches(entry.url.key.split("/")[fixed:], parts[fixed:]):
                found[entry.url.key] = entry
    yield from sorted(found.values(), key=lambda entry: entry.url.key.split("/"))


def _entries(folder: Url, deep: bool) -> list[Entry]:
    """Return what is in a folder."""
    return list(folder.entries(recursive=deep))
