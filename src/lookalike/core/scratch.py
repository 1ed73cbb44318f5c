"""Arrays that a thread uses again and again: memory that is new each time costs the system more than the work on it."""

import threading
from typing import Any

import numpy as np

_mine = threading.local()
KEPT = 48 << 20  # bytes


def scratch(name: str, size: int, dtype: Any) -> Any:
    """Return this thread's array of a name, with room for ``size``, whatever it holds; grown where needed. One of more than
    ``KEPT`` bytes is not kept: a single long document would take its memory to the end of the job."""
    array = getattr(_mine, name, None)
    if array is None or len(array) < size or array.dtype != dtype:
        array = np.empty(size + size // 4, dtype)
        if array.nbytes > KEPT:
            return array
        setattr(_mine, name, array)
    return array
