"""The first step: read all documents once and keep what the later steps need of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.local_texts import HeldTexts
from ..engines.memory import Memory
from ..errors import InputDataError
from ..files.store import Workspace
from ..formats.columns import Ids, collect_order, column_keys, group_codes, id_columns, order_columns
from ..formats.sources import Batch, Columns
from ..kernels._threads import in_order
from ..kernels.hashing import digest_rows
from ..text.html import extract_texts
from ..text.texts import Texts
from ..values import Int64Array, UInt64Array
from .settings import Settings, added_columns

PIECE_BYTES = 1 << 20
PART_BYTES = 32 << 20
PART_TEXT_BYTES = 2 << 30
STEM, DONE = "documents", "documents-done"
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """What is known of each document, row after row; reference documents come first.

    Large columns are stored in the parts of a workspace, one after the other: ``digests`` (n, 2) of uint64, 128 bits of each
    text's bytes; ``sizes`` in bytes; ``numbers`` of rows as users count them; ``empty``; ``groups`` (n, 2) of uint64, of which
    only equal ones are compared; the search keys, as ``keys`` (n, n_keys) in memory and as ``key-00``, ``key-01``, ... on
    the disk; ``slots`` for estimates; ids.

    Parameters
    ----------
    sources : list of Source
    source_starts : ndarray of int64, shape (n_sources + 1,)
        Row at which each source starts.
    n_reference : int
        Number of reference documents.
    n_reference_sources : int
        Number of sources that hold them, which come first.
    n_bytes : int
        Bytes of text in all documents.
    ids : Ids
    workspace : Workspace
    parts : list of str
    part_starts : ndarray of int64, shape (n_parts + 1,)
    held : HeldTexts or None
        The texts, where they are held in memory.
    order_values : ndarray or None
        What the keep policy orders by, where it names a column.
    """

    sources: list[Any]
    source_starts: Int64Array
    n_reference: int
    n_reference_sources: int
    n_bytes: int
    ids: Ids
    workspace: Workspace
    parts: list[str]
    part_starts: Int64Array
    held: HeldTexts | None
    order_values: NDArray[Any] | None

    def __len__(self) -> int:
        """Return the number of documents, reference documents included."""
        return int(self.part_starts[-1])

    def columns(self, *names: str) -> Iterator[tuple[int, list[NDArray[Any]]]]:
        """Yield (first row, some columns) of part after part."""
        for part, first in zip(self.parts, self.part_starts.tolist(), strict=False):
            arrays = self.workspace.get(part)
            yield first, [arrays[name] for name in names]

    def column(self, name: str) -> NDArray[Any]:
        """Return one column of all documents."""
        parts = [arrays[0] for _, arrays in self.columns(name)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def take(self, name: str, rows: Int64Array) -> NDArray[Any]:
        """Return one column of some documents, in the order given."""
        if len(self.parts) == 1:
            taken: NDArray[Any] = self.workspace.get(self.parts[0])[name][rows]
            return taken
        order = np.argsort(rows, kind="stable")
        bounds = np.searchsorted(rows[order], self.part_starts)
        pieces = []
        for i in np.flatnonzero(np.diff(bounds)).tolist() or [0]:
            places = rows[order[bounds[i] : bounds[i + 1]]] - self.part_starts[i]
            pieces.append(self.workspace.get(self.parts[i])[name][places])
        sorted_values = np.concatenate(pieces)
        out = np.empty_like(sorted_values)
        out[order] = sorted_values
        return out

    def keys(self, rows: Int64Array) -> UInt64Array:
        """Return all search keys of some documents, of shape (n_rows, n_keys)."""
        if self.held is not None:
            return np.asarray(self.take("keys", rows), np.uint64)
        n_keys = sum(name.startswith("key-") for name in self.workspace.get(self.parts[0]))
        return np.stack([self.take(f"key-{band:02}", rows) for band in range(n_keys)], 1)

    def spilled(self) -> Documents:
        """Move everything to the disk; the texts are read again when they are needed."""
        for part in self.parts:
            self.workspace.put(part, by_band(dict(self.workspace.get(part))))
        self.workspace.move_to_disk()
        return replace(self, held=None)


def by_band(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Take the search keys apart: on the disk one of all documents is gone through after the other."""
    keys = arrays.pop("keys")
    return arrays | {f"key-{band:02}": keys[:, band] for band in range(keys.shape[1])}


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some rows of a batch; the last piece of a batch brings the columns of all its rows."""

    number: int
    source: Any
    numbers: Int64Array
    texts: Texts
    groups: UInt64Array
    batch: Batch | None = None
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)


def check_encoding(source: Any, numbers: Int64Array, texts: Texts) -> None:
    """Refuse texts that are not UTF-8."""
    invalid = texts.find_invalid()
    if invalid is not None:
        raise InputDataError(
            f"{source.name}, row {numbers[invalid[0]]}: invalid UTF-8 at byte {invalid[1]} of the text; "
            "convert it, or pass --encoding-errors replace to go on"
        )


def _sketch(settings: Settings, piece: Piece) -> tuple[Piece, dict[str, NDArray[Any]]]:
    """Digest, shingle and sketch some texts in a row."""
    texts = piece.texts
    if settings.encoding_errors == "strict":
        check_encoding(piece.source, piece.numbers, texts)
    digests = np.empty((len(texts), 2), np.uint64)
    digest_rows(texts.data, texts.offsets, 0, len(texts), digests)
    values, offsets = settings.shingling.hashes(texts, lambda row: f"{piece.source.name}, row {piece.numbers[row]}")
    keys, slots = settings.finder.keys(values, offsets, piece.groups)
    return piece, {"digests": digests, "empty": np.diff(offsets) == 0, "keys": keys, "slots": slots}


def read_batches(source: Any, columns: Columns, settings: Settings, skipped: int = 0) -> Iterator[Batch]:
    """Yield the batches of a source beyond some rows, web pages turned into their text."""
    for batch in source.batches(columns):
        if skipped >= len(batch.texts):
            skipped -= len(batch.texts)
            continue
        if skipped:
            texts = Texts(batch.texts.data, batch.texts.offsets[skipped:])
            ids = None if batch.ids is None else batch.ids[skipped:]
            others = {name: values[skipped:] for name, values in batch.others.items()}
            batch, skipped = Batch(texts, batch.numbers[skipped:], ids, others), 0
        if settings.html:
            if settings.encoding_errors == "strict":
                check_encoding(source, batch.numbers, batch.texts)
            batch = replace(batch, texts=extract_texts(batch.texts))
        yield batch


class _Reading:
    """Documents on their way from the sources into parts; goes on where the parts of an earlier run end."""

    def __init__(self, sources: list[Any], n_reference: int, settings: Settings, workspace: Workspace, memory: Memory) -> None:
        self.sources = sources
        self.n_reference = n_reference
        self.settings = settings
        self.workspace = workspace
        self.memory = memory
        self.held: HeldTexts | None = None if workspace.on_disk else HeldTexts()
        self.rows_of = np.zeros(len(sources), np.int64)
        self.n_bytes = 0
        self._others = tuple(dict.fromkeys(c for c in (settings.keep_column, settings.within) if c is not None))
        self._waiting: dict[str, list[NDArray[Any]]] = {}
        self._waiting_bytes = self._waiting_text = 0
        self._spans: dict[int, int] = {}
        for name in workspace.numbered(STEM):
            part = workspace.get(name)
            self.n_bytes += int(part["sizes"].sum())
            for number, rows in part["spans"].tolist():
                self.rows_of[number] += rows

    def _pieces(self) -> Iterator[Piece]:
        """Yield what is sketched at a time."""
        settings = self.settings
        reserved = added_columns(settings, self.n_reference > 0) if settings.annotate else ()
        begun = np.flatnonzero(self.rows_of)
        for number in range(int(begun[-1]) if len(begun) else 0, len(self.sources)):
            source = self.sources[number]
            free = reserved if number >= self.n_reference else ()
            columns = Columns(settings.text, settings.id, self._others, free, settings.encoding_errors)
            for batch in read_batches(source, columns, settings, int(self.rows_of[number])):
                n = len(batch.texts)
                added = {"numbers": batch.numbers, "sizes": np.diff(batch.texts.offsets)}
                groups = np.zeros(n, np.uint64)
                if settings.within is not None:
                    added["groups"] = group_codes(column_keys(source, batch, settings.within))
                    groups = np.ascontiguousarray(added["groups"][:, 0])
                if settings.id is not None:
                    added |= id_columns(source.name, batch)
                if settings.keep_column is not None:
                    added |= order_columns(column_keys(source, batch, settings.keep_column))
                for begin, end in batch.texts.cut(PIECE_BYTES):
                    last = (batch, added) if end == n else (None, {})
                    texts = batch.texts.slice(begin, end)
                    yield Piece(number, source, batch.numbers[begin:end], texts, groups[begin:end], *last)

    def run(self, progress: Progress) -> None:
        """Read all that has not been read."""
        for piece, sketched in in_order(partial(_sketch, self.settings), self._pieces(), self.settings.n_threads):
            self._remember(sketched)
            progress("sketching", len(piece.texts))
            if piece.batch is not None:
                self._remember(piece.columns)
                self._hold(piece.number, piece.batch.texts)
                self._flush_if_full()
        self._flush()
        if self.workspace.on_disk:
            self.workspace.put(DONE, {"rows_of": self.rows_of})

    def _remember(self, columns: dict[str, NDArray[Any]]) -> None:
        for name, values in columns.items():
            self._waiting.setdefault(name, []).append(values)
            self._waiting_bytes += values.nbytes

    def _hold(self, number: int, texts: Texts) -> None:
        self._spans[number] = self._spans.get(number, 0) + len(texts)
        self.rows_of[number] += len(texts)
        self.n_bytes += texts.n_bytes
        self._waiting_text += texts.n_bytes
        if self.held is not None:
            self.held.append(texts)
        if self.settings.html:  # worth keeping: the texts cost more to make again than to write down
            self._remember({"texts": texts.data[texts.offsets[0] : texts.offsets[-1]]})

    def _flush_if_full(self) -> None:
        if self.held is not None and self.held.n_bytes + self._waiting_bytes > self.memory.held:
            self.workspace.move_to_disk()
            self.held = None
        if self.workspace.on_disk and (self._waiting_bytes > PART_BYTES or self._waiting_text > PART_TEXT_BYTES):
            self._flush()

    def _flush(self) -> None:
        """Write what waits as a part."""
        if not self._spans and self.workspace.on_disk:
            return
        arrays: dict[str, NDArray[Any]] = {}
        for name in list(self._waiting):
            parts = self._waiting.pop(name)
            arrays[name] = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if not arrays:
            arrays = self._nothing()
        arrays["spans"] = np.array(list(self._spans.items()), np.int64).reshape(-1, 2)
        self.workspace.append(STEM, by_band(arrays) if self.workspace.on_disk else arrays)
        self._waiting_bytes = self._waiting_text = 0
        self._spans = {}

    def _nothing(self) -> dict[str, NDArray[Any]]:
        """The columns of no documents."""
        empty = Texts(np.empty(0, np.uint8), np.zeros(1, np.int64))
        none = Piece(0, None, np.empty(0, np.int64), empty, np.empty(0, np.uint64))
        _, sketched = _sketch(self.settings, none)
        none_int = np.empty(0, np.int64)
        bare: dict[str, NDArray[Any]] = {"numbers": none_int, "sizes": none_int, "groups": none.groups.reshape(0, 2)}
        for name in ("id", "order"):
            bare |= {f"{name}_bytes": np.empty(0, np.uint8), f"{name}_sizes": np.empty(0, np.int32)}
        bare["id_texts"] = none_int
        return sketched | bare

    def documents(self) -> Documents:
        """Return what has been read."""
        if self.workspace.on_disk and not self.workspace.numbered(STEM):
            self.workspace.append(STEM, by_band(self._nothing()))
        parts = self.workspace.numbered(STEM)
        part_starts = np.cumsum([0, *(len(self.workspace.get(part)["sizes"]) for part in parts)])
        source_starts = np.concatenate([[0], np.cumsum(self.rows_of)])
        made = Documents(
            self.sources, source_starts, int(source_starts[self.n_reference]), self.n_reference, self.n_bytes,
            Ids(self.workspace, parts, part_starts, self.sources, source_starts, self.settings.id is not None),
            self.workspace, parts, part_starts, self.held, None,
        )  # fmt: skip
        made.ids.check(made.n_reference)
        if self.settings.keep_column is None:
            return made
        order = (columns for _, columns in made.columns("order_bytes", "order_sizes"))
        return replace(made, order_values=collect_order(order, self.settings.keep_column, made.ids.place))


def read_documents(
    sources: list[Any], against: Sequence[Any], settings: Settings, workspace: Workspace, memory: Memory, progress: Progress
) -> Documents:
    """Read and sketch all documents, reference documents first.

    Raises
    ------
    InputDataError
        If a row is not as expected; the message names file and row.
    ParameterError
        If there are more documents than the memory has room for.
    """
    reading = _Reading([*against, *sources], len(against), settings, workspace, memory)
    if DONE not in workspace:
        reading.run(progress)
    memory.check_documents(int(reading.rows_of.sum()))
    return reading.documents()
