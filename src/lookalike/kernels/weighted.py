"""Cosines of vectors."""

from .compiler import compiled, inlined


@inlined("float64(int64, int64, const int64[::1], const uint64[::1], const float64[::1])")
def dot(a, b, offsets, columns, weights):
    """Cosine of rows ``a`` and ``b``, each of which holds ascending columns and their weights; at most 1."""
    i = offsets[a]
    j = offsets[b]
    i_end = offsets[a + 1]
    j_end = offsets[b + 1]
    total = 0.0
    while i < i_end and j < j_end:
        if columns[i] == columns[j]:
            total += weights[i] * weights[j]
            i += 1
            j += 1
        elif columns[i] < columns[j]:
            i += 1
        else:
            j += 1
    return min(total, 1.0)


@compiled("void(const int64[::1], const int64[::1], const int64[::1], const uint64[::1], const float64[::1], float64[::1])")
def compare_vectors(left, right, offsets, columns, weights, out):
    """Write the cosine of each pair into ``out`` (float64)."""
    for pair in range(len(left)):
        out[pair] = dot(left[pair], right[pair], offsets, columns, weights)
