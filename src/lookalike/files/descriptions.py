"""Descriptions of saved folders: JSON with a checksum, and a seal by which their user knows them again.

What a description says is checked as if a stranger had written it, since anybody can redo a checksum. Nobody else can make the
seal: it is keyed with a secret that is drawn once for each user, in the folder that systems have for a program's state.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta

from .. import __version__
from ..errors import InputDataError, OutputError, ParameterError
from .names import GivenPath, show_path
from .secrets import SECRET, new_secret, read_secret, write_secret
from .streams import why
from .urls import AnyPath, Url, as_url, is_inside, path_of

Count = Annotated[int, Meta(ge=0, le=1 << 62)]
FileName = Annotated[str, Meta(min_length=1, pattern=r"^[^\0]*\Z")]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Description(Generic[T]):
    """A description that was read: as it is and as values of known types, its checksum, and whether its user sealed it."""

    said: dict[str, Any]
    typed: T
    checksum: str
    own: bool


def checksum_of(said: Mapping[str, Any], key: bytes = b"") -> str:
    """Return a checksum of a description, whatever the order of its keys; with a key, its seal."""
    from hashlib import blake2b  # here, for what is not needed to start

    return blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=16, key=key).hexdigest()


def encoded(said: Mapping[str, Any], own: bool = True) -> bytes:
    """Return the file of a description; it is sealed unless it names files that somebody else chose (``own`` is False)."""
    key = _key(make=True) if own else None
    held = {**said, **({} if key is None else {"seal": checksum_of(said, key)})}
    return json.dumps({"checksum": checksum_of(held), **held}, indent=2).encode() + b"\n"


def read_description(path: AnyPath, kind: type[T], newest: int, what: str) -> Description[T]:
    """Read a description, of which ``newest`` is the newest format known; ``what`` it describes is for messages."""
    name = show_path(path)
    try:
        if not isinstance(path, Url) and path.exists() and not path.is_file():
            raise InputDataError("not a file", name)
        said = json.loads(path.read_bytes())
        checksum, form, version = said.pop("checksum"), said["format"], said["lookalike"]
        found = checksum_of(said)
    except (FileNotFoundError, NotADirectoryError, InputDataError):
        raise
    except OSError as error:
        raise InputDataError(f"cannot be read: {why(error)}", name) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputDataError(f"damaged, or not the description of {what}", name) from None
    if isinstance(form, int) and form > newest:
        raise InputDataError(f"saved by lookalike {version}, which this version ({__version__}) cannot read: upgrade", name)
    if checksum != found:
        raise InputDataError("damaged or changed: the checksum does not match", name)
    seal, key = said.pop("seal", None), _key()
    try:
        typed = msgspec.convert(said, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise damaged(path, error) from None
    return Description(said, typed, checksum, key is not None and seal == checksum_of(said, key))


def damaged(path: AnyPath, error: object) -> InputDataError:
    """The error for a file whose checksum matches, and which says what no file of ours says."""
    return InputDataError(f"damaged: {error!s:.200}", path)


def _key(make: bool = False) -> bytes | None:
    """Return what this user's seals are made with; None if there is none, and no place to keep one."""
    with suppress(OSError, OutputError, RuntimeError):  # the last: there is no home folder
        base = os.environ.get("XDG_STATE_HOME", "")
        folder = (Path(base) if os.path.isabs(base) else Path.home() / ".local/state") / "lookalike"
        if make and not os.path.lexists(folder / SECRET):
            import shutil  # here, for what is not needed to start
            import tempfile

            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = Path(tempfile.mkdtemp(prefix=".", dir=folder))
            try:
                write_secret(new, new_secret())
                with suppress(FileExistsError):  # of jobs that begin together, one is the first
                    os.link(new / SECRET, folder / SECRET)
            finally:
                shutil.rmtree(new)
        status = (folder / SECRET).lstat()
        if status.st_uid == os.geteuid() and not status.st_mode & 0o077:  # of what others can read or write, anybody's
            return read_secret(folder)
    return None


def places_named(given: GivenPath | Sequence[GivenPath]) -> tuple[AnyPath, ...]:
    """Return the files, folders and URLs that a user trusts: one, or several."""
    named = [given] if isinstance(given, str | os.PathLike) else given
    if "" in named:
        raise ParameterError("trust must name files, folders or URLs; got an empty path: name '.' for the current folder")
    return tuple(map(path_of, named))


def check_trusted(folder: AnyPath, names: Sequence[str], trusted: Sequence[AnyPath] | None) -> list[str]:
    """Return the paths, of those a saved folder names, that may be read: all, or those in places its user named.

    No disk and no store is asked about the others.
    """
    found = [name for name in names if trusted is None or is_trusted(name, trusted)]
    if not found:
        raise InputDataError(
            f"you did not save it on this machine, or XDG_STATE_HOME has changed, so nothing is read from the place "
            f"that it names for its texts ({show_path(names[0])}); if you know that place, name it, or a folder around it: "
            f"--trust PATH (trust=)",
            folder,
        )
    return found


def is_trusted(name: str, trusted: Sequence[AnyPath]) -> bool:
    """Tell whether a path is in a place that its user named."""
    return any(_is_in(name, place) for place in trusted)


def _is_in(name: str, place: AnyPath) -> bool:
    """Tell whether a path is in a place, by its name and with links followed; a URL with ".." is in none.

    By its name first: where other machines are mounted when they are asked for, following links would ask them.
    """
    if (url := as_url(name, ask=False)) is not None:
        return ".." not in url.key.split("/") and is_inside(url, place)
    if isinstance(place, Url) or "\0" in name:
        return False
    path = Path(os.path.abspath(name))
    return any(path.is_relative_to(one(place)) for one in (os.path.abspath, os.path.realpath)) and is_inside(path, place)
