"""Names of files: as text, by suffix and pattern, and of all files below a folder; those that are left out, and why."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from glob import has_magic
from math import prod
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, NamedTuple

from ..errors import InputDataError, ParameterError
from ..wording import printable
from ..wording import show_path as show_path

GivenPath = str | os.PathLike[str]
"""A path as a user names it."""

_MOST_PATTERNS = 1000
_FIRST = 3  # names that a message lists
PACKED = (".gz", ".zst", ".bz2", ".xz")
"""The suffixes of compressed files."""
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
"""The suffixes of archives, which are read as folders are."""
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
# What lookalike writes beside an output and in its folder, what Spark and table formats built on it do, and what systems and
# office programs keep in a folder that a user looks into.
_MARKER = re.compile(
    r"(.+\.\w+)?_lookalike(_unfinished)?\.json|_sketches"
    r"|_SUCCESS|_(started|committed)_(vacuum)?\d+|_(common_)?metadata|_temporary|_delta_log|_spark_metadata"
    r"|(?i:(eh)?thumbs\.db|desktop\.ini)|\.DS_Store|~\$.+"
)


def first_few(names: Iterable[str]) -> str:
    """Return the first names, in order, as a message lists them."""
    ordered = sorted(names)
    return ", ".join(map(show_path, ordered[:_FIRST])) + (", ..." if len(ordered) > _FIRST else "")


def suffix_of(path: GivenPath, known: Collection[str]) -> str | None:
    """Return the longest of some known suffixes that a file name ends with, in any case, or None."""
    name = str(getattr(path, "name", None) or os.path.basename(path)).lower()
    point = name.find(".", 1)
    while point > 0:
        if name[point:] in known:
            return name[point:]
        point = name.find(".", point + 1)
    return None


def with_compressed(*suffixes: str) -> tuple[str, ...]:
    """Return suffixes, and those of files that are compressed as a whole."""
    return (*suffixes, *(suffix + compressed for suffix in suffixes for compressed in PACKED))


def list_suffixes(formats: Mapping[str, Sequence[str]], most: int = 5) -> str:
    """Return the suffixes of formats as a message lists them: not all of very many, and those of compressed files once."""
    plain = [[suffix for suffix in some if not suffix.endswith(PACKED)] for some in formats.values()]
    names = [name for some in plain for name in (some if len(some) <= most else [*some[:most], "..."])]
    return f"{', '.join(names)}; compressed also with {', '.join(PACKED)}"


def is_glob(name: str) -> bool:
    """Tell a pattern from the name of one file."""
    return has_magic(name) or _BRACES.search(name) is not None


def expanded(pattern: str) -> list[str]:
    """Return the patterns that one with alternatives in braces stands for: ``*.{md,txt}`` is ``*.md`` and ``*.txt``."""
    if prod(some.count(",") + 1 for some in _BRACES.findall(pattern)) > _MOST_PATTERNS:
        raise ParameterError(f"a glob must expand to at most {_MOST_PATTERNS:,} patterns; got {pattern!r:.80}")
    braces = _BRACES.search(pattern)
    if braces is None:
        return [pattern]
    some = (pattern[: braces.start()] + one + pattern[braces.end() :] for one in braces[1].split(","))
    return list(dict.fromkeys(name for one in some for name in expanded(one)))


class Patterns(NamedTuple):
    """Which files of a folder are read: those that match ``wanted``, if there are any, and none of ``unwanted``."""

    wanted: Sequence[str] = ()
    unwanted: Sequence[str] = ()
    above: tuple[str, ...] = ()  # parts of the folder's own name, with which patterns can begin

    def below(self, folder: GivenPath) -> Patterns:
        """Return the same for what is inside a folder."""
        return self._replace(above=_whole(folder))

    def reads(self, path: GivenPath, glob: GivenPath = "") -> bool:
        """Tell whether a file or folder is read that is named itself, or by a glob."""
        parts, given = _whole(path), _whole(glob) if glob else ()
        fixed = next((number for number, part in enumerate(given) if has_magic(part) or "{" in part), len(parts) - 1)
        return not self._replace(above=parts[:fixed]).excludes(parts[fixed:])

    def excludes(self, parts: Sequence[str]) -> bool:
        """Tell whether ``unwanted`` names a file or folder inside, or a folder that it is in."""
        if not self.unwanted:
            return False
        known, whole = len(self.above), [*self.above, *parts]
        ends = range(known + 1, len(whole) + 1)
        return any(
            matches(whole[start:end], pattern.split("/")) for pattern in self.unwanted for end in ends for start in range(end)
        )


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))


def _whole(path: GivenPath) -> tuple[str, ...]:
    """Return the names that a path from the root, or the key of a URL, consists of."""
    key = getattr(path, "key", None)
    return _parts(os.path.abspath(path) if key is None else key)


def patterns_of(glob: str | Sequence[str] | None, exclude: str | Sequence[str] | None = None) -> Patterns:
    """Return what ``glob`` and ``exclude`` say, alternatives in braces apart."""
    wanted, unwanted = ([given] if isinstance(given, str) else list(given or ()) for given in (glob, exclude))
    for pattern in wanted:
        if not isinstance(pattern, str) or not pattern or PurePosixPath(pattern).is_absolute():
            raise ParameterError(
                f"--glob (glob) must be a pattern of names inside the folder, such as '*.md'; got {pattern!r}", "glob", pattern
            )
    for pattern in unwanted:
        if not isinstance(pattern, str) or not _parts(pattern):
            raise ParameterError(
                f"--exclude (exclude) must be a pattern of names, such as '*.json' or 'old/'; got {pattern!r}",
                "exclude",
                pattern,
            )
    plain = ["/".join(_whole(pattern) if ".." in _parts(pattern) else _parts(pattern)) for pattern in unwanted]
    wanted, plain = ([one for pattern in some for one in expanded(pattern)] for some in (wanted, plain))
    return Patterns(wanted, plain)


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether the parts of a name match those of a pattern; those that begin with a dot match none without it."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return matches(parts, pattern[1:]) or (bool(parts) and parts[0][:1] != "." and matches(parts[1:], pattern))
    if not parts or (parts[0][:1] == "." and pattern[0][:1] != "."):
        return False
    return (parts[0] == pattern[0] or fnmatchcase(parts[0], pattern[0])) and matches(parts[1:], pattern[1:])


def says_hidden(patterns: Sequence[str]) -> bool:
    """Tell whether a pattern names what is hidden, such as ``.github/*.md``."""
    return any(part.startswith(".") for pattern in patterns for part in pattern.split("/"))


def is_marker(name: str) -> bool:
    """Tell files and folders in which programs keep accounts of what is beside them from documents."""
    return _MARKER.fullmatch(name) is not None


def is_archive(name: str) -> bool:
    """Tell by its name whether a file is an archive."""
    return suffix_of(name, ARCHIVES) is not None


def left_out(parts: Sequence[str], patterns: Patterns, suffixes: Collection[str]) -> str | None:
    """Say why a file in a folder is not read, as one of ``REASONS``; None: it is."""
    if any(map(is_marker, parts)):
        return "marker"
    if patterns.excludes(parts):
        return "excluded"
    hidden = next((i for i, part in enumerate(parts) if part.startswith(".")), len(parts))
    if any(matches(parts[start:], p.split("/")) for p in patterns.wanted for start in range(min(hidden + 1, len(parts)))):
        return None
    if hidden < len(parts):
        return "hidden" if hidden == len(parts) - 1 else "hidden_folder"
    if patterns.wanted:
        return "not_matched"
    return None if suffix_of(parts[-1], suffixes) is not None else "other_suffix"


def walk(folder: Path, enter: Callable[[os.DirEntry[str]], bool] | None = None) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield (name relative to the folder, entry) of everything below a folder, links not followed."""
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        with os.scandir(folder / inside) as entries:
            for entry in entries:
                name = f"{inside}{entry.name}"
                yield name, entry
                if entry.is_dir(follow_symlinks=False) and (enter is None or enter(entry)):
                    waiting.append(f"{name}/")


REASONS = {
    "other_suffix": "of no known text format",
    "not_matched": "not matched by the glob",
    "excluded": "excluded",
    "hidden": "hidden (named .x)",
    "hidden_folder": "hidden folders",
    "marker": "kept next to data by lookalike, Spark or the system",
    "no_extra": "of a format whose extra is not installed",
    "binary": "binary",
    "linked_twice": "linked to a file that is read",
    "broken_link": "broken links",
    "linked_folder": "linked folders",
    "folder": "folders",
    "not_regular": "special (pipe, socket or device)",
    "odd_member": "in an archive, by a name that points outside it",
    "replaced": "in an archive before others of the same name",
    "nested": "nested archives",
    "encrypted": "encrypted",
    "unreadable": "that cannot be read",
    "odd_name": "named with an empty part (//), which cannot be read",
}
_PER_REASON, _NAMED = 3, 10
_SUFFIXES = 8  # that are listed


@dataclass(eq=False)
class Skipped:
    """Files that were left out, by reason: how many, and the first names; those of no known format by their suffixes."""

    counts: Counter[str] = field(default_factory=Counter)
    names: dict[str, list[str]] = field(default_factory=dict)
    suffixes: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)  # of what cannot be read

    @contextmanager
    def passing(self, passing: bool) -> Iterator[None]:
        """Count what cannot be read, where it is passed over."""
        try:
            yield
        except InputDataError as error:
            if not passing:
                raise
            self.errors.append(str(error))
            self.add("unreadable", str(error))

    def add(self, reason: str, name: str) -> None:
        """Count a file; ``reason`` is one of ``REASONS``."""
        self.counts[reason] += 1
        if reason == "other_suffix":
            *_, before, last = ["", "", *PurePath(name.lower()).suffixes]
            self.suffixes[before + last if last in PACKED else last] += 1
        some = self.names.setdefault(reason, [])
        if len(some) < _PER_REASON:
            some.append(show_path(name))

    def update(self, other: Skipped) -> None:
        self.counts.update(other.counts)
        self.suffixes.update(other.suffixes)
        for reason, names in other.names.items():
            self.names[reason] = (self.names.get(reason, []) + names)[:_PER_REASON]

    def to_dict(self) -> dict[str, Any]:
        """Return ``files``, ``by_reason``, ``by_suffix`` (of those of no known format) and the first ``names``."""
        names = [name for reason in sorted(self.names, key="binary".__ne__) for name in self.names[reason]]
        suffixes = dict(sorted(self.suffixes.items(), key=lambda one: (-one[1], one[0])))
        return {
            "files": self.counts.total(), "by_reason": dict(self.counts), "by_suffix": suffixes, "names": names[:_NAMED],
        }  # fmt: skip


_PANDOC = "pandoc FILE -t plain -o FILE.txt"
_TEXT_OF = {
    ".rtf": _PANDOC, ".pptx": _PANDOC,
    ".doc": "libreoffice --headless --convert-to txt FILE", ".xlsx": "libreoffice --headless --convert-to csv FILE",
    ".arc": "warcio recompress FILE FILE.warc.gz", ".arc.gz": "warcio recompress FILE FILE.warc.gz",
    ".ipynb": "jupyter nbconvert --to markdown FILE",
}  # fmt: skip
_NO_TEXT = (
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff", ".bmp", ".heic", ".ico", ".mp3", ".wav", ".flac", ".ogg", ".mp4",
    ".mov", ".mkv", ".avi", ".webm",
)  # fmt: skip


def way_to_text(suffixes: Iterable[str]) -> str | None:
    """Say how text is got out of files of some suffixes, or that there is none; None: nothing is known of them."""
    some = list(suffixes)
    way = next((suffix for suffix in some if suffix in _TEXT_OF), None)
    if way is not None:
        return f"{way} is not read: extract its text first, for example with: {_TEXT_OF[way]}"
    return "lookalike compares text, not images, sound or video" if some and all(one in _NO_TEXT for one in some) else None


def describe_reasons(skipped: dict[str, Any]) -> str:
    """Say why files were left out: "12 .pdf, 3 .docx: of no known text format; 1 binary"."""
    known = [f"{n:,} {printable(suffix) or 'without suffix'}" for suffix, n in skipped.get("by_suffix", {}).items()]
    more = [f"{len(known) - _SUFFIXES:,} more suffixes"] if len(known) > _SUFFIXES else []
    reasons = [
        f"{n:,} {REASONS[reason].removesuffix('s' * (n == 1))}"
        for reason, n in skipped["by_reason"].items()
        if reason != "other_suffix" or not known
    ]
    listed = f"{', '.join(known[:_SUFFIXES] + more)}: {REASONS['other_suffix']}" if known else ""
    return "; ".join(filter(None, (listed, ", ".join(reasons))))


def describe_skipped(skipped: dict[str, Any]) -> str:
    """Say what ``Skipped.to_dict`` counted: "3 (1 .pdf, 1 .docx: of no known text format; 1 broken link: a, b)"."""
    names = ", ".join(map(printable, skipped["names"])) + (", ..." if skipped["files"] > len(skipped["names"]) else "")
    return f"{skipped['files']:,} ({describe_reasons(skipped)}: {names})"


def usual(path: Path, entry: os.DirEntry[str], skipped: Skipped) -> os.stat_result | None:
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
