"""Arrays that a thread uses again and again: memory that is new each time costs the system more than the work on it."""

import threading
from typing import Any

import numpy as np

_mine = threading.local()


def scratch(name: str, size: int, dtype: Any) -> Any:
    """Return this thread's array of a name, with room for ``size``, whatever it holds; grown where needed."""
    array = getattr(_mine, name, None)
    if array is None or len(array) < size:
        array = np.empty(size + size // 4, dtype)
        setattr(_mine, name, array)
    return array
