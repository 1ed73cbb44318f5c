"""Folders that are tables of Delta Lake or Iceberg, whose logs say which of their files count."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ..errors import InputDataError
from .ahead import map_ahead
from .names import show_path
from .places import FoundFile, number_of
from .urls import READ_ONLY, AnyPath, Url

LOGS = {"delta": "_delta_log", "iceberg": "metadata"}
"""The folder in a table that says what is in it, by the kind of table."""
TITLES = {"delta": "Delta", "iceberg": "Iceberg"}
METADATA = ".metadata.json"
"""How names end of files that describe an Iceberg table, each at one time."""
_PARTS_DEEP = 16  # folders of partitions, one in another


def kinds_for(format: str | None) -> Collection[str]:
    """Return the kinds of tables that folders can be where a format is named, or none is."""
    return LOGS if format is None else {format.partition(":")[0]} & set(LOGS)


def _kind(parts: Sequence[str]) -> tuple[str, int] | None:
    """Tell of what kind of table a name is a log's, and how many of its parts are the table's folder."""
    if LOGS["delta"] in parts:
        return "delta", parts.index(LOGS["delta"])
    if parts[-1].endswith(METADATA) and parts[-2:-1] == [LOGS["iceberg"]]:
        return "iceberg", len(parts) - 2
    return None


def tables_in(names: Iterable[str], kinds: Collection[str]) -> dict[str, str]:
    """Return the folders among names of files and folders that are tables, each with its kind; "" is the one that holds all."""
    found: dict[str, str] = {}
    for name in names:
        known = _kind(name.split("/")) if kinds else None
        if known is not None and known[0] in kinds:
            found.setdefault("/".join(name.split("/")[: known[1]]), known[0])
    return {name: kind for name, kind in found.items() if not (name and is_within(name, found))}


def is_within(name: str, folders: Collection[str]) -> bool:
    """Tell whether a name is that of something in one of some folders."""
    if not folders:
        return False
    parts = name.split("/")
    return any("/".join(parts[:end]) in folders for end in range(len(parts)))


def of_tables(places: list[FoundFile], kinds: Collection[str]) -> Iterator[FoundFile]:
    """Yield files, and tables instead of files that describe them; refuse files that a table may have replaced."""
    known: dict[AnyPath, str | None] = {place.root: None for place in places if isinstance(place.root, Url)}  # by their lists
    for place in places:
        if place.spool is None and not place.table:
            described = None if place.root is not None else _described_by(place.path, kinds)
            if described is not None:
                root = above(place.path, 2)
                place = FoundFile(
                    root, "", show_path(root), root, False, place.size, place.modified_ns, *number_of(root), table=described
                )
            elif place.path.suffix.lower() == ".parquet" and getattr(place.path, "scheme", "") not in READ_ONLY:
                _refuse_part(place.path, place.root or place.path.parent, known)
        yield place


def _refuse_part(path: AnyPath, folder: AnyPath, known: dict[AnyPath, str | None]) -> None:
    """Refuse a Parquet file in a folder of a table: rows may be in it that the table has no more.

    ``known`` is what was found of other folders.
    """
    for level in range(_PARTS_DEEP):
        if folder not in known:
            known[folder] = _kind_of(folder)
        if (kind := known[folder]) is not None:
            raise InputDataError(
                f" is a file of the {TITLES[kind]} table {show_path(folder)}, which may have replaced it, or deleted "
                "rows of it: name the folder of the table, or read the file as it is with --format parquet (format='parquet')",
                path,
            )
        if level and "=" not in folder.name and folder.name != "data":  # tables with mapped columns have folders of any name
            return
        folder = folder.parent


def _kind_of(folder: AnyPath) -> str | None:
    """Return the kind of table that a folder is; None: it is no table, or cannot be looked into."""
    if isinstance(folder, Path) and (folder / LOGS["delta"]).exists():
        return "delta"
    delta, iceberg = map_ahead(_names_in, ((isinstance(folder, Url), folder / log) for log in LOGS.values()))
    return "delta" if delta else "iceberg" if any(name.endswith(METADATA) for name in iceberg) else None


def _names_in(folder: AnyPath) -> list[str]:
    with suppress(OSError):
        return [one.name for one in folder.iterdir()] if isinstance(folder, Path) else [e.url.name for e in folder.entries()]
    return []


def _described_by(path: AnyPath, kinds: Collection[str]) -> str | None:
    """Return what table, and when, a file named by a user describes: "iceberg:00002-..."; None: it is no such file."""
    if "iceberg" not in kinds or path.parent.name != LOGS["iceberg"] or not path.name.endswith(METADATA):
        return None
    return f"iceberg:{path.name.removesuffix(METADATA)}"


def above(path: AnyPath, depth: int) -> AnyPath:
    """Return the folder that many levels above a file."""
    for _ in range(depth):
        path = path.parent
    return path
