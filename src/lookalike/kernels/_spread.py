"""Where values stand in tables: by a factor drawn for each process, so that nobody can write a text whose values all meet."""

import os
from typing import Any

import numpy as np

_drawn = np.uint64(int.from_bytes(os.urandom(8), "little") | 1)


def spread() -> Any:
    """Return this process's odd factor, a uint64: an argument of the kernels that keep tables; no result depends on it."""
    return _drawn
