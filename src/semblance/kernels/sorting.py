"""Sorting inside kernels: NumPy's own, as Numba compiles it, allocates its stack."""

from ._compile import inlined

FEW = 16


@inlined("void(int64[::1], int64, int64)")
def sort_range(values, low, high):
    """Sort ``values[low:high]`` in place: quicksort by the median of three, insertion where few are left.

    It calls itself for the smaller part, so that it is at most log2 (high - low) calls deep.
    """
    while high - low > FEW:
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
