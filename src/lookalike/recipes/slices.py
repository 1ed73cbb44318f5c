"""Decide slice after slice of the keep order: what is in no component that fits the memory, where the engine has slices.

A slice is walked with the kept documents it may match. Where few of the first slice are removed, nearly all earlier documents
would be at hand for every later slice: the other pairs are sifted then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from ..engines.engine import Engine, Slices, Table
from ..steps.pairs import between
from ..steps.verify import halves, sift
from ..steps.walk import walk
from ..values import Int64Array
from ..values.arrow import to_numpy
from ..values.tables import MATCHES, PAIRS


class SliceWalk:
    """Decides by an engine's slices; ``compared`` adds what documents are compared by, ``comparing`` is told to ``walk``."""

    def __init__(
        self, engine: Engine, slices: Slices, compared: Callable[[Table], Table], comparing: dict[str, Any], label: str
    ) -> None:
        self._engine, self._slices, self._compared, self._comparing, self._label = engine, slices, compared, comparing, label

    def kept_of(self, pairs: Table) -> Table:
        """Return the matches of removed documents with kept ones."""
        engine = self._engine
        found: list[Table] = []
        gone = np.empty(0, np.int64)
        todo, first = self._slices.cut(pairs), True
        while todo:
            begin, end, n = todo.pop(0)
            rows = self._compared(self._slices.together(self._left_of(pairs, begin, end, gone)))
            walking = partial(walk, **self._comparing)
            walked = engine.store(engine.map(rows, walking, MATCHES), f"matches-slice{self._label}-{begin}-{end}")
            rights = [to_numpy(batch["right"]) for batch in walked.select(["right"]).batches()]
            gone = np.unique(np.concatenate([gone, *rights]))
            found.append(walked)
            if first and todo and 2 * len(gone) < n:
                pairs = self.sifted(self._left_of(pairs, end, todo[-1][1], gone), f"-{end}")
                todo = self._slices.cut(pairs)
            first = False
        return reduce(engine.union, found)

    def _left_of(self, pairs: Table, begin: int, end: int, gone: Int64Array) -> Table:
        """Choose the pairs whose right document is in a slice, and whose left one is not gone."""
        some = self._engine.map(pairs, partial(between, begin=begin, end=end), PAIRS)
        return self._engine.join(some, self._engine.rows(pa.table({"order": gone})), "left", "anti")

    def sifted(self, pairs: Table, label: str = "") -> Table:
        """Leave out pairs that cannot match, where the method knows a cheaper way than to compare them."""
        how = self._comparing
        if not how["method"].exact or how["method"].score != "resemblance":
            return pairs
        hashed = partial(halves, shingling=how["shingling"], key=how["key"])
        sifted = partial(sift, threshold=how["threshold"])
        return self._engine.store(self._slices.sift(pairs, hashed, sifted), f"sifted{self._label}{label}")
