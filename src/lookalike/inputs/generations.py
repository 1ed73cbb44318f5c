"""Generations: folders of saved sketches in one folder, in the order of their names, and an account of their jobs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from .. import __version__
from ..errors import InputDataError, ParameterError
from ..files.descriptions import encoded, read_description
from ..files.names import GivenPath, show_path, walk
from ..files.places import digest_of, place_of
from .counts import Counts
from .sketch_rows import DESCRIPTION, GENERATIONS
from .sketches import described_in, saved_in

FORMAT = 1
FIRST = "000001"
LOCK = ".lookalike_lock"
"""Locked by the process that adds to the folder; it is not empty if there was an account."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,99}")


class Job(Struct):
    """A job that made a generation."""

    generation: str
    inputs: str  # a digest of what identifies them
    parameters: dict[str, Any]
    before: list[str]  # checksums of the generations that there were
    output: str


class Account(Struct):
    """What is known of a generation beside its sketches: the jobs that made it."""

    name: str
    checksum: str
    jobs: list[Job]


class _Accounts(Struct):
    generations: list[Account]


@dataclass(frozen=True, slots=True)
class Generation:
    """A folder of saved sketches, and what is known of it."""

    name: str
    folder: Path
    checksum: str
    documents: int
    bytes: int
    written: float
    """When: seconds since 1970."""
    inputs: tuple[str, ...]
    """Names of the files, or other inputs, that documents were kept of."""
    account: Account | None
    counts: Counts | None = None
    """What the job counted, and of which documents; None: it did not count."""

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs that are known to have made it."""
        return () if self.account is None else self.account.jobs


def generations_in(folder: Path) -> list[Generation]:
    """Return the generations in a folder, which has nothing else."""
    accounts, path = {}, folder / GENERATIONS
    if path.exists():
        known = read_description(path, _Accounts, FORMAT, "generations").typed
        accounts = {(one.name, one.checksum): one for one in known.generations}
    found = []
    for one in saved_in(folder):
        if not isinstance(one, Path) or one == folder:
            raise InputDataError(" holds the sketches of one job: name the folder that it is in, or a new one", folder)
        described = described_in(one)
        typed = described.typed
        rows, n_bytes = (sum(getattr(file, name) for file in typed.files) for name in ("rows", "bytes"))
        found.append(
            Generation(
                one.name, one, described.checksum, rows, n_bytes, (one / DESCRIPTION).stat().st_mtime,
                tuple(name for some in typed.inputs for name in [file.name for file in some.files or ()] or [some.name]),
                accounts.get((one.name, described.checksum)),
                typed.counts,
            )
        )  # fmt: skip
    others = [name for name in os.listdir(folder) if not name.startswith(".") and name != GENERATIONS]
    if not found and others:
        raise InputDataError(
            f" contains something other than saved sketches ({show_path(min(others))}): name another folder", folder
        )
    lock = folder / LOCK
    if found and not path.exists() and lock.exists() and lock.stat().st_size:
        raise InputDataError(
            f"{show_path(path)} is missing: without it, jobs that ran before are not known, and would be added again; "
            f"put it back, or remove {show_path(lock)} to go on without it"
        )
    return found


def encoded_accounts(accounts: list[Account]) -> bytes:
    """Return the file of an account of generations."""
    return encoded({"lookalike": __version__, "format": FORMAT, **to_builtins(_Accounts(accounts))})


def next_name(last: str | None, wanted: str | None) -> str:
    """Return the name of a new generation: as wanted, or the last one's with its number plus one."""
    number = re.search(r"\d+\Z", last or FIRST)
    name = FIRST if wanted is None else wanted
    if wanted is None and last is not None:
        name = f"{last[: number.start()]}{int(number[0]) + 1:0{len(number[0])}}" if number else f"{last}-{FIRST}"
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ParameterError(f"a generation is named with letters, digits, and . _ = -; got {name!r}")
    if last is not None and name <= last:
        raise ParameterError(
            f"generations are ordered by name, and a new one comes after {show_path(last)}, which {name} does not: "
            "name it with --generation (generation=)"
        )
    return name


def digest_of_output(output: GivenPath) -> str:
    """Return a digest of an output: of a file, or of all files of a folder and their names."""
    path = Path(output)
    if not path.is_dir():
        return str(digest_of([place_of(path, path.name, path.name)]))
    names = sorted(name for name, entry in walk(path) if not entry.is_dir(follow_symlinks=False))
    return str(digest_of([place_of(path / name, name, show_path(name)) for name in names]))
