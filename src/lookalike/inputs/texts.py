"""The texts of documents read again: of any inputs by their positions, and of documents whose sketches were saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputDataError
from ..files.names import show_path
from ..files.places import place_of
from ..formats.memory import InMemory
from ..formats.parquet import Parquet
from ..formats.parsed import page_texts
from ..formats.split import Batch, Columns, Limit, Names, Pieces, Record, Split
from ..text.texts import Texts, no_texts
from ..values import Int64Array
from ..values.arrow import give_back, to_numpy
from ..values.tables import SOURCE_BITS
from .ids import apart_codes, column_keys, group_codes
from .read import ReadOptions
from .sketch_rows import TEXT, SavedRows, is_saved

GIVEN_BACK = 32 << 20  # bytes of text, after which memory is given back
PIECE_ROWS = 1 << 17
PIECE_BYTES = 1 << 20
"""Bytes on the disk of the pieces of an input of which those are read that have a text that is wanted."""
_ROW = (1 << SOURCE_BITS) - 1


class _SavedFormat(InMemory):
    """Rows of saved sketches, read as the documents that were kept."""

    name = "saved sketches"

    def __reduce__(self) -> str:
        return "SAVED"

    def label(self, split: Split, number: int) -> Any:
        """Return what the document was called."""
        origin = split.data.origin
        return super().label(split, number) if origin is None else origin.label(number)

    def file(self, split: Split, number: int) -> str | None:
        """Return the file that the document came from, or the name of an input that had one."""
        origin: Split | None = split.data.origin
        return super().file(split, number) if origin is None else origin.file(number)

    def identity(self, split: Split) -> Record:
        """Return the folder, what tells it from others, and which rows of it."""
        data = split.data
        return {
            "name": split.name,
            "sketches": data.saved.name,
            "checksum": data.saved.checksum,
            "rows": [data.begin, data.end],
        }

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Return the number of rows; of their texts few are read."""
        return split.data.end - split.data.begin, 0

    def pieces(self, split: Split, n_bytes: int) -> Pieces:
        data, found = split.data, []
        for begin in range(data.begin, data.end, PIECE_ROWS):
            end = min(begin + PIECE_ROWS, data.end)
            found.append((begin - data.begin, replace(split, data=replace(data, begin=begin, end=end))))
        return found

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Read the kept documents again, from where they came from."""
        known = [to_numpy(batch.column(0)) for batch in split.data.batches(["number"])]
        numbers = np.concatenate([np.empty(0, np.int64), *known])
        for first, batch in SavedTexts(split, columns, as_they_are=True).each():
            yield replace(batch, numbers=numbers[first : first + len(batch.texts)])


SAVED = _SavedFormat()


class TextReader:
    """The texts of an input, or of some of its ascending ``rows``, read again; they are asked for in ascending order.

    ``pieces`` come with their first rows; those without a row that is wanted are passed over. Places count in ``rows``.
    ``pages``: texts are web pages, of which this is read, "main" or "all".
    """

    def __init__(
        self, pieces: Sequence[tuple[int, Split]], columns: Columns, rows: Int64Array | None = None, pages: str = ""
    ) -> None:
        self._pieces, self._columns, self._rows, self._pages = pieces, columns, rows, pages
        self._firsts = np.array([first for first, _ in pieces], np.int64)
        self._piece, self._row = -1, 0
        self._batches: Iterator[Batch] = iter(())
        self._held: tuple[int, Batch] | None = None

    def at(self, place: int) -> tuple[int, Batch]:
        """Return (first place, rows) of some rows, that at a place among them."""
        held = self._held
        if held is None or place >= held[0] + len(held[1].texts):
            self._held = held = None
            self._held = held = self._read(place if self._rows is None else int(self._rows[place]))
        return held

    def each(self) -> Iterator[tuple[int, Batch]]:
        """Yield (first place, rows) of all rows that are wanted."""
        assert self._rows is not None
        done = 0
        while done < len(self._rows):
            first, batch = self.at(done)
            yield first, batch
            done = first + len(batch.texts)
            del batch

    def _read(self, row: int) -> tuple[int, Batch]:
        piece = int(np.searchsorted(self._firsts, row, side="right")) - 1
        split, n_bytes = self._pieces[piece][1], 0
        if piece != self._piece:
            self._piece, self._row = piece, int(self._firsts[piece])
            self._batches = split.batches(self._columns)
        while True:
            batch = next(self._batches, None)
            if batch is None:
                raise self._missing(split, row)
            first, self._row = self._row, self._row + len(batch.texts)
            if row < self._row:
                break
            n_bytes += batch.texts.n_bytes
            if n_bytes > GIVEN_BACK:  # what readers keep of what they have freed
                give_back()
                n_bytes = 0
            del batch  # not held while the next is read
        if self._rows is not None:
            begin, end = np.searchsorted(self._rows, (first, self._row)).tolist()
            first, batch = begin, batch.take(self._rows[begin:end] - first)
        if self._pages and not split.form.parsed:
            batch = page_texts(split, batch, self._pages)
        return first, batch

    def _missing(self, split: Split, row: int) -> InputDataError:
        """The error for a row that is no longer there."""
        return InputDataError("the row is no longer there; run again", split.name, row + 1)


class SavedTexts(TextReader):
    """Saved documents, or those at the ascending rows ``only`` (in which places count), read again from where they came from.

    ``columns`` are read beside the text; web pages come as such if ``as_they_are``, else as the texts in them.
    """

    def __init__(
        self, split: Split, columns: Columns | None = None, only: Int64Array | None = None, as_they_are: bool = False
    ) -> None:
        data: SavedRows = split.data
        self._saved = data.saved
        known = [np.empty((2, 0), np.int64)]
        known += [np.stack([to_numpy(c) for c in batch.columns]) for batch in data.batches(["position", "bytes"])]
        positions, self._sizes = np.concatenate(known, 1)
        text: Names
        given = columns or Columns(encoding_errors=data.saved.settings["encoding_errors"])
        limit = Limit(split.limit.most, faults=True)  # what was sketched is there; what was not may be whatever it is
        if data.texts or data.origin is None:
            rows, text, id = np.arange(data.begin, data.end), TEXT, data.saved.id and "id"
            pieces = list(_own_pieces(data, limit))
        else:
            rows, text, id = positions & _ROW, data.saved.text, data.saved.id
            pieces = replace(data.origin, limit=limit).pieces(PIECE_BYTES)
        if only is not None:
            rows, self._sizes = rows[only], self._sizes[only]
        pages = ("all" if data.saved.settings.get("boilerplate") else "main") if data.saved.settings["html"] else ""
        self._checked = not (pages and as_they_are)
        given = replace(given, texts=text, id=None if given.id is None else id)
        super().__init__(pieces, given, rows, "" if as_they_are else pages)

    def _read(self, row: int) -> tuple[int, Batch]:
        begin, batch = super()._read(row)
        sizes, known = np.diff(batch.texts.offsets), self._sizes[begin : begin + len(batch.texts)]
        if (sizes != known if self._checked else (sizes == 0) & (known > 0)).any():
            name = self._pieces[self._piece][1].name
            raise InputDataError(
                f" has other texts than when it was sketched; {self._saved.name} needs the file: restore it, or save the "
                "sketches again",
                name,
            )
        return begin, batch

    def _missing(self, split: Split, row: int) -> InputDataError:
        return InputDataError(" has fewer rows than when it was sketched", split.name)


def reader_of(split: Split, reading: ReadOptions) -> TextReader:
    """Return what reads the texts of an input again, whether it holds documents or saved sketches of them."""
    if is_saved(split):
        return SavedTexts(split)
    return TextReader([(0, split)], Columns(reading.text, encoding_errors=reading.encoding_errors), pages=reading.pages)


class _OwnTexts(Parquet):
    """Files of saved sketches, whose pages have checksums."""

    checks_pages = True


def _own_pieces(data: SavedRows, limit: Limit) -> Iterator[tuple[int, Split]]:
    """Yield the files that have some rows, cut into pieces, as inputs that have the texts; and the first row of each."""
    form, first = _OwnTexts(), 0
    for name, n in data.saved.files:
        if data.begin < first + n and first < data.end:
            path = data.saved.path(name)
            (split,) = form.splits([place_of(path, name, show_path(path))])
            for row, piece in replace(split, limit=limit).pieces(PIECE_BYTES):
                yield first + row, piece
        first += n


def wanted_texts(split: Split, wanted: NDArray[np.bool_], row: int = 0) -> Iterator[tuple[int, Texts]]:
    """Yield (first row, texts) of all saved rows from one on, batch by batch; those not wanted are empty, and not read."""
    only = np.flatnonzero(wanted[row:]) + row
    for first, batch in SavedTexts(split, only=only).each() if len(only) else ():
        some, rows = batch.texts, only[first : first + len(batch.texts)]
        sizes = np.zeros(int(rows[-1]) + 1 - row, np.int64)
        sizes[rows - row] = np.diff(some.offsets)
        data = some.content
        yield row, Texts(data, np.concatenate([[0], np.cumsum(sizes)]))
        row = int(rows[-1]) + 1
    if row < len(wanted):
        yield row, no_texts(len(wanted) - row)


def read_again(
    splits: Sequence[Split], reading: ReadOptions, positions: Int64Array, most: int | None = None
) -> tuple[dict[int, bytes], dict[int, tuple[bytes, bytes]]]:
    """Return of documents at some positions the compared texts, and codes of ``within`` and of ``across``.

    Inputs are read up to the last of them.
    """
    texts: dict[int, bytes] = {}
    groups: dict[int, tuple[bytes, bytes]] = {}
    wanted = np.unique(positions)
    others = tuple(name for name in (reading.within, reading.across) if name is not None)
    columns = Columns(reading.text, None, tuple(dict.fromkeys(others)), (), reading.encoding_errors)
    for number in np.unique(wanted >> SOURCE_BITS).tolist():
        source, first = splits[number], number << SOURCE_BITS
        source.check_unchanged()
        rows = wanted[wanted >> SOURCE_BITS == number] - first
        reader: TextReader = (
            SavedTexts(source, columns, rows) if is_saved(source) else TextReader([(0, source)], columns, rows, reading.pages)
        )
        for place, batch in reader.each():
            here = (first + rows[place : place + len(batch.texts)]).tolist()
            texts.update({position: batch.texts.row(row)[:most] for row, position in enumerate(here)})
            if others:
                told = ((reading.within, group_codes), (reading.across, apart_codes))
                codes = [
                    [b""] * len(here) if name is None else [code.tobytes() for code in coded(column_keys(source, batch, name))]
                    for name, coded in told
                ]
                groups.update(zip(here, zip(*codes, strict=True), strict=True))
    return texts, groups
