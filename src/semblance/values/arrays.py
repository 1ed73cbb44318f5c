"""The array types that values are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UInt64Array = NDArray[np.uint64]
UInt32Array = NDArray[np.uint32]
Int64Array = NDArray[np.int64]
Float64Array = NDArray[np.float64]
