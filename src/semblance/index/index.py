"""An index that lasts: documents are added, looked up and removed; what was acknowledged survives a crash."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from ..errors import IndexFormatError, OutputError, ParameterError
from ..text.texts import Texts, concatenate
from ..wording import counted
from .answers import all_documents, answer, check_type, id_texts
from .kinds import Sketches, make_kind, read_kind
from .manifest import NAME, Manifest, read_manifest
from .opening import damage, make_folder, open_segments, release_lock, remove_leftovers, take_lock
from .segments import Segment
from .sketching import check_rules, sketch_texts
from .state import State

SCORES = ("estimated_resemblance", "standard_error", "resemblance")


class Index:
    """A folder of sketches that documents are added to, looked up in and removed from. Made by ``create`` and ``open``.

    One process at a time may change an index; others read a consistent state of it meanwhile (``refresh`` brings them up
    to date). What ``add`` and ``remove`` return from is on the disk, and holds beyond a crash; what they did not return
    from did not happen.

    Threads may share one object: changes take turns, and a query answers for the state that it began with. A forked process
    may go on with an index that was opened for reading; one that was opened for changes belongs to the process that did.

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

    def __init__(self, path: Path, state: State, rules: int, lock: int | None, damaged: list[str]) -> None:
        self.path = path
        self.kind = state.kind
        self.damaged = damaged
        self._state = state
        self._rules = rules
        self._process = os.getpid()
        self._turn = threading.RLock()
        self._close = weakref.finalize(self, release_lock, lock, self._process) if lock is not None else None
        self._open = True

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        threshold: float = 0.8,
        recall: float = 0.99,
        kind: str = "minhash",
        keep_text: bool = False,
        unit: str = "word",
        width: int | None = None,
        normalization: str = "NFC",
        fold_case: bool = True,
        radius: int | None = None,
        bands: int | None = None,
        rows: int | None = None,
        seed: int = 1,
    ) -> Index:
        """Make an empty index and open it.

        Parameters
        ----------
        path : str or path
            A folder that does not exist yet, or is empty.
        threshold : float in (0, 1], default 0.8
            Least estimate of a match.
        recall : float in (0, 1), default 0.99
            Share of the documents at the threshold that a query compares (with "simhash": of those within the radius). About
            half of these are found, since an estimate is as often below the threshold as above; ``info`` states the product,
            ``recall_at_threshold``.
        kind : {"minhash", "simhash"}, default "minhash"
            Whether resemblances of shingle sets are estimated, or cosines of feature counts from 64-bit fingerprints.
        keep_text : bool
            Keep the texts too, so that matches are measured exactly.
        unit, width, normalization, fold_case
            What a shingle is: see ``Shingling``.
        radius : int in [0, 7], optional
            For "simhash": bits in which fingerprints of near-duplicates can differ; default 3.
        bands, rows : int >= 1, optional
            For "minhash": in place of the planner's choice.
        seed : int, default 1
            The only source of randomness.

        Returns
        -------
        Index

        Raises
        ------
        OutputError
            If something is there already, or the folder cannot be made.
        ParameterError
            If a parameter is out of its range, or is for the other kind.
        """
        folder = Path(path)
        given = {
            "threshold": threshold, "recall": recall, "unit": unit, "normalization": normalization, "fold_case": fold_case,
            "seed": seed,
        }  # fmt: skip
        optional = {"width": width, "radius": radius, "bands": bands, "rows": rows}
        given |= {name: value for name, value in optional.items() if value is not None}
        made = make_kind(kind, **given).resolved()
        make_folder(folder)
        lock = take_lock(folder, wait=False)
        try:
            if (folder / NAME).exists():
                raise OutputError(f"{folder}: another process has just made an index here; open it, or choose another name")
            Manifest(made.to_dict(), keep_text).write(folder)
            return cls._opened(folder, lock, False)
        except BaseException:
            os.close(lock)
            raise

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
        read_manifest(folder)  # nothing is written where there is no index
        lock = None if mode == "read" else take_lock(folder, wait)
        try:
            return cls._opened(folder, lock, salvage)
        except BaseException:
            if lock is not None:
                os.close(lock)
            raise

    @classmethod
    def _opened(cls, folder: Path, lock: int | None, salvage: bool) -> Index:
        manifest = read_manifest(folder)
        kind, rules = read_kind(manifest.parameters, folder)
        manifest, segments, damaged = open_segments(folder, kind, manifest, salvage)
        if lock is not None:
            remove_leftovers(folder, manifest)
        return cls(folder, State(folder, kind, manifest, segments), rules, lock, damaged)

    def close(self) -> None:
        """Let others change the index, once a change under way has ended. A closed index cannot be used any more."""
        with self._turn if os.getpid() == self._process else nullcontext():
            self._open = False
            self._state = State(self.path, self.kind, self._state.manifest, ())
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
        return self._now()[0].n_documents

    def __repr__(self) -> str:
        """Say where it is and what is in it."""
        inside = counted(self._state.manifest.n_documents, "document") if self._open else "closed"
        return f"<Index {self.path}: {inside}, {self.kind.name}, threshold {self.kind.threshold:g}>"

    @property
    def id_type(self) -> str | None:
        """What ids are: "int", "str", or None while there are none."""
        return self._now()[0].ids

    @property
    def info(self) -> dict[str, Any]:
        """Parameters, counts and bytes, as plain values."""
        manifest, segments = self._now()
        size, count = sum(segment.n_bytes for segment in segments), manifest.n_documents
        return {
            "path": str(self.path), "documents": count, "segments": len(segments), "removed": manifest.n_removed, "bytes": size,
            "bytes_per_document": size / max(1, count), "keep_text": manifest.keep_text, "damaged": self.damaged,
            "recall_at_threshold": self.kind.recall_at_threshold, "parameters": manifest.parameters,
        }  # fmt: skip

    def refresh(self) -> None:
        """See what other processes have changed since the index was opened, or last refreshed.

        Raises
        ------
        IndexFormatError
            If it is damaged by now, or another index took its place.
        """
        self._check_open()
        if self._close is None:
            with self._turn:
                manifest = read_manifest(self.path)
                if manifest.parameters != self._state.manifest.parameters:
                    raise IndexFormatError(f"{self.path}: an index with other parameters took its place; open it anew")
                manifest, segments, self.damaged = open_segments(self.path, self.kind, manifest, False)
                self._state = State(self.path, self.kind, manifest, segments)

    def sketch(self, texts: Any, *, threads: int = 1) -> Sketches:
        """Sketch documents, to be added or looked up later.

        Parameters
        ----------
        texts : list of str, or Arrow, pandas or polars column; or an iterator of str
        threads : int >= 1

        Returns
        -------
        Sketches

        Raises
        ------
        IncompatibleSketchError
            If an older version made the index, whose shingles this one does not make.
        """
        return self._sketch(texts, threads)[0]

    def _sketch(self, given: Any, threads: int) -> tuple[Sketches, list[Texts] | None]:
        """Return the sketches of texts, and the texts, which are gone through once: an iterator has them only once."""
        check_rules(self.path, self.kind, self._rules, self._now()[0].keep_text)
        return sketch_texts(self.kind, given, threads)

    def add(self, ids: Iterable[str] | Iterable[int], texts: Any, *, replace: bool = False, threads: int = 1) -> None:
        """Add documents; they are on the disk when it returns.

        Parameters
        ----------
        ids : iterable of str, or of int
            Unique, one for each text, in their order; all ids of an index are of one type.
        texts : list of str, column, iterator of str, or Sketches
        replace : bool
            Let documents take the place of those with the same ids.
        threads : int >= 1

        Raises
        ------
        ParameterError
            If an id is there already or twice, or is no str or int; if there are not as many ids as texts; if the index keeps
            texts and sketches were given. Nothing is added then.
        IncompatibleSketchError
            If the sketches, or the index, were made otherwise than this index sketches texts.
        IndexFormatError
            If segments must be merged, and one is damaged; nothing is added then.
        OutputError
            If the index is open for reading, or cannot be written; nothing is added then.
        """
        self._check_open(write=True)
        for given in (ids, texts):
            if isinstance(given, (set, frozenset)):
                raise ParameterError("ids and texts belong together by their order, which a set has not; give lists")
        kind, names = id_texts(ids)
        check_type(kind, self.id_type, names)
        if isinstance(texts, Sketches) and self._state.manifest.keep_text:
            raise ParameterError("this index keeps texts: sketches alone cannot be added")
        sketches, pieces = self._sketch(texts, threads)
        if len(names) != len(sketches):
            raise ParameterError(f"there are {len(names):,} ids and {len(sketches):,} texts")
        if kind is None:
            return
        with self._turn:
            self._check_open(write=True)
            check_type(kind, self.id_type, names)
            kept = concatenate(pieces) if pieces is not None and self._state.manifest.keep_text else None
            unless = None if replace else "is in the index already; pass replace=True to replace it"
            self._state.add(names, sketches, kept, kind, self._state.rows_of(names, unless))

    def remove(self, ids: Iterable[str] | Iterable[int]) -> int:
        """Remove documents; return how many of the ids were there. It has happened when it returns.

        Parameters
        ----------
        ids : iterable of str or of int

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
        kind, names = id_texts(ids)
        with self._turn:
            self._check_open(write=True)
            check_type(kind, self.id_type, names)
            removed = self._state.rows_of(names)
            self._state.remove(removed)
        return sum(map(len, removed))

    def compact(self) -> None:
        """Merge all segments into one; removed documents leave no trace.

        Raises
        ------
        IndexFormatError
            If a segment is damaged; the index stays as it is.
        OutputError
            If the index is open for reading, or cannot be written.
        """
        self._check_open(write=True)
        with self._turn:
            self._check_open(write=True)
            if len(self._state.segments) > 1 or any(entry.n_removed for entry in self._state.manifest.segments):
                self._state.merge(list(range(len(self._state.segments))))

    def query(self, texts: Any, *, top: int | None = 10, threads: int = 1) -> pa.Table:
        """Look up documents.

        Parameters
        ----------
        texts : list of str, column, iterator of str, or Sketches
        top : int >= 1 or None, default 10
            Most matches of each; None: all.
        threads : int >= 1

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
        IndexFormatError
            If what it meets is damaged. Not all damage shows: ``check`` reads every byte.
        """
        if top is not None and top < 1:
            raise ParameterError(f"top must be at least 1; {top} was given")
        return self._look_up(texts, top, False, threads)

    def first(self, texts: Any, *, threads: int = 1) -> pa.Table:
        """Say for each document whether something like it was seen: the columns of ``query``, at most one row each.

        A search ends with its first match, which need not be the best.

        Parameters
        ----------
        texts : list of str, column, iterator of str, or Sketches
        threads : int >= 1

        Returns
        -------
        pyarrow.Table
        """
        return self._look_up(texts, 1, True, threads)

    def _look_up(self, texts: Any, top: int | None, first_only: bool, threads: int) -> pa.Table:
        sketches, pieces = self._sketch(texts, threads)
        return answer(self.kind, *self._now(), sketches, pieces, top, first_only, threads)

    def export(self) -> Iterator[pa.Table]:
        """Return an iterator of tables with all documents of this moment: ``id``, and ``text`` where the index keeps texts."""
        return all_documents(*self._now())

    def check(self) -> list[str]:
        """Read every byte; return what is wrong, file by file (nothing: all is well)."""
        self._check_open()
        with self._turn:
            manifest = self._now()[0]
            while True:
                found = [what for entry in manifest.segments for what in damage(self.path, self.kind, manifest, entry)]
                newer = read_manifest(self.path) if found and self._close is None else manifest
                if newer == manifest:
                    return found
                manifest = newer  # a writer replaced what was being read

    def _now(self) -> tuple[Manifest, tuple[Segment, ...]]:
        """Return the state of this moment, which another thread may be replacing."""
        now = self._state.now
        self._check_open()  # after it was taken: closing empties it
        return now

    def _check_open(self, write: bool = False) -> None:
        if not self._open:
            raise ParameterError(f"{self.path}: this index has been closed")
        if os.getpid() != self._process:
            if self._close is not None:
                raise ParameterError(f"{self.path}: another process opened this index for changes; open it anew in this one")
            self._turn, self._process = threading.RLock(), os.getpid()  # a thread that was not forked may hold the old lock
        if write and self._close is None:
            raise OutputError(f"{self.path}: opened for reading; open it with mode='append' to change it")
