"""A persistent index: documents are added, looked up and removed; acknowledged changes survive a crash."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..choices import Method, Mode, Normalization, Unit, check_choice
from ..errors import IndexFormatError, OutputError, ParameterError, all_from_caller
from ..text.texts import Texts, as_texts, concatenate
from ..values.arrays import RANDOM, drawn_seed
from ..wording import html_table, plural, printable
from .answers import Answers, all_documents, check_type, documents_of, find, id_texts, ids_of, look_up, measure, sketch_texts
from .containing import containing
from .kind import Sketches, SketchScheme
from .kinds import check_rules, plan_kind, read_kind
from .manifest import NAME, Manifest, make_folder, read_manifest, release_lock, remove_leftovers, take_lock
from .segments import Segment, Segments
from .state import State, damage, open_segments


@all_from_caller
class Index:
    """A folder of sketches that documents are added to, looked up in and removed from. Made by ``create`` and ``open``.

    One process at a time can change an index; others read a consistent state of it meanwhile (``refresh`` brings them up
    to date). Once ``add`` or ``remove`` has returned, its change is on disk and survives a crash; before that, it has not
    happened.

    Threads can share one object: changes take turns, and a query answers for the state that it began with. A forked process
    can continue to use an index that was opened for reading; one that was opened for changes belongs to the process that did.

    Notes
    -----
    Documents are in immutable segments; at eleven segments, the eight smallest are merged. Time per query: a look at a few
    cache lines for each table and segment. Memory: negligible; files are mapped.

    Examples
    --------
    >>> import tempfile, lookalike as la
    >>> folder = tempfile.mkdtemp() + "/news.idx"
    >>> with la.Index.create(folder, threshold=0.7, width=2) as index:
    ...     index.add(["a", "b"], ["one two three four five six", "something else altogether"])
    ...     index.query(["One two three four five six!"])["id"].to_pylist()
    ['a']
    """

    def __init__(self, path: Path, state: State, rules: int, lock: int | None, damaged: list[str]) -> None:
        self.path = path
        self.kind: SketchScheme = state.kind
        self.damaged: list[str] = damaged
        self._state = state
        self._rules = rules
        self._is_current = rules == self.kind.shingling.to_dict().get("rules", 1)
        self._process = os.getpid()
        self._turn = threading.RLock()
        self._close = weakref.finalize(self, release_lock, lock, self._process) if lock is not None else None
        self._open = True

    def close(self) -> None:
        """Let others change the index, once a change under way has ended. A closed index cannot be used any more."""
        with self._turn if os.getpid() == self._process else nullcontext():
            self._open = False
            self._state = State(self.path, self.kind, self._state.manifest, ())
            if self._close is not None:
                self._close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close it."""
        self.close()

    def __len__(self) -> int:
        """Return the number of documents."""
        return self._now()[0].n_documents

    @property
    def _inside(self) -> str:
        return plural(self._state.manifest.n_documents, "document") if self._open else "closed"

    def __repr__(self) -> str:
        """Say where it is and what is in it."""
        said = f"<Index {printable(str(self.path))}: {self._inside}, {self.kind.name}, threshold {self.kind.threshold:g}"
        if self.kind.probes is None:
            return f"{said}>"
        found = self._share_probed(self._state.segments)
        return f"{said}, {plural(self.kind.probes, 'probe')} (share found at the threshold: {found:.3f})>"

    def _repr_html_(self) -> str:
        """Return where it is and what is in it as a small table, for notebooks."""
        facts = {"folder": str(self.path), "inside": self._inside, "sketches": self.kind.name}
        return html_table("Index", facts | {"threshold": f"{self.kind.threshold:g}"})

    def _share_probed(self, segments: tuple[Segment, ...]) -> float:
        """Return the share of the matches at the threshold that probes find in segments, which depends on their sizes."""
        return self.kind.share_probed([(segment.prefix_bits, segment.n_live) for segment in segments])

    @property
    def id_type(self) -> str | None:
        """What ids are: "int", "str", or None while there are none."""
        return self._now()[0].ids

    @property
    def info(self) -> dict[str, Any]:
        """Parameters, counts and bytes, as plain values."""
        manifest, segments = self._now()
        share = self._share_probed(segments)
        probed = {} if self.kind.probes is None else {"share_found_by_probes": share}
        size, count = sum(segment.n_bytes for segment in segments), manifest.n_documents
        return {
            "path": str(self.path), "documents": count, "segments": len(segments), "removed": manifest.n_removed, "bytes": size,
            "bytes_per_document": size / max(1, count), "keep_text": manifest.keep_text, "damaged": self.damaged,
            "recall_at_threshold": self.kind.recall_at_threshold * share, "recall_of_candidates": self.kind.candidate_recall,
            "least_estimate": self.kind.least_estimate, **probed,
            "standard_error_at_threshold": self.kind.error_at_threshold, "parameters": manifest.parameters,
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
                    raise IndexFormatError("an index with other parameters took its place; open it again", self.path)
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

    def _sketch(self, given: Any, threads: int, asking: bool = True) -> tuple[Sketches, list[Texts] | None]:
        """Return the sketches of texts, and the texts, gone through once (an iterator has them only once); ``asking``: to be
        looked up, too, and not only added."""
        keep_text = self._now()[0].keep_text
        if not self._is_current:
            check_rules(self.path, self.kind, self._rules, keep_text)
        return sketch_texts(self.kind, given, threads, asking)

    def query(self, texts: Any, *, top: int | None = 10, threads: int = 1) -> pa.Table:
        """Look up documents.

        Parameters
        ----------
        texts : list of str, column, iterator of str, or Sketches
        top : int >= 1 or None, default 10
            Maximum number of matches per text; None: all.
        threads : int >= 1

        Returns
        -------
        pyarrow.Table
            ``query`` (int64, place in texts), ``id``, ``estimated_resemblance``, ``standard_error``, ``resemblance`` (exact;
            null unless the index keeps texts and the queries are texts). For each query the best first. Estimates reach
            ``least_estimate`` of ``info``, which is below the threshold by what estimates of it may err, so that a document at
            the threshold is found with the probability ``recall``. In a SimHash index they are cosines, which reach it.

        Raises
        ------
        ParameterError
            If ``top`` is below 1.
        IndexFormatError
            If something that it reads is damaged. It does not read everything: ``check`` does.
        """
        return self.answers(texts, top=top, threads=threads).to_table()

    def answers(self, texts: Any, *, top: int | None = 10, threads: int = 1) -> Answers:
        """Look up documents: what ``query`` returns, as arrays, which take less time to make and to read where texts are few.

        Parameters
        ----------
        texts, top, threads
            As for ``query``.

        Returns
        -------
        Answers

        Raises
        ------
        ParameterError, IndexFormatError
            As ``query``.
        """
        return self._look_up(texts, top, False, threads)

    def first(self, texts: Any, *, threads: int = 1) -> pa.Table:
        """Look up whether something like each document is in the index: the columns of ``query``, at most one row each.

        A search ends with its first match, which is not necessarily the best.

        Parameters
        ----------
        texts : list of str, column, iterator of str, or Sketches
        threads : int >= 1

        Returns
        -------
        pyarrow.Table
        """
        return self._look_up(texts, 1, True, threads).to_table()

    def containing(self, texts: Any, *, threshold: float = 0.9, top: int | None = 10, threads: int = 1) -> pa.Table:
        """Look up which documents contain others, however much longer they are. None is missed.

        Parameters
        ----------
        texts : list of str, column or iterator of str
        threshold : float in (0, 1], default 0.9
            Least containment: the share of the different shingles of a text that a document has.
        top : int >= 1 or None, default 10
            Maximum number of matches per text; None: all.
        threads : int >= 1

        Returns
        -------
        pyarrow.Table
            ``query`` (int64, place in texts), ``id``, ``containment`` (float64, exact); for each query the best first. A text
            without a shingle is in nothing.

        Raises
        ------
        ParameterError
            If the index keeps no texts, by whose sketches containment cannot be found, or a parameter is out of its range.
        IndexFormatError
            If something that it reads is damaged.

        Notes
        -----
        Sketches are not used: every call reads and shingles all texts that the index keeps, a thousand at a time. So ask for
        many texts at once. Broder, "On the resemblance and containment of documents", 1997.
        """
        if isinstance(texts, Sketches):
            raise ParameterError("containment is measured on the texts: give texts, not sketches")
        manifest, segments = self._now()
        asked, shingling = concatenate(as_texts(texts)), self.kind.shingling
        return containing(manifest, segments, shingling, asked, threshold=threshold, top=top, threads=threads)

    def _look_up(self, texts: Any, top: int | None, first_only: bool, threads: int) -> Answers:
        sketches, pieces = self._sketch(texts, threads)
        manifest, segments = self._now()
        found = look_up(self.kind, segments, sketches, top, first_only, threads)
        measured = None
        if manifest.keep_text and pieces is not None:
            measured = measure(self.kind, segments, concatenate(pieces), found)
        ids = ids_of(segments, found.segment, found.row, manifest.ids)
        return Answers(found.query, ids, *self.kind.estimate(found.score), measured, manifest.ids)

    def export(self) -> Iterator[pa.Table]:
        """Return an iterator of tables with all documents of this moment: ``id``, and ``text`` if the index keeps texts."""
        return all_documents(*self._now())

    def contains(self, ids: Iterable[str] | Iterable[int]) -> NDArray[np.bool_]:
        """Tell, for each id, whether a document has it.

        Parameters
        ----------
        ids : iterable of str, or of int

        Returns
        -------
        ndarray of bool

        Raises
        ------
        ParameterError
            If an id is not a str or int, or of another type than those of the index.
        """
        return find(self._now()[1], self._names(ids))[1] >= 0

    def get(self, ids: Iterable[str] | Iterable[int]) -> pa.Table:
        """Return documents by their ids; ids that no document has are passed over.

        Parameters
        ----------
        ids : iterable of str, or of int

        Returns
        -------
        pyarrow.Table
            ``id``, in the order that was given, and ``text`` if the index keeps texts.

        Raises
        ------
        ParameterError
            As ``contains``.
        """
        names = self._names(ids)
        return documents_of(*self._now(), names)

    def _names(self, ids: Iterable[str] | Iterable[int]) -> Texts:
        """Return ids as texts, once their type is checked."""
        kind, names = id_texts(ids)
        check_type(kind, self.id_type, names)
        return names

    def check(self) -> list[str]:
        """Read every byte; return a message for each damage found, segments left out included (none: all is well)."""
        self._check_open()
        with self._turn:
            manifest = self._now()[0]
            while True:
                found = [what for entry in manifest.segments for what in damage(self.path, self.kind, manifest, entry)]
                newer = read_manifest(self.path) if found and self._close is None else manifest
                if newer == manifest:
                    return [*self.damaged, *found]
                manifest = newer  # a writer replaced what was being read

    def _now(self) -> tuple[Manifest, Segments]:
        """Return the state of this moment, which another thread may be replacing."""
        now = self._state.now
        self._check_open()  # after it was taken: closing empties it
        return now

    def _check_open(self, write: bool = False) -> None:
        if not self._open:
            raise ParameterError(f"{self.path}: this index has been closed")
        if os.getpid() != self._process:
            if self._close is not None:
                raise ParameterError(f"{self.path}: another process opened this index for changes; open it again in this one")
            self._turn, self._process = threading.RLock(), os.getpid()  # a thread that was not forked may hold the old lock
        if write and self._close is None:
            raise OutputError("opened for reading; open it with mode='append' to change it", self.path)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        threshold: float = 0.8,
        recall: float = 0.99,
        kind: Method = "minhash",
        keep_text: bool = False,
        unit: Unit = "word",
        width: int | None = None,
        normalization: Normalization = "NFC",
        fold_case: bool = True,
        radius: int | None = None,
        bands: int | None = None,
        rows: int | None = None,
        bits: int | None = None,
        slots: int | None = None,
        standard_error: float | None = None,
        sketch_bytes: int | None = None,
        probes: int | None = None,
        seed: int | Literal["random"] = 1,
    ) -> Index:
        """Make an empty index and open it.

        Parameters
        ----------
        path : str or path
            A folder that does not exist yet, or is empty.
        threshold : float in (0, 1], default 0.8
            Resemblance from which documents are found; with "simhash" the minimum estimate of a cosine.
        recall : float in (0, 1), default 0.99
            Probability of finding a document exactly at the threshold; those above it are found with higher probability. To
            keep this, estimates somewhat below the threshold are matches, too (``least_estimate`` of ``info``). With "simhash"
            it follows from ``radius``; ``info`` states it, ``recall_at_threshold``.
        kind : {"minhash", "simhash"}, default "minhash"
            Whether resemblances of shingle sets are estimated, or cosines of feature counts from 64-bit fingerprints.
        keep_text : bool
            Keep the texts too, so that matches have their exact resemblance.
        unit, width, normalization, fold_case
            What a shingle is: see ``Shingling``.
        radius : int in [0, 7], optional
            For "simhash": bits in which fingerprints of near-duplicates can differ; default 3.
        bands, rows : int >= 1, optional
            For "minhash": in place of the planner's choice.
        bits : {1, 2, 4, 8, 16}, optional
            For "minhash": of each slot kept for estimates; default 16.
        slots : int in [1, 65536], optional
            For "minhash": kept for estimates; default 256.
        standard_error : float in [0.0001, 1), optional
            For "minhash": choose bits and slots, the fewest bytes with which estimates of the threshold err no more.
        sketch_bytes : int in [2, 131072], optional
            For "minhash", instead: choose bits and slots, at most so many bytes a document, that err least at the threshold.
        probes : int in [1, 20000], optional
            For "simhash": keep one table in place of ``radius + 1``, and look at so many places of it, which the weakest bits
            of the query name. It takes less disk space, and finds a share of the matches only: ``info`` states it.
        seed : int in [0, 2^64) or "random", default 1
            The only source of randomness. "random" draws one that nobody can know beforehand; ``info`` states the number.

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
        optional = {
            "width": width, "radius": radius, "probes": probes, "bands": bands, "rows": rows,
            "bits": bits, "slots": slots, "standard_error": standard_error, "sketch_bytes": sketch_bytes,
        }  # fmt: skip
        made = plan_kind(
            kind, threshold=threshold, recall=recall, unit=unit, normalization=normalization, fold_case=fold_case,
            seed=drawn_seed() if seed == RANDOM else seed,
            **{name: value for name, value in optional.items() if value is not None},
        )  # fmt: skip
        make_folder(folder)
        lock = take_lock(folder, wait=False)
        try:
            if (folder / NAME).exists():
                raise OutputError("another process has just made an index here; open it, or choose another name", folder)
            Manifest(made.to_dict(), keep_text).write(folder)
            return cls._opened(folder, lock, False)
        except BaseException:
            os.close(lock)
            raise

    @classmethod
    def open(cls, path: str | os.PathLike[str], mode: Mode = "append", *, wait: bool = False, salvage: bool = False) -> Index:
        """Open an index.

        Parameters
        ----------
        path : str or path
        mode : {"append", "read"}, default "append"
        wait : bool
            Wait while another process holds the write lock, instead of raising an error.
        salvage : bool
            Read every byte, and leave damaged segments out (``damaged`` names them); for reading only.

        Returns
        -------
        Index

        Raises
        ------
        IndexFormatError
            If there is no index, or it is damaged or of a newer version; only headers are checked (``check`` reads all).
        OutputError
            If another process holds the write lock.
        ParameterError
            If the mode is unknown, or ``salvage`` is asked for with another mode than reading.
        """
        folder = Path(path)
        check_choice("mode", mode, Mode)
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

    def __enter__(self) -> Index:
        """Return the index itself."""
        return self

    def add(self, ids: Iterable[str] | Iterable[int], texts: Any, *, replace: bool = False, threads: int = 1) -> None:
        """Add documents; they are on disk when it returns.

        Parameters
        ----------
        ids : iterable of str, or of int
            Unique, one for each text, in their order; all ids of an index are of one type.
        texts : list of str, column, iterator of str, or Sketches
        replace : bool
            Replace documents with the same ids.
        threads : int >= 1

        Raises
        ------
        ParameterError
            If an id is in the index already, appears twice, or is not a str or int; if there are not as many ids as texts; if
            the index keeps texts and got sketches. Nothing is added then.
        IncompatibleSketchError
            If the sketches, or the index, were made with other parameters or rules.
        IndexFormatError
            If segments must be merged, and one is damaged; nothing is added then.
        OutputError
            If the index is open for reading, or cannot be written; nothing is added then.
        """
        self._check_open(write=True)
        kind, names = id_texts(ids)
        check_type(kind, self.id_type, names)
        if isinstance(texts, Sketches) and self._state.manifest.keep_text:
            raise ParameterError("this index keeps texts: sketches alone cannot be added")
        sketches, pieces = self._sketch(texts, threads, asking=False)
        if len(names) != len(sketches):
            raise ParameterError(f"there are {len(names):,} ids and {len(sketches):,} texts")
        if kind is None:
            return
        with self._turn:
            self._check_open(write=True)
            check_type(kind, self.id_type, names)
            kept = concatenate(pieces) if pieces is not None and self._state.manifest.keep_text else None
            unless = None if replace else "is already in the index; pass --replace (replace=True) to replace it"
            self._state.add(names, sketches, kept, kind, self._state.rows_of(names, unless))

    def remove(self, ids: Iterable[str] | Iterable[int]) -> int:
        """Remove documents; return how many of the ids were in the index. The change is on disk when it returns.

        Parameters
        ----------
        ids : iterable of str or of int

        Returns
        -------
        int

        Raises
        ------
        ParameterError
            If an id appears twice, or is not a str or int.
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
