"""Which files an input means, which files beside them are left out, and copies of what can be read only once."""

from __future__ import annotations

import glob as globbing
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..errors import InputDataError, ParameterError
from ..wording import printable
from .names import shown, suffix_of, walk
from .places_at import NO_DEVICE, asked, inside, matching, number_of, real_of
from .spools import Spool, spool
from .urls import Entry, Url, as_url

REASONS = {
    "other_suffix": "with another suffix",
    "not_matched": "not matched by the glob",
    "hidden": "hidden (named .x or _x)",
    "hidden_folder": "hidden folders",
    "binary": "binary",
    "broken_link": "broken links",
    "linked_folder": "links to folders",
    "folder": "folders",
    "not_regular": "pipes, sockets or devices",
}
_PER_REASON, _NAMED = 3, 10
SNIFFED = 8192  # bytes at the beginning of a text file in which a NUL tells that it is no text


class Place(NamedTuple):
    """A file to read: its path, its name in output folders, in messages and ids, and what it was when it was met.

    ``root`` is the folder it was found in, or None; ``found`` whether a folder or glob led to it; ``spool`` keeps the
    temporary copy of what can be read only once.
    """

    path: Path | Url
    relative: str
    name: str
    root: Path | Url | None
    found: bool
    size: int
    modified_ns: int
    device: int
    inode: int
    spool: Spool | None = None

    def names(self) -> Iterator[Path]:
        """Yield the path, and where it leads to if it is a symbolic link; none of what is on no disk."""
        if self.spool is None and isinstance(self.path, Path):
            yield self.path
            if self.path.is_symlink():
                yield Path(os.path.realpath(self.path))


@dataclass(eq=False)
class Skipped:
    """Files that were left out, by reason: how many, and the first names."""

    counts: dict[str, int] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, name: str) -> None:
        """Count a file; ``reason`` is one of ``REASONS``."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        some = self.names.setdefault(reason, [])
        if len(some) < _PER_REASON:
            some.append(shown(name))

    def update(self, other: Skipped) -> None:
        """Count what another counted, too."""
        for reason, n in other.counts.items():
            self.counts[reason] = self.counts.get(reason, 0) + n
            self.names[reason] = (self.names.get(reason, []) + other.names[reason])[:_PER_REASON]

    def to_dict(self) -> dict[str, Any]:
        """Return ``files``, ``by_reason`` and the first ``names``."""
        names = [name for some in self.names.values() for name in some]
        return {"files": sum(self.counts.values()), "by_reason": dict(self.counts), "names": names[:_NAMED]}


def describe_skipped(skipped: dict[str, Any]) -> str:
    """Say what ``Skipped.to_dict`` counted: "3 (2 with another suffix, 1 broken links: a.md, b.pdf, c.txt)"."""
    counts = ", ".join(f"{n:,} {REASONS[reason]}" for reason, n in skipped["by_reason"].items())
    names = ", ".join(map(printable, skipped["names"])) + (", ..." if skipped["files"] > len(skipped["names"]) else "")
    return f"{skipped['files']:,} ({counts}: {names})"


class Inputs(list[Any]):
    """Sources, and what was left out."""

    def __init__(self, sources: Sequence[Any] = (), skipped: Skipped | None = None) -> None:
        super().__init__(sources)
        self.skipped = skipped or Skipped()


def skipped_in(*inputs: Any) -> dict[str, Any]:
    """Return what was left out of several inputs, as a dictionary."""
    together = Skipped()
    for some in inputs:
        if isinstance(some, Inputs):
            together.update(some.skipped)
    return together.to_dict()


def _status(path: str | Path) -> os.stat_result:
    """Return what the file system says of a file.

    Raises
    ------
    InputDataError
        If it does not exist or cannot be looked up.
    """
    try:
        return os.stat(path)
    except FileNotFoundError:
        raise InputDataError(f"{shown(path)}: no file of that name") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        short = shown(path) if len(str(path)) <= 255 else shown(str(path)[:255]) + "..."
        raise InputDataError(f"{short}: cannot be read: {reason}") from None


def _place(path: Path, relative: str, status: os.stat_result, root: Path | None = None, found: bool = False) -> Place:
    return Place(
        path, relative, shown(path), root, found, status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino
    )  # fmt: skip


def place_of(path: Path | Url, relative: str, name: str) -> Place:
    """Return a file as an input has it.

    Raises
    ------
    OSError
        If there is no such file.
    """
    if isinstance(path, Url):
        return Place(path, relative, name, None, False, *path.stat(), NO_DEVICE, number_of(path))
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "not a file")
    return Place(path, relative, name, None, False, status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino)


def _remote(entry: Entry, root: Url | None = None, found: bool = False) -> Place:
    url, status = entry.url, entry.status
    if "//" in url.key:  # which Arrow lists and does not open
        raise InputDataError(f"{shown(url)}: a name with an empty part (//) cannot be read; copy the object to another name")
    relative = url.name if root is None else url.key.removeprefix(root.key).lstrip("/")
    return Place(
        url, relative, shown(url), root, found, status.st_size, status.st_mtime_ns, NO_DEVICE, number_of(url)
    )  # fmt: skip


def _copied(copy: Spool) -> Place:
    path = Path(copy.file.name)
    return Place(path, copy.relative, copy.name, None, False, path.stat().st_size, 0, *copy.number, copy)


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _in_folder(folder: Path, pattern: str | None, suffixes: Collection[str], skipped: Skipped) -> list[Place]:
    """Return the files that a folder stands for, in the order of their names, and count the others."""
    try:
        matched = None if pattern is None else {str(file.relative_to(folder)) for file in folder.rglob(pattern)}
    except (ValueError, IndexError, OSError):
        raise ParameterError(f"glob must be a pattern of names inside the folder, such as '*.md'; got {pattern!r}") from None
    found = []
    try:
        for name, entry in _visible(folder, skipped):
            path = folder / name
            if matched is not None and name not in matched:
                skipped.add("not_matched", str(path))
            elif matched is None and suffix_of(name, suffixes) is None:
                skipped.add("other_suffix", str(path))
            elif (status := _usual(path, entry, skipped)) is not None:
                found.append(_place(path, name, status, folder, True))
    except OSError as error:
        raise InputDataError(f"{shown(error.filename or folder)}: cannot be read: {error.strerror}") from None
    found.sort(key=lambda place: place.relative.split("/"))
    return found


def _visible(folder: Path, skipped: Skipped) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield what is below a folder and no folder itself, hidden things left out."""
    for name, entry in walk(folder, lambda inside: not _hidden(inside.name)):
        if entry.is_dir(follow_symlinks=False):
            if _hidden(entry.name):
                skipped.add("hidden_folder", f"{folder / name}/")
        elif entry.is_symlink() and os.path.isdir(folder / name):
            skipped.add("linked_folder", f"{folder / name}/")
        elif _hidden(entry.name):
            skipped.add("hidden", str(folder / name))
        else:
            yield name, entry


def _usual(path: Path, entry: os.DirEntry[str], skipped: Skipped) -> os.stat_result | None:
    """Return the status of a regular file; count what is none."""
    try:
        status = entry.stat()
    except OSError as error:
        if not entry.is_symlink() or isinstance(error, PermissionError):
            raise
        skipped.add("broken_link", str(path))
        return None
    if stat.S_ISREG(status.st_mode):
        return status
    skipped.add("not_regular", str(path))
    return None


def _by_glob(pattern: str, skipped: Skipped) -> list[Place]:
    """Return the files that a glob stands for, and count the others."""
    found = []
    for folder in globbing.glob(os.path.dirname(pattern), recursive=True):  # what cannot be read, a glob leaves out in silence
        if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
            raise InputDataError(f"{shown(folder)}: cannot be read: Permission denied")
    for match in sorted(set(map(Path, globbing.glob(pattern, recursive=True)))):
        try:
            status = os.stat(match)
        except FileNotFoundError:
            skipped.add("broken_link", str(match))
            continue
        except OSError as error:
            raise InputDataError(f"{shown(match)}: cannot be read: {error.strerror}") from None
        if stat.S_ISREG(status.st_mode):
            found.append(_place(match, match.name, status, None, True))
        else:
            skipped.add("folder" if stat.S_ISDIR(status.st_mode) else "not_regular", str(match))
    if not found:
        raise InputDataError(f"{shown(pattern)}: no file matches")
    return found


def _on_store(url: Url, pattern: str | None, suffixes: Collection[str], skipped: Skipped) -> list[Place]:
    """Return the files that a URL stands for: one, those in a folder, or those that a glob matches."""
    entry = asked(url, url.entry)
    if entry is not None and not entry.is_folder:
        return [_remote(entry)]
    if entry is not None:
        found = [_remote(one, url, True) for one in inside(url, pattern, suffixes, skipped.add)]
        return found or _refuse_empty(url, pattern, suffixes, skipped)
    if not globbing.has_magic(url.key):
        raise InputDataError(f"{shown(url)}: no {'file or folder' if url.key else 'bucket'} of that name")
    matches = list(matching(url))
    for one in matches:
        if one.is_folder:
            skipped.add("folder", str(one.url))
    found = [_remote(one, None, True) for one in matches if not one.is_folder]
    if not found:
        raise InputDataError(f"{shown(url)}: no file matches")
    return found


def _refuse_empty(folder: Path | Url, pattern: str | None, suffixes: Collection[str], skipped: Skipped) -> list[Place]:
    what = f"that matches {pattern!r}" if pattern else f"with a known suffix ({', '.join(suffixes)})"
    left = skipped.to_dict()
    raise InputDataError(
        f"{shown(folder)}: the folder holds no file {what}"
        + (f"; skipped: {describe_skipped(left)}" if left["files"] else "")
        + ("" if pattern else "; use --glob to name others")
    )


def find_places(
    paths: Sequence[str | os.PathLike[str]], pattern: str | None, format: str | None, formats: Mapping[str, Sequence[str]],
    skipped: Skipped,
) -> list[Place]:  # fmt: skip
    """Return the files that paths, folders, globs, URLs of these and "-" stand for; what can be read only once is copied.

    Parameters
    ----------
    paths : sequence of str or path
    pattern : str or None
        Which files of a folder are meant; None: those of known suffixes.
    format : str or None
        The format that all files have, if it was named.
    formats : mapping of str to sequence of str
        The formats that are known, and the suffixes of each.
    skipped : Skipped
        Counts the files that are left out.

    Raises
    ------
    InputDataError, ParameterError, OutputError
        If there is none, one is given twice or cannot be looked up, or a copy cannot be made.
    """
    if pattern is not None and (not pattern or PurePosixPath(pattern).is_absolute()):
        raise ParameterError(f"glob must be a pattern of names inside the folder, such as '*.md'; got {pattern!r}")
    suffixes = [suffix for some in formats.values() for suffix in some]
    places: list[Place] = []
    for given in paths:
        name = os.fspath(given)
        if not isinstance(name, str) or not name:
            raise InputDataError(f"a path must be a text that is not empty; got {name!r}")
        if name == "-":
            places.append(_copied(spool(name, format, formats)))
            continue
        if (url := as_url(name)) is not None:
            places += _on_store(url, pattern, suffixes, skipped)
            continue
        if globbing.has_magic(name) and not os.path.lexists(name):
            places += _by_glob(name, skipped)
            continue
        status = _status(name)
        path = Path(name)
        if stat.S_ISDIR(status.st_mode):
            places += _in_folder(path, pattern, suffixes, skipped) or _refuse_empty(path, pattern, suffixes, skipped)
        elif stat.S_ISREG(status.st_mode):
            places.append(_place(path, path.name, status))
        else:
            places.append(_copied(spool(name, format, formats, status)))
    _check_repeats(places)
    return _named_apart(places)


def _check_repeats(places: list[Place]) -> None:
    """Refuse a file that is given twice; hard links are files of their own."""
    known: dict[tuple[int, int], Place] = {}
    for place in places:
        other = known.setdefault((place.device, place.inode), place)
        if other is not place and (other.spool is not None or real_of(other.path) == real_of(place.path)):
            raise InputDataError(f"{place.name} is given twice: every document would be its own duplicate")


def _named_apart(places: list[Place]) -> list[Place]:
    """Name files for output folders from the folder that holds all of them, where shorter names are not different."""
    short = {place.relative.casefold() for place in places}
    if len(short) == len(places):
        return places
    folders = {folder: real_of(folder) for folder in {p.path.parent for p in places if p.spool is None}}
    roots = {p.root for p in places if p.root is not None} | {
        p.path.parent for p in places if p.root is None and p.spool is None
    }
    base = os.path.commonpath([real_of(root) for root in roots]) if roots else ""

    def apart(place: Place) -> str:
        return os.path.relpath(f"{folders[place.path.parent]}/{place.path.name}", base)

    return [place if place.spool is not None else place._replace(relative=apart(place)) for place in places]
