"""The secret of a job, or of an index, in a file that its owner alone may read."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from zlib import crc32

from ..errors import IndexFormatError, OutputError
from .atomic import atomic_file
from .urls import AnyPath, Url

SECRET = "secret"
BYTES = 16
_MAGIC = b"lookalike secret"


def new_secret() -> bytes:
    """Draw a secret from the system's randomness."""
    return os.urandom(BYTES)


def read_secret(folder: AnyPath) -> bytes | None:
    """Return the secret that lies in a folder; None if there is no such file, or it is none of ours."""
    with suppress(OSError):
        path = folder / SECRET
        if isinstance(path, Url) or stat.S_ISREG(path.lstat().st_mode):
            return secret_in(path.read_bytes())
    return None


def secret_in(held: bytes) -> bytes | None:
    """Return the secret that a file of these bytes holds; None if it is none of ours."""
    secret = held[len(_MAGIC) : len(_MAGIC) + BYTES]
    return secret if held == bytes_of(secret) and len(secret) == BYTES else None


def bytes_of(secret: bytes) -> bytes:
    return _MAGIC + secret + crc32(secret).to_bytes(4, "little")


def token_of(secret: bytes) -> str:
    """Return a name that tells a secret from others, and nothing of it."""
    return sha256(b"token" + secret).hexdigest()[:16]


def known_secret(folder: Path, token: str) -> bytes:
    """Return the secret of a token, which must lie in a folder."""
    return checked(read_secret(folder), token, folder)


def checked(secret: bytes | None, token: str, folder: AnyPath) -> bytes:
    """Return the secret that was found in a folder, if it is that of a token."""
    if secret is None or token_of(secret) != token:
        raise IndexFormatError(
            "missing, damaged, unreadable, or of another job: the files in the folder cannot be used without it; empty "
            "the folder and start again",
            folder / SECRET,
        )
    return secret


def write_secret(folder: AnyPath, secret: bytes) -> None:
    """Write a secret, in place of one that was left behind; who may read it on a store, the store alone says."""
    path = folder / SECRET
    if isinstance(path, Url):
        path.write_bytes(bytes_of(secret))
        return
    if os.path.lexists(path) and read_secret(folder) is None:
        raise OutputError("this file exists, but is not the secret of a job; name another folder", path)
    with atomic_file(path, compress=False, mode=0o600) as stream:
        stream.write(bytes_of(secret))
