"""The index of SpotSigs: documents partitioned by length, and in each partition lists by signature, cut short by bounds.

Theobald, Siddharth & Paepcke, "SpotSigs: robust and efficient near duplicate detection in large web collections", SIGIR 2008,
sections 4 and 5, for sets of signatures: resemblance is intersection over union.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(slots=True)
class Work:
    """What a search did: pairs looked at in a list, pairs compared signature by signature, and steps of those comparisons."""

    met: int = 0
    compared: int = 0
    steps: int = 0


def boundaries(longest: int, threshold: float) -> list[int]:
    """Return where partitions of lengths begin, such that documents two partitions apart cannot reach the threshold.

    A document of n signatures resembles one of m > n by at most n / m, so a partition ends where the longest document before it
    falls below the threshold.
    """
    begins = [1]
    while begins[-1] <= longest:
        end = begins[-1] + 1
        while (begins[-1] - 1) / end >= threshold:
            end += 1
        begins.append(end)
    return begins


def resembles(left: list[int], right: set[int], threshold: float, work: Work) -> bool:
    """Return whether two sets resemble each other by the threshold; ends as soon as they cannot. ``left``: the rarest first."""
    missed, allowed = 0, len(left) - _least_shared(len(left), len(right), threshold)
    for value in left:
        work.steps += 1
        if value not in right:
            missed += 1
            if missed > allowed:
                return False
    return True


def _least_shared(one: int, other: int, threshold: float) -> int:
    """Return the least number of shared signatures with which sets of these sizes reach the threshold; more than both if none does."""
    shared = max(0, int(threshold * (one + other) / (1 + threshold)) - 1)
    while shared <= min(one, other) and shared / max(one + other - shared, 1) < threshold:
        shared += 1
    return shared


def similar_pairs(rows: list[np.ndarray], threshold: float, *, rarest_first: bool = True) -> tuple[np.ndarray, Work]:
    """Find all pairs of sets whose resemblance reaches a threshold, each once, as (pairs, 2) of row numbers in ascending order.

    Documents come by length. Each is looked up among those before it in its own partition and in the one before; its signatures are
    taken from the rarest of the collection on. After m of them, a document that was in none of their lists lacks them, so the
    search ends as soon as even one of the best length could no longer reach the threshold.
    """
    values, counts = np.unique(np.concatenate(rows), return_counts=True)
    rank = np.empty(len(values), np.int64)
    rank[np.argsort(counts if rarest_first else -counts, kind="stable")] = np.arange(len(values))
    sorted_rows = [np.sort(rank[np.searchsorted(values, row)]).tolist() for row in rows]
    sets = [set(row) for row in sorted_rows]
    order = sorted((row for row in range(len(rows)) if sorted_rows[row]), key=lambda row: (len(sorted_rows[row]), row))
    begins = boundaries(max((len(row) for row in sorted_rows), default=0), threshold)
    lists: dict[tuple[int, int], list[int]] = {}  # (partition, signature) -> documents, the longest last
    work, found = Work(), []
    for row in order:
        mine, size = sorted_rows[row], len(sorted_rows[row])
        partition = int(np.searchsorted(begins, size, side="right"))
        seen: set[int] = set()
        for missed, value in enumerate(mine):
            # All others are no longer than this one: the best of those not met yet shares what is left, and has nothing else.
            if (size - missed) / size < threshold:
                break
            for other in (*lists.get((partition, value), [])[::-1], *lists.get((partition - 1, value), [])[::-1]):
                work.met += 1
                length = len(sorted_rows[other])
                if length / size < threshold:
                    break  # and all after it are shorter still
                shared = min(size - missed, length)
                if other in seen or shared / (size + length - shared) < threshold:
                    continue
                seen.add(other)
                work.compared += 1
                if resembles(sorted_rows[other], sets[row], threshold, work):
                    found.append((min(row, other), max(row, other)))
        for value in mine:
            lists.setdefault((partition, value), []).append(row)
    return np.array(sorted(found), np.int64).reshape(-1, 2), work


def pairs_sharing(rows: list[np.ndarray]) -> int:
    """Return how many pairs share any value: what an index of lists without bounds would compare."""
    holders: dict[int, list[int]] = {}
    shared: set[tuple[int, int]] = set()
    for row, values in enumerate(rows):
        for value in values.tolist():
            before = holders.setdefault(value, [])
            shared.update((other, row) for other in before)
            before.append(row)
    return len(shared)
