"""The schemes that are compared in retrieval: how many bits of which slots they keep, and when they retrieve a pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.theory import mixture
from retrieval.counting import DEPTHS

# A share of the slots, in this order, keeps so many bits.
SCHEMES: dict[str, list[tuple[int, float]]] = {
    "b = 1": [(1, 1.0)],
    "f = 1.25": [(1, 0.75), (2, 0.25)],
    "f = 1.5": [(1, 0.5), (2, 0.5)],
    "f = 1.75": [(1, 0.25), (2, 0.75)],
    "b = 2": [(2, 1.0)],
    "b = 3": [(3, 1.0)],
    "b = 4": [(4, 1.0)],
    "32 bits": [(32, 1.0)],
    "32 bits, ties out": [(32, 1.0)],
}
NAMES = list(SCHEMES)
THRESHOLDS = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
# Sizes rise by about a quarter; multiples of 4, so that quarters are whole numbers of slots.
SIZES = np.array([8, 12, 16, 20, 24, 32, 40, 48, 60, 76, 96, 120, 152, 192, 240, 304, 384, 480, 608, 768, 960, 1216, 1536, 1920, 2432])  # fmt: skip
# An estimate of just R0 reaches it, whatever rounding makes of it. Of 32 bits it is below R0 by up to 2^-32, the chance matches that
# are subtracted; the scheme without ties takes that at its word.
TIE, NO_TIE = 1e-9, "32 bits, ties out"


def cuts() -> NDArray[np.int64]:
    """Return the numbers of slots at which matches must be known: all sizes, and their quarters."""
    return np.unique(np.concatenate([SIZES * part // 4 for part in (1, 2, 3, 4)]))


def rows() -> NDArray[np.int64]:
    """Return (schemes, sizes, 4) as ``counting.classify`` wants it."""
    at, out = cuts(), np.empty((len(SCHEMES), len(SIZES), 4), np.int64)
    for i, parts in enumerate(SCHEMES.values()):
        depths = [int(np.flatnonzero(bits == DEPTHS)[0]) for bits, _ in parts]
        for j, k in enumerate(SIZES):
            first = int(np.searchsorted(at, round(parts[0][1] * k))) if len(parts) > 1 else -1
            out[i, j] = first, depths[0], int(np.searchsorted(at, k)), depths[-1]
    return out


def bounds() -> NDArray[np.int64]:
    """Return (schemes, sizes, thresholds): the least number of matches whose estimate reaches each threshold."""
    out = np.empty((len(SCHEMES), len(SIZES), len(THRESHOLDS)), np.int64)
    for i, (name, parts) in enumerate(SCHEMES.items()):
        for j, k in enumerate(SIZES):
            slots = [mixture.Part(slots=round(share * k), bits=bits) for bits, share in parts]
            estimates = mixture.resemblance(np.arange(k + 1) / k, slots)
            out[i, j] = np.searchsorted(estimates, THRESHOLDS - (0.0 if name == NO_TIE else TIE))
    return out
