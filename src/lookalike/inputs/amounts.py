"""How much of some inputs is read, out of how much: bytes on the disk, which are known before a row is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .sketch_rows import is_saved


class Amounts:
    """Counts what is read of inputs, one after the other.

    Attributes
    ----------
    splits : sequence of Split
        The same, which tell this how much of them is read.
    total : int
        Bytes on the disk; 0 if all are in memory. Of saved sketches none count: few of their texts are read, and later.
    """

    def __init__(self, splits: Sequence[Any]) -> None:
        sizes = [0 if is_saved(split) else sum(place.size for place in split.places) for split in splits]
        self._starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.total = int(self._starts[-1])
        self._number = self._bytes = 0
        self.splits = [replace(split, noted=partial(self._note, number)) for number, split in enumerate(splits)]

    def _note(self, number: int, n_bytes: int) -> None:
        """Take note of what is read of an input."""
        if number != self._number:
            self._number, self._bytes = number, 0
        self._bytes += n_bytes

    @property
    def done(self) -> int:
        """Bytes that are read: all of the inputs before the one that was read last, and some of that one."""
        return min(int(self._starts[self._number]) + self._bytes, int(self._starts[self._number + 1]))
