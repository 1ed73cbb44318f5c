"""Text files: each file is a document, and a kept file is copied as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import InputDataError, ParameterError
from ..files.atomic import BLOCK, read_blocks, read_raw
from ..files.places import Place
from ..text.texts import Texts
from .sources import Batch, Columns, Record, check_unchanged, numbers_from

BATCH_FILES = 1024


class TextFilesSource:
    """Files of plain text, one document each; the default id is the file's path."""

    format = "txt"

    def __init__(self, places: list[Place]) -> None:
        self.places: Sequence[Place] = places
        self.name, self.relative = places[0].name, places[0].relative

    def label(self, number: int) -> Any:
        """Return the path of the file of a number, from 1."""
        return self.places[number - 1].name

    def identity(self) -> Record:
        """Return how many files there are, their bytes, and what tells their names, sizes and times of change from others'."""
        known = blake2b(digest_size=16)
        for place in self.places:
            known.update(f"{place.name}\0{place.size}\0{place.modified_ns}\0".encode())
        once = {"read_once": True} if any(place.spool is not None for place in self.places) else {}
        n_bytes = sum(place.size for place in self.places)
        return {"name": self.name, "files": len(self.places), "bytes": n_bytes, "digest": known.hexdigest()} | once

    def expected(self, text: str) -> tuple[int, int]:
        """Return the number of files and their bytes."""
        return len(self.places), sum(place.size for place in self.places)

    def check_unchanged(self) -> None:
        """Raise InputDataError if a file changed since it was first met."""
        check_unchanged(self.places)

    @staticmethod
    def read(path: Path) -> bytes:
        """Return a file's bytes."""
        return b"".join(read_blocks(path))

    @staticmethod
    def copy(place: Place, stream: BinaryIO) -> None:
        """Write a file's own bytes into a stream."""
        for block in read_raw(place.path):
            stream.write(block)

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the files; there are no columns but the text."""
        if columns.id is not None or columns.others:
            names = [*([columns.id] if columns.id else []), *columns.others]
            raise ParameterError(f"text files have no columns; {', '.join(names)} was asked for")
        first = 1
        for some in self._batched():
            contents = [self.read(place.path) for place in some]
            if columns.encoding_errors == "strict":
                for place, content in zip(some, contents, strict=True):
                    _check_text(place.name, content)
            offsets = np.zeros(len(some) + 1, np.int64)
            np.cumsum([len(content) for content in contents], out=offsets[1:])
            texts = Texts(np.frombuffer(b"".join(contents), np.uint8), offsets)
            yield Batch(texts, numbers_from(first, len(some)))
            first += len(some)

    def _batched(self) -> Iterator[list[Place]]:
        some: list[Place] = []
        size = 0
        for place in self.places:
            some.append(place)
            size += place.size
            if len(some) == BATCH_FILES or size > BLOCK:
                yield some
                some, size = [], 0
        if some:
            yield some

    def check_free(self, names: Sequence[str]) -> None:
        """Do nothing: there are no columns."""

    def records(self, encoding_errors: str = "strict") -> Iterator[tuple[int, Record]]:
        """Read all files as dictionaries of id and text, each with its number."""
        self.check_unchanged()
        for number, place in enumerate(self.places, 1):
            yield number, {"id": place.name, "text": self.read(place.path).decode("utf-8", "replace")}


def _check_text(name: str, content: bytes) -> None:
    """Refuse what is no text in UTF-8."""
    hint = " (it looks like UTF-16)" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
    way_out = "convert the file, or pass --encoding-errors replace to go on"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputDataError(f"{name}: invalid UTF-8 at byte {error.start} of the file{hint}; {way_out}") from None
    if (place := content.find(0)) >= 0:
        raise InputDataError(f"{name}: NUL, which no text contains, at byte {place} of the file: it may be binary; {way_out}")
