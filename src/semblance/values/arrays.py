"""The array types that values are made of."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

UInt64Array = NDArray[np.uint64]
UInt32Array = NDArray[np.uint32]
Int64Array = NDArray[np.int64]
Float64Array = NDArray[np.float64]


def runs(labels: NDArray[np.integer[Any]]) -> list[tuple[int, int]]:
    """Return the bounds of each run of equal labels, none of them negative."""
    starts = np.flatnonzero(np.diff(labels, prepend=-1)).tolist()
    return list(pairwise([*starts, len(labels)])) if starts else []
