"""Which files an input means, on a disk or a store, which files beside them are left out."""

from __future__ import annotations

import glob as globbing
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import InputDataError
from .ahead import map_ahead
from .names import (
    ARCHIVES,
    GivenPath,
    Patterns,
    Skipped,
    describe_skipped,
    expanded,
    is_archive,
    is_glob,
    is_marker,
    left_out,
    list_suffixes,
    matches,
    patterns_of,
    says_hidden,
    show_path,
    suffix_of,
    usual,
    walk,
    way_to_text,
)  # fmt: skip
from .places import NO_DEVICE, FoundFile, place_at, without_sidecars
from .remote import HttpFile
from .streams import Spool, asking, spool
from .tables import is_within, kinds_for, of_tables, tables_in
from .urls import WEB, AnyPath, Status, StoreObject, Url, as_url

LONGEST_SUFFIX = 20  # of a web address; longer ones name no format
SNIFFED = 8192  # bytes at the beginning of a text file in which a NUL tells that it is no text


def _status(path: str | Path) -> os.stat_result:
    try:
        return os.stat(path)
    except FileNotFoundError:
        raise InputDataError("no file of that name", path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        short = show_path(path) if len(str(path)) <= 255 else show_path(str(path)[:255]) + "..."
        raise InputDataError(f"cannot be read: {reason}", short) from None


def _remote(entry: StoreObject, root: Url | None = None, found: bool = False) -> FoundFile:
    url = entry.url
    if url.has_odd_name:
        raise InputDataError("a name with an empty part (//) cannot be read; copy the object to another name", url)
    relative = url.name if root is None else url.key.removeprefix(root.key).lstrip("/")
    return place_at(url, relative, show_path(url), entry.status, root, found)


def _copied(copy: Spool) -> FoundFile:
    path = Path(copy.file.name)
    return FoundFile(path, copy.relative, copy.name, None, False, path.stat().st_size, 0, *copy.number, copy)


def _in_folder(
    folder: Path, patterns: Patterns, suffixes: Collection[str], skipped: Skipped, kinds: Collection[str]
) -> list[FoundFile]:  # fmt: skip
    """Return the files and tables that a folder stands for, in the order of their names, and count the others."""
    found, patterns = [], patterns.below(folder)
    try:
        visible = list(_visible(folder, patterns))
        tables = tables_in((name for name, *_ in visible), kinds)
        for name, kind in tables.items():
            path = folder / name
            found.append(place_at(path, name, show_path(path), _status(path), folder, bool(name))._replace(table=kind))
        for name, entry, reason in visible:
            path = folder / name
            if is_within(name, tables):
                continue
            if reason is not None:
                skipped.add(reason, f"{path}/")
            elif (reason := left_out(name.split("/"), patterns, suffixes)) is not None:
                skipped.add(reason, str(path))
            elif (status := usual(path, entry, skipped)) is not None:
                found.append(place_at(path, name, show_path(path), status, folder, True))
    except OSError as error:
        raise InputDataError(f"cannot be read: {error.strerror}", error.filename or folder) from None
    found.sort(key=lambda place: place.relative.split("/"))
    return found


def _visible(folder: Path, patterns: Patterns) -> Iterator[tuple[str, os.DirEntry[str], str | None]]:
    """Yield what is below a folder and no folder itself, and, with the reason, folders that are not looked into.

    Hidden folders are looked into only if a pattern names what is hidden.
    """
    all_names = says_hidden(patterns.wanted)

    def reason(inside: os.DirEntry[str]) -> str | None:
        if is_marker(inside.name):
            return "marker"
        if patterns.excludes(Path(inside.path).relative_to(folder).parts):
            return "excluded"
        return "hidden_folder" if inside.name.startswith(".") and not all_names else None

    for name, entry in walk(folder, lambda inside: reason(inside) is None):
        if entry.is_dir(follow_symlinks=False):
            if (why := reason(entry)) is not None:
                yield name, entry, why
        elif entry.is_symlink() and os.path.isdir(folder / name):
            yield name, entry, "linked_folder"
        else:
            yield name, entry, None


def _by_glob(name: str, skipped: Skipped) -> list[FoundFile]:
    """Return the files that a glob stands for, and count the others."""
    found, patterns = [], expanded(name)
    for folder in (f for pattern in patterns for f in globbing.glob(os.path.dirname(pattern), recursive=True)):
        if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):  # which a glob leaves out in silence
            raise InputDataError("cannot be read: Permission denied", folder)
    for match in sorted({Path(match) for pattern in patterns for match in globbing.glob(pattern, recursive=True)}):
        with asking(match):
            try:
                status = os.stat(match)
            except FileNotFoundError:
                skipped.add("broken_link", str(match))
                continue
        if stat.S_ISREG(status.st_mode):
            found.append(place_at(match, match.name, show_path(match), status, None, True))
        else:
            skipped.add("folder" if stat.S_ISDIR(status.st_mode) else "not_regular", str(match))
    if not found:
        raise _unmatched(show_path(name), skipped)
    return found


def _unmatched(name: str, skipped: Skipped) -> InputDataError:
    """The error for a glob that matches no file; folders are named, not matched."""
    left = f"; skipped: {describe_skipped(skipped.to_dict())}" if skipped.counts else ""
    way_out = "; name a folder itself, without a glob, to read what is in it" if "folder" in skipped.counts else ""
    return InputDataError(f"no file matches{left}{way_out}", name)


def _on_store(
    url: Url, patterns: Patterns, suffixes: Collection[str], skipped: Skipped, kinds: Collection[str]
) -> list[FoundFile]:  # fmt: skip
    """Return the files that a URL stands for: one, those in a folder, or those that a glob matches."""
    asks: Any = ((1, url.entry), (1, partial(entries_in, url, recursive=True)))
    with asking(url):
        entry, *entries = map_ahead(lambda ask: ask(), asks[: 2 - bool(suffix_of(url.name, suffixes))])
    if entry is not None and not entry.is_folder:
        return [_remote(entry)]
    if entry is not None:
        return list(inside(url, patterns, suffixes, skipped, kinds, *entries))
    if not is_glob(url.key):
        raise InputDataError(f"no {'file or folder' if url.key else 'bucket'} of that name", url)
    matching_it = list(matching(url))
    for one in matching_it:
        if one.is_folder:
            skipped.add("folder", str(one.url))
        elif one.url.has_odd_name:
            skipped.add("odd_name", str(one.url))
    found = [_remote(one, None, True) for one in matching_it if not (one.is_folder or one.url.has_odd_name)]
    if not found:
        raise _unmatched(show_path(url), skipped)
    return found


def _on_web(url: Url) -> FoundFile:
    """Return the file that an address names; of a server that does not send parts, a copy."""
    if "*" in url.key or not url.name:
        raise InputDataError("a web address names one file, no folder and no glob; name the files one by one", url)
    with asking(url):
        web = HttpFile(str(url))
    if web.in_parts:
        status = Status(web.size, web.version)
        return _remote(StoreObject(replace(url, known=status), False, status))
    suffix = "".join(suffix for suffix in PurePosixPath(url.name).suffixes[-2:] if len(suffix) <= LONGEST_SUFFIX)
    with asking(url):
        return _copied(Spool(show_path(url), web.blocks(), (NO_DEVICE, url.number), suffix))._replace(relative=url.name)


def _refuse_empty(
    folder: AnyPath, patterns: Patterns, formats: Mapping[str, Sequence[str]], skipped: Skipped, before: int,
    kind: str = "folder",
) -> list[FoundFile]:  # fmt: skip
    """Refuse a folder of which no file is read, unless more files are excluded than before it."""
    if skipped.counts["excluded"] > before:
        return []
    wanted = patterns.wanted
    what = f"that matches {' or '.join(map(repr, wanted))}" if wanted else f"with a known suffix ({list_suffixes(formats)})"
    left = skipped.to_dict()
    other = next((suffix for suffix in left["by_suffix"] if suffix), ".log")
    way = way_to_text(left["by_suffix"]) or (
        f"name others with --glob (glob=), and what they hold with --format (format=): '*{other}' and txt read {other} as text"
    )
    raise InputDataError(
        f"the {kind} holds no file {what}"
        + (f"; skipped: {describe_skipped(left)}" if left["files"] else "")
        + ("" if wanted else f"; {way}"),
        folder,
    )


def find_places(
    paths: Sequence[GivenPath], glob: str | Sequence[str] | None, format: str | None,
    formats: Mapping[str, Sequence[str]], skipped: Skipped, exclude: str | Sequence[str] | None = None,
    passing: bool = False,
) -> list[FoundFile]:  # fmt: skip
    """Return the files that paths, folders, globs, URLs of these and "-" stand for; what can be read only once is copied.

    ``passing``: what cannot be read is counted, and passed over.
    """
    patterns, kinds = patterns_of(glob, exclude), kinds_for(format)
    readable = {suffix: None for some in formats.values() for suffix in some}
    suffixes = readable | dict.fromkeys(ARCHIVES)
    places: list[FoundFile] = []

    for given in paths:
        with skipped.passing(passing):
            places += _places_of(given, patterns, suffixes, format, formats, skipped, kinds)
    if format is None:
        places = without_sidecars(places, skipped)
    if kinds:
        places = list(of_tables(places, kinds))
    found = []
    for place in _named_apart(_each_once(places, skipped)):
        if place.spool is not None or place.table or not is_archive(place.path.name):
            found.append(place)
            continue
        from .archives import unpack  # here, for what is not needed to start

        with skipped.passing(passing):
            before = skipped.counts["excluded"]
            inside = unpack(place, patterns, readable, skipped, kinds)
            if not inside and not place.found:
                _refuse_empty(place.path, patterns, formats, skipped, before, "archive")
            found += inside if format is not None else without_sidecars(inside, skipped)
    return found


def _places_of(
    given: GivenPath, patterns: Patterns, suffixes: Collection[str], format: str | None,
    formats: Mapping[str, Sequence[str]], skipped: Skipped, kinds: Collection[str],
) -> list[FoundFile]:  # fmt: skip
    """Return the files that one path stands for."""
    name = os.fspath(given)
    if not isinstance(name, str) or not name:
        raise InputDataError(f"a path must be a text that is not empty; got {name!r}")

    if name == "-":
        return [_copied(spool(name, format, formats))]
    url, before = as_url(name), skipped.counts["excluded"]
    path = Path(name) if url is None else url
    globbed = is_glob(name) and not os.path.lexists(name) if url is None else is_glob(url.key)
    if not globbed and path.name and not patterns.reads(path):
        skipped.add("excluded", str(path))
        return []

    def wanted(found: Sequence[FoundFile], glob: str | Url) -> list[FoundFile]:
        """Return those of the files that a glob names that are not excluded; count the others."""
        left = []
        for place in found:
            if place.root is None and not patterns.reads(place.path, glob):
                skipped.add("excluded", place.name)
            else:
                left.append(place)
        return left

    if url is not None and url.scheme in WEB:
        return [_on_web(url)]
    if url is not None:
        found = _on_store(url, patterns, suffixes, skipped, kinds) or _refuse_empty(url, patterns, formats, skipped, before)
        return wanted(found, url) if globbed else found
    if globbed:
        return wanted(_by_glob(name, skipped), name)
    status = _status(name)
    if stat.S_ISDIR(status.st_mode):
        found = _in_folder(Path(name), patterns, suffixes, skipped, kinds)
        return found or _refuse_empty(path, patterns, formats, skipped, before)
    if stat.S_ISREG(status.st_mode):
        return [place_at(path, path.name, show_path(path), status)]
    return [_copied(spool(name, format, formats, status))]


def _each_once(places: list[FoundFile], skipped: Skipped) -> list[FoundFile]:
    """Leave out, and count, what leads to a file that is there already by another name; hard links are files of their own."""
    known: dict[tuple[int, int], list[FoundFile]] = {}
    found = []
    for place in places:
        others = known.setdefault((place.device, place.inode), [])
        other = next((o for o in others if o.spool is not None or real_of(o.path) == real_of(place.path)), None)
        if other is None:
            others.append(place)
            found.append(place)
        elif other.spool is not None or os.path.abspath(other.path) == os.path.abspath(place.path):
            raise InputDataError(" is given twice: every document would be its own duplicate", place.name)
        else:
            skipped.add("linked_twice", place.name)
    return found


def _named_apart(places: list[FoundFile]) -> list[FoundFile]:
    """Name files for output folders from the folder that holds all of them, where shorter names are not different."""
    short = {place.relative.casefold() for place in places}
    if len(short) == len(places):
        return places
    folders = {folder: real_of(folder) for folder in {p.path.parent for p in places if p.spool is None}}
    roots = {p.root for p in places if p.root is not None} | {
        p.path.parent for p in places if p.root is None and p.spool is None
    }
    base = os.path.commonpath([real_of(root) for root in roots]) if roots else ""

    def apart(place: FoundFile) -> str:
        return os.path.relpath(f"{folders[place.path.parent]}/{place.path.name}", base)

    return [place if place.spool is not None else place._replace(relative=apart(place)) for place in places]


def real_of(path: AnyPath) -> str:
    """Return a path from the root, without symbolic links; of a URL one that the current folder is no part of."""
    return f"/{path}".replace("://", "/", 1).rstrip("/") if isinstance(path, Url) else os.path.realpath(path)


def entries_in(folder: Url, *, recursive: bool = False) -> list[StoreObject]:
    with asking(folder):
        return list(folder.entries(recursive=recursive))


def inside(
    folder: Url, patterns: Patterns, suffixes: Collection[str], skipped: Skipped, kinds: Collection[str],
    listed: list[StoreObject] | None = None,
) -> Iterator[FoundFile]:  # fmt: skip
    """Yield the tables and files that a folder stands for, files in the order of names; what it has may be ``listed``."""
    patterns = patterns.below(folder)
    entries = {
        entry.url.key.removeprefix(folder.key).removeprefix("/"): entry
        for entry in (entries_in(folder, recursive=True) if listed is None else listed) if not entry.is_folder
    }  # fmt: skip
    tables = tables_in(entries, kinds)
    for name, kind in tables.items():
        yield _remote(StoreObject(folder / name, True, Status(0, 0)), folder, bool(name))._replace(table=kind)
    for name, entry in entries.items():
        if is_within(name, tables):
            continue
        reason = "odd_name" if entry.url.has_odd_name else left_out(name.split("/"), patterns, suffixes)
        if reason is not None:
            skipped.add(reason, str(entry.url))
        else:
            yield _remote(entry, folder, True)


def matching(url: Url) -> Iterator[StoreObject]:
    """Yield what a glob stands for, in the order of names: ``*`` and ``?`` within a name, ``**`` for any folders."""
    found: dict[str, StoreObject] = {}
    for pattern in expanded(url.key):
        parts = pattern.split("/")
        fixed = next((number for number, part in enumerate(parts) if globbing.has_magic(part)), len(parts) - 1)
        top = Url(url.root, "/".join(parts[:fixed]), url.options)
        deep = "**" in parts[fixed:] or len(parts) - fixed > 1
        for entry in entries_in(top, recursive=deep):
            if matches(entry.url.key.split("/")[fixed:], parts[fixed:]):
                found[entry.url.key] = entry
    yield from sorted(found.values(), key=lambda entry: entry.url.key.split("/"))
