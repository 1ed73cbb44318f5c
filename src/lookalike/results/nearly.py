"""Candidates that score a little below the threshold: for reports only, they change no decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.engine import Table
from ..recipes.decide import Decider
from ..values import Int64Array
from ..values.arrow import to_numpy

Misses = Iterator[tuple[Int64Array, Int64Array, NDArray[np.float64]]]


@dataclass(frozen=True, slots=True, eq=False)
class Nearly:
    """Finds the near misses of a job that is open.

    Parameters
    ----------
    standing : Table
        Who stands for each removed document.
    """

    decider: Decider
    standing: Table

    def below(self, lowest: float) -> Misses:
        """Yield (left, right, score) of the candidates among kept documents that score below the threshold; lefts are orders.

        Only kept documents count: a pair in which one is removed says nothing about what might be missing. Each of them was
        compared with its candidates before, so that this compares no pair that the job did not; the scores were not kept.
        """
        decider = self.decider
        engine, threshold = decider.engine, decider.settings.threshold
        pairs = engine.join(decider.found.pairs, self.standing, "left", "anti")
        pairs = engine.store(engine.join(pairs, self.standing, "right", "anti"), f"pairs-of-kept{decider.label}")
        settings: Any = replace(decider.settings, threshold=lowest)
        near = Decider(engine, decider.found, settings, decider.key)
        for batch in near.verified(pairs).batches():  # not as components: those of all pairs are what texts are divided by
            score = to_numpy(batch["score"])
            below = score < threshold
            yield to_numpy(batch["left"])[below], to_numpy(batch["right"])[below], score[below]
