import threading
import time
from concurrent.futures import ThreadPoolExecutor

MINUTES = 600.0
"""Seconds after which something that was waited for is held to be missing."""


def until(holds):
    end = time.monotonic() + MINUTES
    while not (found := holds()):
        assert time.monotonic() < end, "what was waited for has not happened"
        time.sleep(0.005)
    return found


def at_once(n, work):
    barrier = threading.Barrier(n)
    with ThreadPoolExecutor(n) as threads:
        return list(threads.map(lambda number: (barrier.wait(), work(number))[1], range(n)))
