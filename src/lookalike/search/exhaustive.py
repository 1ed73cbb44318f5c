"""Search over packed signatures: every pair is compared, or those that share a band. The oracle, and often fast enough."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..core import block_pairs, filled_pairs
from ..core.threads import in_order
from ..errors import ParameterError
from ..theory import packed_banding, xor_bits
from ..theory.chance import chance_match
from ..values import Float64Array, Int64Array, PackedSignatures, Pairs
from ..values.arrays import concatenate_columns, native, number, whole
from .banding import BandingIndex
from .fingerprints import NO_HITS, Hits

BLOCK = 256  # rows that are compared with all others at a time
ROUNDING = 1e-12  # an estimate so little below the threshold reaches it
CHUNK = 1 << 20  # pairs that are estimated at a time


class Reach(NamedTuple):
    """What a pair must have: ``most`` slots that differ, or, where rows have densities, what follows from theirs."""

    layout: Int64Array  # first word, slots and bits of each part
    combined: Int64Array  # how many slots each bit of a part is the XOR of
    most: int
    early: float  # words before which hardly a pair is decided
    threshold: float
    densities: Float64Array
    chances: Float64Array  # A of each row and part (Theorem 1)


def _estimates(packed: PackedSignatures) -> Float64Array:
    """Return the estimate of each number of matches, of all parts together, where there are no densities."""
    slots = packed.layout[:, 1]
    before = np.cumsum(slots) - slots
    counts = np.clip(np.arange(slots.sum() + 1)[:, None] - before, 0, slots)
    none = np.zeros(len(counts))
    return np.asarray(packed.packing.estimate(counts, packed.permutations, none, none)[0], np.float64)


def _reach(packed: PackedSignatures, threshold: float) -> Reach:
    """Return what a pair must have for its estimate to reach the threshold."""
    layout, parts = packed.layout, packed.packing.parts(packed.permutations)
    combined = np.array([part.combined for part in parts], np.int64)
    if packed.densities is not None:
        chances = np.stack([chance_match(part.bits, packed.densities) for part in parts], 1)
        densities = native(packed.densities, np.float64)
        return Reach(layout, combined, 0, 0.0, threshold, densities, np.ascontiguousarray(chances))
    slots = layout[:, 1]
    most = int((_estimates(packed) >= threshold - ROUNDING).sum()) - 1  # estimates rise with matches
    early = most / (64.0 * float((slots * (1.0 - 0.5 ** layout[:, 2])).sum() / slots.sum()))  # in unlike rows all others differ
    return Reach(layout, combined, most, early, threshold, np.empty(0), np.empty((0, 0)))


def _scan(packed: PackedSignatures, threshold: float, reach: Reach | None, begin: int) -> Hits:
    """Compare the rows of one block with all before them and with each other."""
    end = min(begin + BLOCK, len(packed))
    if reach is None:
        slots, bits = packed.layout[0, 1:].tolist()
        most = 2.0**-bits if packed.holds_bins else 0.0  # by which the core takes more matches for chance than there are
        left, right, matches, _ = filled_pairs(packed.words, begin, end, slots, bits, (threshold - most) / (1.0 - most))
    else:
        left, right, matches, _ = block_pairs(packed.words, begin, end, reach)
    return left, right, matches


def _reaching(packed: PackedSignatures, left: Int64Array, right: Int64Array, threshold: float) -> Pairs:
    """Return those of some pairs whose estimate reaches the threshold."""
    found = np.empty(len(left))
    for begin in range(0, len(left), CHUNK):
        some = slice(begin, begin + CHUNK)
        found[some] = packed.estimated_resemblance(left[some], right[some])
    reached = found >= threshold - ROUNDING
    return Pairs(left[reached], right[reached], len(packed), found[reached])


def _bands(packed: PackedSignatures, threshold: float, recall: float) -> tuple[int, int] | None:
    """Return bands and rows for a recall; None where comparing all pairs takes less, or bands do not reach it.

    Slots of two sets match with a probability of at least t + (1 - t) A, with A of the denser one, which falls in the density.
    """
    if not 0.0 < number("recall", recall, "a number in (0, 1)") < 1.0:
        raise ParameterError("must be in (0, 1)", "recall", recall)
    if packed.has_empty:
        raise ParameterError(
            "raw one-permutation bins can be empty, and have no bands: leave recall out, or sign with FastSimilarity"
        )
    if getattr(packed.scheme, "may_be_copied", False):
        return None  # what is copied agrees together: for small sets no number of bands reaches the recall that it plans
    parts = packed.packing.parts(packed.permutations)
    density = 0.0 if packed.densities is None else float(packed.densities.max(initial=0.0))
    if packed.density_bits is not None:
        density = min(1.0, density + 0.5 / (1 << packed.density_bits))  # the densest set that is rounded to it
    if any(part.combined > 1 for part in parts) and threshold < xor_bits.least_resemblance(density, density):
        return None
    slots = sum(part.slots for part in parts)
    if packed_banding.candidate_probability(threshold, slots, 1, parts, density, density) < recall:
        return None  # no bands reach it
    n, (bands, rows) = len(packed), packed_banding.choose_bands(threshold, recall, parts, len(packed), density)
    chance = float(packed_banding.candidate_probability(0.0, bands, rows, parts))
    banded = packed_banding.cost(n, bands, chance)
    return (bands, rows) if banded < n * n / 2.0 * packed_banding.WORD_COST * packed.words.shape[1] else None


def pairs_above(packed: PackedSignatures, threshold: float, *, recall: float | None = None, threads: int = 1) -> Pairs:
    """All pairs of rows whose estimated resemblance reaches a threshold, or, in less time, a planned share of them.

    Parameters
    ----------
    packed : PackedSignatures
        Of ``BBit``, ``XorBits`` or ``Fractional``, with densities or raw bins as well.
    threshold : float in [0, 1]
        In resemblance. An estimate that is less than 1e-12 below it, by rounding, reaches it.
    recall : float in (0, 1), optional
        Compare only pairs that share a band, as many bands as a pair of this resemblance needs to share one with this
        probability. By default, and where it would take longer or no bands reach it, as with filled one-permutation bins, all
        pairs are compared.
    threads : int >= 1

    Returns
    -------
    Pairs
        Ascending; ``resemblance`` holds the estimates, those of ``estimated_resemblance``.

    Raises
    ------
    ParameterError
        If the threshold, the recall or the threads are out of range, or a recall is wanted of raw bins.

    Notes
    -----
    Time: n^2 / 2 comparisons, most of which stop early: 1e9 a second at 128 bits on a core, and more. With densities the
    matches that are needed differ from pair to pair, which takes some ten times as long; so do raw bins. With a recall: a sort
    of n keys for each band, and the pairs that share one, some of them by chance; 16 bytes for each.

    Bits that form a band are counted by the estimate too: a pair below the threshold whose estimate reaches it is found more
    often than ``recall``.

    References
    ----------
    Bounds: Li & König, "b-Bit Minwise Hashing", WWW 2010, equations 4 and 23, solved for the matches at the threshold. Bands:
    Li, Shrivastava, Moore & König, "Hashing Algorithms for Large-Scale Learning", NIPS 2011.

    Examples
    --------
    >>> import lookalike as la
    >>> shingles = la.sketches.Shingles.from_arrays([*range(300), *range(10, 310), *range(900, 999)], [0, 300, 600, 699])
    >>> packed = la.sketches.XorBits(combined=2).pack(la.sketches.FastSimilarity(permutations=1024).sign(shingles))
    >>> la.search.pairs_above(packed, 0.8).left.tolist(), la.search.pairs_above(packed, 0.8, recall=0.99).right.tolist()
    ([0], [1])
    """
    if not 0.0 <= number("threshold", threshold, "a number in [0, 1]") <= 1.0:
        raise ParameterError("must be in [0, 1]", "threshold", threshold)
    threads = whole("threads", threads, 1)
    if recall is not None:
        cut = _bands(packed, threshold, recall)
        if cut is not None:
            candidates = BandingIndex(bands=cut[0], rows=cut[1]).add(packed).pairs(threads=threads)
            return _reaching(packed, candidates.left, candidates.right, threshold)
    reach = None if packed.has_empty else _reach(packed, threshold)
    work = partial(_scan, packed, threshold, reach)
    parts = list(in_order(work, range(0, len(packed), BLOCK), threads)) or [NO_HITS]
    left, right, matches = concatenate_columns(parts)
    order = np.lexsort((right, left))
    left, right, matches = left[order], right[order], matches[order]
    if reach is None or packed.densities is not None:
        return _reaching(packed, left, right, threshold)
    return Pairs(left, right, len(packed), _estimates(packed)[matches])


def nearest(packed: PackedSignatures, queries: PackedSignatures, top: int = 10) -> tuple[Int64Array, Float64Array]:
    """The stored rows of highest estimated resemblance for each query.

    Parameters
    ----------
    packed, queries : PackedSignatures
        Made with the same parameters.
    top : int >= 1

    Returns
    -------
    (ndarray of int64, ndarray of float64), shape (n_queries, min(top, n_stored))
        Rows and estimates, best first, ties by row.

    Raises
    ------
    ParameterError
        If ``top`` is below 1.
    """
    top = whole("top", top, 1)
    count = min(top, len(packed))
    rows, values = np.empty((len(queries), count), np.int64), np.empty((len(queries), count))
    everyone = np.arange(len(packed))
    for query in range(len(queries)):
        found = queries.estimated_resemblance(query, everyone, other=packed)
        away = np.where(np.isnan(found), np.inf, -found)
        near = np.flatnonzero(away <= np.partition(away, count - 1)[count - 1]) if count else everyone
        best = near[np.argsort(away[near], kind="stable")][:count]
        rows[query], values[query] = best, found[best]
    return rows, values
