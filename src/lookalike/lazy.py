"""Public names that load their parts on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module


def load_name(package: str, homes: dict[str, str], name: str) -> object:
    """Return a public name of a package, whose relative module ``homes`` gives."""
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value: object = getattr(import_module(homes[name], package), name)
    setattr(sys.modules[package], name, value)
    return value


def lazily(package: str, homes: dict[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package; type checkers read its imports instead."""
    names = sorted(homes)
    return lambda name: load_name(package, homes, name), lambda: names, names
