"""Pairs of sets that may be alike enough, by short hashes of their members.

A row is the ascending upper halves of the 64-bit hashes of a set's members; members whose halves are equal stand there as often
as there are. Rows then have at least as many entries in common as the sets have members.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ._compile import compiled, typed


@typed
class Halves(NamedTuple):
    """Rows of upper halves: row i is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Annotated[np.ndarray, "const uint32[::1]"]
    offsets: Annotated[np.ndarray, "const int64[::1]"]


@compiled("void(const int64[::1], const int64[::1], Halves, Halves, float64, int64, bool_[::1])", Halves)
def sift_pairs(left, right, lefts, rights, threshold, slack, out):
    """Tell for each pair of a row of ``lefts`` and one of ``rights`` whether their sets may resemble each other by a threshold.

    ``slack`` more members may be in common than the rows show: members of a set whose whole hashes are equal count as one.
    """
    for pair in range(len(left)):
        i = np.uint64(lefts.offsets[left[pair]])
        i_end = np.uint64(lefts.offsets[left[pair] + 1])
        j = np.uint64(rights.offsets[right[pair]])
        j_end = np.uint64(rights.offsets[right[pair] + 1])
        total = np.int64(i_end - i) + np.int64(j_end - j)
        # The fewest entries in common that will do: c / (total - c) >= threshold, less what is not shown. The factor keeps
        # roundings from leaving out a pair that is exactly at the threshold.
        least = np.int64(np.ceil(threshold * total / (1.0 + threshold) * (1.0 - 1e-12))) - slack
        missing = np.int64(i_end - i) - least  # entries of the left row that need no equal
        others = np.int64(j_end - j) - least
        while i < i_end and j < j_end and missing >= 0 and others >= 0:
            a = lefts.values[i]
            b = rights.values[j]
            i += np.uint64(a <= b)
            j += np.uint64(b <= a)
            missing -= np.int64(a < b)
            others -= np.int64(b < a)
        missing -= np.int64(i_end - i)
        others -= np.int64(j_end - j)
        out[pair] = missing >= 0 and others >= 0
