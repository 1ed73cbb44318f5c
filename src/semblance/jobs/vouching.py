"""The recall that is vouched for the documents that were kept."""

from __future__ import annotations

from functools import partial
from itertools import chain
from math import fsum

import numpy as np

from ..engines.engine import Table
from ..steps.hold import Hold
from ..steps.vouch import VOUCHED, Vouch, vouch
from ..theory.banding import candidate_probability
from ..values.arrow import to_numpy
from .deciding import Decider
from .settings import Settings


def vouched(decider: Decider, standing: Table, settings: Settings, kept: int) -> float:
    """Return the mean, over kept documents, of the probability that a near-duplicate at the threshold is found.

    Parameters
    ----------
    decider : Decider
    standing : Table
        Documents that are removed, copies left out.
    settings : Settings
    kept : int
        How many documents are kept.

    Notes
    -----
    Of documents outside of crowds it is the recall of the plan; of those in crowds ``theory.crowded_recall``. References are
    left out.
    """
    method, found, engine = settings.finder, decider.found, decider.engine
    planned = method.recall(settings.threshold)
    if not found.counts.size or not kept:
        return planned
    bands, rows = method.n_keys, method.n_codes // method.n_keys
    candidates = float(candidate_probability(settings.threshold, bands, rows))
    vouching = Vouch(
        bands=bands, rows=rows, threshold=settings.threshold, max_bucket=settings.max_bucket, hold=Hold(slots=method.n_codes)
    )  # fmt: skip
    stays = engine.join(found.crowded, standing, "order", "anti")
    recalls = [
        np.minimum(to_numpy(batch["recall"]), candidates)[to_numpy(batch["order"]) >= found.boundary]
        for batch in engine.map(stays, partial(vouch, settings=vouching, counts=found.counts), VOUCHED).batches()
    ]
    n, total = sum(map(len, recalls)), fsum(chain.from_iterable(recalls))  # exact: the same in any order
    return planned * (total / candidates + max(0, kept - n)) / max(kept, n) if candidates else planned
