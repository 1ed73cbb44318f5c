"""Buckets of equal band keys, the pairs of the small ones, and the members of the large ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..kernels import banding as kernel
from ..kernels._threads import in_order
from ..values import Int64Array, UInt64Array
from ..values.arrays import runs


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
