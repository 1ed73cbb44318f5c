"""Keys that allow to read, or to read and write: a file that its owner alone can read."""

from __future__ import annotations

import hmac
import os
import re
import stat
import tomllib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from ..files.names import shown

LEAST = 16
_HASHED = re.compile(r"sha256:([0-9a-f]{64})", re.ASCII)
_PLAIN = re.compile(r"[!-~]{16,512}", re.ASCII)
READ, WRITE = "read", "write"


@dataclass(frozen=True, slots=True)
class Keys:
    """SHA-256 digests of the keys that allow to read, and of those that allow to write, and to read too."""

    read: tuple[bytes, ...]
    write: tuple[bytes, ...]

    def may(self, authorization: bytes) -> frozenset[str]:
        """Return what the holder of an ``Authorization`` header may do: nothing, read, or read and write.

        It takes the same time for any key: the key is hashed, and its digest compared with all others in constant time.
        """
        scheme, _, key = authorization.partition(b" ")
        if scheme.lower() != b"bearer":
            return frozenset()
        digest = sha256(key.strip()).digest()
        found = [[hmac.compare_digest(digest, known) for known in some] for some in (self.read, self.write)]
        if any(found[1]):
            return frozenset((READ, WRITE))
        return frozenset((READ,)) if any(found[0]) else frozenset()


def read_keys(path: str | os.PathLike[str]) -> Keys:
    """Read a file of keys: TOML, with lists ``read`` and ``write`` of keys, or of ``sha256:`` and 64 hexadecimal digits."""
    name = shown(Path(path))
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ParameterError(f"{name}: not a regular file")
            if status.st_mode & 0o077:
                mode = f"{stat.S_IMODE(status.st_mode):04o}"
                raise ParameterError(f"{name}: its mode is {mode}, so others can read or change it: chmod 600 {name}")
            if status.st_uid not in (os.geteuid(), 0):
                raise ParameterError(f"{name}: it belongs to another user")
            given = tomllib.load(file)
    except OSError as error:
        raise ParameterError(f"{name}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):  # the message could show a key
        raise ParameterError(f'{name}: not TOML; expected lines such as read = ["..."] and write = ["..."]') from None
    if stranger := sorted(set(given) - {READ, WRITE}):
        raise ParameterError(f"{name}: unknown entry {stranger[0]!r:.60}; expected read and write, each a list of keys")
    keys = Keys(_digests(name, READ, given.get(READ, [])), _digests(name, WRITE, given.get(WRITE, [])))
    if not keys.read and not keys.write:
        raise ParameterError(f'{name}: no keys in it; expected lines such as read = ["..."] and write = ["..."]')
    return keys


def _digests(name: str, entry: str, given: Any) -> tuple[bytes, ...]:
    """Return the digests of a list of keys; no message shows a key."""
    if not isinstance(given, list):
        raise ParameterError(f"{name}: {entry} must be a list of keys")
    out = []
    for i, key in enumerate(given):
        if isinstance(key, str) and (hashed := _HASHED.fullmatch(key)):
            out.append(bytes.fromhex(hashed[1]))
        elif isinstance(key, str) and not key.startswith("sha256:") and _PLAIN.fullmatch(key):
            out.append(sha256(key.encode()).digest())
        else:
            raise ParameterError(
                f"{name}: key {i} of {entry} must be text of {LEAST} to 512 printable ASCII characters without spaces, or "
                "sha256: and the 64 hexadecimal digits of its SHA-256"
            )
    return tuple(out)
