"""What kernels are given to work with: arrays that a thread uses again and again, room for what they find, and this process's
factor. Memory that is new each time costs the system more than the work on it.
"""

import os
import threading
from typing import Annotated, Any, NamedTuple

import numpy as np

from .compiler import typed

_mine = threading.local()
KEPT = 48 << 20  # bytes, of arrays that are filled in part, by a piece of text
FILLED = 8 << 20  # of those that are filled
_drawn = np.uint64(int.from_bytes(os.urandom(8), "little") | 1)


def scratch(name: str, size: int, dtype: Any, most: int = KEPT) -> Any:
    """Return this thread's array of a name, with room for ``size``, whatever it holds; grown where needed. One of more than
    ``most`` bytes is not kept: a single long document would take its memory to the end of the job."""
    array = getattr(_mine, name, None)
    if array is None or len(array) < size or array.dtype != dtype:
        array = np.empty(size + size // 4, dtype)
        if array.nbytes > most:
            return array
        setattr(_mine, name, array)
    return array


def spread() -> Any:
    """Return this process's odd factor, a uint64, for kernels that keep tables; no result depends on it. It is drawn so that
    nobody can write a text whose values all meet in a table."""
    return _drawn


@typed
class Hits(NamedTuple):
    """Room for pairs: two rows, and what was counted for them (a distance, matching slots, common members)."""

    left: Annotated[np.ndarray, "int64[::1]"]
    right: Annotated[np.ndarray, "int64[::1]"]
    counted: Annotated[np.ndarray, "int64[::1]"]


def room_for(n: int) -> Hits:
    """Return room for so many pairs."""
    return Hits(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64))
