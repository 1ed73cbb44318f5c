"""Whether an output may be written: where it is, what it would replace, and that it meets no input."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from ..errors import OutputError
from .atomic import remove_leftovers
from .folders import SIDECAR, check_folder, recover
from .names import shown, suffix_of
from .places import Place
from .urls import check_on_disk


def check_output(
    path: str | Path, force: bool, *, single: bool, described: bool = False, suffixes: Collection[str] = ()
) -> Path:
    """Return the path to write to, symbolic links followed, if it may be written to."""
    check_on_disk(
        path,
        "where only --engine spark writes documents (-o), and nothing but sketches (--save-sketches) is written beside them: "
        "write on this machine, and copy what is written",
    )
    given, path = shown(path), Path(path)
    try:
        with suppress(FileNotFoundError):  # before links are followed: that of /dev/stdout leads to no name
            if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
                raise OutputError(
                    f"{given} is a pipe or a device; an output must be a file, a folder, or - for standard output"
                )
        if path.is_symlink():
            path = Path(os.path.realpath(path))
            if suffix_of(path, suffixes) != suffix_of(given, suffixes):
                raise OutputError(f"{given} is a link to {shown(path)}, whose suffix is another one; name that file instead")
        if not single:
            recover(path)
        with suppress(FileNotFoundError):
            mode = path.stat().st_mode
            if not force:
                raise OutputError(f"{given} exists; pass --force (force=True) to replace it, or choose another name")
            if single == stat.S_ISDIR(mode):
                kind = ("one file", "directory") if single else ("a directory", "file")
                raise OutputError(f"the output {given} means {kind[0]}, but a {kind[1]} of that name exists")
            if not single:
                check_folder(path)
        if single and described:
            check_sidecar(path)
        parent = next(p for p in path.absolute().parents if os.path.lexists(p))
        if not stat.S_ISDIR(parent.stat().st_mode):
            raise OutputError(f"{given}: cannot be written: {shown(parent)} is not a folder")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise OutputError(f"{given}: no permission to write into {shown(parent)}")
        remove_leftovers(path)
        if single and described:
            remove_leftovers(path.with_name(path.name + SIDECAR))
    except OutputError:
        raise
    except (OSError, ValueError) as error:
        raise OutputError(f"{given}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return path


def check_sidecar(path: Path) -> None:
    """Check that the file that says how an output was made takes nobody else's place."""
    sidecar = path.with_name(path.name + SIDECAR)
    with suppress(FileNotFoundError):
        sidecar.lstat()
        try:
            held = json.loads(sidecar.read_bytes())
        except (IsADirectoryError, ValueError, RecursionError):
            held = None
        if not isinstance(held, dict) or not ({"lookalike", "inputs"} <= held.keys() or "index" in held):
            raise OutputError(
                f"{shown(sidecar)} exists, and no earlier run wrote it: the description of {shown(path)} "
                "would replace it; move it, or choose another name"
            )


def check_apart(output: str | Path, places: Sequence[Place], also: Sequence[str | Path] = (), *, single: bool) -> None:
    """Check that outputs do not meet inputs or one another."""
    real = Path(os.path.realpath(output))
    for other in map(Path, map(os.path.realpath, also)):
        if other == real or (not single and other.is_relative_to(real)):
            raise OutputError(
                f"{shown(other)} is, or is inside, the output {shown(output)}; choose another name for one of them"
            )
    written = [real, real.with_name(real.name + SIDECAR)] if single else []
    for path in written:
        known = _file_number(path)
        for place in places if known is not None else ():
            if (place.device, place.inode) == known:
                raise OutputError(
                    f"the output {shown(output)} would replace the input {place.name}; choose another name"
                    + ("" if path == real else f" (its description is written to {shown(path)})")
                )
    if single:
        return
    number = _file_number(real)
    above = {_file_number(p) for p in real.parents} - {None}
    for root in dict.fromkeys(place.root for place in places if isinstance(place.root, Path)):
        if _file_number(root) in above or _file_number(root) == number:
            raise OutputError(
                f"the output folder {shown(output)} is inside the input folder {shown(root)}, which the next run would read; "
                "name a folder outside it"
            )
    if number is None:
        return
    parents = dict.fromkeys(os.path.dirname(os.path.abspath(p)) for place in places for p in place.names())
    inside = {folder for folder in parents if any(_file_number(p) == number for p in (Path(folder), *Path(folder).parents))}
    for place in places:
        if any(os.path.dirname(os.path.abspath(p)) in inside for p in place.names()):
            raise OutputError(
                f"the output folder {shown(output)}, which is replaced as a whole, contains the input {place.name}; "
                "name another folder"
            )


def _file_number(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Return what tells a file from others whatever its name, or None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def check_names(names: Sequence[str]) -> None:
    """Check that files written into one folder get different names, none of them that of the description."""
    taken = set()
    for name in names:
        if name == SIDECAR:
            raise OutputError(
                f"an input is named {SIDECAR}, as the description of the output folder is; "
                "rename the input, or write one file such as out.jsonl"
            )
        if name in taken:
            raise OutputError(f"two inputs would be written as {shown(name)}; rename one, or write one file such as out.jsonl")
        taken.add(name)
    for name in names:
        folder = os.path.dirname(name)
        while folder:
            if folder in taken:
                raise OutputError(
                    f"one input would be written as the file {shown(folder)}, another into a folder of that name; "
                    "rename one, or write one file such as out.jsonl"
                )
            folder = os.path.dirname(folder)
