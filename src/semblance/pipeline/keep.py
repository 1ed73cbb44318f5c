"""The greedy walk: a document is removed if and only if one kept before it matches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..kernels import keep as kernel
from ..values import Float64Array, Int64Array, Pairs
from .verify import Group

COMPARE_ALL = 1024
COMPARE_NEAREST = 16


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """What a walk over a group decided: who stands for each row, and the pairs that it verified on its way.

    ``skipped`` of shape (n_rows, 2) holds, for each row, the kept documents it was not compared with and the number of
    its buckets in which that happened; ``n_compared`` counts the pairs compared on the way.
    """

    keeper: Int64Array
    resemblance: Float64Array
    left: Int64Array
    right: Int64Array
    found: Float64Array
    skipped: Int64Array
    n_compared: int


def walk_group(group: Group, threshold: float, n_reference: int) -> Walked:
    """Walk the rows of one group in order, at a threshold not below the one of its pairs.

    Rows of the group that belong to documents below ``n_reference`` are always kept.
    """
    n = len(group.rows)
    enough = group.resemblance >= threshold
    right = group.right[enough]
    order = np.argsort(right, kind="stable")
    pair_offsets = np.searchsorted(right[order], np.arange(n + 1))
    none = np.zeros(0, np.int64)
    buckets, sets = group.buckets, group.sets
    if buckets is not None and sets is not None:
        bucket_state = (buckets.member_offsets, buckets.member_bucket, buckets.member_place, buckets.offsets)
        *packed, slots = sets.for_walk()
        n_members, n_buckets = int(buckets.offsets[-1]), len(buckets.offsets) - 1
        longest = int(np.diff(buckets.member_offsets).max()) * COMPARE_ALL
    else:
        bucket_state = (np.zeros(n + 1, np.int64), none, none, np.zeros(1, np.int64))
        packed = [none, none, np.zeros(0, np.int32), np.zeros(0, np.uint64), np.zeros(0)]
        n_members, n_buckets, slots, longest = 0, 0, 0, 0
    capacity = max(longest, 1 << 16) if n_members else 0
    found = (np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.float64))
    keeper, resemblance = np.full(n, -1, np.int64), np.zeros(n, np.float64)
    skipped, compared = np.zeros((n, 2), np.int64), np.zeros(n, np.int64)
    kept_lists, kept_counts = np.empty(n_members, np.int64), np.zeros(n_buckets, np.int64)
    kept_places, seen, near = np.full(n_members, -1, np.int64), np.full(n, -1, np.int64), np.empty(64, np.int64)
    parts: list[tuple[Any, ...]] = []
    row = 0
    while row < n:
        row, count = kernel.walk(
            int(np.searchsorted(group.rows, n_reference)), pair_offsets, group.left[enough][order],
            group.resemblance[enough][order], *bucket_state, COMPARE_ALL, COMPARE_NEAREST, *packed, threshold, slots,
            kept_lists, kept_counts, kept_places, seen, near, row, *found, keeper, resemblance, skipped, compared,
        )  # fmt: skip
        parts.append(tuple(array[:count].copy() for array in found))
    empty = np.zeros(0, np.float64)
    lefts, rights, founds = (np.concatenate(p) for p in zip(*parts, strict=True)) if parts else (none, none, empty)
    return Walked(keeper, resemblance, lefts, rights, founds, skipped, int(compared.sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Who is kept, and who stands for whom.

    Parameters
    ----------
    keeper : ndarray of int64, shape (n_documents,)
        The kept row that stands for each row; its own number where it is kept.
    resemblance : ndarray of float64, shape (n_documents,)
        Resemblance to that row; 1 for a kept one.
    """

    keeper: Int64Array
    resemblance: Float64Array

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Whether each row is kept, bool of shape (n_documents,)."""
        return np.equal(self.keeper, np.arange(len(self.keeper)))


def keep(verified: Pairs) -> Kept:
    """Decide which documents stay, in row order: one is removed if and only if a kept one before it matches it.

    Of several kept matches the one of highest resemblance stands for a removed document, the first of equal ones.

    Parameters
    ----------
    verified : Pairs
        With ``resemblance``, as :func:`verify` returns them.

    Returns
    -------
    Kept

    Raises
    ------
    ParameterError
        If the pairs have not been verified.

    Examples
    --------
    >>> import semblance as sb
    >>> shingles = sb.Shingles.from_arrays([1, 2, 3, 4, 2, 3, 4, 5], [0, 4, 8])
    >>> sb.keep(sb.verify(sb.Pairs(left=[0], right=[1], n_rows=2), shingles, threshold=0.6)).mask.tolist()
    [True, False]
    """
    if verified.resemblance is None:
        raise ParameterError("keep needs verified pairs; these have no resemblance: call verify first")
    group = Group(np.arange(verified.n_rows), verified.left, verified.right, verified.resemblance, None, None, 0)
    walked = walk_group(group, 0.0, 0)
    return Kept(walked.keeper, walked.resemblance)
