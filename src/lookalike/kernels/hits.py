"""Where kernels that search write what they find."""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import typed


@typed
class Hits(NamedTuple):
    """Room for pairs: two rows, and what was counted for them (a distance, matching slots, common members)."""

    left: Annotated[np.ndarray, "int64[::1]"]
    right: Annotated[np.ndarray, "int64[::1]"]
    counted: Annotated[np.ndarray, "int64[::1]"]


def room_for(n: int) -> Hits:
    """Return room for so many pairs."""
    return Hits(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64))
