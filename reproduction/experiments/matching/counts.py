"""The library's kernels run as plain Python, on arrays that count what is read of them: the steps that searches really take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any
from unittest.mock import patch

import numpy as np

from lookalike.kernels import _plain, tables, weak_bits


class Counted:
    """An array that notes each element read, under a name."""

    def __init__(self, array: Any, name: str, counts: Counter[str]) -> None:
        self.array, self.name, self.counts = array, name, counts
        self.shape = array.shape

    def __getitem__(self, place: Any) -> Any:
        """Read an element, and count it."""
        self.counts[self.name] += 1
        return self.array[place]

    def __setitem__(self, place: Any, value: Any) -> None:
        """Write an element, which is not counted."""
        self.array[place] = value

    def __len__(self) -> int:
        """Return the length of the array."""
        return len(self.array)


def plain(kernel: Any) -> Callable[..., Any]:
    """Return the source of a kernel as a function of Python, with the kernels and instructions that it calls."""
    function = getattr(kernel, "py_func", kernel)
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        if hasattr(_plain, name):
            names[name] = getattr(_plain, name)
        elif (other := getattr(names.get(name), "py_func", names.get(name))) is not None and isinstance(other, FunctionType):
            names[name] = plain(other)
    return FunctionType(function.__code__, names, function.__name__)


@contextmanager
def counted_searches() -> Iterator[Counter[str]]:
    """Run the searches of sorted tables and of weak bits as plain Python, and count the elements read: ``keys`` and ``offsets``
    of tables, ``wanted`` prefixes."""
    counts: Counter[str] = Counter()
    by_blocks, by_prefixes = plain(tables.search_blocks), plain(weak_bits.search_prefixes)

    def search_blocks(query: Any, keys: Any, start: int, stop: int, held: Any, *rest: Any) -> Any:
        held = held._replace(keys=Counted(held.keys, "keys", counts), offsets=Counted(held.offsets, "offsets", counts))
        with np.errstate(over="ignore"):
            return by_blocks(query, keys, start, stop, held, *rest)

    def search_prefixes(query: Any, wanted: Any, start: int, stop: int, held: Any, *rest: Any) -> Any:
        held = held._replace(offsets=Counted(held.offsets, "offsets", counts))
        with np.errstate(over="ignore"):
            return by_prefixes(query, Counted(wanted, "wanted", counts), start, stop, held, *rest)

    with patch.object(tables, "search_blocks", search_blocks), patch.object(weak_bits, "search_prefixes", search_prefixes):
        yield counts


def ranking_steps(margins: np.ndarray, prefix_bits: int, kept: int | None = None) -> np.ndarray:
    """Comparisons of margins that the kernel makes to order the bits of a prefix, or so many of the weakest, for each row."""
    rank, order, out = plain(weak_bits.rank_bits), np.empty(kept or prefix_bits, np.int64), []
    for row in range(len(margins)):
        counts: Counter[str] = Counter()
        rank(Counted(margins, "margins", counts), row, margins.shape[1] - prefix_bits, prefix_bits, order)
        out.append(counts["margins"] // 2)  # two are read for each
    return np.array(out)


def heap_steps(costs: np.ndarray, probes: int, radius: int) -> np.ndarray:
    """Costs that the kernel reads of its heap to find the cheapest sets, for each row of ascending costs of bits."""
    flips, out = plain(weak_bits.likely_flips), []
    for row in costs:
        counts: Counter[str] = Counter()
        room = probes + radius + 2
        heap = weak_bits.Heap(np.empty(room), np.empty(room, np.uint64), np.empty(room, np.int64))
        flips(row, radius, heap._replace(costs=Counted(heap.costs, "heap", counts)), np.empty(probes, np.uint64))
        out.append(counts["heap"])
    return np.array(out)
