"""The one place where work is shared among threads. Kernels release the interpreter lock; results keep their order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield ``work(item)`` for each item in the order of the items, at most ``2 * threads`` of them under way."""
    if threads == 1:
        yield from map(work, items)
        return
    rest = iter(items)
    first = list(islice(rest, 2))
    if len(first) < 2:
        yield from map(work, first)
        return
    from concurrent.futures import ThreadPoolExecutor  # here, for a small job needs none

    with ThreadPoolExecutor(threads) as pool:
        waiting: deque = deque()
        try:
            for item in chain(first, rest):
                waiting.append(pool.submit(work, item))
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
