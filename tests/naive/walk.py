"""Twins of resemblance and of the greedy walk, by set arithmetic."""

from itertools import combinations


def resemblance(a, b):
    return len(a & b) / len(a | b) if a | b else 0.0


def all_pairs(sets, threshold):
    """All pairs at or above a threshold: {(left, right): resemblance}."""
    found = {}
    for i, j in combinations(range(len(sets)), 2):
        if sets[i] and sets[j] and resemblance(sets[i], sets[j]) >= threshold:
            found[i, j] = resemblance(sets[i], sets[j])
    return found


def keep(n, pairs, order=None):
    """Return the keeper of each document: itself where kept, else the most similar document kept before it."""
    order = list(range(n)) if order is None else list(order)
    keeper, kept = {}, []
    for d in order:
        matches = [(-pairs[min(d, e), max(d, e)], order.index(e)) for e in kept if (min(d, e), max(d, e)) in pairs]
        keeper[d] = order[min(matches)[1]] if matches else d
        if not matches:
            kept.append(d)
    return [keeper[d] for d in range(n)]
