"""What other packages add by entry points, and which extras are installed."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def added(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, sorted by name.

    ``importlib.metadata`` takes long to load, so it is only asked where some package names the group.
    """
    if not _named_somewhere(group):
        return []
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=lambda point: point.name)


def _named_somewhere(group: str) -> bool:
    """Tell whether the group occurs in the metadata of an installed package, or may: not all packages lie in folders."""
    from importlib.machinery import PathFinder

    if any(hasattr(finder, "find_distributions") and finder is not PathFinder for finder in sys.meta_path):
        return True
    for folder in filter(lambda path: isinstance(path, str), sys.path):
        try:
            names = os.listdir(folder or ".")
        except NotADirectoryError:  # a zip file
            return True
        except OSError:
            continue
        for name in names:
            if name.lower().endswith(("dist-info", "egg-info")) and group.encode() in _entry_points(os.path.join(folder, name)):
                return True
    return False


def _entry_points(folder: str) -> bytes:
    """Return the file of entry points of a package, empty where it has none."""
    try:
        with open(os.path.join(folder, "entry_points.txt"), "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def extras() -> dict[str, bool]:
    """Return whether the packages of each extra for users, one that is a part of "all", are installed."""
    from importlib.metadata import distributions

    needs: dict[str, set[str]] = {}
    for line in (line for one in distributions(name="lookalike") for line in one.requires or ()):
        if found := re.match(r"([\w.-]+)(?:\[([\w,]+)\])?.*extra == ['\"](\w+)", line):
            needs.setdefault(found[3], set()).update([found[1]] if found[3] != "all" else found[2].split(","))
    users = needs.pop("all", set())
    return {extra: all(any(distributions(name=one)) for one in some) for extra, some in needs.items() if extra in users}
