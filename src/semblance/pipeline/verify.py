"""Verification of candidate pairs, one group of connected documents at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..errors import ParameterError
from ..kernels._threads import in_order
from ..search.banding import Candidates
from ..values import Float64Array, Int64Array, Pairs, Shingles, UInt32Array
from .methods import Comparable
from .sets import RowSets

GROUP_BYTES = 2 << 20
SORTED_SLOTS = 12
LoadSets = Callable[[Int64Array], Comparable]


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """Large buckets among the rows of a group: who is in which, and in what order their sketches lie."""

    offsets: Int64Array
    member_offsets: Int64Array
    member_bucket: Int64Array
    member_place: Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Documents connected through buckets, with their verified pairs. Row numbers are places in ``rows``, ascending.

    ``sets`` and ``buckets`` are there where large buckets are, whose members the walk compares.
    """

    rows: Int64Array
    left: Int64Array
    right: Int64Array
    resemblance: Float64Array
    sets: Comparable | None
    buckets: Buckets | None
    n_candidates: int


def _nearby_order(members: Int64Array, signatures: UInt32Array, band: int) -> Int64Array:
    """Return the place of each member in an order that puts similar signatures side by side, another one each band."""
    columns = (5 * band + np.arange(SORTED_SLOTS)) % signatures.shape[1]
    order = np.lexsort(signatures[np.ix_(members, columns)].T[::-1])
    place = np.empty(len(members), np.int64)
    place[order] = np.arange(len(members))
    return place


def _localize(rows: Int64Array, buckets: list[tuple[Int64Array, int]], signatures: UInt32Array) -> Buckets:
    """Express large buckets, given as (member rows, band), in places within a group."""
    local = [np.searchsorted(rows, members) for members, _ in buckets]
    places = [_nearby_order(m, signatures, band) for m, (_, band) in zip(local, buckets, strict=True)]
    sizes = [len(m) for m in local]
    member, bucket = np.concatenate(local), np.repeat(np.arange(len(local)), sizes)
    order = np.argsort(member, kind="stable")
    return Buckets(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.searchsorted(member[order], np.arange(len(rows) + 1)).astype(np.int64),
        bucket[order].astype(np.int64),
        np.concatenate(places)[order],
    )


def _assignments(
    candidates: Candidates, sizes: Int64Array
) -> Iterator[tuple[Int64Array, Int64Array, Int64Array, list[tuple[Int64Array, int]]]]:
    """Yield (rows, left, right, large buckets) of groups of whole components, each of about ``GROUP_BYTES`` of text."""
    roots = candidates.roots
    order = np.argsort(roots, kind="stable")
    starts = np.flatnonzero(np.diff(roots[order], prepend=-1))
    ends = np.append(starts[1:], len(order))
    several = ends - starts > 1
    starts, ends = starts[several], ends[several]
    if not len(starts):
        return
    before = np.concatenate([[0], np.cumsum(sizes[order])])
    weights = before[ends] - before[starts]
    group = (np.cumsum(weights) - weights) // GROUP_BYTES
    group_of_root = np.full(len(roots), -1, np.int64)
    group_of_root[roots[order[starts]]] = np.cumsum(np.diff(group, prepend=group[0]) > 0)
    n_groups = int(np.max(group_of_root)) + 1
    group_of_row = group_of_root[roots]
    by_group = np.argsort(group_of_row, kind="stable")
    row_bounds = np.searchsorted(group_of_row[by_group], np.arange(n_groups + 1))
    group_of_pair = group_of_row[candidates.left]
    by_pair = np.lexsort((candidates.left, candidates.right, group_of_pair))
    pair_bounds = np.searchsorted(group_of_pair[by_pair], np.arange(n_groups + 1))
    large: dict[int, list[tuple[Int64Array, int]]] = {}
    for i, band in enumerate(candidates.bucket_bands.tolist()):
        members = candidates.bucket_members[candidates.bucket_offsets[i] : candidates.bucket_offsets[i + 1]]
        large.setdefault(int(group_of_row[members[0]]), []).append((members, band))
    total = np.bincount(np.cumsum(np.diff(group, prepend=group[0]) > 0), weights, n_groups)
    for g in np.argsort(-total, kind="stable").tolist():  # the largest first: a thread that begins it last would end last
        pairs = by_pair[pair_bounds[g] : pair_bounds[g + 1]]
        yield (
            by_group[row_bounds[g] : row_bounds[g + 1]],
            candidates.left[pairs],
            candidates.right[pairs],
            large.get(g, []),
        )


def _verify_group(
    load_sets: LoadSets,
    load_signatures: Callable[[Int64Array], UInt32Array],
    threshold: float,
    assignment: tuple[Int64Array, Int64Array, Int64Array, list[tuple[Int64Array, int]]],
) -> Group:
    """Compare the pairs of one group, and make its large buckets ready for the walk."""
    rows, left, right, large = assignment
    sets = load_sets(rows)
    left, right = np.searchsorted(rows, left), np.searchsorted(rows, right)
    resemblance = sets.compare(left, right, threshold)
    enough = resemblance >= threshold
    return Group(
        rows,
        left[enough],
        right[enough],
        resemblance[enough],
        sets if large else None,
        _localize(rows, large, load_signatures(rows)) if large else None,
        len(left),
    )


def verify_groups(
    candidates: Candidates,
    sizes: Int64Array,
    load_sets: LoadSets,
    load_signatures: Callable[[Int64Array], UInt32Array],
    threshold: float,
    threads: int,
) -> Iterator[Group]:
    """Yield all groups of connected documents, their candidate pairs compared, in a fixed order.

    Parameters
    ----------
    candidates : Candidates
    sizes : ndarray of int64, shape (n_rows,)
        Bytes of each text, by which work is divided.
    load_sets, load_signatures : callable
        From ascending rows to their sets, and to signatures that order large buckets.
    threshold : float
        Pairs below it are dropped.
    threads : int
        Groups under way at a time.
    """
    work = partial(_verify_group, load_sets, load_signatures, threshold)
    return in_order(work, _assignments(candidates, sizes), threads)


def verify(candidates: Pairs, shingles: Shingles, *, threshold: float) -> Pairs:
    """Keep the candidate pairs whose exact resemblance reaches a threshold.

    Parameters
    ----------
    candidates : Pairs
    shingles : Shingles
        Of the same documents.
    threshold : float in (0, 1]
        A pair counts when ``intersection / union >= threshold`` in float64.

    Returns
    -------
    Pairs
        With their ``resemblance``. A pair of empty documents never counts.

    Raises
    ------
    ParameterError
        If the threshold is out of range, or the pairs belong to another number of documents.

    Notes
    -----
    Time: one table look-up a shingle, then about n / 64 steps a pair of near-duplicates of n shingles.

    Examples
    --------
    >>> import semblance as sb
    >>> shingles = sb.Shingles.from_arrays([1, 2, 3, 4, 2, 3, 4, 5], [0, 4, 8])
    >>> pairs = sb.Pairs(left=[0], right=[1], n_rows=2)
    >>> sb.verify(pairs, shingles, threshold=0.6).resemblance.tolist()
    [0.6]
    """
    if not 0.0 < threshold <= 1.0:
        raise ParameterError(f"threshold must lie in (0, 1]; {threshold} was given")
    if candidates.n_rows != len(shingles):
        raise ParameterError(f"the pairs belong to {candidates.n_rows} documents, the shingles to {len(shingles)}")
    left = np.ascontiguousarray(candidates.left, np.int64)
    right = np.ascontiguousarray(candidates.right, np.int64)
    resemblance = RowSets.from_values(shingles.values, shingles.offsets).compare(left, right, threshold)
    enough = resemblance >= threshold
    return Pairs(left[enough], right[enough], candidates.n_rows, resemblance[enough])
