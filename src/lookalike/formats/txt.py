"""Text files, source code among them: each file is a document, and a kept file is copied as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputDataError, ParameterError
from ..extraction import AllText, UnreadableError
from ..extraction.parsers import Text
from ..files.ahead import map_ahead
from ..files.folder import UnfinishedFolder
from ..files.places import FoundFile
from ..files.streams import DamagedError, read_blocks, read_raw
from ..files.urls import Url
from ..text.texts import Texts, from_bytes
from ..values.arrays import runs
from .format import BATCH_ROWS, Format, Selection, gather_batches, unpacked_size
from .rows import NumberedRows
from .split import Batch, Columns, FinalError, Pieces, Record, Split, mask_of, numbers_from, reason_of

Row = TypeVar("Row")
BATCH_FILES = 1024
OPENED = 1 << 16  # bytes that take as long to read as a file to open, about


class TextFiles(Format):
    """Plain text, a document in each file; the default id is the file's path."""

    name = "txt"
    rows_are_files = True
    counts_rows = True
    has_columns = False
    recovers = True

    def sniff(self, head: bytes) -> bool:
        """Tell a text from what begins with bytes that no text has."""
        return b"\0" not in head

    def splits(self, places: Sequence[FoundFile]) -> list[Split]:
        """Return all files as one split."""
        first = places[0]
        return [Split(form=self, name=first.name, relative=first.relative, places=tuple(places))]

    def label(self, split: Split, number: int) -> Any:
        """Return the path of the file of a number, from 1."""
        return split.place_of(number).name

    file = label

    def pieces(self, split: Split, n_bytes: int) -> Pieces:
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
        """Read the files; there are no columns but the text, and what cannot be parsed is left out, or an error."""
        if asked := columns.wanted[1:]:
            raise ParameterError(
                f"{self.name if self.parsed else 'text'} files have no columns; {', '.join(asked)} was asked for: leave out "
                f"{split.name} and others (--exclude PATTERN (exclude=)), or do without the column"
            )
        found = self.texts(split, columns.encoding_errors == "strict")
        for numbers, some in batches_of(split, found, lambda number: split.place_of(number).name, BATCH_FILES):
            yield replace(some, numbers=np.array(numbers, np.int64))

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        """Read all files as dictionaries of id and text, each with its number; what was left out has none."""
        for number, text in self.texts(split):
            row = {"id": split.place_of(number).name, "text": written(text)}
            del text  # not held beside what it is written as, nor this while the next is read
            yield number, row
            del row

    def texts(self, split: Split, strict: bool = False) -> Iterator[tuple[int, Text]]:
        """Yield the number of each file and its text; what is no text in UTF-8 is an error if that is ``strict``."""

        sized = (((place.size + 1) * isinstance(place.path, Url), (number, place)) for number, place in split.numbered_files)
        return map_ahead(lambda one: (one[0], _content_or_why(one[1], split, strict)), sized)

    def write_kept_file(self, folder: UnfinishedFolder, selection: Selection, provenance: Record) -> None:
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


def content_of(place: FoundFile, split: Split) -> bytes | None:
    """Return a file's bytes, or None if they are too many and it is left out."""
    blocks, size = [], 0
    for block in read_blocks(place.path, noted=split.on_read, kinds=split.form.kinds):
        size += len(block)
        if size > split.limit.most:
            if split.limit.skip:
                return None
            raise replace(split, name=place.name).too_large()
        blocks.append(block)
    return b"".join(blocks)


def _content_or_why(place: FoundFile, split: Split, strict: bool) -> Text:
    """Return what ``content_of`` does, or why there is nothing, where that is no reason to stop."""
    try:
        content = content_of(place, split)
        if strict:
            _check_text(place.name, content or b"")
    except FinalError:
        raise
    except InputDataError as error:
        if split.form.parsed and isinstance(error, DamagedError):
            return UnreadableError(error.reason)
        if not split.limit.faults:
            raise
        return UnreadableError(reason_of(replace(split, name=place.name), error))
    return content


def check_left(split: Split, name: str, why: UnreadableError) -> None:
    """Raise InputDataError for a document that has no text, unless such ones are left out."""
    if not split.limit.leave:
        raise InputDataError(f"{why}; repair or remove it, or leave it out: --on-error skip (on_error='skip')", name)


def batches_of(
    split: Split, found: Iterable[tuple[Row, Text]], name_of: Callable[[Row], str], most: int = BATCH_ROWS
) -> Iterator[tuple[list[Row], Batch]]:
    """Yield some rows and their batch, which lacks all but texts, at a time."""

    def documents() -> Iterator[tuple[tuple[Row, Text], int]]:
        for row, text in found:
            if isinstance(text, UnreadableError):
                check_left(split, name_of(row), text)
            yield (row, text), len(text) if isinstance(text, bytes) else 0
            del text  # not held while the next is read

    for some in gather_batches(documents(), most):
        rows, texts = [row for row, _ in some], [text if isinstance(text, bytes) else None for _, text in some]
        unreadable = {place: str(why) for place, (_, why) in enumerate(some) if isinstance(why, UnreadableError)}
        some.clear()
        left, whole = mask_of(len(texts), [place for place, text in enumerate(texts) if text is None]), whole_of(texts)
        together = from_bytes([text or b"" for text in texts])
        texts.clear()  # not to be held twice
        yield rows, Batch(together, numbers_from(0, len(rows)), skipped=left, unreadable=unreadable, whole=whole)
        del together


def whole_of(texts: Sequence[bytes | None]) -> NDArray[np.bool_] | None:
    """Mark pages of which all text was taken for lack of main text."""
    return mask_of(len(texts), [row for row, text in enumerate(texts) if isinstance(text, AllText)])


def written(text: Text) -> str | UnreadableError | None:
    """Return a text as rows have it; what was read at first and cannot be now, which must not be written, as it is."""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


def _check_text(name: str, content: bytes) -> None:
    """Refuse what is no text in UTF-8."""
    way_out = "convert the file, or pass --encoding-errors replace (encoding_errors='replace') to continue"
    texts = Texts(np.frombuffer(content, np.uint8), np.array([0, len(content)]))
    if not content.isascii() and (invalid := texts.find_invalid()) is not None:
        raise InputDataError(f"invalid UTF-8 at byte {invalid[1]} of the file; {way_out}", name) from None
    if (place := content.find(0)) >= 0:
        raise InputDataError(f"NUL, which no text contains, at byte {place} of the file: it may be binary; {way_out}", name)


FORMAT = TextFiles()
