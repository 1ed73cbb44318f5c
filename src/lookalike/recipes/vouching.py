"""The mean recall of the documents that were kept."""

from __future__ import annotations

from functools import partial

from ..engines.engine import Table
from ..settings.settings import Settings
from ..steps.crowds import VOUCHED, recall_sums, sum_of_recalls, vouch
from ..steps.override import SPARED, spared
from ..theory.banding import candidate_probability
from .decide import Decider


def vouched(decider: Decider, standing: Table, settings: Settings, kept: int) -> float:
    """Return the mean, over kept documents, of the probability that a near-duplicate at the threshold is found.

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
    vouching = partial(
        vouch, counts=found.counts, bands=bands, threshold=settings.threshold, max_bucket=settings.max_bucket
    )  # fmt: skip
    if "override" in found.sketches.schema.names:  # these stay, too
        kept_by_hand = engine.map(found.sketches.select(["order", "override"]), spared, SPARED)
        standing = engine.join(standing, kept_by_hand, "order", "anti")
    stays = engine.join(found.crowded, standing, "order", "anti")
    each = engine.map(stays, vouching, VOUCHED)
    sums = engine.fold(each, recall_sums(candidates, found.boundary))
    n, total = int(sums[0]), sum_of_recalls(sums)
    return planned * (total / candidates + max(0, kept - n)) / max(kept, n) if candidates else planned
