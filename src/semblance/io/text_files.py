"""Text files: each file is a document, and a kept file is copied as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputDataError, ParameterError
from ..text.texts import Texts
from .formats import BLOCK, read_blocks
from .sources import Batch, Columns, Record, numbers_from

BATCH_FILES = 1024


class TextFilesSource:
    """Files of plain text, one document each; the default id is the file's path."""

    format = "txt"

    def __init__(self, files: list[tuple[Path, str, str | None]]) -> None:
        self.files = files
        self.name = files[0][2] or str(files[0][0])
        self.relative = files[0][1]
        self._identity = self._stat()

    def label(self, number: int) -> Any:
        """Return the path of the file of a number, from 1."""
        path, _, name = self.files[number - 1]
        return name or str(path)

    def _stat(self) -> Record:
        found = []
        for path, _, _ in self.files:
            try:
                found.append(path.stat())
            except OSError as error:
                raise InputDataError(f"{path}: cannot be read: {error.strerror}") from None
        return {
            "name": self.name, "files": len(found), "bytes": sum(f.st_size for f in found),
            "modified_ns": max(f.st_mtime_ns for f in found),
        }  # fmt: skip

    def identity(self) -> Record:
        """Return the number of files, their bytes and the time of the last change, as they were when first met."""
        return self._identity

    def expected(self, text: str) -> tuple[int, int]:
        """Return the number of files and their bytes."""
        return len(self.files), self._identity["bytes"]

    def check_unchanged(self) -> None:
        """Raise InputDataError if a file changed since it was first met."""
        if self._stat() != self._identity:
            raise InputDataError(f"{self.name}: a file beside it or itself changed while it was worked on; run again")

    @staticmethod
    def read(path: Path) -> bytes:
        """Return a file's bytes."""
        return b"".join(read_blocks(path))

    def batches(self, columns: Columns) -> Iterator[Batch]:
        """Read the files; there are no columns but the text."""
        if columns.id is not None or columns.others:
            names = [*([columns.id] if columns.id else []), *columns.others]
            raise ParameterError(f"text files have no columns; {', '.join(names)} was asked for")
        first = 1
        for some in self._batched():
            contents = [self.read(path) for path, _, _ in some]
            if columns.encoding_errors == "strict":
                for (path, _, _), content in zip(some, contents, strict=True):
                    try:
                        content.decode("utf-8")
                    except UnicodeDecodeError as error:
                        hint = " (it looks like UTF-16)" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
                        raise InputDataError(
                            f"{path}: invalid UTF-8 at byte {error.start} of the file{hint}; "
                            "convert the file, or pass --encoding-errors replace to go on"
                        ) from None
            offsets = np.zeros(len(some) + 1, np.int64)
            np.cumsum([len(content) for content in contents], out=offsets[1:])
            texts = Texts(np.frombuffer(b"".join(contents), np.uint8), offsets)
            yield Batch(texts, numbers_from(first, len(some)))
            first += len(some)

    def _batched(self) -> Iterator[list[tuple[Path, str, str | None]]]:
        some: list[tuple[Path, str, str | None]] = []
        size = 0
        for file in self.files:
            some.append(file)
            size += file[0].stat().st_size
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
        for number, (path, _, _) in enumerate(self.files, 1):
            yield number, {"id": self.label(number), "text": self.read(path).decode("utf-8", "replace")}
