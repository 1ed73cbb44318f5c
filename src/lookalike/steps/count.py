"""How many crowded documents have a code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import rare as kernel
from ._binary import words_of

CODES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A table of counts, int32 of shape (slots, 65536), added up over documents: 25 MB for 96 slots.

    Parameters
    ----------
    slots : int >= 1
        Codes of a document.
    """

    slots: int
    combine = cast(np.ufunc, np.add)  # the name alone, so that it is no parameter

    def start(self) -> NDArray[Any]:
        """Return the table of no documents."""
        return np.zeros((self.slots, CODES), np.int32)

    def add(self, total: NDArray[Any], batch: pa.RecordBatch) -> None:
        """Count the codes of a batch: column code, 16 bits a slot."""
        kernel.count_codes(words_of(batch["code"], 2 * self.slots, np.uint16), total)
