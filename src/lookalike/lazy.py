"""Public names that load their parts on first use."""

from __future__ import annotations

import sys
from importlib import import_module


def load_name(package: str, homes: dict[str, str], name: str) -> object:
    """Return a public name of a package, whose relative module ``homes`` gives."""
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value: object = getattr(import_module(homes[name], package), name)
    setattr(sys.modules[package], name, value)
    return value
