"""What the indexes of fingerprints share, and the plainest of them, which compares all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import prefix_tables, search_all
from ..errors import IncompatibleSketchError, ParameterError
from ..values import Fingerprints, Int64Array, Pairs, UInt64Array
from ..values.arrays import whole

QUERIES_AT_A_TIME = 8192
MOST_ROWS = (1 << 32) - 1  # tables hold rows in 32 bits
Values = Fingerprints | ArrayLike
Margins = NDArray[np.float32] | NDArray[np.int8] | None
Hits = tuple[Int64Array, Int64Array, Int64Array]  # query rows, stored rows, distances
Found = tuple[*Hits, int]  # and pairs compared
NO_HITS: Hits = (np.empty(0, np.int64),) * 3
Search = Callable[[int, int], Found]


class PrefixTables(NamedTuple):
    """Fingerprints in the order of each table's prefixes, table after table; their rows, or none where they stand in order; the
    bucket of a prefix of table t begins at ``offsets[bases[t] + prefix - low]``."""

    words: UInt64Array  # (tables * n, words)
    rows: NDArray[np.uint32]
    offsets: NDArray[np.uint32]
    bases: Int64Array  # (tables + 1,)
    low: int

    @classmethod
    def of(cls, words: UInt64Array, ranges: Int64Array, tables: int = 1) -> PrefixTables:
        """Sort fingerprints; a prefix is made of the ``ranges`` (table, first bit, number) of its table."""
        return cls(*prefix_tables(words, ranges, tables))


class Growing:
    """Rows that are appended to, in room that doubles."""

    def __init__(self) -> None:
        self._room: Any = None
        self._count = 0

    def append(self, rows: Any) -> None:
        """Add rows of the type and width of the first ones."""
        needed = self._count + len(rows)
        if self._room is None:
            self._room = rows.copy()
        elif needed > len(self._room):
            room = np.empty((max(needed, 2 * len(self._room)), *rows.shape[1:]), rows.dtype)
            room[: self._count] = self._room[: self._count]
            self._room = room
        self._room[self._count : needed] = rows
        self._count = needed

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._count

    @property
    def rows(self) -> Any:
        """All rows, without a copy; None before the first."""
        return None if self._room is None else self._room[: self._count]


class SharedIndex:
    """Base of what threads share; a copy of it, in another process perhaps, has a lock of its own."""

    def __init__(self) -> None:
        self._turn = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the lock."""
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of another."""
        self.__dict__.update(state, _turn=threading.RLock())


class FingerprintIndex(SharedIndex):
    """Base of the indexes: fingerprints added get the next row numbers; searches are inclusive of the radius.

    Threads may share an index: what searches need is built by one of them, and each search sees what was added before it.

    Parameters
    ----------
    radius : int >= 0
        Hamming distance, in bits, up to which fingerprints are found.
    bits : int, optional
        Of the fingerprints; default: those of the first ones added, 64 a word for plain arrays.
    """

    def __init__(self, *, radius: int, bits: int | None = None) -> None:
        super().__init__()
        self.radius: int = whole("radius", radius, 0)
        self.bits = None if bits is None else whole("bits", bits, 1)
        self._made_by: Any = None
        self._words_added = Growing()
        self._built = 0
        self.compared: int = 0

    def __len__(self) -> int:
        """Return the number of fingerprints added."""
        return len(self._words_added)

    def _words(self, values: Values, adds: bool) -> UInt64Array:
        """Check values and return their words; the first ones that are added fix the number of bits."""
        made_by = None
        if isinstance(values, Fingerprints):
            words, bits, made_by = values.words, values.bits, (values.scheme, values.features)
            if (empty := np.flatnonzero(values.empty)).size:
                raise ParameterError(
                    f"document {empty[0]} is empty, and {len(empty) - 1} more: empty documents have equal fingerprints without "
                    "being alike; leave them out before signing"
                )
        else:
            words = np.asarray(values)
            if words.dtype.kind not in "iu" or words.ndim not in (1, 2):
                raise ParameterError(
                    f"fingerprints must be integers of shape (n,) or (n, words); got {words.dtype} of shape {words.shape}"
                )
            words = words.astype(np.uint64).reshape(
                len(words), -1 if words.size else (words.shape[1] if words.ndim == 2 else 1)
            )
            bits = self.bits if self.bits and words.shape[1] == (self.bits + 63) // 64 else 64 * words.shape[1]
        with self._turn:
            if made_by is not None and self._made_by not in (None, made_by):
                raise IncompatibleSketchError(
                    f"this index holds fingerprints made by {self._made_by}; those made by {made_by} are incompatible"
                )
            if self.bits is None and not 0 <= self.radius < bits:
                raise ParameterError(f"must be in 0..{bits - 1} for fingerprints of {bits} bits", "radius", self.radius)
            if bits != (self.bits or bits):
                raise ParameterError(f"this index holds fingerprints of {self.bits} bits; got {bits} bits")
            if bits % 64 and (words[:, -1] >> np.uint64(bits % 64)).any():
                raise ParameterError(f"fingerprints of {bits} bits must be below 2^{bits}; some have higher bits set")
            if adds:
                self.bits, self._made_by = bits, made_by if self._made_by is None else self._made_by
        return np.ascontiguousarray(words)

    def add(self, values: Values) -> Self:
        """Add fingerprints; they get the next row numbers. Returns the index itself.

        Parameters
        ----------
        values : Fingerprints, or ndarray of uint64, shape (n,) or (n, words)

        Returns
        -------
        the index itself

        Raises
        ------
        ParameterError, IncompatibleSketchError
            If they are incompatible with those added before, the radius is not below their number of bits, or there would be
            more than 2^32 - 1.
        """
        with self._turn:
            words = self._words(values, True)
            if (count := len(self) + len(words)) > MOST_ROWS:
                raise ParameterError(f"an index holds at most {MOST_ROWS:,} fingerprints; this would make {count:,}")
            self._words_added.append(words)
        return self

    @property
    def _stored(self) -> UInt64Array:
        rows = self._words_added.rows
        return np.empty((0, ((self.bits or 64) + 63) // 64), np.uint64) if rows is None else rows

    def _prepare(self) -> None:
        """Build what searches need, if fingerprints were added since."""
        if self._built != len(self) or not self._built:
            self._build()
            self._built = len(self)

    def _build(self) -> None:
        """Build what searches need."""

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        """Return a function that searches queries [start, stop); what it finds ascends."""
        raise NotImplementedError

    def _asked(self, values: Values, margins: Margins) -> tuple[UInt64Array, Margins]:
        """Check queries and their margins."""
        query = self._words(values, False)
        bits = self.bits or (values.bits if isinstance(values, Fingerprints) else 64 * query.shape[1])
        if margins is None and isinstance(values, Fingerprints):
            margins = values.margins
        if margins is not None:
            margins = cast(NDArray[np.float32], np.asarray(margins))
        if margins is not None and margins.shape != (len(query), bits):
            raise ParameterError(f"margins must have shape ({len(query)}, {bits}); theirs is {margins.shape}")
        if margins is not None and (margins.dtype.kind not in "fi" or np.isnan(margins).any()):
            raise ParameterError("margins must be numbers, not nan")
        return query, margins

    def _run(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Hits:
        """Return (query rows, stored rows, distances) of all hits."""
        with self._turn:  # a search holds on to what it was made from
            if not len(self):
                return NO_HITS
            self._prepare()
            search = self._search(query, margins, first_only, self_join)
        left, right, distance, compared = collect(search, len(query))
        with self._turn:
            self.compared += compared
        return left, right, distance

    def query(self, values: Values, margins: Margins = None) -> Pairs:
        """Find the stored fingerprints within the radius of each query.

        Parameters
        ----------
        values : Fingerprints, or uint64 of shape (n,) or (n, words)
        margins : ndarray of float32, shape (n, bits), optional
            The signed sums behind the queries' bits; default: those the fingerprints carry.

        Returns
        -------
        Pairs
            ``left`` query rows, ``right`` stored rows, ``distance`` (bits, at most the radius), ascending.
        """
        left, right, distance = self._run(*self._asked(values, margins), False, False)
        return Pairs(left, right, len(self), None, distance)

    def first(self, values: Values, margins: Margins = None) -> Int64Array:
        """Return some stored row within the radius of each query, or -1: int64 of shape (n,). Stops at the first found.

        Parameters
        ----------
        values : Fingerprints, or ndarray of uint64, shape (n,) or (n, words)
        margins : ndarray of float32, shape (n, bits), optional
            How sure each bit is; for ``WeakBitIndex``.
        """
        query, margins = self._asked(values, margins)
        left, right, _ = self._run(query, margins, True, False)
        out = np.full(len(query), -1, np.int64)
        out[left] = right
        return out

    def pairs(self) -> Pairs:
        """Find all pairs of stored fingerprints within the radius of each other, each once, ``left < right``."""
        with self._turn:
            left, right, distance = self._run(self._stored, None, False, True)
        return Pairs(left, right, len(self), None, distance)


class ExhaustiveHammingIndex(FingerprintIndex):
    """Every fingerprint is compared: exact, and about 1e9 comparisons a second. For checks of the others.

    Parameters
    ----------
    radius : int >= 0
    bits : int, optional
    """

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        stored, radius = self._stored, self.radius
        return lambda start, stop: search_all(query, start, stop, stored, radius, first_only, self_join)


def collect(search: Search, n: int) -> Found:
    """Run a search over n queries, some at a time: what it finds ascends."""
    return concatenate_found([search(start, min(start + QUERIES_AT_A_TIME, n)) for start in range(0, n, QUERIES_AT_A_TIME)])


def concatenate_found(parts: Iterable[Found]) -> Found:
    """Return all that was found, and how many pairs were compared."""
    left, right, distance, compared = zip((*NO_HITS, 0), *parts, strict=True)
    return np.concatenate(left), np.concatenate(right), np.concatenate(distance), sum(compared)
