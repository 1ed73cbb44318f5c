"""Pairs of sets that may be alike enough, by short hashes of their members.

A row is the ascending upper halves of the distinct 64-bit hashes of a set's members, so that it may be shorter than the set:
members can share a hash, but no more of them than there were repeats, of members or of hashes, that the row was made without.

Let two sets have c members in common, of a and b, and rows of a - x and b - y entries. The rows then have at least
c - min(x, y) entries in common. Where c / (a + b - c) reaches t, c is at least t (a + b) / (1 + t), and so these are at least
t / (1 + t) times the entries of both rows, less (1 - t) / (1 + t) min(x, y). That is no matter of chance: it holds whatever the
hashes are.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, typed


@typed
class Halves(NamedTuple):
    """Rows of upper halves: row i is ``values[offsets[i]:offsets[i + 1]]``, made without ``repeats[i]`` more hashes."""

    values: Annotated[np.ndarray, "const uint32[::1]"]
    offsets: Annotated[np.ndarray, "const int64[::1]"]
    repeats: Annotated[np.ndarray, "const int64[::1]"]


@compiled("void(const int64[::1], const int64[::1], Halves, Halves, float64, bool_[::1])", Halves)
def sift_pairs(left, right, lefts, rights, threshold, out):
    """Tell for each pair of a row of ``lefts`` and one of ``rights`` whether their sets may reach a resemblance."""
    share = threshold / (1.0 + threshold)
    lost = (1.0 - threshold) / (1.0 + threshold)
    for pair in range(len(left)):
        i = np.uint64(lefts.offsets[left[pair]])
        i_end = np.uint64(lefts.offsets[left[pair] + 1])
        j = np.uint64(rights.offsets[right[pair]])
        j_end = np.uint64(rights.offsets[right[pair] + 1])
        total = np.int64(i_end - i) + np.int64(j_end - j)
        hidden = min(lefts.repeats[left[pair]], rights.repeats[right[pair]])
        # The fewest entries in common that will do; a little less, or roundings would leave out pairs exactly at the threshold.
        least = np.int64(np.ceil(share * total - lost * hidden - 1e-12 * total))
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
