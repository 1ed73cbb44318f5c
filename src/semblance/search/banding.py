"""Candidates by banding: documents that agree in all rows of a band share a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import IncompatibleSketchError, ParameterError
from ..kernels import banding as kernel
from ..kernels._threads import in_order
from ..values import Int64Array, Pairs, Signatures, UInt64Array


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What the buckets of all bands come to.

    Parameters
    ----------
    left, right : ndarray of int64, shape (n_pairs,)
        The pairs of small buckets, each once, ``left < right``.
    bucket_offsets : ndarray of int64, shape (n_buckets + 1,)
    bucket_members : ndarray of int64
        The rows of each large bucket, ascending.
    bucket_bands : ndarray of int64, shape (n_buckets,)
    roots : ndarray of int64, shape (n_rows,)
        The smallest row that each row is connected with through buckets.
    cut : bool
        Whether pairs were left out because there are more than wanted.
    """

    left: Int64Array
    right: Int64Array
    bucket_offsets: Int64Array
    bucket_members: Int64Array
    bucket_bands: Int64Array
    roots: Int64Array
    cut: bool


def _sorted_entries(keys: UInt64Array, row_bits: np.uint64, band: int) -> tuple[int, UInt64Array, Int64Array]:
    """Return (band, its sorted entries, the bounds of its buckets)."""
    entries = np.empty(len(keys), np.uint64)
    kernel.make_entries(keys, band, row_bits, entries)
    entries.sort()
    bounds = np.empty((len(keys) // 2 + 1, 2), np.int64)
    count = kernel.find_buckets(entries, row_bits, bounds)
    return band, entries, bounds[:count].copy()


def find_candidates(
    keys: UInt64Array, *, max_bucket: int | None, n_reference: int = 0, max_pairs: int | None = None, threads: int = 1
) -> Candidates:
    """Sort the keys of each band and collect the pairs of small buckets and the members of large ones.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n_rows, bands)
        Changed: members of large buckets lose their keys.
    max_bucket : int or None
        Buckets with more members are large; None: none is.
    n_reference : int
        Rows below this number are not paired with each other.
    max_pairs : int, optional
        Stop collecting pairs once there are so many.
    threads : int
        Bands sorted at a time.
    """
    n, bands = keys.shape
    row_bits = np.uint64(max(1, int(n - 1).bit_length()))
    mask = (np.uint64(1) << row_bits) - np.uint64(1)
    parents = np.arange(n, dtype=np.int64)
    lefts, rights, members, sizes, bucket_bands = [], [], [], [0], []
    none, budget, cut = np.empty(0, np.int64), max_pairs, False
    sort_band = partial(_sorted_entries, keys, row_bits)
    for band, entries, bounds in in_order(sort_band, range(bands if n > 1 else 0), threads):
        kernel.join_components(entries, row_bits, bounds, parents)
        large = np.zeros(len(bounds), np.bool_)
        if max_bucket is not None:
            large = bounds[:, 1] - bounds[:, 0] > max_bucket
            for begin, end in bounds[large].tolist():
                members.append((entries[begin:end] & mask).astype(np.int64))
                sizes.append(end - begin)
                bucket_bands.append(band)
                kernel.retire_keys(entries, row_bits, begin, end, band, keys)
        for some in _portions(bounds[~large], budget):
            count = kernel.bucket_pairs(entries, row_bits, some, band, keys, n_reference, none, none)
            left, right = np.empty(count, np.int64), np.empty(count, np.int64)
            if count:
                kernel.bucket_pairs(entries, row_bits, some, band, keys, n_reference, left, right)
            if budget is not None:
                left, right = left[:budget], right[:budget]
                cut = cut or count > budget
                budget -= len(left)
            lefts.append(left)
            rights.append(right)
            if budget == 0:
                break
    kernel.find_roots(parents)
    return Candidates(
        np.concatenate(lefts) if lefts else none,
        np.concatenate(rights) if rights else none,
        np.cumsum(sizes),
        np.concatenate(members) if members else none,
        np.array(bucket_bands, np.int64),
        parents,
        cut,
    )


def _portions(bounds: Int64Array, budget: int | None) -> Iterator[Int64Array]:
    """Cut buckets into portions that hold few pairs at a time, where the number of pairs is limited."""
    if budget is None:
        if len(bounds):
            yield bounds
        return
    sizes = bounds[:, 1] - bounds[:, 0]
    ceiling = 2 + int((2 * budget) ** 0.5)  # a larger bucket exceeds the budget alone: its first members will do
    bounds = np.stack([bounds[:, 0], np.minimum(bounds[:, 1], bounds[:, 0] + 2 * ceiling)], 1)
    for begin in range(0, len(sizes), 4096):
        yield bounds[begin : begin + 4096]


class BandingIndex:
    """Signatures cut into bands; documents that agree in all rows of at least one band are candidates.

    Two documents of resemblance R become candidates with probability 1 - (1 - R^rows)^bands.

    Parameters
    ----------
    bands, rows : int >= 1
        ``bands * rows`` slots of the signatures are used.

    Raises
    ------
    ParameterError
        If a number is below 1.

    Notes
    -----
    Time: a sort of n keys a band, and the pairs found. Memory: 8 bytes a band and document.

    Examples
    --------
    >>> import semblance as sb
    >>> shingles = sb.shingle(["a b c d e f g", "a b c d e f g", "something else altogether, five words"])
    >>> signatures = sb.FastSimilarity(permutations=128).sign(shingles)
    >>> pairs = sb.BandingIndex(bands=16, rows=8).add(signatures).pairs()
    >>> pairs.left.tolist(), pairs.right.tolist()
    ([0], [1])
    """

    def __init__(self, *, bands: int, rows: int) -> None:
        if bands < 1 or rows < 1:
            raise ParameterError(f"bands and rows must be at least 1; {bands} and {rows} were given")
        self.bands = bands
        self.rows = rows
        self._made_by: tuple[Any, Any] | None = None
        self._keys: list[UInt64Array] = []
        self._full: list[Int64Array] = []
        self._n_rows = 0

    def __len__(self) -> int:
        """Return the number of documents added."""
        return self._n_rows

    def _keys_of(self, signatures: Signatures) -> tuple[UInt64Array, Int64Array]:
        """Return (band keys, row numbers) of the rows that are not empty, after checking that they fit."""
        made_by = (signatures.scheme, signatures.shingling)
        if self._made_by not in (None, made_by):
            raise IncompatibleSketchError(
                f"this index holds signatures of {self._made_by}; those of {made_by} cannot be compared with them"
            )
        if signatures.values.shape[1] < self.bands * self.rows:
            raise ParameterError(
                f"{self.bands} bands of {self.rows} rows need {self.bands * self.rows} permutations; "
                f"the signatures have {signatures.values.shape[1]}"
            )
        self._made_by = made_by
        full = np.flatnonzero(signatures.values[:, 0] != 0xFFFFFFFF)
        keys = np.empty((len(full), self.bands), np.uint64)
        kernel.band_keys(signatures.values[full], np.zeros(len(full), np.uint64), self.bands, self.rows, keys)
        return keys, full

    def add(self, signatures: Signatures) -> BandingIndex:
        """Add documents; they get the next row numbers. Returns the index itself.

        Raises
        ------
        IncompatibleSketchError
            If the signatures were made with other parameters than those added before.
        ParameterError
            If they are too short.
        """
        keys, full = self._keys_of(signatures)
        self._keys.append(keys)
        self._full.append(full + self._n_rows)
        self._n_rows += len(signatures)
        return self

    def pairs(self, *, threads: int = 1) -> Pairs:
        """Return all pairs of rows that share a bucket, each once, ascending. Empty documents are in no pair."""
        if not self._keys:
            return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), 0)
        keys, full = np.concatenate(self._keys), np.concatenate(self._full)
        found = find_candidates(keys, max_bucket=None, threads=threads)
        order = np.lexsort((found.right, found.left))
        return Pairs(full[found.left[order]], full[found.right[order]], self._n_rows)

    def query(self, signatures: Signatures) -> tuple[Int64Array, Int64Array]:
        """Return (rows of ``signatures``, stored rows) of all pairs that share a bucket, each once, ascending."""
        keys, full = self._keys_of(signatures)
        stored = np.concatenate(self._keys) if self._keys else np.empty((0, self.bands), np.uint64)
        rows = np.concatenate(self._full) if self._full else np.empty(0, np.int64)
        found = []
        for band in range(self.bands):
            order = np.argsort(stored[:, band], kind="stable")
            column = stored[order, band]
            begin = np.searchsorted(column, keys[:, band], "left")
            count = np.searchsorted(column, keys[:, band], "right") - begin
            query = np.repeat(np.arange(len(keys)), count)
            place = np.arange(len(query)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(begin, count)
            found.append(query * max(1, len(rows)) + order[place])
        pairs = np.unique(np.concatenate(found))
        return full[pairs // max(1, len(rows))], rows[pairs % max(1, len(rows))]
