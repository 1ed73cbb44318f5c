"""Text files, source code among them: each file is a document, and a kept file is copied as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any, TypeVar

import numpy as np

from ..errors import InputDataError, ParameterError
from ..files.ahead import begun
from ..files.folder import Unfinished
from ..files.names import packed
from ..files.places import Place
from ..files.streams import BLOCK, read_blocks, read_raw
from ..files.urls import Url
from ..text.texts import Texts
from ..values.arrays import runs
from .format import Format, Selection, unpacked_size
from .split import Batch, Columns, FinalError, Record, Split, marked, numbers_from, reason_of

Content = TypeVar("Content")
BATCH_FILES = 1024
OPENED = 1 << 16  # bytes that take as long to read as a file to open, about
_SUFFIXES = (
    ".txt", ".md", ".rst", ".py", ".text", ".markdown", ".adoc", ".org", ".tex", ".pyi", ".c", ".h",
    ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".cs", ".java", ".kt", ".scala", ".js", ".mjs", ".jsx", ".ts", ".tsx", ".go", ".rs",
    ".rb", ".php", ".pl", ".lua", ".r", ".jl", ".swift", ".hs", ".ml", ".clj", ".ex", ".erl", ".f90", ".sh", ".bash", ".ps1",
    ".sql", ".css", ".scss",
)  # fmt: skip


class TextFiles(Format):
    """Plain text, a document in each file; the default id is the file's path."""

    name = "txt"
    suffixes = packed(*_SUFFIXES)
    rows_are_files = True
    counts_rows = True
    has_columns = False
    recovers = True

    def sniff(self, head: bytes) -> bool:
        """Tell a text from what begins with bytes that no text has."""
        return b"\0" not in head

    def splits(self, places: Sequence[Place]) -> list[Split]:
        """Return all files as one split."""
        first = places[0]
        return [Split(form=self, name=first.name, relative=first.relative, places=tuple(places))]

    def label(self, split: Split, number: int) -> Any:
        """Return the path of the file of a number, from 1."""
        return split.place_of(number).name

    file = label

    def pieces(self, split: Split, n_bytes: int) -> list[tuple[int, Split]]:
        """Return runs of files, each of which counts as ``OPENED`` bytes more."""
        sizes = np.array([place.size + OPENED for place in split.places], np.int64)
        return [
            (begin, replace(split, places=split.places[begin:end], groups=(begin, end)))
            for begin, end in runs((np.cumsum(sizes) - sizes) // n_bytes)
        ]

    def names_in_folder(self, split: Split) -> list[str]:
        return [place.relative for place in split.places]

    def identity(self, split: Split) -> Record:
        """Return how many files there are, their bytes, and what tells their names, sizes and times of change from others'."""
        from hashlib import blake2b  # here, for what is not needed to start

        known = blake2b(digest_size=16)
        for place in split.places:
            known.update(f"{place.name}\0{place.size}\0{place.modified_ns}\0".encode())
        once = {"read_once": True} if any(place.spool is not None for place in split.places) else {}
        n_bytes = sum(place.size for place in split.places)
        return {"name": split.name, "files": len(split.places), "bytes": n_bytes, "digest": known.hexdigest()} | once

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Return the number of files and, of those that are compressed about, their bytes."""
        return len(split.places), sum(map(unpacked_size, split.places))

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Read the files; there are no columns but the text."""
        if columns.id is not None or columns.others:
            names = [*([columns.id] if columns.id else []), *columns.others]
            raise ParameterError(
                f"text files have no columns; {', '.join(names)} was asked for: leave out {split.name} and others "
                "(--exclude PATTERN (exclude=)), or do without the column"
            )
        size = 0
        contents: list[bytes | None] = []
        wrong: dict[int, str] = {}
        for number, place, content in contents_of(split, partial(_text_of, strict=columns.encoding_errors == "strict")):
            if isinstance(content, InputDataError):
                wrong[len(contents)] = reason_of(replace(split, name=place.name), content)
                content = None
            contents.append(content)
            size += len(content or b"")
            del content
            if len(contents) == BATCH_FILES or size > BLOCK or place is split.places[-1]:
                yield replace(_batch(contents, number + 1 - len(contents)), unreadable=wrong)
                size, wrong = 0, {}

    def rows(self, split: Split, encoding_errors: str) -> Iterator[tuple[int, Record]]:
        """Read all files as dictionaries of id and text, each with its number."""
        for number, place, content in contents_of(split, partial(_text_of, strict=False)):
            text = content.decode("utf-8", "replace") if isinstance(content, bytes) else None
            del content  # not held beside the text, nor this while the next is read
            yield number, {"id": place.name, "text": text}
            del text

    def check_free(self, split: Split, names: Sequence[str]) -> None:
        """Do nothing: there are no columns."""

    def write_alike(self, folder: Unfinished, selection: Selection, provenance: Record) -> None:
        if selection.added is not None:
            raise ParameterError("text files cannot be annotated; name an output file such as annotated.jsonl")
        split, cuts = selection.split, selection.cuts
        split.check_unchanged()
        ranges_of = repeat(None) if cuts is None else cuts.of_rows(len(selection.mask))
        for place, kept, ranges in zip(split.places, selection.mask, ranges_of, strict=cuts is not None):
            if kept and cuts is not None and ranges:
                with folder.file(place.relative) as stream:
                    stream.write(cuts.bytes(content_of(place, split) or b"", ranges))
            elif kept:
                with folder.file(place.relative, compress=False) as stream:
                    for block in read_raw(place.path):
                        stream.write(block)
        selection.split.check_unchanged()


def contents_of(split: Split, read: Callable[[Place, Split], Content]) -> Iterator[tuple[int, Place, Content]]:
    """Yield the files, each with its number and what is read of it."""

    def reads(numbered: tuple[int, Place]) -> tuple[int, Callable[[], Iterator[tuple[int, Place, Content]]]]:
        number, place = numbered
        return (place.size + 1) * isinstance(place.path, Url), lambda: ((number, one, read(one, split)) for one in (place,))

    for one in begun(map(reads, split.numbered)):
        yield next(one)


def content_of(place: Place, split: Split) -> bytes | None:
    """Return a file's bytes, or None if they are too many and it is left out."""
    blocks, size = [], 0
    for block in read_blocks(place.path, noted=split.noted, kinds=split.form.kinds):
        size += len(block)
        if size > split.limit.most:
            if split.limit.skip:
                return None
            raise replace(split, name=place.name).too_large()
        blocks.append(block)
    return b"".join(blocks)


def _text_of(place: Place, split: Split, strict: bool) -> bytes | InputDataError | None:
    """Return what ``content_of`` does, or why there is nothing, where that is no reason to stop."""
    try:
        content = content_of(place, split)
        if strict:
            _check_text(place.name, content or b"")
    except FinalError:
        raise
    except InputDataError as error:
        if not split.limit.faults:
            raise
        return error
    return content


def _batch(contents: list[bytes | None], first: int) -> Batch:
    """Return files as rows, numbered from ``first``; the contents are taken out of the list, not to be held twice."""
    n, skipped = len(contents), marked(len(contents), [i for i, content in enumerate(contents) if content is None])
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum([len(content or b"") for content in contents], out=offsets[1:])
    together = b"".join([content or b"" for content in contents])
    contents.clear()
    return Batch(Texts(np.frombuffer(together, np.uint8), offsets), numbers_from(first, n), skipped=skipped)


def _check_text(name: str, content: bytes) -> None:
    """Refuse what is no text in UTF-8."""
    way_out = "convert the file, or pass --encoding-errors replace (encoding_errors='replace') to continue"
    texts = Texts(np.frombuffer(content, np.uint8), np.array([0, len(content)]))
    if (invalid := texts.find_invalid()) is not None:
        raise InputDataError(f"invalid UTF-8 at byte {invalid[1]} of the file; {way_out}", name) from None
    if (place := content.find(0)) >= 0:
        raise InputDataError(f"NUL, which no text contains, at byte {place} of the file: it may be binary; {way_out}", name)


FORMAT = TextFiles()
