"""A persistent index: documents are added, looked up and removed; acknowledged changes survive a crash."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import OutputError, ParameterError, all_from_caller, check_choice
from ..text.texts import concatenate
from ..values.arrays import RANDOM, drawn_seed
from ..wording import spelled
from .answers import check_type, id_texts
from .kind import Sketches
from .kinds import plan_kind, read_kind
from .manifest import NAME, Manifest, make_folder, read_manifest, remove_leftovers, take_lock
from .reader import Reader
from .state import State, open_segments


@all_from_caller
class Index(Reader):
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

    @classmethod
    @spelled
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
        bits: int | None = None,
        slots: int | None = None,
        standard_error: float | None = None,
        sketch_bytes: int | None = None,
        probes: int | None = None,
        seed: int | str = 1,
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
            seed=drawn_seed() if isinstance(seed, str) and seed == RANDOM else seed,
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
    def open(cls, path: str | os.PathLike[str], mode: str = "append", *, wait: bool = False, salvage: bool = False) -> Index:
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
        check_choice("mode", mode, ("append", "read"))
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
        for given in (ids, texts):
            if isinstance(given, (set, frozenset)):
                raise ParameterError("ids and texts belong together by their order, which a set does not have; pass lists")
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
