"""Exhaustive search over packed signatures: every pair is compared. The oracle, and often fast enough."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..errors import ParameterError
from ..kernels import hamming as kernel
from ..kernels.scratch import room_for
from ..kernels.threads import in_order
from ..theory import bbit
from ..values import Float64Array, Int64Array, PackedSignatures, Pairs
from ..values.arrays import number, whole

ROOM = 1 << 14


def _most_mismatches(packed: PackedSignatures, threshold: float) -> int:
    """Mismatches at which the estimate still reaches the threshold."""
    _, slots, bits = packed.layout[0].tolist()
    needed = float(bbit.match_probability(max(threshold, 0.0), bits)) * slots
    return int(slots - np.ceil(needed - 1e-9))


def _scan(packed: PackedSignatures, most: int, begin: int) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Compare the rows of one block with all before them and with each other."""
    first_word, slots, bits = packed.layout[0].tolist()
    words, size = packed.words, min(kernel.BLOCK, len(packed) - begin)
    columns = np.empty(((slots + 63) // 64 * bits, kernel.BLOCK), np.uint64)
    kernel.turn_block(words, begin, size, first_word, columns)
    scratch = np.empty(kernel.BLOCK, np.int64), np.empty(kernel.BLOCK, np.uint64)
    out = room_for(ROOM)
    row, parts = 0, []
    while row < begin + size:
        row, found = kernel.pairs_with_block(
            words, row, columns, begin, size, first_word, slots, bits, most, *scratch, out
        )  # fmt: skip
        parts.append(tuple(array[:found].copy() for array in out))
    left, right, matches = (np.concatenate(p) for p in zip(*parts, strict=True))
    return left, right, matches


def pairs_above(packed: PackedSignatures, threshold: float, *, threads: int = 1) -> Pairs:
    """All pairs of rows whose estimated resemblance reaches a threshold.

    Parameters
    ----------
    packed : PackedSignatures
        Of one part with vanishing densities and no empty slots (``BBit`` on hashed signatures).
    threshold : float in [0, 1]
    threads : int

    Returns
    -------
    Pairs
        Ascending; ``resemblance`` holds the estimates.

    Raises
    ------
    ParameterError
        If the signatures are of another kind.

    Notes
    -----
    Time: n^2 / 2 comparisons, most of which stop early; 1e9 a second at 128 bits on a core, and more.
    """
    plain = len(packed.layout) == 1 and not packed.has_empty and packed.densities is None and not packed.packing.ordered
    if not plain or packed.permutations != packed.layout[0, 1]:
        raise ParameterError("pairs_above takes signatures packed by BBit, hashed and without empty slots")
    if not 0.0 <= number("threshold", threshold, "a number in [0, 1]") <= 1.0:
        raise ParameterError(f"threshold must be in [0, 1]; got {threshold}")
    threads = whole("threads", threads, 1)
    n, slots, bits = len(packed), int(packed.layout[0, 1]), int(packed.layout[0, 2])
    work = partial(_scan, packed, _most_mismatches(packed, threshold))
    parts = list(in_order(work, range(0, n, kernel.BLOCK), threads)) or [(np.empty(0, np.int64),) * 3]
    left, right, matches = (np.concatenate(p) for p in zip(*parts, strict=True))
    order = np.lexsort((right, left))
    left, right, matches = left[order], right[order], matches[order]
    return Pairs(left, right, n, bbit.resemblance(matches / slots, bits))


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
        best = np.lexsort((everyone, -found))[:count]
        rows[query], values[query] = best, found[best]
    return rows, values
