"""The loops of searches written out in plain Python, with a count of what they read: the steps that searches take. What they find
is what the library's compiled ones find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from lookalike.core import manku_keys
from lookalike.search import tables, weak_bits


def _found(hits: list[tuple[int, int, int]], compared: int) -> tuple[Any, ...]:
    return *np.array(sorted(hits), np.int64).reshape(-1, 3).T, compared


def _bisect(keys: np.ndarray, key: int, counts: Counter[str]) -> int:
    """Find the first key that is not below one; count the keys read."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        counts["keys"] += 1
        low, high = (middle + 1, high) if keys[middle] < key else (low, middle)
    return low


@contextmanager
def counted_searches() -> Iterator[Counter[str]]:
    """Run the searches of sorted tables and of weak bits as plain Python, and count the elements read: ``keys`` and ``offsets``
    of tables, ``wanted`` prefixes."""
    counts: Counter[str] = Counter()

    def manku_search(
        query: Any, start: int, stop: int, held: Any, binary: bool, radius: int, first_only: bool, self_join: bool
    ) -> Any:
        hits: dict[tuple[int, int], int] = {}
        compared, answered, shift = 0, set(), 65 - held.offsets.shape[1].bit_length()
        for table, mask in enumerate(held.masks):
            keys = held.keys[table]
            for q, key in enumerate(manku_keys(query[start:stop], mask).tolist(), start):
                if first_only and q in answered:
                    continue
                if binary:
                    low = _bisect(keys, key, counts)
                else:
                    counts["offsets"] += 1
                    low = int(held.offsets[table, key >> shift])
                for at in range(low, len(keys)):  # each key is compared with the bound, and those within it with the wanted one
                    counts["keys"] += 1 if keys[at] > key else 2
                    if keys[at] > key:
                        break
                    if keys[at] == key:
                        compared += 1
                        row = int(held.rows[table, at])
                        d = int(np.bitwise_count(query[q] ^ held.stored[row]).sum())
                        if d <= radius and not (self_join and row <= q) and (q, row) not in hits:
                            hits[q, row] = d
                            answered.add(q)
                            if first_only:
                                break
        return _found([(*pair, d) for pair, d in hits.items()], compared)

    def search_prefixes(
        query: Any, wanted: Any, start: int, stop: int, held: Any, radius: int, self_join: bool, answered: Any
    ) -> Any:
        hits, compared, first_only = [], 0, len(answered) > 0
        for q in range(start, stop):
            for prefix in wanted[q - start].tolist():
                if first_only and answered[q]:
                    break
                counts["wanted"] += 1
                if not 0 <= prefix - held.low < len(held.offsets) - 1:
                    continue
                counts["offsets"] += 2
                for at in range(*held.offsets[prefix - held.low :][:2].tolist()):
                    compared += 1
                    d, row = (
                        int(np.bitwise_count(query[q] ^ held.words[at]).sum()),
                        int(held.rows[at]) if len(held.rows) else at,
                    )
                    if d <= radius and not (self_join and row <= q):
                        hits.append((q, row, d))
                        if first_only:
                            answered[q] = True
                            break
        return _found(hits, compared)

    with patch.object(tables, "manku_search", manku_search), patch.object(weak_bits, "search_prefixes", search_prefixes):
        yield counts


def ranking_steps(margins: np.ndarray, prefix_bits: int, kept: int | None = None) -> np.ndarray:
    """Comparisons of margins by which the bits of a prefix, or so many of the weakest, are ordered, for each row."""
    kept, out = kept or prefix_bits, []
    for row in np.abs(margins[:, -prefix_bits:]).tolist():
        order: list[float] = []
        steps = 0
        for margin in row:
            if len(order) == kept:
                steps += 1
                if order[-1] <= margin:
                    continue
                order.pop()
            at = len(order)
            while at:
                steps += 1
                if order[at - 1] <= margin:
                    break
                at -= 1
            order.insert(at, margin)
        out.append(steps)
    return np.array(out)


def heap_steps(costs: np.ndarray, probes: int, radius: int) -> np.ndarray:
    """Costs that are read of the heap to find the cheapest sets, for each row of ascending costs of bits."""
    out = []
    for row in costs.tolist():
        heap, steps = [(row[0], 1, 0)], 0  # costs; how many bits, and the last of them
        for _ in range(probes - 1):
            if not heap:
                break
            cost, size, last = heap[0]
            moved, i = heap.pop(), 0
            steps += 2
            while 2 * i + 1 < len(heap):
                child = 2 * i + 1
                if child + 1 < len(heap):
                    steps += 2
                    child += heap[child + 1][0] < heap[child][0]
                steps += 1
                if heap[child][0] >= moved[0]:
                    break
                steps += 1
                heap[i], i = heap[child], child
            if heap:
                heap[i] = moved
            if last + 1 == len(row):
                continue
            next_sets = [(cost + row[last + 1] - row[last], size, last + 1), (cost + row[last + 1], size + 1, last + 1)]
            for new in next_sets[: 1 + (size < radius)]:
                i = len(heap)
                heap.append(new)
                while i:
                    steps += 1
                    if heap[(i - 1) // 2][0] <= new[0]:
                        break
                    steps += 1
                    heap[i], i = heap[(i - 1) // 2], (i - 1) // 2
                heap[i] = new
        out.append(steps)
    return np.array(out)
