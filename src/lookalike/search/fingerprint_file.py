"""Batches of queries against fingerprints on disk, read as a stream of sorted pieces."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.threads import in_order
from ..errors import IncompatibleSketchError, InputDataError, ParameterError
from ..values import Fingerprints, Int64Array, Pairs, UInt64Array
from ..values.arrays import concatenate_columns, whole
from .chunked_file import ChunkedFile
from .fingerprints import NO_HITS, QUERIES_AT_A_TIME, FingerprintIndex, Hits, Margins, Values, collect
from .weak_bits import WeakBitIndex, WeakBits

Piece = tuple[UInt64Array, Int64Array]
DEFAULT_MEMORY = 256 << 20


class FingerprintFile:
    """Fingerprints on disk, searched by reading the file once for a whole batch of queries.

    Each batch appended becomes a sorted section. A search takes an empty index as its method: with ``WeakBitIndex`` the
    weak bits of the queries lead into each piece of the file (PSM in batch mode), with any other the *queries* are indexed
    and the file's fingerprints look them up (Manku's batch mode).

    Parameters
    ----------
    path : str or path
        Made with the first batch if it does not exist.
    bits : int, default 64
        Bits per fingerprint in a new file.

    Raises
    ------
    InputDataError
        If the file is damaged, of another kind or of a newer version.
    ParameterError
        If it holds fingerprints of another number of bits.

    Notes
    -----
    Disk: 12 bytes a fingerprint of 64 bits. An append counts once it is on the disk, and then whole; one that was cut off
    does not count and is overwritten by the next. Threads may share one object: appends take turns, and a search reads what
    was appended before it.

    References
    ----------
    Thesis on probabilistic SimHash matching, chapters V.B and VI; Manku, Jain & Das Sarma, WWW 2007, section 3.2.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> import lookalike as la
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = la.search.FingerprintFile(f"{folder}/seen.fps")
    ...     _ = file.append(np.array([0b0000, 0b1111], np.uint64))
    ...     file.query(np.array([0b0001], np.uint64), la.search.HammingIndex(radius=3)).right.tolist()
    [0, 1]
    """

    def __init__(self, path: str | Path, *, bits: int = 64) -> None:
        bits = whole("bits", bits, 1, 1024)
        self._chunks = ChunkedFile(path, bits)
        self.path: Path = self._chunks.path
        self.bits: int = int(self._chunks.header["bits"])
        if self.bits != bits:
            raise ParameterError(f"{path} holds fingerprints of {self.bits} bits; {bits} were asked for")

    def __len__(self) -> int:
        """Return the number of fingerprints."""
        return self._chunks.n_rows

    def _words(self, values: Values) -> tuple[UInt64Array, str]:
        """Check values against what the file holds; return their words and what made them."""
        words = FingerprintIndex(radius=0, bits=self.bits)._words(values, False)
        made_by = "arrays"
        if isinstance(values, Fingerprints):  # in words that are the same in every process
            features = values.features.to_dict() if hasattr(values.features, "to_dict") else values.features
            made_by = f"{values.scheme} of {features}"
        self._check(made_by, self._chunks.header)
        return words, made_by

    def _check(self, made_by: str, header: dict[str, Any]) -> None:
        """Check that what the file holds and fingerprints made so go together."""
        if header["bits"] != self.bits:
            raise InputDataError(f"holds fingerprints of {header['bits']} bits by now; these have {self.bits}", self.path)
        known = header["made_by"]
        if known is not None and known != made_by and "arrays" not in (known, made_by):
            raise IncompatibleSketchError(
                f"{self.path} holds fingerprints made by {known}; those made by {made_by} are incompatible"
            )

    def append(self, values: Values) -> int:
        """Append a batch as a sorted section, and return the row of its first fingerprint.

        Parameters
        ----------
        values : Fingerprints, or ndarray of uint64, shape (n,) or (n, words)

        Returns
        -------
        int

        Raises
        ------
        OutputError
            If the file cannot be written, or another process appends to it. The batch was not added then, but where the disk
            fails so far that a file cannot even be cut: the message says so.
        ParameterError, IncompatibleSketchError
            If the fingerprints are incompatible with those of the file.
        """
        words, made_by = self._words(values)
        return self._chunks.append(words, made_by, partial(self._check, made_by)) if len(words) else len(self)

    def extend(self, other: FingerprintFile) -> int:
        """Append all batches of another file, one at a time, and return the row of the first fingerprint.

        Parameters
        ----------
        other : FingerprintFile

        Returns
        -------
        int

        Raises
        ------
        OutputError
            If the file cannot be written, or another process appends to it.
        InputDataError
            If the other file is damaged; the batches before the damage were added.
        ParameterError, IncompatibleSketchError
            If its fingerprints do not match those of this file; none was added then.
        """
        if other.bits != self.bits:
            raise ParameterError(f"{other.path} holds fingerprints of {other.bits} bits; {self.path} needs {self.bits}")
        made_by = other._chunks.header["made_by"] or "arrays"
        fits = partial(self._check, made_by)
        firsts = [self._chunks.append(words, made_by, fits) for words in other._chunks.batches()]
        return firsts[0] if firsts else len(self)

    def query(
        self,
        values: Values,
        using: FingerprintIndex,
        margins: Margins = None,
        *,
        memory: int = DEFAULT_MEMORY,
        threads: int = 1,
    ) -> Pairs:
        """Find the fingerprints of the file within the radius of each query.

        Parameters
        ----------
        values : Fingerprints, or uint64 of shape (n,) or (n, words)
            The batch; it is held in memory, and its prefixes (4 bytes a probe) or tables with it.
        using : WeakBitIndex, TableIndex, HammingIndex or ExhaustiveHammingIndex
            An empty index: the method, the radius and its other parameters.
        margins : ndarray of float32 or int8, shape (n, bits), optional
            For ``WeakBitIndex``; default: those the fingerprints carry.
        memory : int >= 2^20
            Bytes that the pieces of the file under way may take, whatever the size of the file.
        threads : int >= 1
            Pieces searched at a time.

        Returns
        -------
        Pairs
            ``left`` query rows, ``right`` rows of the file, ``distance``, ascending.

        Raises
        ------
        ParameterError, IncompatibleSketchError
            If something does not fit, or ``using`` is not empty.
        InputDataError
            If the file is damaged.
        """
        parts = self._search(values, using, margins, memory, threads, None)
        left, right, distance = concatenate_columns([NO_HITS, *parts])
        order = np.lexsort((right, left))
        return Pairs(left[order], right[order], len(self), None, distance[order])

    def first(
        self,
        values: Values,
        using: FingerprintIndex,
        margins: Margins = None,
        *,
        memory: int = DEFAULT_MEMORY,
        threads: int = 1,
    ) -> Int64Array:
        """Return some row of the file within the radius of each query, or -1: int64 of shape (n,).

        Parameters and errors are those of ``query``. With ``WeakBitIndex`` a query that was answered is not asked
        again, by no thread; tables of queries cannot leave out any. With either the file is read until each query is
        answered, and no further: damage behind that place is not noticed, nor is a wrong checksum of the batch that it lies in.

        Parameters
        ----------
        values : Fingerprints, or ndarray of uint64, shape (n,) or (n, words)
        using : HammingIndex, TableIndex or WeakBitIndex
            Without content, for its parameters.
        margins : ndarray of float32, shape (n, bits), optional
            How sure each bit is; for ``WeakBitIndex``.
        memory : int
            Bytes for pieces of the file.
        threads : int >= 1
        """
        out = np.full(len(self._words(values)[0]), -1, np.int64)
        answered = np.zeros(len(out), np.bool_)
        for left, right, _ in self._search(values, using, margins, memory, threads, answered):
            out[left] = right
        return out

    def _search(
        self, values: Values, using: FingerprintIndex, margins: Margins, memory: int, threads: int,
        answered: NDArray[np.bool_] | None,
    ) -> Iterator[Hits]:  # fmt: skip
        """Yield the hits of each piece; with ``answered``, at most one a query and piece, and none where it says so."""
        if len(using):
            raise ParameterError(f"using must be an empty index, the method of the search; it holds {len(using):,} rows")
        if memory < 1 << 20 or threads < 1:
            raise ParameterError(f"memory must be at least 2^20, threads at least 1; got {memory} and {threads}")
        self._words(values)
        index = copy.deepcopy(using)
        index._words(values, False)
        index.bits = self.bits
        query, margins = index._asked(values, margins)
        most = max(1024, memory // (2 * threads + 1) // (24 * query.shape[1] + 40))
        if not len(query) or not len(self):
            return
        if isinstance(index, WeakBitIndex):
            weak = index.weak_bits(min(most, len(self)))
            wanted = weak.prefixes(query, margins, 0, len(query))
            work = partial(_search_piece, query, wanted, weak, answered)
        else:
            index.add(query)._prepare()
            work = partial(_look_up_piece, index, answered)
        with closing(self._chunks.pieces(most)) as pieces:
            yield from in_order(work, pieces if answered is None else _until_answered(pieces, answered), threads)


def _until_answered(pieces: Iterator[Piece], answered: NDArray[np.bool_]) -> Iterator[Piece]:
    """Yield pieces while some query waits for an answer; threads search those under way to their end, for theirs may be it."""
    for piece in pieces:
        yield piece
        if answered.all():
            return


def _search_piece(
    query: UInt64Array, wanted: NDArray[np.uint32], weak: WeakBits, answered: NDArray[np.bool_] | None, piece: Piece
) -> Hits:
    """Probe one piece at the prefixes of the queries."""
    words, rows = piece
    search = weak.search(weak.table(words, ascending=True), query, lambda start, stop: wanted[start:stop], answered)
    left, place, distance, _ = collect(search, len(query))
    return left, rows[place], distance


def _look_up_piece(index: FingerprintIndex, answered: NDArray[np.bool_] | None, piece: Piece) -> Hits:
    """Look the fingerprints of one piece up among the queries."""
    words, rows = piece
    parts = [NO_HITS]
    for start in range(0, len(words), QUERIES_AT_A_TIME):
        place, asked, distance = index._run(words[start : start + QUERIES_AT_A_TIME], None, False, False)
        if answered is not None:
            asked, chosen = np.unique(asked, return_index=True)
            new = ~answered[asked]
            asked, chosen = asked[new], chosen[new]
            answered[asked] = True
            place, distance = place[chosen], distance[chosen]
        parts.append((asked, rows[start + place], distance))
    left, right, distance = concatenate_columns(parts)
    return left, right, distance
