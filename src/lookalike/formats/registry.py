"""Which formats there are: those of this folder, a file each, and what other packages add by an entry point.

Names are known without loading; suffixes are not: of two formats with the same one the first in ``names`` gets it.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError, ParameterError
from ..packages import added
from ..wording import meant

if TYPE_CHECKING:
    from .format import Format

GROUP = "lookalike.formats"
OWN = (
    "parquet",
    "jsonl",
    "json",
    "csv",
    "tsv",
    "txt",
    "html",
    "arrow",
    "warc",
    "orc",
    "sqlite",
    "duckdb",
    "pdf",
    "docx",
    "odt",
    "epub",
    "eml",
    "mbox",
    "delta",
    "iceberg",
)
"""The formats of this folder, in the order of help and messages; those of other packages follow."""


@lru_cache(1)
def _find_formats(path: tuple[str, ...]) -> dict[str, Any]:
    """Return where each format comes from: None for our own, else its entry point. The key is ``sys.path``."""
    found: dict[str, Any] = dict.fromkeys(OWN)
    for entry in added(GROUP):
        known = found.setdefault(entry.name, entry)
        if known is None or known != entry:
            raise ParameterError(
                f"two formats are named {entry.name!r}, one of them by the entry point {entry.value}; uninstall its package"
            )
    return found


def names() -> list[str]:
    return list(_find_formats(tuple(sys.path)))


@lru_cache(None)
def _loaded(name: str, entry: Any) -> Format:
    from .format import Format

    if entry is None:
        return import_module(f".{name}", __package__).FORMAT
    try:
        form = entry.load()
    except (ImportError, AttributeError) as error:
        raise MissingExtraError(
            f"the format {name!r} cannot be loaded from {entry.value}: {error}; repair or uninstall its package"
        ) from error
    if not isinstance(form, Format) or form.name != name:
        raise ParameterError(
            f"the entry point {name!r} of {GROUP} must be a Format of that name; {entry.value} is {form!r:.80}"
        )
    return form


def format_named(name: str) -> Format:
    """Return the format of a name; after a colon, what else is known of it ("csv:;")."""
    found = _find_formats(tuple(sys.path))
    known, colon, detail = name.partition(":")
    if known not in found:
        raise ParameterError(f"must be one of {', '.join(found)}{meant(known, found)}", "format", name)
    form = _loaded(known, found[known])
    return form.detailed(detail) if colon else form


def formats_by_suffix() -> dict[str, Format]:
    found: dict[str, Format] = {}
    for form in map(format_named, names()):
        for suffix in form.suffixes:
            found.setdefault(suffix, form)
    return found


def known_suffixes() -> dict[str, list[str]]:
    known: dict[str, list[str]] = {name: [] for name in names()}
    for suffix, form in formats_by_suffix().items():
        known[form.name].append(suffix)
    return known
