"""The greedy walk: a document is removed if and only if one kept before it matches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..kernels import keep as kernel
from ..methods.method import Comparable
from ..values import Float64Array, Int64Array, Pairs

COMPARE_ALL = 1024
COMPARE_NEAREST = 16


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """Large buckets among the rows of a group: who is in which, and in what order their sketches lie."""

    offsets: Int64Array
    member_offsets: Int64Array
    member_bucket: NDArray[np.int32]
    member_place: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Pairs of rows and their scores."""

    left: Int64Array
    right: Int64Array
    score: Float64Array

    def by_right(self, begin: int, end: int) -> tuple[Int64Array, Int64Array, Float64Array]:
        """Return (offsets, left, score) of the pairs of each right row in a slice, left rows ascending."""
        order = np.lexsort((self.left, self.right))
        offsets = np.searchsorted(self.right[order], np.arange(begin, end + 1))
        return offsets, self.left[order], self.score[order]


def join_scored(parts: list[Scored]) -> Scored:
    """Put pairs together."""
    if not parts:
        return NO_PAIRS
    return Scored(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("left", "right", "score")))


NO_PAIRS = Scored(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """What a walk over a group decided: who stands for each row.

    ``skipped`` of shape (n_rows, 2) holds, for each row, the kept documents it was not compared with and the number of
    its buckets in which that happened; ``n_compared`` counts the pairs compared on the way.
    """

    keeper: Int64Array
    resemblance: Float64Array
    skipped: Int64Array
    n_compared: int


class Walk:
    """A walk through the rows of a group in order, slice by slice; the first ``n_reference`` of them are always kept.

    Parameters
    ----------
    n : int
        Rows in the group.
    n_reference : int
    threshold : float
    buckets : Buckets, optional
        Large ones, whose members are compared on the way.
    """

    def __init__(self, n: int, n_reference: int, threshold: float, buckets: Buckets | None = None) -> None:
        none = np.zeros(0, np.int32)
        self.n_reference = n_reference
        self.threshold = threshold
        self.buckets = buckets or Buckets(np.zeros(1, np.int64), np.zeros(n + 1, np.int64), none, none)
        n_members = int(self.buckets.offsets[-1])
        longest = int(np.diff(self.buckets.member_offsets).max(initial=0)) * COMPARE_ALL
        capacity = max(longest, 1 << 16) if n_members else 0
        self._found = (np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.float64))
        self._keeper, self._resemblance = np.full(n, -1, np.int64), np.zeros(n, np.float64)
        self._skipped, self._compared = np.zeros((n, 2), np.int64), np.zeros(n, np.int64)
        self._kept = (np.empty(n_members, np.int32), np.zeros(len(self.buckets.offsets) - 1, np.int64),
                      np.full(n_members, -1, np.int32))  # fmt: skip
        self._seen, self._near = np.full(n, -1, np.int64), np.empty(64, np.int32)

    @property
    def _members(self) -> tuple[NDArray[Any], ...]:
        b = self.buckets
        return b.member_offsets, b.member_bucket, b.member_place, b.offsets

    @property
    def kept_members(self) -> Int64Array:
        """The rows that were kept so far and are in large buckets, ascending."""
        member = np.diff(self.buckets.member_offsets) > 0
        return np.flatnonzero(member & (self._keeper == np.arange(len(self._keeper))))

    def outside(self, begin: int, end: int, earlier: Int64Array, sets: Comparable) -> Scored:
        """Compare a slice, before it is walked, with some rows kept before it, as far as large buckets may ask for it.

        Parameters
        ----------
        begin, end : int
            The slice.
        earlier : ndarray of int64
            Some of ``kept_members``.
        sets : Comparable
            Those rows, and then the rows of the slice.

        Returns
        -------
        Scored
            The pairs that reach the threshold.
        """
        places = np.zeros(len(self._keeper), np.int64)
        places[earlier] = np.arange(1, len(earlier) + 1)
        found = tuple(np.empty(len(earlier) + (1 << 16), dtype) for dtype in (np.int64, np.int64, np.float64))
        *packed, slots = sets.for_walk()
        seen, near = np.full(len(self._keeper), -1, np.int64), np.empty(64, np.int32)
        parts: list[tuple[Any, ...]] = [(NO_PAIRS.left, NO_PAIRS.right, NO_PAIRS.score)]
        row = begin
        while row < end:
            row, count = kernel.outside_matches(
                begin, end, self.n_reference, earlier, places, len(earlier), *self._members, COMPARE_ALL, COMPARE_NEAREST,
                *packed, self.threshold, slots, *self._kept, seen, near, row, *found,
            )  # fmt: skip
            parts.append(tuple(array[:count].copy() for array in found))
        return Scored(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def advance(
        self, begin: int, end: int, pairs: Scored, sets: Comparable | None = None, outside: Scored = NO_PAIRS
    ) -> Scored:
        """Walk a slice; return the pairs that were verified on the way.

        Parameters
        ----------
        begin, end : int
            Its rows; those before ``begin`` have been walked.
        pairs : Scored
            All verified pairs whose right row is in the slice.
        sets : Comparable, optional
            The rows of the slice, where there are large buckets.
        outside : Scored
            Those of the pairs of ``outside`` that reach the threshold.
        """
        if sets is None:
            packed: list[Any] = [np.zeros(0, np.int64)] * 2 + [np.zeros(0, np.int32), np.zeros(0, np.uint64), np.zeros(0)]
            slots = 0
        else:
            *packed, slots = sets.for_walk()
        known = (*pairs.by_right(begin, end), *outside.by_right(begin, end))
        row, found = begin, []
        while row < end:
            row, count = kernel.walk(
                self.n_reference, begin, *known, *self._members, COMPARE_ALL, COMPARE_NEAREST, *packed, self.threshold, slots,
                *self._kept, self._seen, self._near, row, *self._found, self._keeper, self._resemblance, self._skipped,
                self._compared,
            )  # fmt: skip
            left, right, score = self._found
            found.append(Scored(left[:count].copy(), right[:count].copy(), score[:count].copy()))
        return join_scored(found)

    def finish(self) -> Walked:
        """Return what was decided."""
        return Walked(self._keeper, self._resemblance, self._skipped, int(self._compared.sum()))


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
        With ``resemblance``, as ``verify`` returns them.

    Returns
    -------
    Kept

    Raises
    ------
    ParameterError
        If the pairs have not been verified, or are not rows left < right of the documents.

    Examples
    --------
    >>> import semblance as sb
    >>> shingles = sb.Shingles.from_arrays([1, 2, 3, 4, 2, 3, 4, 5], [0, 4, 8])
    >>> sb.keep(sb.verify(sb.Pairs(left=[0], right=[1], n_rows=2), shingles, threshold=0.6)).mask.tolist()
    [True, False]
    """
    if verified.resemblance is None:
        raise ParameterError("keep needs verified pairs; these have no resemblance: call verify first")
    verified.check_rows(ordered=True)
    if not ((verified.resemblance >= 0.0) & (verified.resemblance <= 1.0)).all():
        raise ParameterError("keep needs resemblances in [0, 1]: call verify first")
    walk = Walk(verified.n_rows, 0, 0.0)
    walk.advance(0, verified.n_rows, Scored(verified.left, verified.right, verified.resemblance))
    walked = walk.finish()
    return Kept(walked.keeper, walked.resemblance)
