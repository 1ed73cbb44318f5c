"""The thesis' Algorithm 2 (``next``) as printed and repaired, its heap, and how many sets of a size can be among the first k.

Sets of weak bits are tuples of ranks, ascending, from 1; ``top`` is the number of bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import combinations
from math import comb

Set = tuple[int, ...]
Rule = Callable[[Set, int], list[Set]]


def _next(chosen: Set, top: int, sign: int) -> list[Set]:
    """Algorithm 2, with p_(l-j) - p_(l-j+1) multiplied by ``sign``; candidates with a rank beyond ``top`` are left out."""
    size, found = len(chosen), [(*chosen[:-1], chosen[-1] + 1)]
    j = 1
    while j < size and (gap := sign * (chosen[size - j - 1] - chosen[size - j])) <= 2:
        if gap == 2:
            found.append((*chosen[: size - j - 1], chosen[size - j - 1] + 1, *chosen[size - j :]))
            break
        j += 1
    return [candidate for candidate in found if candidate[-1] <= top]


def printed_next(chosen: Set, top: int) -> list[Set]:
    """Algorithm 2 as printed: ranks ascend, so p_(l-j) - p_(l-j+1) is negative, and a second candidate never comes."""
    return _next(chosen, top, 1)


def repaired_next(chosen: Set, top: int) -> list[Set]:
    """Algorithm 2 with the gap p_(l-j+1) - p_(l-j): each set follows from exactly one other, which is no dearer."""
    return _next(chosen, top, -1)


def every_increment(chosen: Set, top: int) -> list[Set]:
    """The rule that the thesis avoids: any rank moved on by one. Each set comes as often as it has predecessors."""
    moved = ((*chosen[:i], rank + 1, *chosen[i + 1 :]) for i, rank in enumerate(chosen))
    return [candidate for candidate in moved if len(set(candidate)) == len(candidate) and candidate[-1] <= top]


def reached(rule: Rule, size: int, top: int) -> list[Set]:
    """Return all sets that a rule comes to from (1, ..., size), as often as it does."""
    found = [tuple(range(1, size + 1))]
    for chosen in found:
        found += rule(chosen, top)
    return found


def cheapest(rule: Rule, costs: Sequence[float], count: int, most: int) -> tuple[list[Set], int]:
    """The thesis' heap: seeded with (1, ..., i) for each size i <= most. Returns (the first sets, the largest heap).

    Parameters
    ----------
    rule : function
        What follows a set.
    costs : sequence of float, ascending, >= 0
    count : int
        k.
    most : int
        h.
    """
    top, heap, largest = len(costs), [], 0

    def push(chosen: Set) -> None:
        heappush(heap, (sum(costs[rank - 1] for rank in chosen), chosen))

    for size in range(1, min(most, top) + 1):
        push(tuple(range(1, size + 1)))
    found: list[Set] = []
    while heap and len(found) < count:
        largest = max(largest, len(heap))
        found.append(heappop(heap)[1])
        for chosen in rule(found[-1], top):
            push(chosen)
    return found, largest


def printed_most(count: int, size: int) -> int:
    """(4.7)-(4.9): the thesis' number of sets of a size among the first ``count``, max(L1, L2)."""
    k_i = next(n for n in range(1, count + 2) if sum(comb(n, i) for i in range(1, size + 1)) >= count)
    return max(count - sum(comb(k_i, i) for i in range(1, size)), comb(k_i - 1, size))


def closure_size(sets: int, size: int) -> int:
    """Fewest sets that a family of so many sets of a size has with all their subsets but the empty one (Kruskal-Katona).

    With N = C(a_i, i) + C(a_(i-1), i-1) + ..., a_i > a_(i-1) > ..., there are C(a_i, j) + C(a_(i-1), j-1) + ... of size j.
    """
    total = 0
    for j in range(1, size + 1):
        rest, place = sets, size
        while rest and place:
            a = place
            while comb(a + 1, place) <= rest:
                a += 1
            rest -= comb(a, place)
            lower = j - (size - place)
            total += comb(a, lower) if lower >= 0 else 0
            place -= 1
    return total


def most_of_size(count: int, size: int) -> int:
    """Most sets of a size that can be among the first ``count``: all their subsets are cheaper, and come before."""
    found = 0
    while closure_size(found + 1, size) <= count:
        found += 1
    return found


def most_by_enumeration(top: int, size: int) -> list[int]:
    """For 0, 1, ... sets of a size out of ``top`` ranks: fewest sets, subsets included, over ALL families of so many."""
    import numpy as np

    sets = list(combinations(range(top), size))
    family = np.arange(1 << len(sets), dtype=np.uint32)
    closure = np.zeros(len(family), np.int64)
    for j in range(1, size + 1):
        for face in combinations(range(top), j):
            above = sum(1 << i for i, chosen in enumerate(sets) if set(face) <= set(chosen))
            closure += (family & np.uint32(above)) != 0
    fewest = np.full(len(sets) + 1, np.iinfo(np.int64).max)
    np.minimum.at(fewest, np.bitwise_count(family), closure)
    return [int(n) for n in fewest]
