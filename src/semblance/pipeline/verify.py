"""Verification of candidate pairs, one group of connected documents at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..kernels._threads import in_order
from ..search.candidates import Candidates
from ..values import Float64Array, Int64Array, Pairs, Shingles, UInt32Array
from ..values.arrays import number, runs
from .keep import NO_PAIRS, Buckets, Scored, Walk, Walked, join_scored
from .methods import Comparable
from .sets import RowSets

GROUP_BYTES = 2 << 20
SORTED_SLOTS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Documents connected through buckets, before they are compared: ascending rows, pairs of rows, large buckets of rows.

    Where ``slices`` are given, ``load_pairs`` reads the pairs of each in places among the rows, and ``emit`` takes those found.
    """

    rows: Int64Array
    left: Int64Array
    right: Int64Array
    large: list[tuple[Int64Array, int]]
    slices: list[tuple[int, int]] | None = None
    load_pairs: Callable[[int], tuple[Int64Array, Int64Array]] | None = None
    emit: Callable[[Scored], None] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """A group compared and walked. Row numbers are places in ``rows``, ascending.

    ``pairs`` are those at or above the threshold, of ``n_candidates`` and those met on the walk, each once, unless the group
    emitted them; ``walked`` says who is kept.
    """

    rows: Int64Array
    pairs: Scored
    walked: Walked
    n_candidates: int
    has_large: bool


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """How rows become comparable, and how many at a time.

    Parameters
    ----------
    sizes : ndarray of int64, shape (n_rows,)
        Bytes of each text, by which work is divided.
    load_sets, load_signatures : callable
        From ascending rows to their sets, and to signatures that order large buckets.
    slice_bytes : int
        Bytes of text whose sets may be held at once.
    threads : int
        That one group may use.
    """

    sizes: Int64Array
    load_sets: Callable[[Int64Array], Comparable]
    load_signatures: Callable[[Int64Array], UInt32Array]
    slice_bytes: int
    threads: int = 1


def _nearby_order(members: Int64Array, signatures: NDArray[np.uint8], band: int) -> NDArray[np.int32]:
    """Return the place of each member in an order that puts similar signatures side by side, another one each band."""
    columns = (5 * band + np.arange(SORTED_SLOTS)) % signatures.shape[1]
    order = np.lexsort(signatures[np.ix_(members, columns)].T[::-1])
    place = np.empty(len(members), np.int32)
    place[order] = np.arange(len(members))
    return place


def _localize(rows: Int64Array, buckets: list[tuple[Int64Array, int]], material: Material) -> Buckets:
    """Express large buckets, given as (member rows, band), in places within a group."""
    pieces = _runs(material.sizes[rows], material.slice_bytes)
    # What order the lowest eight bits give is as good as any, and a family of a million is to fit.
    signatures = np.concatenate([material.load_signatures(rows[begin:end]).astype(np.uint8) for begin, end in pieces])
    local = [np.searchsorted(rows, members) for members, _ in buckets]
    places = [_nearby_order(m, signatures, band) for m, (_, band) in zip(local, buckets, strict=True)]
    sizes = [len(m) for m in local]
    del signatures
    member = np.concatenate(local).astype(np.int32)
    bucket = np.repeat(np.arange(len(local), dtype=np.int32), sizes)
    order = np.argsort(member, kind="stable")
    return Buckets(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([[0], np.cumsum(np.bincount(member, minlength=len(rows)))]),
        bucket[order],
        np.concatenate(places)[order].astype(np.int32),
    )


def divide(candidates: Candidates, sizes: Int64Array) -> Iterator[Group]:
    """Yield groups of whole components, each of about ``GROUP_BYTES`` of text or one larger component, the largest first."""
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
    number = np.cumsum(np.diff(group, prepend=group[0]) > 0)
    group_of_root = np.full(len(roots), -1, np.int64)
    group_of_root[roots[order[starts]]] = number
    n_groups = int(number[-1]) + 1
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
    total = np.bincount(number, weights, n_groups)
    for g in np.argsort(-total, kind="stable").tolist():  # the largest first: a thread that begins it last would end last
        pairs = by_pair[pair_bounds[g] : pair_bounds[g + 1]]
        rows = by_group[row_bounds[g] : row_bounds[g + 1]]
        yield Group(rows, candidates.left[pairs], candidates.right[pairs], large.get(g, []))


def _runs(sizes: Int64Array, most: int) -> list[tuple[int, int]]:
    """Cut rows into runs of about so many bytes."""
    return runs((np.cumsum(sizes) - sizes) // most)


def _across(
    material: Material, rows: Int64Array, begin: int, end: int, left: Int64Array, right: Int64Array, threshold: float
) -> Float64Array:
    """Compare rows before a slice with rows of it."""
    out = np.empty(len(left))
    earlier = np.unique(left)
    inside = np.arange(begin, end)
    for first, last in _runs(material.sizes[rows[earlier]], material.slice_bytes):
        some = earlier[first:last]
        chosen = np.flatnonzero((left >= some[0]) & (left <= some[-1]))
        present = np.concatenate([some, inside])
        sets = material.load_sets(rows[present])
        places = np.searchsorted(present, left[chosen]), np.searchsorted(present, right[chosen])
        out[chosen] = sets.compare(*places, threshold)
    return out


def _outside(material: Material, walk: Walk, rows: Int64Array, begin: int, end: int) -> Scored:
    """Compare the members of large buckets in a slice with those kept before it, some of these at a time."""
    kept = walk.kept_members
    inside = np.arange(begin, end)

    def compare(run: tuple[int, int]) -> Scored:
        some = kept[run[0] : run[1]]
        return walk.outside(begin, end, some, material.load_sets(rows[np.concatenate([some, inside])]))

    parts = list(in_order(compare, _runs(material.sizes[rows[kept]], material.slice_bytes), material.threads))
    return join_scored(parts)


def decide(material: Material, threshold: float, n_reference: int, group: Group) -> Decided:
    """Compare the pairs of one group and walk it, a slice of its rows at a time.

    Rows below ``n_reference`` belong to reference documents.
    """
    rows = group.rows
    n = len(rows)
    known = np.searchsorted(rows, group.left), np.searchsorted(rows, group.right)
    buckets = _localize(rows, group.large, material) if group.large else None
    walk = Walk(n, int(np.searchsorted(rows, n_reference)), threshold, buckets)
    found: list[Scored] = []
    n_candidates = 0
    for k, (begin, end) in enumerate(group.slices or _runs(material.sizes[rows], material.slice_bytes)):
        left, right = known if group.load_pairs is None else group.load_pairs(k)
        inside = np.flatnonzero((left >= begin) & (right < end))
        across = np.flatnonzero((left < begin) & (right >= begin) & (right < end))
        n_candidates += len(inside) + len(across)
        sets = material.load_sets(rows[begin:end])
        score = np.concatenate([
            sets.compare(left[inside] - begin, right[inside] - begin, threshold),
            _across(material, rows, begin, end, left[across], right[across], threshold),
        ])  # fmt: skip
        both = np.concatenate([inside, across])[score >= threshold]
        pairs = Scored(left[both], right[both], score[score >= threshold])
        outside = NO_PAIRS
        if begin and buckets is not None:
            outside = _outside(material, walk, rows, begin, end)
        met = walk.advance(begin, end, pairs, sets if buckets is not None else None, outside)
        pairs = join_scored([pairs, met])
        # The walk may meet a pair of a small bucket again.
        first = np.unique(pairs.left * n + pairs.right, return_index=True)[1]
        (group.emit or found.append)(Scored(pairs.left[first], pairs.right[first], pairs.score[first]))
    return Decided(rows, join_scored(found), walk.finish(), n_candidates, buckets is not None)


def decide_groups(
    groups: Iterator[Group], material: Material, threshold: float, n_reference: int, threads: int
) -> Iterator[Decided]:
    """Yield all groups compared and walked, in their order, several under way at a time."""
    return in_order(partial(decide, material, threshold, n_reference), groups, threads)


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
        If the threshold is out of range, or the pairs are of other documents.

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
    if not 0.0 < number("threshold", threshold, "a number in (0, 1]") <= 1.0:
        raise ParameterError(f"threshold must be in (0, 1]; got {threshold}")
    if candidates.n_rows != len(shingles):
        raise ParameterError(f"the pairs belong to {candidates.n_rows} documents, the shingles to {len(shingles)}")
    candidates.check_rows()
    left, right = candidates.left, candidates.right
    resemblance = RowSets.from_values(shingles.values, shingles.offsets).compare(left, right, threshold)
    enough = resemblance >= threshold
    return Pairs(left[enough], right[enough], candidates.n_rows, resemblance[enough])
