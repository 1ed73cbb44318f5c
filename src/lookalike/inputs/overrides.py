"""What people decided by hand: documents that are to be kept, or removed, whatever a job finds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

from ..errors import InputDataError, ParameterError
from ..files.names import show_path
from ..files.urls import check_on_disk
from ..wording import json_fault, meant

ACTIONS = ("keep", "remove")
_KEYS = ("id", "action", "input", "sha256")
_DIGEST = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Override:
    """What is to become of a document."""

    id: str  # an integer is the same as its digits
    action: str
    line: int  # where it was found first, from 1
    digests: tuple[str, ...] = ()  # SHA-256 of the input that the id was given for, as far as known


@dataclass(frozen=True, slots=True)
class Overrides:
    """All overrides of a job."""

    name: str | None  # the file that they were read from; None: they were in memory
    keep: int  # documents to be kept
    remove: int  # documents to be removed
    sha256: str  # of the file, or of what one would hold
    entries: tuple[Override, ...] = field(default=(), repr=False, compare=False)  # one for each id; none of a loaded result

    def to_dict(self) -> dict[str, Any]:
        """Return what a result depends on."""
        return {"keep": self.keep, "remove": self.remove, "sha256": self.sha256}

    def place(self, entry: Override) -> str:
        """Say where an override was found."""
        return str(InputDataError("", **self.at(entry))).rstrip(": ")

    def at(self, entry: Override) -> dict[str, Any]:
        """Return where an override was found, as errors say it."""
        return _place(self.name, entry.line)

    def __str__(self) -> str:
        return self.name or "overrides"


def _place(name: str | None, line: int) -> dict[str, Any]:
    return {"path": "overrides", "row": line} if name is None else {"path": name, "line": line}


def read_overrides(given: Any) -> Overrides | None:
    if given is None or isinstance(given, Overrides):
        return given
    if isinstance(given, (str, os.PathLike)):
        return _from_file(os.fspath(given))
    if not isinstance(given, (list, tuple)):
        raise ParameterError(
            f"overrides must be a path, a list of dicts or None; got {given!r:.60}, of type {type(given).__name__}",
            "overrides",
            given,
        )
    import json  # here, for what is not needed to start
    from hashlib import sha256

    entries = _entries(enumerate(given, 1), None)
    lines = [{"id": e.id, "action": e.action} | ({"sha256": e.digests} if e.digests else {}) for e in entries]
    return _count_overrides(entries, None, sha256("".join(json.dumps(line) + "\n" for line in lines).encode()).hexdigest())


def _from_file(path: str) -> Overrides:
    """Read a file of JSON lines; lines of white space say nothing."""
    from hashlib import sha256

    check_on_disk(path, "and overrides are read from this machine: copy the file")
    name, digest = show_path(path), sha256()

    def lines() -> Iterator[tuple[int, Any]]:
        with open(path, "rb") as stream:
            for number, line in enumerate(stream, 1):
                digest.update(line)
                if line.strip():
                    yield number, _parsed(line, name, number)

    try:
        entries = _entries(lines(), name)
    except (OSError, ValueError) as error:
        if isinstance(error, InputDataError):
            raise
        raise InputDataError(f"cannot be read: {getattr(error, 'strerror', None) or error}", name) from None
    return _count_overrides(entries, name, digest.hexdigest())


def _count_overrides(entries: tuple[Override, ...], name: str | None, digest: str) -> Overrides:
    keep = sum(entry.action == "keep" for entry in entries)
    return Overrides(name, keep, len(entries) - keep, digest, entries)


def _parsed(line: bytes, name: str, number: int) -> Any:
    import json

    try:
        return json.loads(line.rstrip(b"\n"))
    except (ValueError, RecursionError) as error:
        raise InputDataError(f"not JSON: {json_fault(error):.100}", **_place(name, number)) from None


def _entries(lines: Iterable[tuple[int, Any]], name: str | None) -> tuple[Override, ...]:
    """Return one override for each id; what is said twice counts once."""
    found: dict[str, Override] = {}
    for line, value in lines:
        new = _checked(value, line, _place(name, line))
        old = found.get(new.id)
        if old is not None and old.action != new.action:
            raise InputDataError(
                f"{old.action} {new.id!r:.200} contradicts line {line}, {new.action}; leave one of them",
                **_place(name, old.line),
            )
        if old is not None:
            new = Override(old.id, old.action, old.line, tuple(dict.fromkeys((*old.digests, *new.digests))))
        found[new.id] = new
    return tuple(found.values())


def _checked(value: Any, line: int, place: dict[str, Any]) -> Override:
    if not isinstance(value, dict):
        raise InputDataError(f"an override is an object with id and action; got {value!r:.60}", **place)
    if unknown := [key for key in value if key not in _KEYS]:
        raise InputDataError(
            f"{unknown[0]!r:.60} is unknown; an override has {', '.join(_KEYS)}{meant(str(unknown[0]), _KEYS)}", **place
        )
    if missing := [key for key in _KEYS[:2] if key not in value]:
        raise InputDataError(f"{missing[0]} is missing; an override has {', '.join(_KEYS)}", **place)
    name, action, digest = value["id"], value["action"], value.get("sha256")
    if isinstance(name, bool) or not isinstance(name, (str, Integral)):
        raise InputDataError(f"id must be a string or an integer; got {name!r:.60}", **place)
    if action not in ACTIONS:
        hint = meant(str(action), ACTIONS)
        raise InputDataError(f"action must be keep or remove; got {action!r:.60}{hint}", **place)
    if not (value.get("input") is None or isinstance(value["input"], str)):
        raise InputDataError(f"input must be the name of a file, or null; got {value['input']!r:.60}", **place)
    if not (digest is None or (isinstance(digest, str) and len(digest) == 64 and _DIGEST.issuperset(digest.lower()))):
        raise InputDataError(f"sha256 must be 64 hexadecimal digits, or null; got {digest!r:.80}", **place)
    return Override(str(name), action, line, () if digest is None else (digest.lower(),))
