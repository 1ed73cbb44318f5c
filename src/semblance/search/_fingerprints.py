"""What the indexes of fingerprints share: taking them in, handing out hits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import IncompatibleSketchError, ParameterError
from ..kernels import hamming as kernel
from ..values import Fingerprints, Int64Array, Pairs, UInt64Array

QUERIES_AT_A_TIME = 8192
Values = Fingerprints | ArrayLike
Margins = NDArray[np.float32] | None
Search = Callable[..., int]


class FingerprintIndex:
    """Base of the indexes: fingerprints added get the next row numbers; searches are inclusive of the radius.

    Parameters
    ----------
    radius : int >= 0
        Hamming distance, in bits, up to which fingerprints are found.
    bits : int, optional
        Of the fingerprints; default: those of the first ones added, 64 a word for plain arrays.
    """

    def __init__(self, *, radius: int, bits: int | None = None) -> None:
        if radius < 0:
            raise ParameterError(f"radius must be at least 0; {radius} was given")
        self.radius = radius
        self.bits = bits
        self._made_by: Any = None
        self._parts: list[UInt64Array] = []
        self._built = False
        self.compared = 0

    def __len__(self) -> int:
        """Return the number of fingerprints added."""
        return sum(map(len, self._parts))

    def _words(self, values: Values) -> UInt64Array:
        """Check values and return their words; the first ones fix the number of bits."""
        if isinstance(values, Fingerprints):
            words, bits, made_by = values.words, values.bits, (values.scheme, values.features)
            if self._made_by not in (None, made_by):
                raise IncompatibleSketchError(
                    f"this index holds fingerprints of {self._made_by}; those of {made_by} do not fit"
                )
            self._made_by = made_by
        else:
            words = np.asarray(values)
            if words.dtype.kind not in "iu" or words.ndim not in (1, 2):
                raise ParameterError(
                    f"fingerprints must be integers of shape (n,) or (n, words); {words.dtype} of shape {words.shape} was given"
                )
            words = words.astype(np.uint64).reshape(
                len(words), -1 if words.size else (words.shape[1] if words.ndim == 2 else 1)
            )
            bits = self.bits or 64 * words.shape[1]
        if self.bits is None:
            if not 0 <= self.radius < bits:
                raise ParameterError(f"radius must lie in 0..{bits - 1} for fingerprints of {bits} bits; it is {self.radius}")
            self.bits = bits
        if bits != self.bits or words.shape[1] != (self.bits + 63) // 64:
            raise ParameterError(
                f"this index holds fingerprints of {self.bits} bits; some of {bits} bits in {words.shape[1]} words were given"
            )
        return np.ascontiguousarray(words)

    def add(self, values: Values) -> Self:
        """Add fingerprints; they get the next row numbers. Returns the index itself.

        Raises
        ------
        ParameterError, IncompatibleSketchError
            If they do not fit those added before, or the radius is not below their number of bits.
        """
        self._parts.append(self._words(values))
        self._built = False
        return self

    @property
    def _stored(self) -> UInt64Array:
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0] if self._parts else np.empty((0, ((self.bits or 64) + 63) // 64), np.uint64)

    def _prepare(self) -> None:
        """Build what searches need, if fingerprints were added since."""
        if not self._built:
            self._build()
            self._built = True

    def _build(self) -> None:
        """Build what searches need."""

    def _search(self, query: UInt64Array, margins: Margins, first_only: bool, self_join: bool) -> Search:
        """Return a function of (start, stop, left, right, distance, compared) that writes hits and returns their number."""
        raise NotImplementedError

    def _run(
        self, values: Values, margins: Margins, first_only: bool, self_join: bool
    ) -> tuple[Int64Array, Int64Array, Int64Array]:
        query = self._words(values)
        if margins is None and isinstance(values, Fingerprints):
            margins = values.margins
        if margins is not None and margins.shape != (len(query), self.bits):
            raise ParameterError(f"margins must have shape ({len(query)}, {self.bits}); theirs is {margins.shape}")
        self._prepare()
        search = self._search(query, margins, first_only, self_join)
        parts = []
        for start in range(0, len(query), QUERIES_AT_A_TIME):
            stop = min(start + QUERIES_AT_A_TIME, len(query))
            room = 4 * QUERIES_AT_A_TIME
            while True:
                out = tuple(np.empty(room, np.int64) for _ in range(3))
                compared = np.zeros(1, np.int64)
                found = search(start, stop, *out, compared)
                if found <= room:
                    break
                room = found
            self.compared += int(compared[0])
            parts.append(tuple(array[:found].copy() for array in out))
        if not parts:
            return (np.empty(0, np.int64),) * 3
        left, right, distance = (np.concatenate(p) for p in zip(*parts, strict=True))
        order = np.lexsort((right, left))
        return left[order], right[order], distance[order]

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
        left, right, distance = self._run(values, margins, False, False)
        return Pairs(left, right, len(self), None, distance)

    def first(self, values: Values, margins: Margins = None) -> Int64Array:
        """Return some stored row within the radius of each query, or -1: int64 of shape (n,). Stops at the first found."""
        left, right, _ = self._run(values, margins, True, False)
        out = np.full(len(self._words(values)), -1, np.int64)
        out[left] = right
        return out

    def pairs(self) -> Pairs:
        """Find all pairs of stored fingerprints within the radius of each other, each once, ``left < right``."""
        if len(self) == 0:
            none = np.empty(0, np.int64)
            return Pairs(none, none, 0, None, none)
        left, right, distance = self._run(self._stored, None, False, True)
        return Pairs(left, right, len(self), None, distance)


def sorted_by_prefix(words: UInt64Array, start: int, count: int) -> tuple[UInt64Array, Int64Array, Int64Array]:
    """Return (words sorted by a prefix, their rows, offsets of each prefix)."""
    prefix = np.empty(len(words), np.uint64)
    kernel.prefixes(words, start, count, prefix)
    order = np.argsort(prefix, kind="stable")
    offsets = np.empty((1 << count) + 1, np.int64)
    kernel.bucket_offsets(prefix[order], offsets)
    return words[order], order, offsets
