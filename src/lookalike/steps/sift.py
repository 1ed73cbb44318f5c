"""Which pairs may match, by short hashes of their shingles, where there are far more pairs than matches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..kernels import sift as kernel
from ..text.keyed import KeyedHashes
from ..text.shingle import Shingling
from ..text.texts import Texts
from ..values import Int64Array, drop_repeats

Halves = kernel.Halves


@dataclass(frozen=True, slots=True, kw_only=True)
class Sift:
    """What is sifted.

    Parameters
    ----------
    threshold : float
        Of the resemblance.
    """

    shingling: Shingling
    threshold: float


def halves(texts: Texts, settings: Sift, key: bytes) -> Halves:
    """Return the ascending upper halves of the hashes of each text's shingles; repeats count once."""
    hashes, bounds = KeyedHashes(settings.shingling, key).hashes(texts)
    values, offsets = drop_repeats(hashes, bounds)
    rows = np.repeat(np.arange(len(texts), dtype=np.uint64), np.diff(offsets))
    placed = rows << np.uint64(32) | values >> np.uint64(32)
    placed.sort()  # rows follow each other already: each is sorted by itself
    return Halves(placed.astype(np.uint32), offsets, np.diff(bounds) - np.diff(offsets))


def sift(left: Int64Array, right: Int64Array, lefts: Halves, rights: Halves, settings: Sift) -> NDArray[np.bool_]:
    """Tell of each pair, a row of ``lefts`` and one of ``rights``, whether it may reach the threshold."""
    out = np.empty(len(left), np.bool_)
    kernel.sift_pairs(left, right, lefts, rights, settings.threshold, out)
    return out
