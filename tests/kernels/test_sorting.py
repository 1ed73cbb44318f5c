"""Ranges are sorted in place, also in orders that were made to spoil partitions."""

from math import log2
from pathlib import Path

import numpy as np
import pytest
from conftest import JIT_OFF
from hypothesis import given
from hypothesis import strategies as st

from lookalike.kernels import sorting

SIZE = 300 if JIT_OFF else 20_000


def killer(size):
    """An order in which each median of three, the first, middle and last value, is among the smallest that are left."""
    values, place = np.full(size, size, np.int64), np.arange(size)
    low = 0
    while size - low > 3:
        middle = (low + size) >> 1
        for at in (low, middle):
            values[place[at]] = low + (at == middle)
        place[low + 1], place[middle] = place[middle], place[low + 1]
        low += 2
    values[place[low:]] = np.arange(low, size)
    return values


def orders():
    falling = np.arange(SIZE)[::-1]
    yield from (np.arange(SIZE), falling, np.zeros(SIZE, np.int64), killer(SIZE), np.arange(SIZE) % 7)
    yield np.concatenate([np.arange(SIZE), falling])
    yield np.random.default_rng(1).permutation(SIZE)


@pytest.mark.parametrize("sort", [sorting.sort_range, sorting.sort_heap])
def test_orders_are_sorted(sort):
    for values in orders():
        found = np.ascontiguousarray(values, np.int64).copy()
        sort(found, 0, len(found))
        assert found.tolist() == sorted(values.tolist())


@pytest.mark.parametrize("sort", [sorting.sort_range, sorting.sort_heap])
@given(st.lists(st.integers(-3, 40), max_size=60), st.integers(0, 5), st.integers(0, 5))
def test_only_the_range_is_sorted(sort, values, before, after):
    low, high = min(before, len(values)), max(min(before, len(values)), len(values) - after)
    found = np.array(values, np.int64)
    sort(found, low, high)
    assert found.tolist() == values[:low] + sorted(values[low:high]) + values[high:]


class Counting(list):
    """A list that counts how often it is read."""

    reads = 0

    def __getitem__(self, place):
        self.reads += 1
        return super().__getitem__(place)


def test_no_order_costs_a_square():
    """The kernel's own source, run over lists that count: a hundred thousand reads, not four million."""
    source = Path(sorting.__file__).read_text().replace("from .compiler import inlined", "")
    plain = {"inlined": lambda signature: lambda function: function}
    exec(source, plain)
    for order in (killer(2000).tolist(), list(range(2000)), np.random.default_rng(1).permutation(2000).tolist()):
        values = Counting(order)
        plain["sort_range"](values, 0, 2000)
        assert list(values) == list(range(2000)) and values.reads < 200_000


@pytest.mark.skipif(not JIT_OFF, reason="only plain Python can be watched while it calls itself")
def test_it_calls_itself_for_the_smaller_part(rng, monkeypatch):
    n, deepest, depth, whole = 1 << 12, 0, 0, sorting.sort_range

    def watched(values, low, high):
        nonlocal deepest, depth
        deepest, depth = max(deepest, depth), depth + 1
        whole(values, low, high)
        depth -= 1

    monkeypatch.setattr(sorting, "sort_range", watched)
    for values in (rng.permutation(n), rng.integers(0, 9, n), np.arange(n), np.arange(n)[::-1].copy(), killer(n)):
        wanted = np.sort(values)
        watched(values, 0, n)
        assert (values == wanted).all()
    assert 3 < deepest <= log2(n / sorting.FEW)
