"""What says which job a work folder holds, so that the same job can be resumed and no other."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any
from zlib import crc32

from ..errors import IndexFormatError, ParameterError
from ..wording import printable
from .names import shown


def differences(old: Any, new: Any, name: str = "") -> list[str]:
    """Say in which entries two nested dictionaries differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        said = {k: str(k) if str(k).isprintable() else repr(k) for k in keys}
        return [d for k in keys for d in differences(old.get(k), new.get(k), f"{name}.{said[k]}" if name else said[k])]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [d for i, (a, b) in enumerate(zip(old, new, strict=True)) for d in differences(a, b, f"{name}[{i}]")]
    return [] if old == new else [f"{name} was {old!r:.200}, is {new!r:.200}"]


def check_same(name: str, held: Any, job: Any, resume: bool) -> None:
    """Check that the unfinished job that a work folder holds is the one that is to be resumed."""
    if not resume:
        raise ParameterError(
            f"{name}: holds an unfinished job; pass --resume (resume=True) to resume it, or name another folder"
        )
    changed = differences(held, job)
    if changed:
        raise ParameterError(
            f"{name}: holds a job with other parameters or inputs: {'; '.join(changed[:5])}; "
            "run with the old ones, or name another folder"
        )


def note_none(name: str) -> None:
    """Log that a folder holds no job that could be resumed."""
    import logging  # here, for what is not needed to start

    logging.getLogger("lookalike").info(printable(f"{name}: no job to resume; starting one"))


def damaged(path: str | os.PathLike[str]) -> IndexFormatError:
    """The error for what should say which job a folder holds."""
    name = shown(os.fspath(path))
    return IndexFormatError(f"{name}: damaged, or of another version; name another work folder, or empty this one")


def encoded_job(job: Any, token: str) -> bytes:
    """Return what the file of a job holds."""
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
