"""Candidates by banding: documents that agree in all rows of a band share a bucket."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..errors import IncompatibleSketchError, ParameterError
from ..kernels import banding as kernel
from ..kernels._threads import in_order
from ..sketches.one_permutation import OnePermutation
from ..values import Int64Array, Pairs, Signatures, UInt64Array
from ..values.arrays import runs, whole


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


@dataclass(frozen=True, slots=True, eq=False)
class BandLinks:
    """What some buckets of one band come to: pairs of small ones, members of large ones."""

    band: int
    left: Int64Array
    right: Int64Array
    sizes: Int64Array
    members: Int64Array


ReadBand = Callable[[int], UInt64Array]
PART_ROWS_BITS = 20
PAIRS_AT_A_TIME = 1 << 21


def _bits(n: int) -> tuple[np.uint64, np.uint64]:
    """Return the bits of a row number, and the bits that tell parts of about a million rows apart."""
    row_bits = max(1, int(n - 1).bit_length())
    return np.uint64(row_bits), np.uint64(max(0, row_bits - PART_ROWS_BITS))


def _sorted_entries(read: ReadBand, n: int, band: int) -> tuple[int, UInt64Array, Int64Array]:
    """Return (band, its entries, sorted part by part, the bounds of its buckets)."""
    row_bits, part_bits = _bits(n)
    keys, column = read(band), 0
    if keys.shape[1] > 1:
        column = band
    counts = np.zeros(1 << int(part_bits), np.int64)
    kernel.count_parts(keys, column, part_bits, counts)
    ends = np.cumsum(counts)
    entries, places = np.empty(n, np.uint64), ends - counts
    kernel.make_entries(keys, column, row_bits, part_bits, places, entries)
    found = []
    for begin, end in zip((ends - counts).tolist(), ends.tolist(), strict=True):
        part = entries[begin:end]
        part.sort()
        bounds = np.empty((len(part) // 2 + 1, 2), np.int64)
        bounds = bounds[: kernel.find_buckets(part, row_bits, bounds)]
        mixed = np.empty(len(bounds), np.bool_)
        kernel.mark_mixed(part, row_bits, row_bits - part_bits, keys, column, bounds, mixed)
        found.append(bounds[~mixed] + begin)
        for first, last in bounds[mixed].tolist():
            part[first:last].sort()
            split = np.empty(((last - first) // 2 + 1, 2), np.int64)
            found.append(split[: kernel.find_buckets(part[first:last], row_bits, split)] + begin + first)
    del keys
    return band, entries, np.concatenate(found)


def link_bands(
    read: ReadBand, n: int, bands: int, parents: Int64Array, *, keys: UInt64Array | None, max_bucket: int | None,
    n_reference: int = 0, limit: int | None = None, first: int = 0, threads: int = 1,
) -> Iterator[BandLinks]:  # fmt: skip
    """Sort the keys of each band; yield the pairs of its small buckets and the members of its large ones.

    Parameters
    ----------
    read : callable
        From the number of a band to keys of shape (n, 1), or of shape (n, bands).
    n, bands : int
    parents : ndarray of int64, shape (n,)
        Changed: rows of one bucket come into one component.
    keys : ndarray of uint64, shape (n, bands), or None
        By which pairs that an earlier band holds are left out; members of large buckets lose theirs. None: a pair is yielded
        for each band that holds it.
    max_bucket : int or None
        Buckets with more members are large; None: none is.
    n_reference : int
        Rows below this number are not paired with each other.
    limit : int, optional
        How many pairs are wanted in all: of the largest buckets not all pairs come then.
    first : int
        The band to begin with.
    threads : int
        Bands sorted at a time.
    """
    row_bits, _ = _bits(n)
    mask = (np.uint64(1) << row_bits) - np.uint64(1)
    none = np.empty(0, np.int64)
    known = np.empty((0, bands), np.uint64) if keys is None else keys
    for band, entries, bounds in in_order(partial(_sorted_entries, read, n), range(first, bands if n > 1 else 0), threads):
        kernel.join_components(entries, row_bits, bounds, parents)
        large = np.zeros(len(bounds), np.bool_)
        if max_bucket is not None:
            large = bounds[:, 1] - bounds[:, 0] > max_bucket
            members = [(entries[begin:end] & mask).astype(np.int64) for begin, end in bounds[large].tolist()]
            if keys is not None:
                for begin, end in bounds[large].tolist():
                    kernel.retire_keys(entries, row_bits, begin, end, band, keys)
            if members:
                sizes = np.array([len(m) for m in members])
                yield BandLinks(band, none, none, sizes, np.concatenate(members))
        for some in _portions(bounds[~large], limit):
            count = kernel.bucket_pairs(entries, row_bits, some, band, known, n_reference, none, none)
            left, right = np.empty(count, np.int64), np.empty(count, np.int64)
            if count:
                kernel.bucket_pairs(entries, row_bits, some, band, known, n_reference, left, right)
                yield BandLinks(band, left, right, none, none)
        del entries  # before the next band is sorted


def find_candidates(
    keys: UInt64Array, *, max_bucket: int | None, n_reference: int = 0, max_pairs: int | None = None, threads: int = 1
) -> Candidates:
    """Sort the keys of each band and collect the pairs of small buckets and the members of large ones.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n_rows, bands)
        Changed: members of large buckets lose their keys.
    max_bucket, n_reference, threads
        As for ``link_bands``.
    max_pairs : int, optional
        Stop collecting pairs once there are so many.
    """
    n, bands = keys.shape
    parents = np.arange(n, dtype=np.int64)
    found: list[BandLinks] = []
    budget, cut = max_pairs, False
    links = link_bands(
        lambda band: keys, n, bands, parents, keys=keys, max_bucket=max_bucket, n_reference=n_reference,
        limit=max_pairs, threads=threads,
    )  # fmt: skip
    for link in links:
        if budget is not None:
            cut = cut or len(link.left) > budget
            link = replace(link, left=link.left[:budget], right=link.right[:budget])
            budget -= len(link.left)
        found.append(link)
        if cut:
            break
    kernel.find_roots(parents)
    return collect_links(found, parents, cut)


def collect_links(links: list[BandLinks], roots: Int64Array, cut: bool = False) -> Candidates:
    """Join the links of all bands."""
    none = np.empty(0, np.int64)
    sizes = np.concatenate([none, *(link.sizes for link in links)])
    return Candidates(
        np.concatenate([none, *(link.left for link in links)]),
        np.concatenate([none, *(link.right for link in links)]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([none, *(link.members for link in links)]),
        np.concatenate([none, *(np.full(len(link.sizes), link.band) for link in links)]),
        roots,
        cut,
    )


def _portions(bounds: Int64Array, limit: int | None) -> Iterator[Int64Array]:
    """Cut buckets into portions of so many pairs; where few are wanted, the first members of a large bucket will do."""
    if limit is not None:
        most = 2 * (2 + int((2 * limit) ** 0.5))
        bounds = np.stack([bounds[:, 0], np.minimum(bounds[:, 1], bounds[:, 0] + most)], 1)
    sizes = bounds[:, 1] - bounds[:, 0]
    for begin, end in runs(np.cumsum(sizes * (sizes - 1) // 2) // PAIRS_AT_A_TIME):
        yield bounds[begin:end]


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
    Time: a sort of n keys a band, and the pairs found. Memory: 8 bytes a band and document. Empty documents are in no pair.
    Raw one-permutation signatures are refused: their empty bins have to be filled first.

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
        self.bands = whole("bands", bands, 1)
        self.rows = whole("rows", rows, 1)
        self._made_by: tuple[Any, Any] | None = None
        self._added: list[tuple[UInt64Array, Int64Array]] = []
        self._n_rows = 0
        self._turn = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the lock, which no other process could use."""
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of another, with a lock of its own."""
        self.__dict__.update(state, _turn=threading.Lock())

    def __len__(self) -> int:
        """Return the number of documents added."""
        return self._n_rows

    def _keys_of(self, signatures: Signatures) -> tuple[UInt64Array, Int64Array]:
        """Return (band keys, row numbers) of the rows that are not empty, after checking that they fit."""
        if not isinstance(signatures, Signatures):
            raise ParameterError(f"bands are cut from Signatures, not from {type(signatures).__name__}: use FastSimilarity")
        scheme = signatures.scheme
        if isinstance(scheme, OnePermutation) and scheme.densify == "none":
            raise ParameterError(
                "bins of raw one-permutation signatures can be empty, and empty bins are equal without being alike: make them "
                'with OnePermutation(densify="rotation"), "optimal" or "reverse", or fill these with OnePermutation.fill'
            )
        made_by = (scheme, signatures.shingling)
        if signatures.values.shape[1] < self.bands * self.rows:
            raise ParameterError(
                f"{self.bands} bands of {self.rows} rows need {self.bands * self.rows} permutations; "
                f"the signatures have {signatures.values.shape[1]}"
            )
        with self._turn:
            if self._made_by not in (None, made_by):
                raise IncompatibleSketchError(
                    f"this index holds signatures of {self._made_by}; those of {made_by} cannot be compared with them"
                )
            self._made_by = made_by
        full = np.flatnonzero(~signatures.empty)
        keys = np.empty((len(full), self.bands), np.uint64)
        slots, groups = signatures.values[full], np.zeros(len(full), np.uint64)
        if slots.dtype == np.uint32:
            kernel.band_keys(slots, groups, self.bands, self.rows, keys)
        else:
            kernel.wide_band_keys(slots.astype(np.uint64), groups, self.bands, self.rows, keys)
        return keys, full

    def add(self, signatures: Signatures) -> BandingIndex:
        """Add documents; they get the next row numbers. Returns the index itself.

        Parameters
        ----------
        signatures : Signatures

        Returns
        -------
        BandingIndex

        Raises
        ------
        IncompatibleSketchError
            If the signatures were made with other parameters than those added before.
        ParameterError
            If they are too short, or have bins that can be empty.
        """
        keys, full = self._keys_of(signatures)
        with self._turn:
            self._added.append((keys, full + self._n_rows))
            self._n_rows += len(signatures)
        return self

    def _stored(self) -> tuple[UInt64Array, Int64Array, int]:
        """Return (band keys, their rows, number of rows) of what was added."""
        with self._turn:
            added, n_rows = list(self._added), self._n_rows
        none = np.empty((0, self.bands), np.uint64), np.empty(0, np.int64)
        keys, full = (np.concatenate(part) for part in zip(none, *added, strict=True))
        return keys, full, n_rows

    def pairs(self, *, threads: int = 1) -> Pairs:
        """Return all pairs of rows that share a bucket, each once, ascending. Empty documents are in no pair.

        Parameters
        ----------
        threads : int >= 1
        """
        threads = whole("threads", threads, 1)
        keys, full, n_rows = self._stored()
        found = find_candidates(keys, max_bucket=None, threads=threads)
        order = np.lexsort((found.right, found.left))
        return Pairs(full[found.left[order]], full[found.right[order]], n_rows)

    def query(self, signatures: Signatures) -> tuple[Int64Array, Int64Array]:
        """Return (rows of ``signatures``, stored rows) of all pairs that share a bucket, each once, ascending.

        Parameters
        ----------
        signatures : Signatures
        """
        keys, full = self._keys_of(signatures)
        stored, rows, _ = self._stored()
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
