"""An index that lasts: documents are added, looked up and removed; what was acknowledged survives a crash."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import IncompatibleSketchError, OutputError, ParameterError
from ..io.formats import make_folders
from ..kernels._threads import in_order
from ..pipeline.wording import counted
from ..text.texts import Texts, as_texts, concatenate, from_strings
from .answers import id_texts, ids_of, look_up, measure, texts_of
from .kinds import Sketches, make_kind, read_kind
from .manifest import Manifest, read_manifest
from .opening import damage, open_segments, remove_leftovers, take_lock
from .state import State

SCORES = ("estimated_resemblance", "standard_error", "resemblance")


class Index:
    """A folder of sketches that documents are added to, looked up in and removed from. Made by ``create`` and ``open``.

    One process at a time may change an index; others read a consistent state of it meanwhile (``refresh`` brings them up
    to date). What ``add`` and ``remove`` return from is on the disk, and holds beyond a crash; what they did not return
    from did not happen.

    Notes
    -----
    Documents lie in immutable segments; from the eleventh on small ones are merged. Time of a query: a look at a few cache
    lines for each table and segment. Memory: none to speak of; files are mapped.

    Examples
    --------
    >>> import tempfile, semblance as sb
    >>> folder = tempfile.mkdtemp() + "/news.idx"
    >>> with sb.Index.create(folder, threshold=0.7, width=2) as index:
    ...     index.add(["a", "b"], ["one two three four five six", "something else altogether"])
    ...     index.query(["One two three four five six!"])["id"].to_pylist()
    ['a']
    """

    def __init__(self, path: Path, state: State, lock: int | None, damaged: list[str]) -> None:
        self.path = path
        self.kind = state.kind
        self.damaged = damaged
        self._state = state
        self._close = weakref.finalize(self, os.close, lock) if lock is not None else None
        self._open = True

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], *, kind: str = "minhash", keep_text: bool = False, **parameters: Any
    ) -> Index:
        """Make an empty index and open it.

        Parameters
        ----------
        path : str or path
            A folder that does not exist yet, or is empty.
        kind : {"minhash", "simhash"}, default "minhash"
            Whether resemblances of shingle sets are estimated, or cosines of feature counts from 64-bit fingerprints.
        keep_text : bool
            Keep the texts too, so that matches are measured exactly.
        **parameters
            ``threshold`` (default 0.8), ``recall`` (0.99), ``unit``, ``width``, ``normalization``, ``fold_case``, ``seed``; for
            "simhash" ``radius`` (3). A match is one whose estimate reaches the threshold; of the documents at the threshold a
            share of ``recall`` is looked at (of fingerprints: those within the radius).

        Returns
        -------
        Index

        Raises
        ------
        OutputError
            If something is there already, or the folder cannot be made.
        ParameterError
            If a parameter is unknown or out of its range.
        """
        folder = Path(path)
        made = make_kind(kind, **parameters).resolved()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise OutputError(f"{folder} exists and is not an empty folder; choose another name")
        try:
            make_folders(folder)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be made: {error.strerror or error}") from None
        Manifest(made.to_dict(), keep_text).write(folder)
        return cls.open(folder)

    @classmethod
    def open(cls, path: str | os.PathLike[str], mode: str = "append", *, wait: bool = False, salvage: bool = False) -> Index:
        """Open an index.

        Parameters
        ----------
        path : str or path
        mode : {"append", "read"}, default "append"
        wait : bool
            Wait while another process may change the index, instead of raising an error.
        salvage : bool
            Read every byte, and go without segments that are damaged (``damaged`` names them); for reading only.

        Returns
        -------
        Index

        Raises
        ------
        IndexFormatError
            If there is no index, it is of a newer version, or damaged; only headers are checked (``check`` reads all).
        OutputError
            If another process may change it.
        ParameterError
            If the mode is unknown, or ``salvage`` is asked for with another mode than reading.
        """
        folder = Path(path)
        if mode not in ("append", "read"):
            raise ParameterError(f"mode must be append or read; {mode!r} was given")
        if salvage and mode == "append":
            raise ParameterError("salvage is for reading: open with mode='read', export what is left, and make a new index")
        manifest = read_manifest(folder)
        lock = None if mode == "read" else take_lock(folder, wait)
        try:
            if lock is not None:
                manifest = read_manifest(folder)  # what it is now that nobody else may change it
                remove_leftovers(folder, manifest)
            kind = read_kind(manifest.parameters, folder)
            manifest, segments, damaged = open_segments(folder, manifest, salvage)
        except BaseException:
            if lock is not None:
                os.close(lock)
            raise
        return cls(folder, State(folder, kind, manifest, segments), lock, damaged)

    def close(self) -> None:
        """Let others change the index. An index that is closed cannot be used any more."""
        self._open = False
        self._state.segments = []
        if self._close is not None:
            self._close()

    def __enter__(self) -> Index:
        """Return the index itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._state)

    def __repr__(self) -> str:
        """Say where it is and what is in it."""
        return f"<Index {self.path}: {counted(len(self), 'document')}, {self.kind.name}, threshold {self.kind.threshold:g}>"

    @property
    def id_type(self) -> str | None:
        """What ids are: "int", "str", or None while there are none."""
        return self._state.manifest.ids

    @property
    def info(self) -> dict[str, Any]:
        """Parameters, counts and bytes, as plain values."""
        manifest = self._state.manifest
        size = sum(segment.n_bytes for segment in self._state.segments)
        return {
            "path": str(self.path), "documents": len(self), "segments": len(manifest.segments),
            "removed": sum(entry.n_removed for entry in manifest.segments), "bytes": size,
            "bytes_per_document": size / max(1, len(self)), "keep_text": manifest.keep_text, "damaged": self.damaged,
            "parameters": self.kind.to_dict(),
        }  # fmt: skip

    def refresh(self) -> None:
        """See what other processes have changed since the index was opened, or last refreshed."""
        self._check_open()
        if self._close is None:
            manifest, segments, self.damaged = open_segments(self.path, read_manifest(self.path), False)
            self._state = State(self.path, self.kind, manifest, segments)

    def sketch(self, texts: Any, *, threads: int = 1) -> Sketches:
        """Sketch documents, to be added or looked up later.

        Parameters
        ----------
        texts : list of str, or Arrow, pandas or polars column
        threads : int

        Returns
        -------
        Sketches
        """

        def work(piece: Texts) -> Sketches:
            return self.kind.sketch(*self.kind.shingling.hashes(piece))

        pieces = (some.slice(*bounds) for some in as_texts(texts) for bounds in some.cut())
        parts = list(in_order(work, pieces, threads)) or [work(from_strings([]))]
        keys, codes, empty = (np.concatenate([getattr(p, name) for p in parts]) for name in ("keys", "codes", "empty"))
        return Sketches(keys, codes, empty, self.kind)

    def _sketches(self, texts: Any, threads: int) -> Sketches:
        if not isinstance(texts, Sketches):
            return self.sketch(texts, threads=threads)
        if texts.kind != self.kind:
            raise IncompatibleSketchError(f"this index was made with {self.kind}; the sketches with {texts.kind}")
        return texts

    def add(self, ids: Sequence[str] | Sequence[int], texts: Any, *, replace: bool = False, threads: int = 1) -> None:
        """Add documents; they are on the disk when it returns.

        Parameters
        ----------
        ids : sequence of str, or of int
            Unique; all indexes hold ids of one type.
        texts : list of str, column, or Sketches
        replace : bool
            Let documents take the place of those with the same ids.
        threads : int

        Raises
        ------
        ParameterError
            If an id is there already or twice, or is no str or int; if there are not as many ids as texts; if the index keeps
            texts and sketches were given.
        OutputError
            If the index is open for reading, or cannot be written; nothing is added then.
        """
        self._check_open(write=True)
        ids_kind, names = id_texts(ids, self._state.manifest.ids)
        sketches = self._sketches(texts, threads)
        if len(names) != len(sketches):
            raise ParameterError(f"there are {len(names):,} ids and {len(sketches):,} texts")
        if not len(names):
            return
        kept = None
        if self._state.manifest.keep_text:
            if isinstance(texts, Sketches):
                raise ParameterError("this index keeps texts: sketches alone cannot be added")
            kept = concatenate(as_texts(texts))
        removed = self._state.rows_of(
            names, unless=None if replace else "is in the index already; pass replace=True to replace it"
        )
        self._state.add(names, sketches, kept, ids_kind, removed)

    def remove(self, ids: Sequence[str] | Sequence[int]) -> int:
        """Remove documents; return how many of the ids were there. It has happened when it returns.

        Parameters
        ----------
        ids : sequence of str or of int

        Returns
        -------
        int

        Raises
        ------
        ParameterError
            If an id is there twice, or no str or int.
        OutputError
            If the index is open for reading, or cannot be written; nothing is removed then.
        """
        self._check_open(write=True)
        _, names = id_texts(ids, self._state.manifest.ids)
        removed = self._state.rows_of(names)
        self._state.remove(removed)
        return sum(map(len, removed))

    def compact(self) -> None:
        """Merge all segments into one; removed documents leave no trace."""
        self._check_open(write=True)
        if len(self._state.segments) > 1 or any(entry.n_removed for entry in self._state.manifest.segments):
            self._state.merge(list(range(len(self._state.segments))))

    def query(self, texts: Any, *, top: int | None = 10, threads: int = 1) -> pa.Table:
        """Look up documents.

        Parameters
        ----------
        texts : list of str, column, or Sketches
        top : int >= 1 or None, default 10
            Most matches of each; None: all.
        threads : int

        Returns
        -------
        pyarrow.Table
            ``query`` (int64, place in texts), ``id``, ``estimated_resemblance``, ``standard_error``, ``resemblance`` (exact;
            null unless the index keeps texts and texts were given). For each query the best first; estimates reach the
            threshold. Of a SimHash index they are cosines.

        Raises
        ------
        ParameterError
            If ``top`` is below 1.
        """
        if top is not None and top < 1:
            raise ParameterError(f"top must be at least 1; {top} was given")
        return self._look_up(texts, top, False, threads)

    def first(self, texts: Any, *, threads: int = 1) -> pa.Table:
        """Say for each document whether something like it was seen: the columns of ``query``, at most one row each.

        A search ends with its first match, which need not be the best.

        Parameters
        ----------
        texts : list of str, column, or Sketches
        threads : int >= 1

        Returns
        -------
        pyarrow.Table
        """
        return self._look_up(texts, 1, True, threads)

    def _look_up(self, texts: Any, top: int | None, first_only: bool, threads: int) -> pa.Table:
        self._check_open()
        segments = self._state.segments
        found = look_up(self.kind, segments, self._sketches(texts, threads), top, first_only, threads)
        estimated, error = self.kind.estimate(found.score)
        measured: list[float | None] = [None] * len(found.query)
        if self._state.manifest.keep_text and not isinstance(texts, Sketches):
            measured = list(measure(self.kind, segments, concatenate(as_texts(texts)), found))
        columns = [pa.array(found.query), ids_of(segments, found.segment, found.row, self.id_type), pa.array(estimated),
                   pa.array(error), pa.array(measured, pa.float64())]  # fmt: skip
        return pa.table(columns, ["query", "id", *SCORES])

    def export(self) -> Iterable[pa.Table]:
        """Yield tables of all documents: ``id``, and ``text`` where the index keeps texts."""
        self._check_open()
        for number, segment in enumerate(self._state.segments):
            for rows in np.array_split(segment.live, 1 + segment.n_live // 10_000):
                columns = {"id": ids_of(self._state.segments, np.full(len(rows), number), rows, self.id_type)}
                if segment.has_texts:
                    columns["text"] = texts_of(segment, rows)
                yield pa.table(columns)

    def check(self) -> list[str]:
        """Read every byte; return what is wrong, file by file (nothing: all is well)."""
        self._check_open()
        return [message for name in sorted(self._state.manifest.files) if (message := damage(self.path / name))]

    def _check_open(self, write: bool = False) -> None:
        if not self._open:
            raise ParameterError(f"{self.path}: this index has been closed")
        if write and self._close is None:
            raise OutputError(f"{self.path}: opened for reading; open it with mode='append' to change it")
