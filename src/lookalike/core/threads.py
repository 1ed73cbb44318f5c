"""The one place where work is shared among threads. Kernels release the interpreter lock; results keep their order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """Yield ``work(item)`` for each item in the order of the items, at most ``2 * threads`` of them under way.

    The caller's thread is one of them: it works while it would wait. One more would take its turns from the others.
    """
    if threads == 1:
        yield from map(work, items)
        return
    rest = iter(items)
    first = list(islice(rest, 2))[::-1]
    if len(first) < 2:
        yield from map(work, first)
        return
    from concurrent.futures import Future, ThreadPoolExecutor  # here, for a small job needs none

    def oldest() -> Result:
        """Return the result that comes next; until it is there, do what no thread has begun."""
        while not waiting[0][1].done():
            for place, (job, future) in enumerate(waiting):
                if future.cancel():
                    waiting[place] = job, _done(Future(), job)
                    break
            else:
                break
        found: Result = waiting.popleft()[1].result()
        return found

    with ThreadPoolExecutor(threads - 1) as pool:
        waiting: deque[tuple[Callable[[], Result], Any]] = deque()
        try:
            for item in chain((first.pop() for _ in range(2)), rest):
                job = partial(_emptied, work, [item])
                del item  # held by what works on it alone
                waiting.append((job, pool.submit(job)))
                if len(waiting) >= 2 * threads:
                    yield oldest()
            while waiting:
                yield oldest()
        finally:
            for _, future in waiting:
                future.cancel()


def _emptied(work: Callable[[Item], Result], item: list[Item]) -> Result:
    """Work on what a list holds, which lets go of it."""
    return work(item.pop())


def _done(future: Any, job: Callable[[], Result]) -> Any:
    """Do it now; an error is kept until it is its turn."""
    try:
        future.set_result(job())
    except Exception as error:
        future.set_exception(error)
    return future
