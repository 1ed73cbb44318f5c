"""Sorting inside kernels: NumPy's own, as Numba compiles it, allocates its stack."""

from .compiler import inlined

FEW = 16
BAD = 8  # partitions that may leave less than an eighth on one side before the rest is sorted by a heap


@inlined("void(int64[::1], int64, int64)")
def sort_heap(values, low, high):
    """Sort ``values[low:high]`` in place by a heap: n log n steps, whatever the order."""
    size = high - low
    for step in range(size // 2 + size - 1):  # a heap is made of the first half; then its top goes behind it, again and again
        top = size // 2 - 1 - step
        count = size
        if top < 0:
            count = size + top
            values[low], values[low + count] = values[low + count], values[low]
            top = 0
        value = values[low + top]
        child = 2 * top + 1
        while child < count:
            if child + 1 < count and values[low + child + 1] > values[low + child]:
                child += 1
            if values[low + child] <= value:
                break
            values[low + top] = values[low + child]
            top = child
            child = 2 * top + 1
        values[low + top] = value


@inlined("void(int64[::1], int64, int64)")
def sort_range(values, low, high):
    """Sort ``values[low:high]`` in place: quicksort by the median of three, insertion where few are left.

    It calls itself for the smaller part, so that it is at most log2 (high - low) calls deep. An order that was made to spoil
    its partitions costs no more than n (log n)^2 steps: after ``BAD`` bad ones a heap sorts what is left.
    """
    bad = 0
    while high - low > FEW:
        if bad == BAD:
            sort_heap(values, low, high)
            return
        a, b, c = values[low], values[(low + high) >> 1], values[high - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high - 1
        while True:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i >= j:
                break
            values[i], values[j] = values[j], values[i]
            i += 1
            j -= 1
        bad += 8 * min(i - low, high - i) < high - low
        if i - low < high - i:
            sort_range(values, low, i)
            low = i
        else:
            sort_range(values, i, high)
            high = i
    for i in range(low + 1, high):
        value = values[i]
        j = i - 1
        while j >= low and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value
