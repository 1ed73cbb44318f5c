"""The parts of a job that are public on their own: find all pairs, verify pairs, and decide which documents stay."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Resolver
from ..errors import ParameterError, from_caller
from ..methods.method import sets_of_values
from ..values import Float64Array, Int64Array, Pairs, Shingles, drop_repeats
from ..values.arrays import share
from .batches import ints
from .crowds import CELL_BITS, count_members, prefix_links, prefixes_of, prefixes_schema

VALUES = 1 << 18  # shingles whose prefixes are chosen at a time


@from_caller
def exact_pairs(shingles: Shingles, *, threshold: float) -> Pairs:
    """Find all pairs of sets whose exact resemblance reaches a threshold: none is missed.

    Shingles are put in the order of how many sets have them, the rarest first. Two sets that reach the threshold share one of
    their first shingles (prefix filter), far enough from the ends of both (positional filter), and differ in no more of 256
    parities than in shingles (bitmap filter). The pairs that pass are compared.

    Parameters
    ----------
    shingles : Shingles
        Of texts (``shingle``), or any sets of integers (``Shingles.from_arrays``).
    threshold : float in (0, 1]
        A pair counts when ``intersection / union >= threshold`` in float64.

    Returns
    -------
    Pairs
        Ascending, with their ``resemblance``; equal sets too. A pair of empty sets never counts.

    Raises
    ------
    ParameterError
        If the threshold is out of range.

    Notes
    -----
    Memory: 17 MB, 8 bytes a shingle, up to 176 bytes for each of the share of about 1 - ``threshold`` that is looked up, and 32
    bytes a pair that is compared. Time: about the sum of the squares of how many sets share each of these. ``dedup`` and
    ``pairs`` do the same for texts with ``recall=1``, on the disk where the memory is too small.

    References
    ----------
    Bayardo, Ma & Srikant, "Scaling up all pairs similarity search", WWW 2007; Xiao, Wang, Lin & Yu, "Efficient similarity joins
    for near duplicate detection", WWW 2008; Sandes, Teodoro & Melo, "Bitmap filter: speeding up exact set similarity joins with
    bitwise operations", Information Systems 88, 2020.

    Examples
    --------
    >>> import lookalike as la
    >>> sets = la.sketches.Shingles.from_arrays([1, 2, 3, 4, 2, 3, 4, 5, 9], [0, 4, 8, 9])
    >>> found = la.exact_pairs(sets, threshold=0.5)
    >>> list(zip(found.left.tolist(), found.right.tolist(), found.resemblance.tolist()))
    [(0, 1, 0.6)]
    """
    threshold = share("threshold", threshold)
    values, offsets = drop_repeats(shingles.values, shingles.offsets)
    n, counts = len(shingles), np.zeros(1 << CELL_BITS, np.int32)
    count_members(values, counts)
    schema = prefixes_schema(len(values) / max(1, n), threshold)
    cuts = np.unique(np.append(np.searchsorted(offsets, np.arange(0, len(values), VALUES)), n)).tolist()
    chosen: list[pa.RecordBatch] = []
    for begin, end in pairwise(cuts):
        some, first = values[offsets[begin] : offsets[end]], offsets[begin]
        rebased = offsets[begin : end + 1] - first
        chosen += prefixes_of(np.arange(begin, end), some, rebased, counts, threshold, schema)
    rows = pa.Table.from_batches(chosen, schema).sort_by("key").combine_chunks().to_batches()
    links = [ints(batch, "left") << 32 | ints(batch, "right") for batch in prefix_links(iter(rows), threshold, 0)]
    packed = np.unique(np.concatenate([np.empty(0, np.int64), *links]))
    return verify(Pairs(packed >> 32, packed & 0xFFFFFFFF, n), shingles, threshold=threshold)


@from_caller
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
    >>> import lookalike as la
    >>> shingles = la.sketches.Shingles.from_arrays([1, 2, 3, 4, 2, 3, 4, 5], [0, 4, 8])
    >>> pairs = la.search.Pairs(left=[0], right=[1], n_rows=2)
    >>> la.verify(pairs, shingles, threshold=0.6).resemblance.tolist()
    [0.6]
    """
    threshold = share("threshold", threshold)
    if candidates.n_rows != len(shingles):
        raise ParameterError(f"the pairs belong to {candidates.n_rows} documents, the shingles to {len(shingles)}")
    candidates.check_rows()
    left, right = candidates.left, candidates.right
    resemblance = sets_of_values(shingles.values, shingles.offsets).compare(left, right, threshold)
    enough = resemblance >= threshold
    return Pairs(left[enough], right[enough], candidates.n_rows, resemblance[enough])


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """Who is kept, and who stands for whom.

    Parameters
    ----------
    keeper : ndarray of int64, shape (n_documents,)
        The kept row that stands for each row; its own number if it is kept.
    resemblance : ndarray of float64, shape (n_documents,)
        Resemblance to that row; 1 for a kept one.
    """

    keeper: Int64Array
    resemblance: Float64Array

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Mask of kept rows, bool of shape (n_documents,)."""
        return np.equal(self.keeper, np.arange(len(self.keeper)))


@from_caller
def decide(verified: Pairs) -> Decisions:
    """Decide which documents to keep, in row order: one is removed if and only if an earlier kept one matches it.

    If several kept documents match it, the most similar stands for it; of equally similar ones, the first.

    Parameters
    ----------
    verified : Pairs
        With ``resemblance``, as ``verify`` returns them.

    Returns
    -------
    Decisions

    Raises
    ------
    ParameterError
        If the pairs have not been verified, or are not rows left < right of the documents.

    Examples
    --------
    >>> import lookalike as la
    >>> shingles = la.sketches.Shingles.from_arrays([1, 2, 3, 4, 2, 3, 4, 5], [0, 4, 8])
    >>> la.decide(la.verify(la.search.Pairs(left=[0], right=[1], n_rows=2), shingles, threshold=0.6)).mask.tolist()
    [True, False]
    """
    if verified.resemblance is None:
        raise ParameterError("decide needs verified pairs; these have no resemblance: call verify first")
    verified.check_rows(ordered=True)
    if not ((verified.resemblance >= 0.0) & (verified.resemblance <= 1.0)).all():
        raise ParameterError("decide needs resemblances in [0, 1]: call verify first")
    order = np.lexsort((verified.left, verified.right))
    left, right = verified.left[order], verified.right[order]
    matched = Resolver(0).resolve(left, right).view(np.bool_)
    left, right, score = left[matched], right[matched], verified.resemblance[order][matched]
    best = np.lexsort((left, -score, right))
    removed, first = np.unique(right[best], return_index=True)
    keeper, resemblance = np.arange(verified.n_rows), np.ones(verified.n_rows)
    keeper[removed], resemblance[removed] = left[best][first], score[best][first]
    return Decisions(keeper, resemblance)
