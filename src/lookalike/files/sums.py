"""Digests of whole files, as ``sha256sum`` makes them."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputDataError
from .places import Place
from .streams import open_anywhere, why


def digest_of(places: Sequence[Place]) -> str | None:
    """Return the SHA-256 digest of a file; of several files, that of what ``sha256sum`` prints of them; None of no file."""
    from hashlib import file_digest, sha256  # here, for what is not needed to start

    lines = []
    for place in places:
        try:
            with open_anywhere(place.path) as stream:
                digest = file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise InputDataError(f"{place.name}: cannot be read: {why(error)}") from None
        if len(places) == 1:
            return digest
        lines.append(f"{digest}  {place.name}\n")
    return sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest() if lines else None
