"""Arrays that are used again: large ones are not kept."""

import threading

import numpy as np

from lookalike.kernels.scratch import scratch


def test_arrays_are_kept_by_name_and_thread_unless_they_are_large():
    first = scratch("of a test", 100, np.int64)
    assert len(first) >= 100 and scratch("of a test", 50, np.int64) is first
    large = scratch("of a test", 1000, np.int64, 8000)
    assert len(large) >= 1000 and scratch("of a test", 100, np.int64) is first
    larger = scratch("of a test", 1000, np.int64)
    assert scratch("of a test", 1000, np.int64) is larger is not large
    others = []
    thread = threading.Thread(target=lambda: others.append(scratch("of a test", 10, np.int64)))
    thread.start()
    thread.join()
    assert others[0] is not larger
