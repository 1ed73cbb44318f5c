"""Which formats there are: those of this folder, a file each, and what other packages add by an entry point.

Our own are loaded where one is used. Of two formats with the same suffix the first in ``names`` gets it.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError, ParameterError
from ..files.names import with_compressed
from ..packages import added
from ..wording import meant

if TYPE_CHECKING:
    from .format import Format

GROUP = "lookalike.formats"
TEXTS = (
    ".txt", ".md", ".rst", ".py", ".text", ".markdown", ".adoc", ".org", ".tex", ".pyi", ".c", ".h",
    ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".cs", ".java", ".kt", ".scala", ".js", ".mjs", ".jsx", ".ts", ".tsx", ".go", ".rs",
    ".rb", ".php", ".pl", ".lua", ".r", ".jl", ".swift", ".hs", ".ml", ".clj", ".ex", ".erl", ".f90", ".sh", ".bash", ".ps1",
    ".sql", ".css", ".scss",
)  # fmt: skip
OWN = {
    "parquet": (".parquet",),
    "jsonl": with_compressed(".jsonl", ".ndjson"),
    "json": with_compressed(".json"),
    "csv": with_compressed(".csv"),
    "tsv": with_compressed(".tsv"),
    "txt": with_compressed(*TEXTS),
    "html": with_compressed(".html", ".htm", ".xhtml"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "warc": with_compressed(".warc", ".wet"),
    "orc": (".orc",),
    "sqlite": (".sqlite", ".sqlite3", ".db"),
    "duckdb": (".duckdb", ".ddb"),
    "pdf": (".pdf",),
    "docx": (".docx", ".docm"),
    "odt": (".odt",),
    "epub": (".epub",),
    "eml": (".eml",),
    "mbox": with_compressed(".mbox"),
    "delta": (),
    "iceberg": (),
}
"""The formats of this folder and their suffixes, in the order of help and messages; those of other packages follow."""


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


def names_by_suffix() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, entry in _find_formats(tuple(sys.path)).items():
        for suffix in OWN[name] if entry is None else _loaded(name, entry).suffixes:
            found.setdefault(suffix, name)
    return found


def known_suffixes() -> dict[str, list[str]]:
    known: dict[str, list[str]] = {name: [] for name in names()}
    for suffix, name in names_by_suffix().items():
        known[name].append(suffix)
    return known
