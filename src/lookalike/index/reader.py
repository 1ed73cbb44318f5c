"""Reading an index: what is in it, and what is like it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import IndexFormatError, OutputError, ParameterError, all_from_caller
from ..text.texts import Texts, as_texts, concatenate
from ..wording import counted, html_table, printable
from .answers import (
    Answers,
    all_documents,
    check_type,
    documents_of,
    find,
    id_texts,
    ids_of,
    look_up,
    measure,
    sketch_texts,
)
from .containing import containing
from .kind import Sketches
from .kinds import check_rules
from .manifest import Manifest, read_manifest, release_lock
from .segments import Segment, Segments
from .state import State, damage, open_segments


@all_from_caller
class Reader:
    """What an index holds and answers; ``Index`` adds how it is made and changed."""

    def __init__(self, path: Path, state: State, rules: int, lock: int | None, damaged: list[str]) -> None:
        self.path = path
        self.kind = state.kind
        self.damaged = damaged
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

    def __repr__(self) -> str:
        """Say where it is and what is in it."""
        inside = counted(self._state.manifest.n_documents, "document") if self._open else "closed"
        said = f"<Index {printable(str(self.path))}: {inside}, {self.kind.name}, threshold {self.kind.threshold:g}"
        if self.kind.probes is None:
            return f"{said}>"
        found = self._share_probed(self._state.segments)
        return f"{said}, {counted(self.kind.probes, 'probe')} (share found at the threshold: {found:.3f})>"

    def _repr_html_(self) -> str:
        """Return where it is and what is in it as a small table, for notebooks."""
        inside = counted(self._state.manifest.n_documents, "document") if self._open else "closed"
        facts = {"folder": str(self.path), "inside": inside, "sketches": self.kind.name}
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
        if top is not None and top < 1:
            raise ParameterError("must be at least 1", "top", top)
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
        if top is not None and top < 1:
            raise ParameterError("must be at least 1", "top", top)
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
