"""Which job a work folder holds, so that the same job can be resumed and no other; and work folders on object stores."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from zlib import crc32

from ..errors import IndexFormatError, ParameterError
from .folder import Store
from .names import GivenPath, first_few, show_path
from .secrets import SECRET, bytes_of, checked, new_secret, secret_in, token_of
from .store import reporting_at
from .urls import AnyPath, Url, check_writable

JOB, FINISHED = "job.json", "finished.json"
TABLES = "tables"
_UNNAMED = ("", "parameters", "shingling")  # what a user knows by the names inside
_UNUSABLE = "cannot be used as work folder"


def differences(old: Any, new: Any, name: str = "") -> list[str]:
    """Say in which entries two nested dictionaries differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        said = {k: str(k) if str(k).isprintable() else repr(k) for k in keys}
        inside = "" if name in _UNNAMED else f"{name}."
        return [d for k in keys for d in differences(old.get(k), new.get(k), inside + said[k])]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [d for i, (a, b) in enumerate(zip(old, new, strict=True)) for d in differences(a, b, f"{name}[{i}]")]
    return [] if old == new else [f"{name} was {old!r:.200}, is {new!r:.200}"]


def check_same(name: str, held: Any, job: Any) -> None:
    """Check that the unfinished job that a work folder holds is the one that is to be resumed."""
    changed = differences(held, job)
    if changed:
        raise ParameterError(
            f"{name}: holds an unfinished job with other parameters or inputs: {'; '.join(changed[:5])}; "
            "run with the old ones, name another folder, or start over (--force on the command line)"
        )


def no_job(folder: AnyPath, names: Iterable[str]) -> ParameterError:
    """The error for a folder that holds files of others."""
    return ParameterError(
        f"{show_path(folder)}: contains files that do not belong to a job ({first_few(names)}); name an empty or a new folder"
    )


def damaged(path: GivenPath) -> IndexFormatError:
    """The error for what should say which job a folder holds."""
    name = show_path(os.fspath(path))
    return IndexFormatError("damaged, or of another version; name another work folder, or empty this one", name)


def encoded_job(job: Any, token: str) -> bytes:
    written = {"job": job, "token": token}
    return json.dumps(written | {"crc32": _checksum(written)}).encode()


def job_in(data: bytes) -> dict[str, Any] | None:
    """Return the job, and its token, that a file of these bytes holds; None if it is damaged."""
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        held = json.loads(data)
        found = {name: held[name] for name in ("job", "token")}
        if _checksum(found) == held["crc32"] and isinstance(found["job"], dict) and isinstance(found["token"], str):
            return found
    return None


def _checksum(held: dict[str, Any]) -> int:
    return crc32(json.dumps([held[name] for name in ("job", "token")], sort_keys=True).encode())


class StoreWorkspace:
    """A work folder on an object store: what job it holds, the secret of the job, and a folder for its tables.

    A store has no locks. Two drivers that resume one job in one folder, against all advice, write files of different names, and
    both say of which files a table consists; the first that is done removes them all, and the other one stops with an error.
    Tables are in a folder that is named after the secret, so that no job takes those of another one for its own.
    """

    def __init__(self, folder: Url, job: dict[str, Any] | None) -> None:
        check_writable(folder)
        self.folder = folder
        self.secret = new_secret()
        """Known to this job alone, and kept while it can be resumed."""
        self._closed = False
        with reporting_at(folder, _UNUSABLE):
            self._open(json.loads(json.dumps(job)))

    def _open(self, job: dict[str, Any] | None) -> None:
        names = {entry.url.name for entry in self.folder.entries()}
        if foreign := names - {JOB, FINISHED, SECRET, TABLES}:
            raise no_job(self.folder, foreign)
        if FINISHED in names:  # the driver was killed before all was removed
            self._remove()
        elif JOB in names:
            held = job_in((self.folder / JOB).read_bytes())
            if held is None:
                raise damaged(self.folder / JOB)
            if job is not None:
                check_same(show_path(self.folder), held["job"], job)
            found = secret_in((self.folder / SECRET).read_bytes()) if SECRET in names else None
            self.secret = checked(found, held["token"], self.folder)
            return
        (self.folder / SECRET).write_bytes(bytes_of(self.secret))
        (self.folder / JOB).write_bytes(encoded_job(job, token_of(self.secret)))

    @property
    def tables(self) -> Url:
        return self.folder / TABLES / token_of(self.secret)

    @contextmanager
    def appearing(self, output: str, replace: bool) -> Iterator[tuple[str, bool]]:
        """Give the place to write an output to, as it is: what has appeared is not remembered."""
        yield output, replace

    @contextmanager
    def left_on_error(self) -> Iterator[None]:
        """Do nothing: there is no lock."""
        yield

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        with reporting_at(self.folder, _UNUSABLE):
            (self.folder / FINISHED).write_bytes(b"{}")  # first: what remains after a crash is known as waste
            self._remove()

    def _remove(self) -> None:
        """Remove everything; last of all what says that it is waste."""
        (self.folder / JOB).unlink(missing_ok=True)
        Store(self.folder / TABLES).remove()
        (self.folder / SECRET).unlink(missing_ok=True)
        (self.folder / FINISHED).unlink(missing_ok=True)
        with suppress(OSError):  # what a store may keep of a folder that is empty
            if self.folder.key and not any(True for _ in self.folder.entries()):  # a bucket is not ours
                self.folder.filesystem.delete_dir(self.folder.inside)
